"""Reading one app's native tree: its cache in one call, then what the cache leaves out, many calls in flight."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from deskhand.messages import Rect
from deskhand.observers.atspi import (
    CACHE,
    NULL,
    ROOT,
    Bus,
    CallFailed,
    Handle,
    NotAnswering,
    states_of,
)
from deskhand.observers.node import VALUE_LIMIT, clean_name, clean_value
from deskhand.observers.roles import atspi_role

MOST: Final = 20_000
"""Elements of one app that are kept."""

FAMILY: Final = 300
"""Children of one parent that are asked for one by one, where the app's cache does not list them."""

MOST_EXTENTS: Final = 3_000
"""Elements whose rectangle is asked for: more are not on one screen."""

SILENCES: Final = 3
"""Unanswered calls after which an app counts as not answering."""

_CACHE_DEADLINE: Final = 2.0
_NOWHERE: Final = -(2**31)
_VALUED: Final = frozenset({"slider", "spin button", "progress bar", "level bar", "dial", "rating"})
_TEXTUAL: Final = frozenset(
    {"text", "entry", "terminal", "editbar", "autocomplete", "spin button", "combo box"}
)
_FIELDS: Final = _TEXTUAL | {"password text", "slider", "switch", "list box", "check box", "date editor"}
_TOP_ROLES: Final = frozenset({"frame", "window", "dialog", "alert"})
_LABELLED_BY: Final = 2


@dataclass(slots=True)
class Raw:
    """One element as the app tells it."""

    path: str
    parent: str
    index: int
    count: int
    interfaces: frozenset[str]
    name: str
    role: str
    description: str
    states: frozenset[str]
    children: list[str] = field(default_factory=list)
    window_extents: Rect | None = None
    screen_extents: Rect | None = None
    value: str | None = None
    labelled_by: list[str] = field(default_factory=list)


@dataclass(slots=True)
class App:
    """An app on the bus. ``toolkit`` and ``name`` are filled in by the first read."""

    bus: str
    pid: int
    name: str = ""
    toolkit: str = ""
    version: str = ""


@dataclass(slots=True)
class Harvest:
    """One read of an app: its elements by path, and its top-level windows in order."""

    app: App
    raws: dict[str, Raw]
    tops: list[str]
    shows: bool
    """Whether this app says which elements are showing. GTK 4 does not."""
    silences: int = 0
    """Calls that were not answered in time."""

    def on_screen(self, raw: Raw) -> bool:
        """Whether the element itself says it can be seen (its parents may still be hidden)."""
        if "visible" not in raw.states:
            return False
        return "showing" in raw.states or not self.shows


async def harvest(bus: Bus, app: App) -> Harvest:
    """Read an app whole. NotAnswering when it does not answer; an app that is gone has no windows."""
    # The small call tells a frozen app from one whose big answer takes a while; all are on their way at once.
    cache = asyncio.ensure_future(bus.call(app.bus, CACHE, "Cache", "GetItems", timeout=_CACHE_DEADLINE))
    about = asyncio.ensure_future(_introduce(bus, app))
    try:
        tops = await bus.call(app.bus, ROOT, "Accessible", "GetChildren")
        await asyncio.wait({cache, about})
    except TimeoutError:
        raise NotAnswering(app.name or f"the app with pid {app.pid}") from None
    except CallFailed:
        return Harvest(app, {}, [], True)
    finally:
        cache.cancel()
        about.cancel()
        items, _ = await asyncio.gather(cache, about, return_exceptions=True)
    raws: dict[str, Raw] = {}
    if not isinstance(items, BaseException):
        for item in items[0][:MOST]:
            if (raw := _from_cache(item, app.bus)) is not None:
                raws[raw.path] = raw
    elif not isinstance(items, (CallFailed, TimeoutError)):
        raise items
    reading = Harvest(app, raws, [path for who, path in tops[0] if who == app.bus and path != NULL], True)
    await _complete(bus, reading)
    reading.tops = [top for top in reading.tops if top in raws]
    reading.shows = any("showing" in raw.states for raw in raws.values() if raw.role not in _TOP_ROLES)
    await _look(bus, reading)
    return reading


