"""AT-SPI2 on the wire: one D-Bus connection, a deadline on every call, a bounded number in flight. No libatspi.

libatspi binds a process to one bus for good and waits 15 s for a frozen app; this does neither. Interface, method and
state names are those of at-spi2-core's XML and ``atspi-constants.h``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from deskhand.errors import DesktopError, TargetError
from deskhand.observers.patience import Patience

if TYPE_CHECKING:
    from dbus_fast import Message
    from dbus_fast.aio import MessageBus

PREFIX: Final = "org.a11y.atspi."
REGISTRY: Final = "org.a11y.atspi.Registry"
ROOT: Final = "/org/a11y/atspi/accessible/root"
CACHE: Final = "/org/a11y/atspi/cache"
NULL: Final = "/org/a11y/atspi/null"

IN_FLIGHT: Final = 32
"""Calls on their way at once. dbus-fast loses its socket with hundreds; 32 keep any app busy."""

_STATE_BITS: Final = {
    "active": 1,
    "busy": 3,
    "checked": 4,
    "collapsed": 5,
    "defunct": 6,
    "editable": 7,
    "enabled": 8,
    "expandable": 9,
    "expanded": 10,
    "focusable": 11,
    "focused": 12,
    "modal": 16,
    "multiline": 17,
    "pressed": 20,
    "selectable": 22,
    "selected": 23,
    "sensitive": 24,
    "showing": 25,
    "visible": 30,
    "manages_descendants": 31,
    "mixed": 32,
    "required": 33,
    "invalid": 36,
    "checkable": 41,
    "readonly": 43,
}


class CallFailed(Exception):
    """The other side answered with an error; ``name`` is the D-Bus error name."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name

    @property
    def gone(self) -> bool:
        """Whether it means that the object or the app is no longer there."""
        last = self.name.rpartition(".")[2]
        return last in ("UnknownObject", "ServiceUnknown", "NameHasNoOwner", "UnknownMethod", "NoReply")


class NotAnswering(TargetError):
    """An app did not answer within the deadline: it is busy, frozen or stopped."""

    def __init__(self, who: str) -> None:
        super().__init__("busy", f"{who} is not answering (busy or frozen): wait for it, then observe again")


@dataclass(frozen=True, slots=True)
class Handle:
    """Where an element lives: its app's bus name and its object path. What else is known of it is not compared."""

    bus: str
    path: str
    pid: int = field(default=0, compare=False)
    interfaces: frozenset[str] = field(default=frozenset(), compare=False)
    """Without the common prefix: ``Action``, ``Text``…"""
    parent: str = field(default="", compare=False)
    toolkit: str = field(default="", compare=False)
    index: int = field(default=-1, compare=False)
    """Its place among its parent's children; -1 when the app did not say."""
    size: int = field(default=0, compare=False)
    """How many children it has, of which not all need have been read."""


def states_of(words: list[int]) -> frozenset[str]:
    """The names (as in `_STATE_BITS`) of the states in AT-SPI's two 32-bit words."""
    bits = words[0] | (words[1] << 32 if len(words) > 1 else 0)
    return frozenset(name for name, bit in _STATE_BITS.items() if bits >> bit & 1)


class Bus:
    """A connection to one accessibility bus."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._bus: MessageBus | None = None
        self._window = asyncio.Semaphore(IN_FLIGHT)
        self._patience = Patience()

    async def connect(self, timeout: float = 2.0) -> None:
        """Connect. DesktopError when nobody listens there."""
        from dbus_fast.aio import MessageBus

        try:
            async with asyncio.timeout(timeout):
                self._bus = await MessageBus(bus_address=self._address).connect()
        except Exception as error:  # the library's own, OSError, a time-out: all mean the same here
            raise DesktopError(f"the accessibility bus cannot be reached: {error!r}") from error

    @property
    def connected(self) -> bool:
        return self._bus is not None and self._bus.connected

    def listen(self, heard: Callable[[Message], None]) -> None:
        """Call ``heard`` with every message that comes in from now on. DesktopError when the bus is gone."""
        if self._bus is None:
            raise DesktopError("the accessibility bus is gone")
        self._bus.add_message_handler(heard)

    async def call(
        self,
        bus: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        *body: Any,
        timeout: float | None = None,
    ) -> list[Any]:
        """One call; ``interface`` without a dot is one of AT-SPI's. Returns the body of the answer.

        CallFailed for an error, TimeoutError when no answer came in ``timeout`` seconds (waiting for a free place is
        not counted; None: the app has said nothing at all for `patience.SILENT`), DesktopError when the bus is gone.
        """
        from dbus_fast import Message, MessageType

        if self._bus is None or not self._bus.connected:
            raise DesktopError("the accessibility bus is gone")
        message = Message(
            destination=bus,
            path=path,
            interface=interface if "." in interface else PREFIX + interface,
            member=member,
            signature=signature,
            body=list(body),
        )
        async with self._window:
            question = None
            try:
                async with asyncio.timeout(None) as limit:
                    question = self._patience.begin(bus, limit, timeout)
                    answer = await self._bus.call(message)
                self._patience.heard(bus)
            except (EOFError, OSError) as error:
                if isinstance(error, TimeoutError):
                    raise
                raise DesktopError(f"the accessibility bus is gone: {error!r}") from error
            finally:
                if question is not None:
                    self._patience.end(question)
        if answer is None:
            raise CallFailed("org.freedesktop.DBus.Error.NoReply", "no answer")
        if answer.message_type == MessageType.ERROR:
            text = str(answer.body[0]) if answer.body else ""
            raise CallFailed(str(answer.error_name), text[:200])
        return list(answer.body)

    async def get(self, handle: Handle, interface: str, name: str, timeout: float | None = None) -> Any:
        """A property's value."""
        body = await self.call(
            handle.bus,
            handle.path,
            "org.freedesktop.DBus.Properties",
            "Get",
            "ss",
            PREFIX + interface,
            name,
            timeout=timeout,
        )
        return body[0].value

    async def aclose(self) -> None:
        """Disconnect. Idempotent."""
        bus, self._bus = self._bus, None
        if bus is not None and bus.connected:
            bus.disconnect()
            await asyncio.wait({asyncio.ensure_future(_gone(bus))}, timeout=0.5)


async def _gone(bus: MessageBus) -> None:
    try:
        await bus.wait_for_disconnect()  # type: ignore[no-untyped-call]
    except Exception:  # how it ended does not matter: it has ended
        return
