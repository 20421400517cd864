"""Which elements of native apps say that they are busy: told by the apps, asked again only while one holds an act."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Final

from deskhand.errors import DesktopError
from deskhand.observers.atspi import REGISTRY, Bus, CallFailed, states_of

if TYPE_CHECKING:
    from dbus_fast import Message

_EVENT: Final = "object:state-changed:busy"
_RULE: Final = "type='signal',interface='org.a11y.atspi.Event.Object',member='StateChanged',arg0='busy'"
_CHECKED_S: Final = 0.15
"""Seconds between two checks that what has said it is busy is still there: it can vanish without taking it back."""
_MANY: Final = 64

Element = tuple[str, str]
"""Bus name and object path."""


class NativeBusy:
    """A signal of the settle engine: whether an element has become busy since the act began.

    Written by the event loop, asked from any thread. Between acts it says nothing.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._busy: frozenset[Element] = frozenset()
        self._before: frozenset[Element] | None = None
        self._checked = 0.0
        self._checking: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def watch(self) -> None:
        """Follow the apps of the bus from now on. CallFailed or TimeoutError when that is refused."""
        self._loop = asyncio.get_running_loop()
        self._bus.listen(self._heard)
        await self._bus.call(
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus",
            "AddMatch",
            "s",
            _RULE,
            timeout=2.0,
        )
        await self._bus.call(
            REGISTRY,
            "/org/a11y/atspi/registry",
            "Registry",
            "RegisterEvent",
            "sass",
            _EVENT,
            [],
            "",
            timeout=2.0,
        )

    def act_begins(self) -> None:
        """What is busy now says nothing of the act."""
        self._before = self._busy

    def act_ends(self) -> None:
        """Nobody waits any more."""
        self._before = None

    def __call__(self) -> bool:
        """Whether something that was not busy as the act began is so now."""
        if self._before is None or not self._busy - self._before:
            return False
        now = time.monotonic()
        if now - self._checked >= _CHECKED_S and self._loop is not None:
            self._checked = now
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._check)
        return True

    async def aclose(self) -> None:
        """Let go of a check that is under way. Idempotent."""
        self._busy = frozenset()
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.wait({self._checking})

    def _heard(self, message: Message) -> None:
        if message.member != "StateChanged" or len(message.body) < 2 or message.body[0] != "busy":
            return
        element = str(message.sender), str(message.path)
        if not message.body[1]:
            self._busy -= {element}
        elif len(self._busy) < _MANY:
            self._busy |= {element}

    def _check(self) -> None:
        if self._checking is None or self._checking.done():
            self._checking = asyncio.ensure_future(self._ask_again())

    async def _ask_again(self) -> None:
        for element in self._busy:
            if not await self._there(*element):
                self._busy -= {element}

    async def _there(self, app: str, path: str) -> bool:
        """Whether it exists. An app that does not answer is at work."""
        try:
            (words,) = await self._bus.call(app, path, "Accessible", "GetState", timeout=0.3)
        except TimeoutError:
            return True
        except (CallFailed, DesktopError):
            return False
        return "defunct" not in states_of(words)
