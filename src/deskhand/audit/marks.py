"""What a film of a task says, and where it points: a caption for each moment, a ring or an outline where it acted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deskhand.audit.read import Event
from deskhand.audit.review import Reviewer
from deskhand.audit.table import safe
from deskhand.audit.words import number

_TOLD = {"action", "consent", "question", "answer", "human", "verification", "error", "task_finished"}
_POINTED = 1.2
"""Seconds that a ring or an outline stays at least, until the next one."""
_LONG = 300
"""Characters of a caption that anybody could read in its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One caption. Times are seconds of the task; ``end`` None: until the film ends.

    ``box`` (x, y, width, height) and ``point`` (x, y) are in screen pixels, shown until ``pointed``.
    """

    start: float
    caption: str
    mood: str = ""
    end: float | None = None
    pointed: float = 0.0
    box: tuple[float, float, float, float] | None = None
    point: tuple[float, float] | None = None


def marks_of(events: Iterable[Event], earlier: Iterable[Event] = ()) -> list[Mark]:
    """The marks of one run of a task, each lasting until the next one begins; steps are counted on from ``earlier``."""
    marks = sorted(_marks(events, earlier), key=lambda mark: mark.start)
    return [
        replace(mark, end=after[0].start if after else None, pointed=_until(mark, after))
        for number, mark in enumerate(marks)
        for after in [marks[number + 1 : number + 20]]
    ]


def _until(mark: Mark, later: Sequence[Mark]) -> float:
    """How long it points: while it lasts, and long enough to be seen, but not into the next place."""
    next_place = next((each.start for each in later if each.box or each.point), math.inf)
    return min(max(mark.pointed, mark.start + _POINTED), next_place)


def _marks(events: Iterable[Event], earlier: Iterable[Event]) -> Iterator[Mark]:
    reviewer = Reviewer()
    for event in earlier:
        reviewer.row(event)
    for event in events:
        row, ended = reviewer.row(event), number(event.get("t")) or 0.0
        began = max(0.0, ended - (row.seconds or 0.0))
        if row.kind == "model_call":
            yield Mark(start=began, caption=f"{row.step} thinking…", mood="dim")
        if row.kind not in _TOLD:
            continue
        said = " ".join(part for part in (row.what, row.target) if part)
        words = safe(f"{row.step} {said}{' · ' if row.outcome else ''}{row.outcome}"[:_LONG])
        mark = Mark(start=ended, caption=words, mood=row.mood)
        if row.kind == "action":
            box, point = _where(event)
            mark = replace(mark, start=began, pointed=ended, box=box, point=point)
        yield mark


def _where(event: Event) -> tuple[tuple[float, float, float, float] | None, tuple[float, float] | None]:
    """What an action was aimed at, and where its pointer went: the middle of the target unless the log says where."""
    target = event.get("target")
    rect, point = (_numbers(target.get(key)) if isinstance(target, dict) else () for key in ("rect", "point"))
    box = (rect[0], rect[1], rect[2], rect[3]) if len(rect) == 4 else None
    if len(point) == 2:
        return box, (point[0], point[1])
    if box is not None and event.get("route") == "pointer":
        return box, (box[0] + box[2] / 2, box[1] + box[3] / 2)
    return box, None


def _numbers(value: Any) -> list[float]:
    found = [number(each) for each in value] if isinstance(value, list) else []
    return [] if None in found else [each for each in found if each is not None]
