"""Going in circles is noticed by what was done and what came of it, whatever the reports say of seconds and refs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from deskhand.errors import StopTask
from deskhand.messages import (
    BatchReport,
    Image,
    Node,
    Observation,
    Rect,
    Results,
    Settled,
    StepReport,
    ToolCall,
    ToolResult,
    Turn,
)
from deskhand.orchestrator.stuck import NUDGE_AT, STOP_AT, Repetition

CLICK = {"steps": [{"kind": "click", "target": "button[name='Save']"}]}


def turn(name: str = "act", **arguments: Any) -> Turn:
    return Turn(calls=(ToolCall(id="any", name=name, arguments=arguments or CLICK),))


def acted(
    *, value: str = "", waited: float = 0.3, changed: float = 0.0, picture: bytes = b"", ref: str = "e1"
) -> Results:
    """The result of a click after which the screen shows one text box."""
    box = Node(role="textbox", name="Name", value=value, ref=ref, rect=Rect(0, 0, 9, 9))
    seen = Observation(text="", roots=(box,))
    settled = Settled(verdict="settled" if changed else "no_change", waited=waited, changed=changed)
    step = StepReport(index=1, step=CLICK, effect="done", message="", settled=settled, seconds=waited)
    images = (Image(data=picture, width=1, height=1),) if picture else ()
    text = f"1. click button [{ref}]: done; settled in {waited} s"
    batch = BatchReport(steps=(step,), after=seen)
    return Results(
        results=(
            ToolResult(call_id="any", name="act", text=text, images=images, observation=seen, batch=batch),
        )
    )


def repeat(rounds: Iterable[tuple[Turn, Results]]) -> None:
    circle = Repetition()
    for done, came in rounds:
        circle.note(done, came)


def test_the_same_act_on_the_same_screen_is_told_and_then_ends_the_task() -> None:
    circle = Repetition()
    notes = [circle.note(turn(), acted(waited=n / 10, ref=f"e{n}")) for n in range(STOP_AT - 1)]
    assert [bool(note) for note in notes] == [n + 1 >= NUDGE_AT for n in range(STOP_AT - 1)]
    with pytest.raises(StopTask) as stop:
        circle.note(turn(), acted(waited=9.9))
    assert stop.value.reason == "stalled"


@pytest.mark.parametrize(
    "different",
    [
        [acted(value=str(n)) for n in range(8)],
        [acted(changed=n / 100 + 0.01) for n in range(8)],
        [acted(picture=bytes([n + 1])) for n in range(8)],
    ],
    ids=["another value", "another part of the screen", "another picture"],
)
def test_the_same_act_with_another_outcome_each_time_is_progress(different: list[Results]) -> None:
    circle = Repetition()
    assert [circle.note(turn(), each) for each in different] == [""] * 8


def test_going_to_and_fro_is_noticed_too() -> None:
    with pytest.raises(StopTask):
        repeat((turn(n=n % 2), acted(value=str(n % 2))) for n in range(12))


def test_another_act_on_the_same_screen_is_no_repetition() -> None:
    circle = Repetition()
    assert [circle.note(turn(n=n), acted()) for n in range(8)] == [""] * 8


def test_a_call_that_says_the_same_but_for_its_seconds_is_a_repetition() -> None:
    said = [
        ToolResult(call_id=str(n), name="wait_for", text=f"not there after {n}.5 s", is_error=True)
        for n in range(STOP_AT)
    ]
    with pytest.raises(StopTask):
        repeat((turn("wait_for", selector="button"), Results(results=(each,))) for each in said)


def test_invalid_arguments_that_stay_the_same_are_a_repetition() -> None:
    bad = Turn(calls=(ToolCall(id="c", name="act", invalid="{"),))
    told = Results(results=(ToolResult(call_id="c", name="act", text="not a JSON object", is_error=True),))
    with pytest.raises(StopTask):
        repeat([(bad, told)] * STOP_AT)
