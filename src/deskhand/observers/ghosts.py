"""Rows that GTK 4 no longer draws, but for which it still tells the place where it last drew them.

Its lists keep the rows around what can be seen, and use their widgets again. Such a row has the place of another one,
so that a click on it would press that one. Where rows lie over each other, the app is asked which of them is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from deskhand.messages import Rect
from deskhand.observers.atspi import Bus
from deskhand.observers.details import LISTS
from deskhand.observers.raw import Harvest, Raw, ask_all

_WINDOW: Final = 1  # AT-SPI's coordinate types: 1 is the window's


async def banish_ghosts(bus: Bus, reading: Harvest) -> None:
    """Take their place from the children of lists that are not where they say."""
    if reading.app.toolkit != "GTK":
        return
    questions = []
    for raw in reading.raws.values():
        if raw.role in LISTS and raw.window_extents is not None:
            children = [reading.raws[path] for path in raw.children if path in reading.raws]
            questions += [_check(bus, reading, raw, row) for row in _overlapping(children)]
    await ask_all(reading, questions)


def _overlapping(rows: Sequence[Raw]) -> list[Raw]:
    """Those that lie over another one."""
    placed = sorted(
        ((row.window_extents, place) for place, row in enumerate(rows) if row.window_extents is not None),
        key=lambda each: each[0].y,
    )
    doubtful: set[int] = set()
    for number, (rect, place) in enumerate(placed):
        for other, another in placed[number + 1 :]:
            if other.y >= rect.bottom:
                break
            if _meet(rect, other):
                doubtful |= {place, another}
    return [rows[place] for place in sorted(doubtful)]


def _meet(one: Rect, other: Rect) -> bool:
    """Whether they have more than an edge in common."""
    return (
        min(one.bottom, other.bottom) - max(one.y, other.y) > 2
        and min(one.right, other.right) - max(one.x, other.x) > 2
    )


async def _check(bus: Bus, reading: Harvest, holder: Raw, row: Raw) -> None:
    """Ask what is drawn in the middle of what can be seen of a row's place."""
    rect, view = row.window_extents, holder.window_extents
    assert rect is not None
    assert view is not None
    top, bottom = max(rect.y, view.y), min(rect.bottom, view.bottom)
    left, right = max(rect.x, view.x), min(rect.right, view.right)
    if top >= bottom or left >= right:
        return  # scrolled out of sight: nobody takes it for visible
    x, y = (left + right) // 2, (top + bottom) // 2
    window = _upwards(reading, holder.path)[-1]
    ((who, path),) = await bus.call(
        reading.app.bus, window, "Component", "GetAccessibleAtPoint", "iiu", x, y, _WINDOW
    )
    if who != reading.app.bus or row.path not in _upwards(reading, path):
        row.window_extents, row.nowhere = None, True


def _upwards(reading: Harvest, path: str) -> list[str]:
    """An element and all that it is in, as far as they were read; the window last."""
    line: list[str] = []
    while path in reading.raws and path not in line:
        line.append(path)
        path = reading.raws[path].parent
    return line
