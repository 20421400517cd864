"""Limits: what a task may use up."""

from __future__ import annotations

import pytest

from deskhand.errors import StopTask
from deskhand.messages import Usage
from deskhand.orchestrator.limits import Meter
from deskhand.terms import Limits


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def meter(clock: Clock, **limits: object) -> Meter:
    return Meter(Limits(**limits), deadline=110.0, timeout=10.0, clock=clock)  # type: ignore[arg-type]


def test_the_deadline_ends_a_task() -> None:
    clock = Clock()
    ends = meter(clock)
    ends.check()
    clock.now = 110.0
    with pytest.raises(StopTask) as stop:
        ends.check()
    assert stop.value.reason == "deadline"


def test_the_time_stands_still_while_a_person_is_asked() -> None:
    clock = Clock()
    ends = meter(clock)
    clock.now = 104.0
    ends.pause()
    clock.now = 204.0
    assert ends.remaining() == 6.0
    ends.resume()
    assert ends.remaining() == 6.0
    assert ends.deadline == 210.0


@pytest.mark.parametrize(
    ("limits", "usage", "reason"),
    [
        ({"steps": 1}, Usage(), "max_steps"),
        ({"tokens": 100}, Usage(input_tokens=60, output_tokens=40), "max_tokens"),
        ({"cost": 0.5}, Usage(cost_usd=0.5), "max_cost"),
    ],
)
def test_each_limit_has_its_own_reason(limits: dict[str, object], usage: Usage, reason: str) -> None:
    ends = meter(Clock(), **limits)
    ends.check()
    ends.add(usage)
    with pytest.raises(StopTask) as stop:
        ends.check()
    assert stop.value.reason == reason


def test_an_unknown_price_cannot_reach_a_cost_limit() -> None:
    ends = meter(Clock(), cost=0.01)
    ends.add(Usage(input_tokens=10**9, cost_usd=None))
    ends.check()


def test_the_child_is_warned_once_at_three_quarters() -> None:
    ends = meter(Clock(), steps=4)
    for _ in range(2):
        ends.add(Usage())
        assert ends.warning() == ""
    ends.add(Usage())
    assert "75%" in ends.warning()
    assert ends.warning() == ""


def test_each_limit_has_a_warning_of_its_own() -> None:
    clock = Clock()
    ends = meter(clock, steps=4)
    for _ in range(3):
        ends.add(Usage())
    assert "75% of your turns" in ends.warning()
    clock.now = 109.0
    assert "90% of your time" in ends.warning()
    assert ends.warning() == ""


@pytest.mark.parametrize(
    ("limits", "usage"),
    [
        ({"tokens": 250}, Usage(input_tokens=90, output_tokens=10)),
        ({"cost": 0.25}, Usage(cost_usd=0.1)),
    ],
)
def test_the_turn_that_would_use_up_a_limit_is_the_last_one(limits: dict[str, object], usage: Usage) -> None:
    ends = meter(Clock(), **limits)
    assert not ends.last_turn()
    ends.add(usage)
    assert not ends.last_turn()
    ends.add(usage)
    assert ends.last_turn()
    ends.check()


def test_what_is_no_turn_counts_as_tokens_and_not_as_a_turn() -> None:
    ends = meter(Clock(), steps=2, tokens=100)
    ends.count(Usage(input_tokens=100))
    assert ends.steps == 0
    with pytest.raises(StopTask) as stop:
        ends.check()
    assert stop.value.reason == "max_tokens"


def test_the_last_turn_is_known_before_it_is_taken() -> None:
    ends = meter(Clock(), steps=2)
    assert not ends.last_turn()
    ends.add(Usage())
    assert ends.last_turn()
