"""The CLIPBOARD selection: read from whoever owns it, and owned by a thread of ours while it holds what we wrote."""

from __future__ import annotations

import contextlib
import os
import select
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

from xcffib import xproto

from deskhand.desktop.x11 import REPLY_DEADLINE, XConnection
from deskhand.errors import DesktopError, InvalidStep

READ_DEADLINE = 0.5
"""Seconds an owner has to answer, and to send each next piece of a long text."""

_TEXT_TARGETS = ("UTF8_STRING", "text/plain;charset=utf-8", "text/plain", "TEXT")
_SELECTION_NOTIFY = 31  # the core protocol's event code
_READ_TARGETS = ("UTF8_STRING", "STRING")


class XClipboard:
    """The clipboard of an X display. Costs nothing until it is used; `close` ends its thread and connections."""

    def __init__(self, display: str, xauthority: str | None = None) -> None:
        self._display, self._xauthority = display, xauthority
        self._lock = threading.Lock()
        self._owner: _Owner | None = None
        self._closed = False

    def read(self) -> str | None:
        """The clipboard's text; None when it holds none, or when its owner does not answer in half a second."""
        with self._lock:
            self._check_open()
            own = self._owner
            x = XConnection(self._display, self._xauthority)
        try:
            # Ask who owns it: that we do not any more may not have reached our thread yet.
            owner = x.reply(x.core.GetSelectionOwner(x.atom("CLIPBOARD"))).owner
            if own is not None and own.window == owner and own.text is not None:
                return own.text
            return _Reader(x).read() if owner else None
        finally:
            x.close()

    def write(self, text: str) -> None:
        """Put text on the clipboard. It stays until something else is put there or the desktop ends.

        InvalidStep when it is more than the server takes in one piece (megabytes).
        """
        with self._lock:
            self._check_open()
            if self._owner is None:
                self._owner = _Owner(XConnection(self._display, self._xauthority))
            self._owner.offer(text)

    def wait_taken(self, timeout: float) -> bool:
        """Whether somebody asks for the text of the last `write` within ``timeout`` seconds: a paste has read it."""
        with self._lock:
            owner = self._owner
        return owner is not None and owner.taken.wait(timeout)

    def clear(self) -> None:
        """Hold nothing any more, as if nothing had been written."""
        with self._lock:
            owner, self._owner = self._owner, None
        if owner is not None:
            owner.close()

    def close(self) -> None:
        """Give the selection up and end the thread. Idempotent."""
        with self._lock:
            self._closed = True
            owner, self._owner = self._owner, None
        if owner is not None:
            owner.close()

    def _check_open(self) -> None:
        if self._closed:
            raise DesktopError(f"the clipboard of {self._display} is closed")


