"""How long to wait after which act."""

from __future__ import annotations

import pytest

from deskhand.config import KindSettings, SettleSettings
from deskhand.messages import Settled, Verdict
from deskhand.tools.timing import RESIDUAL, Timings


def taught(timings: Timings, kind: str, waited: float, times: int, verdict: Verdict = "settled") -> Timings:
    """Timings that have seen acts of this kind take so long."""
    for _ in range(times):
        timings.learn(kind, Settled(verdict=verdict, waited=waited))
    return timings


def test_what_is_not_set_is_the_default() -> None:
    timing = Timings(SettleSettings()).of("click")
    assert (timing.quiet, timing.react, timing.max_wait, timing.patience) == (0.2, 0.3, 8.0, 8.0)


def test_quick_acts_shorten_the_patience_with_motion_but_not_the_cap() -> None:
    timing = taught(Timings(SettleSettings()), "click", 0.25, 5).of("click")
    assert timing.patience == 3.0
    assert timing.max_wait == 8.0


def test_the_patience_always_outlasts_what_it_takes_to_tell_endless_motion() -> None:
    timing = taught(Timings(SettleSettings()), "click", 0.01, 50).of("click")
    assert timing.patience > RESIDUAL + timing.quiet


def test_four_acts_teach_nothing_and_neither_do_acts_without_effect() -> None:
    timings = taught(Timings(SettleSettings()), "click", 0.25, 4)
    taught(timings, "click", 0.3, 9, "no_change")
    assert timings.of("click").patience == 8.0


def test_one_kind_teaches_nothing_about_another() -> None:
    assert taught(Timings(SettleSettings()), "click", 0.25, 9).of("key").patience == 8.0


def test_time_outs_lengthen_the_patience_again() -> None:
    timings = taught(Timings(SettleSettings()), "click", 0.25, 8)
    taught(timings, "click", timings.of("click").patience, 2, "still_changing")
    assert timings.of("click").patience == 8.0


@pytest.mark.parametrize(
    "settings",
    [SettleSettings(max_wait=20), SettleSettings(kinds={"click": KindSettings(max_wait=20)})],
)
def test_what_the_user_has_set_is_not_learned(settings: SettleSettings) -> None:
    timing = taught(Timings(settings), "click", 0.25, 9).of("click")
    assert (timing.patience, timing.max_wait) == (20, 20)


def test_the_quiet_time_is_never_learned() -> None:
    timings = Timings(SettleSettings(quiet=0.4))
    assert taught(timings, "click", 0.01, 50).of("click").quiet == 0.4


def test_hovering_leaves_time_for_a_tooltip_unless_the_user_says_otherwise() -> None:
    assert Timings(SettleSettings()).of("move").react > 0.5
    assert Timings(SettleSettings(react=0.1)).of("move").react == 0.1
    own = SettleSettings(react=0.1, kinds={"move": KindSettings(react=0.9)})
    assert Timings(own).of("move").react == 0.9
    assert Timings(own).of("click").react == 0.1
