"""One connection to one X display: replies with a deadline, atoms, properties, the marker that tells displays apart."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import xcffib
import xcffib.xproto
from xcffib import lib, xproto
from xcffib.ffi import ffi

from deskhand.errors import DesktopError

MARKER = "_DESKHAND_DESKTOP"
"""Root property that names a private desktop; see `XConnection.check_marker`."""

_CHANGE_PROPERTY = 18  # opcode

REPLY_DEADLINE = 5.0
"""Seconds a live X server may take for one reply. Xvfb answers in well under a millisecond; this is a hung one."""


class _Authorized(xcffib.Connection):
    """A connection that shows a cookie.

    xcffib's own ``auth=`` frees the name and the cookie before libxcb has read them, and takes none with a colon in it.
    """

    def __init__(self, display: str, name: bytes, data: bytes) -> None:
        self._kept = ffi.new("char[]", name), ffi.new("char[]", data)
        info = ffi.new("xcb_auth_info_t *")
        info.name, info.namelen = self._kept[0], len(name)
        info.data, info.datalen = self._kept[1], len(data)
        screen = ffi.new("int *")
        self._conn = lib.xcb_connect_to_display_with_auth_info(display.encode(), info, screen)
        self.pref_screen = screen[0]
        self.invalid()  # type: ignore[no-untyped-call]
        self._init_x()  # type: ignore[no-untyped-call]


class _Requests:
    """The requests of the core protocol or an extension, under their connection's lock and with our errors."""

    def __init__(self, x: XConnection, requests: Any) -> None:
        self._x, self._requests = x, requests

    def __getattr__(self, name: str) -> Any:
        request = getattr(self._requests, name)

        @functools.wraps(request)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            with self._x.lock, self._x.translated():
                self._x.check_open()
                return request(*args, **kwargs)

        setattr(self, name, guarded)
        return guarded


def read_cookie(display: str, xauthority: str) -> tuple[bytes, bytes]:
    """Protocol name and data for ``display`` in an Xauthority file (format: XauFileEntry of libXau, big endian).

    DesktopError when the file cannot be read or has no entry for that display.
    """
    number = display.rpartition(":")[2].partition(".")[0].encode()
    try:
        data = Path(xauthority).read_bytes()
    except OSError as error:
        raise DesktopError(f"cannot read the X authority file {xauthority}: {error.strerror}") from error
    offset = 0

    def counted() -> bytes:
        nonlocal offset
        (length,) = struct.unpack_from(">H", data, offset)
        offset += 2 + length
        return data[offset - length : offset]

    with contextlib.suppress(struct.error):
        while offset < len(data):
            offset += 2  # the address family: one desktop's own file holds no other host's entries
            _address, entry, name, cookie = counted(), counted(), counted(), counted()
            if entry in (number, b"") and name == b"MIT-MAGIC-COOKIE-1":
                return name, cookie
    raise DesktopError(f"{xauthority} holds no cookie for display {display}")