class _Owner:
    """Answers those who paste what we wrote."""

    def __init__(self, x: XConnection) -> None:
        self.text: str | None = None
        self._x = x
        self.window = _make_window(x)
        self._clipboard = x.atom("CLIPBOARD")
        self._targets = {x.atom(name): "utf-8" for name in _TEXT_TARGETS} | {x.atom("STRING"): "latin-1"}
        self._list, self._timestamp = x.atom("TARGETS"), x.atom("TIMESTAMP")
        self._since = 0
        self._offered: str | None = None
        self._claimed = threading.Event()
        self.taken = threading.Event()
        self._refused = False
        self._ending = threading.Event()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._thread = threading.Thread(target=self._serve, name="deskhand-clipboard", daemon=True)
        self._thread.start()

    def offer(self, text: str) -> None:
        limit = int(self._x.raw.get_maximum_request_length()) * 4 - 1024
        if len(text.encode()) > limit:
            raise InvalidStep(f"the clipboard takes at most {limit} bytes of text")
        self._refused = True
        self._claimed.clear()
        self.taken.clear()
        self._offered = text
        os.eventfd_write(self._wake, 1)
        if not self._claimed.wait(REPLY_DEADLINE) or self._refused:
            raise DesktopError(f"the clipboard of {self._x.display} cannot be had")

    def close(self) -> None:
        self._ending.set()
        os.eventfd_write(self._wake, 1)
        self._thread.join(2.0)
        self._x.close()
        os.close(self._wake)

    def _serve(self) -> None:
        poll = select.poll()
        poll.register(self._x.fd, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        with contextlib.suppress(DesktopError):  # the display has gone: nobody is left to answer
            while not self._ending.is_set():
                while (event := self._x.event()) is not None:
                    self._answer(event)
                if self._offered is not None:
                    self._claim()
                    continue  # what was waited for may have read events that the poll below would not see
                poll.poll()
                with contextlib.suppress(BlockingIOError):
                    os.eventfd_read(self._wake)

    def _claim(self) -> None:
        """Become the owner; in the thread, so that it alone reads this connection's events."""
        text, self._offered = self._offered, None
        since = _server_time(self._x, self.window, self._answer)
        self._x.core.SetSelectionOwner(self.window, self._clipboard, since)
        self._refused = self._x.reply(self._x.core.GetSelectionOwner(self._clipboard)).owner != self.window
        if not self._refused:
            self.text, self._since = text, since
        self._claimed.set()

    def _answer(self, event: Any) -> None:
        if isinstance(event, xproto.SelectionClearEvent):
            if event.time >= self._since:
                self.text = None
        elif isinstance(event, xproto.SelectionRequestEvent):
            property_ = event.property or event.target  # an obsolete client names no property (ICCCM 2.2)
            if not self._put(event.requestor, property_, event.target):
                property_ = 0
            notice = struct.pack(
                "=BxHIIIII8x",
                _SELECTION_NOTIFY,
                0,
                event.time,
                event.requestor,
                event.selection,
                event.target,
                property_,
            )
            self._x.core.SendEvent(False, event.requestor, xproto.EventMask.NoEvent, notice)
            self._x.flush()

    def _put(self, requestor: int, property_: int, target: int) -> bool:
        if self.text is None:
            return False
        if target in self._targets:
            data = self.text.encode(self._targets[target], errors="replace")
            self._x.change_property(requestor, property_, target, 8, data)
            self.taken.set()
        elif target == self._list:
            atoms = [self._list, self._timestamp, *self._targets]
            data = struct.pack(f"={len(atoms)}I", *atoms)
            self._x.change_property(requestor, property_, self._x.atom("ATOM"), 32, data)
        elif target == self._timestamp:
            data = struct.pack("=I", self._since)
            self._x.change_property(requestor, property_, self._x.atom("INTEGER"), 32, data)
        else:
            return False
        return True


class _Reader:
    """Asks the owner once, on a connection that only it uses."""

    def __init__(self, x: XConnection) -> None:
        self._x = x
        self._window = _make_window(x)
        self._property = x.atom("DESKHAND_CLIPBOARD")

    def read(self) -> str | None:
        x = self._x
        clipboard = x.atom("CLIPBOARD")
        for target in _READ_TARGETS:
            x.core.ConvertSelection(
                self._window, clipboard, x.atom(target), self._property, _server_time(x, self._window)
            )
            notice = self._next(xproto.SelectionNotifyEvent)
            if notice is None:
                return None
            if notice.property:
                data = self._take()
                return (
                    None
                    if data is None
                    else data.decode("utf-8" if target != "STRING" else "latin-1", "replace")
                )
        return None

    def _take(self) -> bytes | None:
        kind, data = self._fetch()
        if kind != self._x.atom("INCR"):
            return data
        pieces: list[bytes] = []
        while True:
            while True:  # the next piece is there when the property is set anew (ICCCM 2.7.2)
                notice = self._next(xproto.PropertyNotifyEvent)
                if notice is None:
                    return None
                if notice.atom == self._property and notice.state == xproto.Property.NewValue:
                    break
            _, piece = self._fetch()
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)

    def _fetch(self) -> tuple[int, bytes]:
        whole = 0x1FFFFFFF
        reply = self._x.reply(self._x.core.GetProperty(True, self._window, self._property, 0, 0, whole))
        return reply.type, bytes(reply.value.raw) if reply.type else b""

    def _next(self, kind: type[Any]) -> Any | None:
        end = time.monotonic() + READ_DEADLINE
        while (left := end - time.monotonic()) > 0:
            event = self._x.wait_event(left)
            if isinstance(event, kind):
                return event
        return None


def _make_window(x: XConnection) -> int:
    """An unmapped window of ours, which selections are asked for and owned by."""
    window: int = x.raw.generate_id()
    x.core.CreateWindow(
        0, window, x.root, -1, -1, 1, 1, 0, xproto.WindowClass.InputOnly, 0,
        xproto.CW.EventMask, [xproto.EventMask.PropertyChange],
    )  # fmt: skip
    x.sync()
    return window


def _server_time(x: XConnection, window: int, others: Callable[[Any], None] | None = None) -> int:
    """The server's clock, as ICCCM wants selections stamped: appending nothing to a property reports it."""
    x.core.ChangeProperty(
        xproto.PropMode.Append, window, x.atom("DESKHAND_TIME"), x.atom("INTEGER"), 8, 0, b""
    )
    x.flush()
    end = time.monotonic() + READ_DEADLINE
    while (left := end - time.monotonic()) > 0:
        event = x.wait_event(left)
        if isinstance(event, xproto.PropertyNotifyEvent) and event.atom == x.atom("DESKHAND_TIME"):
            return int(event.time)
        if others is not None and event is not None:
            others(event)
    return 0