async def _introduce(bus: Bus, app: App) -> None:
    """Ask once what the app is called and what it is built with."""
    if app.toolkit:
        return
    root = Handle(app.bus, ROOT)
    answers: Sequence[Any] = await asyncio.gather(
        bus.get(root, "Accessible", "Name"),
        bus.get(root, "Application", "ToolkitName"),
        bus.get(root, "Application", "Version"),
        return_exceptions=True,
    )
    name, toolkit, version = (each if isinstance(each, str) else "" for each in answers)
    app.name, app.toolkit, app.version = clean_name(name), toolkit, version


def _from_cache(item: Sequence[Any], bus: str) -> Raw | None:
    """One entry of ``GetItems``: (object, app, parent, index, count, interfaces, name, role, description, states).

    Older bridges (Qt 5) list the children in place of index and count.
    """
    if len(item) == 9:
        (who, path), _, (_, parent), children, interfaces, name, role, description, states = item
        index, count = -1, len(children)
    else:
        (who, path), _, (_, parent), index, count, interfaces, name, role, description, states = item
        children = []
    if who != bus or path in (ROOT, NULL):
        return None
    return Raw(
        path=path,
        parent=parent,
        index=index,
        count=count,
        interfaces=frozenset(each.rpartition(".")[2] for each in interfaces),
        name=clean_name(name),
        role=atspi_role(role),
        description=clean_name(description),
        states=states_of(states),
        children=[child for _, child in children],
    )


# --- what the cache leaves out ------------------------------------------------------------------------------------


async def _complete(bus: Bus, reading: Harvest) -> None:
    """Put every element below its parent, in order, asking for what the cache does not say."""
    raws = reading.raws
    by_parent: dict[str, list[Raw]] = defaultdict(list)
    for raw in raws.values():
        by_parent[raw.parent].append(raw)
    await _each(bus, reading, [top for top in reading.tops if top not in raws], _fetch)
    frontier = [top for top in reading.tops if top in raws]
    seen: set[str] = set(frontier)
    while frontier and len(raws) < MOST:
        asked: list[str] = []
        for path in frontier:
            raw = raws[path]
            if raw.children:
                continue
            known = sorted(by_parent.get(path, ()), key=lambda each: each.index)
            raw.children = [each.path for each in known]
            ordered = [each.index for each in known] == list(range(len(known)))
            if (len(known) != raw.count and raw.count > 0) or (known and not ordered) or raw.count < 0:
                asked.append(path)
        await _each(bus, reading, asked, _children)
        following = [child for path in frontier for child in raws[path].children if child not in seen]
        following = list(dict.fromkeys(following))
        await _each(bus, reading, [child for child in following if child not in raws], _fetch)
        frontier = [child for child in following if child in raws]
        seen.update(frontier)
    _number(raws)


def _number(raws: dict[str, Raw]) -> None:
    """Give children that did not say so their place among their siblings."""
    for parent in raws.values():
        for place, child in enumerate(parent.children):
            if child in raws and raws[child].index < 0 and parent.count <= len(parent.children):
                raws[child].index = place


async def _children(bus: Bus, reading: Harvest, path: str) -> None:
    raw = reading.raws[path]
    if raw.count > FAMILY and len(raw.children) < raw.count:
        start = await _first_visible(bus, reading, raw)
        paths = await asyncio.gather(
            *(_child(bus, reading, path, i) for i in range(start, min(raw.count, start + FAMILY)))
        )
        raw.children = [each for each in paths if each]
        return
    (found,) = await bus.call(reading.app.bus, path, "Accessible", "GetChildren")
    listed = [child for who, child in found if who == reading.app.bus and child != NULL]
    # What claims this parent without being listed (an open popover of GTK 4) is below it all the same.
    raw.children = listed + [each for each in raw.children if each not in set(listed)]


async def _child(bus: Bus, reading: Harvest, path: str, index: int) -> str:
    (who, child), *_ = await bus.call(reading.app.bus, path, "Accessible", "GetChildAtIndex", "i", index)
    return child if who == reading.app.bus and child != NULL else ""


async def _first_visible(bus: Bus, reading: Harvest, raw: Raw) -> int:
    """The index of the child in the top left corner of a long list; 0 when it does not say."""
    if "Component" not in raw.interfaces:
        return 0
    try:
        ((x, y, _, _),) = await bus.call(reading.app.bus, raw.path, "Component", "GetExtents", "u", 0)
        (who, child), *_ = await bus.call(
            reading.app.bus, raw.path, "Component", "GetAccessibleAtPoint", "iiu", x + 4, y + 4, 0
        )
        if child in (NULL, raw.path) or who != reading.app.bus:
            return 0
        (index,) = await bus.call(reading.app.bus, child, "Accessible", "GetIndexInParent")
    except CallFailed:
        return 0
    return max(0, int(index))