class XConnection:
    """A connection of our own to ``display``, used by one thread at a time under ``lock``.

    ``xauthority`` names the cookie file, read here (None: whatever libxcb finds for this user). With ``marker`` the
    display's root must carry that marker: a mix-up of display numbers is an error and never a wrong click.
    DesktopError when the display cannot be reached, refuses us, or is another one.
    """

    def __init__(self, display: str, xauthority: str | None = None, marker: str | None = None) -> None:
        self.display, self.xauthority = display, xauthority
        self.lock = threading.RLock()
        self._atoms: dict[str, int] = {}
        self._extensions: dict[str, _Requests] = {}
        self._closed = False
        try:
            self.raw: Any = (
                _Authorized(display, *read_cookie(display, xauthority))
                if xauthority
                else xcffib.connect(display)  # type: ignore[no-untyped-call]
            )
        except xcffib.ConnectionException as error:
            raise DesktopError(f"cannot connect to the X display {display}") from error
        raw: Any = self.raw
        self.setup: Any = raw.setup
        self.core: Any = _Requests(self, raw.core)
        self.root: int = self.setup.roots[self.raw.pref_screen].root
        self._fd: int = self.raw.get_file_descriptor()
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)
        if marker is not None:
            try:
                self.check_marker(marker)
            except DesktopError:
                self.close()
                raise

    # --- requests ----------------------------------------------------------------------------------------------

    def extension(self, module: ModuleType) -> Any:
        """An extension by its xcffib module (``xcffib.xtest``, …). DesktopError when the server lacks it."""
        key: Any = module.key
        with self.lock:
            if module.__name__ in self._extensions:
                return self._extensions[module.__name__]
            if not self.has(module):
                raise DesktopError(f"the X display {self.display} has no {key.name} extension")
            return self._extensions.setdefault(module.__name__, _Requests(self, self.raw(key)))

    def has(self, module: ModuleType) -> bool:
        """Whether the server has this extension."""
        key: Any = module.key
        return bool(self.reply(self.core.QueryExtension(len(key.name), key.name)).present)

    def reply(self, cookie: Any, deadline: float = REPLY_DEADLINE) -> Any:
        """Wait for a reply, or for the check of a request without one. DesktopError when it fails or is late.

        An X error is raised as `DesktopError` whose cause is xcffib's error (a window that is gone, say).
        """
        with self.lock, self.translated():
            # The request may have been made before we had the lock, and its answer already read by whoever had it:
            # the marker's cannot have been, so there is always something to wait for. It comes after the request's.
            marker = self.core.GetInputFocus()
            self._answered(deadline)
            found = cookie.reply() if cookie.reply_type is not None else cookie.check()
            marker.reply()
            return found

    def replies(self, cookies: Sequence[Any], deadline: float = REPLY_DEADLINE) -> list[Any | None]:
        """The replies of requests that were sent together, in order; None for one that failed."""
        found: list[Any | None] = []
        with self.lock, self.translated():
            marker = self.core.GetInputFocus()  # as in `reply`
            self._answered(deadline)
            for cookie in cookies:
                try:
                    found.append(cookie.reply())
                except xcffib.ConnectionException:
                    raise
                except xcffib.XcffibException:
                    found.append(None)
            marker.reply()
        return found

    def _answered(self, deadline: float) -> None:
        """Send what is queued and wait for the server to say something.

        libxcb waits without a bound. What it reads comes through this fd and only under our lock, so the fd turning
        readable first is what keeps its wait short.
        """
        self._flush()
        if not self._poll.poll(deadline * 1000):
            raise DesktopError(f"the X display {self.display} has not answered for {deadline:g} s")

    def flush(self) -> None:
        """Send what is queued."""
        with self.lock, self.translated():
            self._flush()

    def _flush(self) -> None:
        self.check_open()
        self.raw.flush()

    def check_open(self) -> None:
        """DesktopError when it was closed."""
        if self._closed:
            raise DesktopError(f"the connection to {self.display} is closed")

    def sync(self, deadline: float = REPLY_DEADLINE) -> None:
        """Return once the server has carried out everything sent before."""
        with self.lock, self.translated():
            marker = self.core.GetInputFocus()
            self._answered(deadline)
            marker.reply()

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """xcffib's errors, as ours."""
        try:
            yield
        except xcffib.ConnectionException as error:
            raise DesktopError(f"the X display {self.display} is gone") from error
        except xcffib.XcffibException as error:
            why = str(error) or type(error).__name__.removesuffix("Error")
            raise DesktopError(f"the X display {self.display} refused a request: {why}") from error

    # --- atoms and properties -----------------------------------------------------------------------------------

    def atom(self, name: str) -> int:
        """The atom of a name, interned once."""
        with self.lock:
            if name not in self._atoms:
                self._atoms[name] = self.reply(self.core.InternAtom(False, len(name), name)).atom
            return self._atoms[name]

    def atom_name(self, atom: int) -> str:
        """The name of an atom, empty for none."""
        return self.reply(self.core.GetAtomName(atom)).name.to_string() if atom else ""

    def property_request(self, window: int, atom: int) -> Any:
        """Ask for a window's property (at most 1 MiB), for `reply` or `replies`."""
        return self.core.GetProperty(False, window, atom, xproto.GetPropertyType.Any, 0, 1 << 18)

    def get_property(self, window: int, name: str) -> bytes | None:
        """A window's property as raw bytes (at most 1 MiB); None when it or the window is not there."""
        return _value(self._property(window, name))

    def cardinals(self, window: int, name: str) -> tuple[int, ...]:
        """A property of format 32 as integers; empty when it is not there."""
        return as_cardinals(self._property(window, name))

    def text(self, window: int, name: str) -> str:
        """A text property (UTF-8, Latin-1 where it is not); empty when it is not there."""
        return as_text(self._property(window, name))

    def _property(self, window: int, name: str) -> Any | None:
        try:
            return self.reply(self.property_request(window, self.atom(name)))
        except DesktopError as error:
            if isinstance(error.__cause__, xproto.WindowError):
                return None
            raise

    def set_property(self, window: int, name: str, kind: str, width: int, data: bytes) -> None:
        """Replace a property; ``width`` is 8 or 32 bits per item."""
        self.change_property(window, self.atom(name), self.atom(kind), width, data)
        self.sync()

    def change_property(self, window: int, name: int, kind: int, width: int, data: bytes) -> None:
        """The same by atoms and without waiting. Packed here: xcffib takes a third of a second for a megabyte."""
        head = struct.pack(
            "=xB2xIIIB3xI", xproto.PropMode.Replace, window, name, kind, width, len(data) * 8 // width
        )
        self.core.send_request(_CHANGE_PROPERTY, io.BytesIO(head + data))

    def set_marker(self, marker: str) -> None:
        """Name this display, for `check_marker`."""
        self.set_property(self.root, MARKER, "UTF8_STRING", 8, marker.encode())

    def check_marker(self, marker: str) -> None:
        """DesktopError unless this display carries ``marker``."""
        if self.get_property(self.root, MARKER) != marker.encode():
            raise DesktopError(
                f"{self.display} is not the display that was opened: nothing was captured or typed"
            )

    # --- geometry -----------------------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen in pixels, as they are now."""
        geometry = self.reply(self.core.GetGeometry(self.root))
        return geometry.width, geometry.height

    # --- events -------------------------------------------------------------------------------------------------

    @property
    def fd(self) -> int:
        """The connection's socket, for waiting on it together with others."""
        return self._fd

    def event(self) -> Any | None:
        """The next event that is here already, or None. Late X errors of unchecked requests are dropped."""
        while True:
            with self.lock, self.translated():
                self._flush()
                try:
                    return self.raw.poll_for_event()
                except xcffib.ConnectionException:
                    raise
                except xcffib.XcffibException:
                    continue

    def wait_event(self, timeout: float) -> Any | None:
        """The next event, waiting at most ``timeout`` seconds for it; only for connections that one thread uses."""
        end = time.monotonic() + timeout
        while (found := self.event()) is None:
            left = end - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                return self.event()
        return found

    # --- the end ------------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Make whoever is blocked on this connection, even on a hung server, return with an error. Any thread."""
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._fd)) as twin:
            twin.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection. Idempotent; does not wait for a server that hangs."""
        if self._closed:
            return
        if not self.lock.acquire(timeout=0.2):
            self.interrupt()
            self.lock.acquire()
        try:
            if not self._closed:
                self._closed = True
                self.raw.disconnect()
        finally:
            self.lock.release()


def as_cardinals(reply: Any | None) -> tuple[int, ...]:
    """The integers in the reply to a `property_request`; empty when there was no such property or window."""
    data = _value(reply) or b""
    return struct.unpack(f"={len(data) // 4}I", data[: len(data) // 4 * 4])


def as_text(reply: Any | None) -> str:
    """The text (UTF-8, Latin-1 where it is not) in the reply to a `property_request`; empty when there was none."""
    data = (_value(reply) or b"").rstrip(b"\0")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _value(reply: Any | None) -> bytes | None:
    return bytes(reply.value.raw) if reply is not None and reply.type else None
