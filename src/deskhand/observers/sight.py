"""The part of a long list or a sheet that can be seen: which of its children to ask for, of perhaps billions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from deskhand.observers.atspi import NULL, Bus, CallFailed, Handle
from deskhand.observers.raw import Harvest, Raw

FAMILY: Final = 300
"""Children of one parent that are asked for one by one, where the app's cache does not list them."""

MOST_CELLS: Final = 1_200
"""Cells of a sheet that are asked for: more are hardly legible on one screen."""

_SCREEN: Final = 0  # AT-SPI's coordinate types: 0 is the screen's
_PROBES: Final = 16
_HEADERS: Final = 12


async def in_sight(bus: Bus, reading: Harvest, raw: Raw) -> tuple[Sequence[int], bool]:
    """The indices of the children that can be seen, and whether they are the cells of a sheet, all alike.

    What is at points down its left side, and along its top, tells. Of a list comes what is before and after, too, and
    the column headers: they are the first children, wherever the list stands.
    """
    down: list[int] = []
    across: list[int] = []
    if "Component" in raw.interfaces:
        ((x, y, width, height),) = await bus.call(
            reading.app.bus, raw.path, "Component", "GetExtents", "u", _SCREEN
        )
        steps = range(_PROBES + 1)
        left = [(x + 4, y + 4 + (height - 8) * step // _PROBES) for step in steps]
        top = [(x + 4 + (width - 8) * step // _PROBES, y + 4) for step in steps]
        found = await asyncio.gather(*(_index_at(bus, reading, raw, *point) for point in [*left, *top]))
        down = [index for index in found[: len(left)] if index is not None]
        across = [index for index in found[len(left) :] if index is not None]
    if "Table" in raw.interfaces and down and max(down) - min(down) > FAMILY:
        columns = int(await bus.get(Handle(reading.app.bus, raw.path), "Table", "NColumns"))
        if columns > FAMILY // 2:
            return _rectangle(down, across, columns), True
    last = max(down, default=0)
    first = min((index for index in down if index > last - FAMILY // 2), default=0)
    start = max(0, min(first - FAMILY // 4, raw.count - FAMILY))
    return [*range(min(start, _HEADERS)), *range(start, min(raw.count, start + FAMILY))], False


def _rectangle(down: Sequence[int], across: Sequence[int], columns: int) -> list[int]:
    """The cells of a sheet from the first to the last row and column that were met, row by row."""
    rows = range(min(down) // columns, max(down) // columns + 1)
    places = [index % columns for index in [*down, *across]]
    cells = [row * columns + column for row in rows for column in range(min(places), max(places) + 1)]
    return cells[:MOST_CELLS]


async def _index_at(bus: Bus, reading: Harvest, raw: Raw, x: int, y: int) -> int | None:
    """Which child of a list is at a point of the screen, if one is."""
    app = reading.app.bus
    try:
        ((who, child),) = await bus.call(
            app, raw.path, "Component", "GetAccessibleAtPoint", "iiu", x, y, _SCREEN
        )
        if child in (NULL, raw.path) or who != app:
            return None
        (index,) = await bus.call(app, child, "Accessible", "GetIndexInParent")
    except CallFailed:
        return None
    return int(index) if 0 <= int(index) < raw.count else None
