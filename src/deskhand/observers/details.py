"""What is asked only of what can be seen: rectangles, values and labels."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Final

from deskhand.messages import Rect
from deskhand.observers.atspi import Bus, Handle
from deskhand.observers.node import VALUE_LIMIT, clean_value
from deskhand.observers.raw import Harvest, Raw, ask_all

LISTS: Final = frozenset({"list", "list box", "table", "tree", "tree table"})
LONG: Final = 30
"""Children of a list that are asked about before what is in them."""

MOST_EXTENTS: Final = 3_000
"""Elements whose rectangle is asked for: more are not on one screen."""

_NOWHERE: Final = -(2**31)
_VALUED: Final = frozenset({"slider", "spin button", "progress bar", "level bar", "dial", "rating"})
_TEXTUAL: Final = frozenset(
    {"text", "entry", "terminal", "editbar", "autocomplete", "spin button", "combo box"}
)
_FIELDS: Final = _TEXTUAL | {"password text", "slider", "switch", "list box", "check box", "date editor"}
_LABELLED_BY: Final = 2


async def look_closely(bus: Bus, reading: Harvest) -> None:
    """Rectangles, values and labels of what is on the screen."""
    # The rows of long lists first: most of them are out of sight, and with them all that is in them.
    lists = [raw for top in reading.tops for raw in _visible(reading, top) if raw.role in LISTS]
    rows = {
        path for raw in lists if len(raw.children) > LONG for path in raw.children if path in reading.raws
    }
    shown = [reading.raws[path] for path in rows if reading.on_screen(reading.raws[path])]
    await ask_all(reading, (_extents(bus, reading, raw) for raw in shown if "Component" in raw.interfaces))
    visible = [raw for top in reading.tops for raw in _visible(reading, top)]
    questions = (
        each
        for raw in visible[:MOST_EXTENTS]
        for each in _questions(bus, reading, raw, placed=raw.path in rows)
    )
    await ask_all(reading, questions)


def _visible(reading: Harvest, top: str) -> Iterable[Raw]:
    """A window and what can be seen in it: nothing below an element that is hidden."""
    stack, seen = [top], {top}
    while stack:
        raw = reading.raws[stack.pop()]
        if raw.path != top and not reading.on_screen(raw):
            continue
        if raw.nowhere and raw.path != top:
            continue
        yield raw
        fresh = [child for child in raw.children if child in reading.raws and child not in seen]
        seen.update(fresh)
        stack.extend(reversed(fresh))


def _questions(bus: Bus, reading: Harvest, raw: Raw, *, placed: bool) -> Iterable[Awaitable[None]]:
    if "Component" in raw.interfaces and not placed:
        yield _extents(bus, reading, raw)
    if raw.role == "password text":
        pass
    elif "Text" in raw.interfaces and (raw.role in _TEXTUAL or "editable" in raw.states or not raw.name):
        yield _text(bus, reading, raw)
    elif "Value" in raw.interfaces and raw.role in _VALUED:
        yield _value(bus, reading, raw)
    if raw.role in _FIELDS:
        yield _labels(bus, reading, raw)


async def _extents(bus: Bus, reading: Harvest, raw: Raw) -> None:
    screen, window = 0, 1
    wanted = [screen] if reading.app.toolkit != "GTK" else [window]
    if raw.path in reading.tops:
        wanted = [screen, window]
    for kind in wanted:
        ((x, y, width, height),) = await bus.call(
            reading.app.bus, raw.path, "Component", "GetExtents", "u", kind
        )
        rect = None if _NOWHERE in (x, y) or width <= 0 or height <= 0 else Rect(x, y, width, height)
        raw.nowhere = rect is None
        if kind == screen:
            raw.screen_extents = rect
        else:
            raw.window_extents = rect


async def _text(bus: Bus, reading: Harvest, raw: Raw) -> None:
    # GTK 4.8 returns nothing for "up to the end" (-1) of a label, but does for a number beyond it; LibreOffice the
    # other way round. A cell's text is short: there the end is asked for first.
    ends = (-1, VALUE_LIMIT) if raw.role == "table cell" else (VALUE_LIMIT, -1)
    for end in ends:
        (text,) = await bus.call(reading.app.bus, raw.path, "Text", "GetText", "ii", 0, end)
        if text:
            break
    raw.value = clean_value(text)


async def _value(bus: Bus, reading: Harvest, raw: Raw) -> None:
    number = await bus.get(Handle(reading.app.bus, raw.path), "Value", "CurrentValue")
    raw.value = f"{float(number):g}"


async def _labels(bus: Bus, reading: Harvest, raw: Raw) -> None:
    (relations,) = await bus.call(reading.app.bus, raw.path, "Accessible", "GetRelationSet")
    raw.labelled_by = [path for kind, targets in relations if kind == _LABELLED_BY for _, path in targets]
