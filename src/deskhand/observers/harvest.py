"""Reading one app's native tree: its cache in one call, then what the cache leaves out, many calls in flight."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

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
from deskhand.observers.details import LISTS, look_closely
from deskhand.observers.ghosts import banish_ghosts
from deskhand.observers.node import clean_name
from deskhand.observers.raw import App, Harvest, Raw, ask_all, ask_each
from deskhand.observers.roles import atspi_role
from deskhand.observers.sight import FAMILY, in_sight

MOST: Final = 20_000
"""Elements of one app that are kept."""

_CACHE_DEADLINE: Final = 2.0
_TOP_ROLES: Final = frozenset({"frame", "window", "dialog", "alert"})


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
    await look_closely(bus, reading)
    await banish_ghosts(bus, reading)
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
    await ask_each(bus, reading, [top for top in reading.tops if top not in raws], _fetch)
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
        await ask_each(bus, reading, asked, _children)
        following = [child for path in frontier for child in raws[path].children if child not in seen]
        following = list(dict.fromkeys(following))
        await ask_each(bus, reading, [child for child in following if child not in raws], _fetch)
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
    if raw.count < 0 and raw.role in LISTS:  # GTK 3 does not say; it may be any number of cells
        raw.count = int(await bus.get(Handle(reading.app.bus, path), "Accessible", "ChildCount"))
    if raw.count > FAMILY and len(raw.children) < raw.count:
        wanted, alike = await in_sight(bus, reading, raw)
        paths = await asyncio.gather(*(_child(bus, reading, path, i) for i in wanted))
        raw.children = [each for each in paths if each]
        if alike and raw.children:
            await _fetch(bus, reading, raw.children[0])
            cell = reading.raws[raw.children[0]]
            await ask_all(reading, (_fetch_like(bus, reading, each, cell) for each in raw.children[1:]))
        return
    (found,) = await bus.call(reading.app.bus, path, "Accessible", "GetChildren")
    listed = [child for who, child in found if who == reading.app.bus and child != NULL]
    # What claims this parent without being listed (an open popover of GTK 4) is below it all the same.
    raw.children = listed + [each for each in raw.children if each not in set(listed)]


async def _child(bus: Bus, reading: Harvest, path: str, index: int) -> str:
    (who, child), *_ = await bus.call(reading.app.bus, path, "Accessible", "GetChildAtIndex", "i", index)
    return child if who == reading.app.bus and child != NULL else ""


async def _fetch(bus: Bus, reading: Harvest, path: str) -> None:
    """One element that is not in the cache."""
    who = reading.app.bus
    known, (role,), (states,), (interfaces,) = await asyncio.gather(
        _properties(bus, reading.app, path),
        bus.call(who, path, "Accessible", "GetRole"),
        bus.call(who, path, "Accessible", "GetState"),
        bus.call(who, path, "Accessible", "GetInterfaces"),
    )
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


async def _properties(bus: Bus, app: App, path: str) -> dict[str, Any]:
    """What an element is called and where it hangs; what cannot be had is left out."""
    if app.toolkit and not app.toolkit.startswith("Qt"):
        (found,) = await bus.call(
            app.bus, path, "org.freedesktop.DBus.Properties", "GetAll", "s", "org.a11y.atspi.Accessible"
        )
        return {key: value.value for key, value in found.items()}
    # Qt 5.15 dies of GetAll (seen with Debian's 5.15.8), so that it is not asked of what may be Qt.
    element = Handle(app.bus, path)
    names = ("Name", "Description", "Parent", "ChildCount")
    values = await asyncio.gather(*(bus.get(element, "Accessible", name) for name in names))
    return dict(zip(names, values, strict=True))


async def _fetch_like(bus: Bus, reading: Harvest, path: str, like: Raw) -> None:
    """One cell of a sheet: only what it says and its states are its own."""
    who = reading.app.bus
    name, (states,) = await asyncio.gather(
        bus.get(Handle(who, path), "Accessible", "Name"), bus.call(who, path, "Accessible", "GetState")
    )
    reading.raws[path] = Raw(
        path=path,
        parent=like.parent,
        index=-1,
        count=0,
        interfaces=like.interfaces,
        name=clean_name(str(name)),
        role=like.role,
        description="",
        states=states_of(states),
    )