async def _fetch(bus: Bus, reading: Harvest, path: str) -> None:
    """One element that is not in the cache."""
    who = reading.app.bus
    properties, (role,), (states,), (interfaces,) = await asyncio.gather(
        bus.call(who, path, "org.freedesktop.DBus.Properties", "GetAll", "s", "org.a11y.atspi.Accessible"),
        bus.call(who, path, "Accessible", "GetRole"),
        bus.call(who, path, "Accessible", "GetState"),
        bus.call(who, path, "Accessible", "GetInterfaces"),
    )
    known = {key: value.value for key, value in properties[0].items()}
    reading.raws[path] = Raw(
        path=path,
        parent=known.get("Parent", ("", ""))[1],
        index=-1,
        count=int(known.get("ChildCount", -1)),
        interfaces=frozenset(each.rpartition(".")[2] for each in interfaces),
        name=clean_name(str(known.get("Name", ""))),
        role=atspi_role(role),
        description=clean_name(str(known.get("Description", ""))),
        states=states_of(states),
    )


# --- what is asked only of what can be seen -----------------------------------------------------------------------


async def _look(bus: Bus, reading: Harvest) -> None:
    """Rectangles, values and labels of what is on the screen."""
    visible = [raw for top in reading.tops for raw in _visible(reading, top)]
    questions = (each for raw in visible[:MOST_EXTENTS] for each in _questions(bus, reading, raw))
    await _all(reading, questions)


def _visible(reading: Harvest, top: str) -> Iterable[Raw]:
    """A window and what can be seen in it: nothing below an element that is hidden."""
    stack, seen = [top], {top}
    while stack:
        raw = reading.raws[stack.pop()]
        if raw.path != top and not reading.on_screen(raw):
            continue
        yield raw
        fresh = [child for child in raw.children if child in reading.raws and child not in seen]
        seen.update(fresh)
        stack.extend(reversed(fresh))


def _questions(bus: Bus, reading: Harvest, raw: Raw) -> Iterable[Awaitable[None]]:
    if "Component" in raw.interfaces:
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
        if kind == screen:
            raw.screen_extents = rect
        else:
            raw.window_extents = rect


async def _text(bus: Bus, reading: Harvest, raw: Raw) -> None:
    # GTK 4.8 returns nothing for "up to the end" (-1) of a label, but does for a number beyond it.
    (text,) = await bus.call(reading.app.bus, raw.path, "Text", "GetText", "ii", 0, VALUE_LIMIT)
    if not text:
        (text,) = await bus.call(reading.app.bus, raw.path, "Text", "GetText", "ii", 0, -1)
    raw.value = clean_value(text)


async def _value(bus: Bus, reading: Harvest, raw: Raw) -> None:
    number = await bus.get(Handle(reading.app.bus, raw.path), "Value", "CurrentValue")
    raw.value = f"{float(number):g}"


async def _labels(bus: Bus, reading: Harvest, raw: Raw) -> None:
    (relations,) = await bus.call(reading.app.bus, raw.path, "Accessible", "GetRelationSet")
    raw.labelled_by = [path for kind, targets in relations if kind == _LABELLED_BY for _, path in targets]


async def _each(
    bus: Bus, reading: Harvest, paths: Sequence[str], ask: Callable[[Bus, Harvest, str], Awaitable[None]]
) -> None:
    await _all(reading, (ask(bus, reading, path) for path in paths[:MOST]))


async def _all(reading: Harvest, questions: Iterable[Awaitable[None]]) -> None:
    """Ask them all at once. NotAnswering as soon as the app has fallen silent."""
    tasks = [asyncio.ensure_future(_quietly(reading, question)) for question in questions]
    if not tasks:
        return
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


async def _quietly(reading: Harvest, question: Awaitable[None]) -> None:
    """An element that is gone or does not answer in time leaves a gap; the rest is read all the same."""
    try:
        await question
    except TimeoutError:
        reading.silences += 1
        if reading.silences > SILENCES:
            raise NotAnswering(reading.app.name or f"the app with pid {reading.app.pid}") from None
    except (CallFailed, ValueError):  # gone, or an answer of another shape than the interface says
        return
