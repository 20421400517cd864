"""What the settling benchmark plays, and what the right verdict on each is. Shared by both engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Said = Literal["settled", "except", "none", "capped"]
"""Both engines' verdicts in the same words: came to rest; did so but for a region; nothing happened; gave up."""

LATE = 0.45
"""Seconds from the last paint to the verdict that are still right: quiet time, and some for a busy machine."""
NOTHING = 0.5
"""Seconds within which a click without effect has to return."""
ENDLESS = 2.0
"""Seconds within which an act beside endless motion, or that starts one, has to return to be right."""

WAITED = 4.0
"""Seconds that an act's change is waited for, where a scenario says so."""


@dataclass(kw_only=True)
class Outcome:
    """One act as it went. ``paints`` are the times of what it made the app paint; all on the monotonic clock."""

    said: Said
    began: float
    ended: float
    cpu: float
    paints: list[float] = field(default_factory=list)
    then: Outcome | None = None
    """What waiting (or acting) afterwards gave."""
    told_late: bool = False
    """Whether the result says that the screen had changed since the result before."""
    button_down: bool = False

    @property
    def waited(self) -> float:
        return self.ended - self.began

    @property
    def lag(self) -> float:
        """Seconds from the last paint to the verdict."""
        return self.ended - self.paints[-1] if self.paints else 0.0


Judge = Callable[[Outcome], bool]


def at_rest(o: Outcome) -> bool:
    """All of it was waited for, and not much longer."""
    return o.said in ("settled", "except") and bool(o.paints) and 0 < o.lag <= LATE


def without_effect(o: Outcome) -> bool:
    return o.said == "none" and o.waited <= NOTHING


def beside_motion(o: Outcome) -> bool:
    """The act's change was seen, and the endless motion not waited for."""
    return o.said in ("settled", "except") and bool(o.paints) and o.lag > 0 and o.waited <= ENDLESS


def bounded(o: Outcome) -> bool:
    """Motion over everything: nothing can be told of the act, so anything but a long wait will do."""
    return o.said in ("none", "except") and o.waited <= ENDLESS


def late_is_waited_for(o: Outcome) -> bool:
    """Either all of it was waited for, or waiting afterwards returns with the late change and not before it."""
    then = o.then
    if at_rest(o) or then is None:
        return at_rest(o)
    last = o.paints[-1] if o.paints else then.ended
    return (
        then.said in ("settled", "except")
        and then.ended > last
        and then.ended - max(then.began, last) <= LATE
    )


def late_opens_the_next(o: Outcome) -> bool:
    """The late change is told with the next act's result."""
    return at_rest(o) or (o.then is not None and o.then.told_late)


def waits_on(o: Outcome) -> bool:
    """Waiting for a change does not take for one what has moved all the time."""
    return o.then is not None and o.then.said == "none" and o.then.waited >= WAITED - 0.1


def let_go(o: Outcome) -> bool:
    return not o.button_down


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """``click``, ``hover`` and ``background`` are the painter's parts; ``page`` a page's name instead of a painter."""

    name: str
    right: Judge
    click: str = "nothing"
    background: str = ""
    hover: str = ""
    page: str = ""
    act: Literal["click", "hover", "drag"] = "click"
    full: bool = False
    narrow: bool = False
    """On the screen of 1366 columns."""
    fresh: bool = False
    """Begin each run with a new painter."""
    learn: float = 0.0
    """Seconds to watch before the first act."""
    then: Literal["", "wait", "wait after", "act after"] = ""
    rest: float = 0.0
    """Seconds until what a page began because of an act has ended; of a painter that is known."""
    before: int = 0
    """Acts ahead of each measured one, by which an engine may learn."""
    timed: bool = False
    """Counts for the time from the last paint to the verdict, and for processor time."""


