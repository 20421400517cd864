"""What an app says of its elements, as it says it; and asking many things of one app at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from deskhand.messages import Rect
from deskhand.observers.atspi import Bus, CallFailed, NotAnswering

SILENCES: Final = 3
"""Unanswered calls after which an app counts as not answering."""


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
    nowhere: bool = False
    """Whether it says that it stands nowhere: it is not drawn."""
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


async def ask_each(
    bus: Bus, reading: Harvest, paths: Sequence[str], ask: Callable[[Bus, Harvest, str], Awaitable[None]]
) -> None:
    await ask_all(reading, (ask(bus, reading, path) for path in paths))


async def ask_all(reading: Harvest, questions: Iterable[Awaitable[None]]) -> None:
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