SCENARIOS = (
    Scenario(name="a click without effect", right=without_effect),
    Scenario(name="one box after 30 ms", right=at_rest, click="box:0.03", timed=True),
    Scenario(name="a tick of 7x7 pixels", right=at_rest, click="tick", timed=True),
    Scenario(name="text glyph by glyph for 2 s", right=at_rest, click="glyphs:2", timed=True),
    Scenario(name="a list that scrolls smoothly", right=at_rest, click="scrolling:0.6", timed=True),
    Scenario(name="a progress bar that fills", right=at_rest, click="progress:1.5", timed=True),
    Scenario(name="two phases, gap 0.1 s", right=at_rest, click="two_phases:0.1", timed=True),
    *(
        Scenario(name=f"two phases, computing {gap} s", right=at_rest, click=f"two_phases_busy:{gap}")
        for gap in (0.5, 1.0, 1.5)
    ),
    Scenario(name="computing 1 s, then a box", right=at_rest, click="busy_box:1"),
    *(
        Scenario(
            name=f"two phases, no sign for {gap} s",
            right=late_is_waited_for,
            click=f"two_phases:{gap}",
            then="wait",
        )
        for gap in (0.5, 1.0, 1.5)
    ),
    *(
        Scenario(
            name=f"reacts after {delay} s; wait", right=late_is_waited_for, click=f"box:{delay}", then="wait"
        )
        for delay in (0.6, 1.0, 2.0)
    ),
    Scenario(
        name="reacts after 0.6 s; wait later",
        right=late_is_waited_for,
        click="box:0.6",
        then="wait after",
        rest=0.1,
    ),
    *(
        Scenario(
            name=f"reacts after {delay} s; next act tells",
            right=late_opens_the_next,
            click=f"box:{delay}",
            then="act after",
            rest=0.1,
        )
        for delay in (0.6, 1.0, 2.0)
    ),
    Scenario(
        name="two phases, no sign for 1.5 s; next act tells",
        right=late_opens_the_next,
        click="two_phases:1.5",
        then="act after",
        rest=0.1,
    ),
    Scenario(name="caret, click without effect", right=without_effect, background="caret", learn=2.5),
    Scenario(name="caret, waiting for a change", right=waits_on, background="caret", learn=2.5, then="wait"),
    Scenario(
        name="caret and distant spinner, box",
        right=beside_motion,
        click="box:0.03",
        background="caret,far_spin",
        full=True,
        learn=2.5,
    ),
    Scenario(name="spinner, click without effect", right=without_effect, background="spin", learn=1.5),
    Scenario(name="clock, click without effect", right=without_effect, background="clock", learn=3.2),
    Scenario(name="clock, box", right=beside_motion, click="box:0.03", background="clock", learn=3.2),
    Scenario(name="video, box", right=beside_motion, click="box:0.03", background="video", learn=1.5),
    Scenario(name="full-screen video, click", right=bounded, background="full_video", full=True, learn=1.5),
    Scenario(
        name="starts a full-screen video",
        right=beside_motion,
        click="box:0.03,full_video:3",
        full=True,
        rest=0.5,
    ),
    Scenario(name="starts a spinner", right=beside_motion, click="spin_for:3", rest=0.5),
    Scenario(
        name="starts an animation, after quick acts",
        right=beside_motion,
        click="sixth_loads:3",
        before=5,
        rest=0.5,
    ),
    Scenario(name="a menu opens and closes", right=at_rest, click="menu", timed=True),
    Scenario(
        name="a tooltip half a second after the pointer",
        right=at_rest,
        hover="tooltip:0.5",
        act="hover",
        rest=0.2,
    ),
    Scenario(name="a hover effect", right=at_rest, hover="box:0.02", act="hover", timed=True),
    Scenario(name="a window closes", right=at_rest, background="dialog", click="closing", fresh=True),
    Scenario(name="the last 6 columns of 1366", right=at_rest, click="strip", narrow=True),
    Scenario(name="a drag through the corner", right=let_go, act="drag"),
    Scenario(name="page: click on a still page", right=at_rest, page="still"),
    Scenario(name="page: endless CSS spinner, click", right=beside_motion, page="spinner", learn=1.5),
    Scenario(
        name="page: endless CSS spinner, no effect", right=without_effect, page="spinner-noop", learn=1.5
    ),
    Scenario(name="page: polls for ever, click", right=beside_motion, page="polling", learn=1.5),
    Scenario(name="page: click starts polling", right=beside_motion, page="starts-polling", fresh=True),
    Scenario(name="page: click starts a CSS spinner", right=beside_motion, page="starts-spinner", rest=3.5),
    Scenario(name="page: loads for 0.9 s", right=at_rest, page="fetch", rest=1.2),
    Scenario(name="page: debounced search", right=late_is_waited_for, page="debounced", then="wait"),
    Scenario(name="page: opens a slow page", right=at_rest, page="navigates", fresh=True, rest=1.5),
)
