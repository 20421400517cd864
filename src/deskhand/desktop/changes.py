"""What was painted, told by the X server (DAMAGE), at no cost while the screen is still."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Sequence

import xcffib.damage
import xcffib.xfixes

from deskhand.desktop.x11 import XConnection
from deskhand.errors import DesktopError
from deskhand.messages import Rect

BUSY_CURSORS = frozenset({"wait", "watch", "progress", "left_ptr_watch", "half-busy", "busy"})
"""Names, by the freedesktop cursor specification and older themes, of a pointer that says: working."""


class DamageChanges:
    """Paint reports of a whole display, on a connection of their own.

    The server is asked for ``NonEmpty`` reports and keeps the region itself, so that a flood of painting (a full-screen
    video, 12,000 rectangles a second) costs one small exchange per look and nothing in between.
    """

    def __init__(self, display: str, xauthority: str | None = None, marker: str | None = None) -> None:
        self._x = XConnection(display, xauthority, marker)
        self._lock = threading.Lock()
        self._waiting = threading.Lock()
        self._closed = False
        self._painted = False
        self._cursor = 0
        """The atom of the pointer's name, told by the server whenever it changes; 0 when it has none."""
        self._names: dict[int, str] = {0: ""}
        self._woken = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        try:
            self._damage_ext = self._x.extension(xcffib.damage)
            self._fixes = self._x.extension(xcffib.xfixes)
            self._x.reply(self._damage_ext.QueryVersion(1, 1))
            self._x.reply(self._fixes.QueryVersion(5, 0))
            self._parts = self._x.raw.generate_id()
            self._damage = self._x.raw.generate_id()
            self._fixes.CreateRegion(self._parts, 0, [])
            self._damage_ext.Create(self._damage, self._x.root, xcffib.damage.ReportLevel.NonEmpty)
            # A new damage counts everything as painted: start from nothing.
            self._damage_ext.Subtract(self._damage, 0, 0)
            self._fixes.SelectCursorInput(self._x.root, xcffib.xfixes.CursorNotifyMask.DisplayCursor)
            self._cursor = self._x.reply(self._fixes.GetCursorImageAndName()).cursor_atom
        except BaseException:
            self.close()
            raise

    def collect(self) -> Sequence[Rect]:
        """The rectangles painted since the last call, at once and without waiting. Painted does not mean changed."""
        with self._lock:
            self._drain()
            if not self._painted:
                return ()
            self._painted = False
            self._damage_ext.Subtract(self._damage, 0, self._parts)
            region = self._x.reply(self._fixes.FetchRegion(self._parts))
            return tuple(Rect(r.x, r.y, r.width, r.height) for r in region.rectangles)

    def wait(self, timeout: float) -> bool:
        """Block until something is painted or ``timeout`` seconds have passed; True when something was.

        `wake` ends it early, with False. DesktopError when the display is gone.
        """
        with self._waiting:
            return self._wait(time.monotonic() + timeout)

    def _wait(self, end: float) -> bool:
        poll = select.poll()
        poll.register(self._x.fd, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        while True:
            with self._lock:
                self._drain()
                if self._painted:
                    return True
            left = end - time.monotonic()
            if left <= 0:
                return False
            ready = {fd for fd, _ in poll.poll(left * 1000)}
            if self._woken in ready:
                if not self._closed:  # or else left raised, for `close` to know that nobody waits
                    os.eventfd_read(self._woken)
                return False

    def wake(self) -> None:
        """End a `wait` in another thread."""
        if not self._closed:
            os.eventfd_write(self._woken, 1)

    def busy(self) -> bool:
        """Whether the pointer shows a busy cursor (a toolkit's ``wait``, ``watch`` or ``progress``)."""
        with self._lock:
            self._drain()
            if self._cursor not in self._names:
                self._names[self._cursor] = self._x.atom_name(self._cursor)
            return self._names[self._cursor] in BUSY_CURSORS

    def close(self) -> None:
        """Close the connection; a `wait` in another thread ends. Idempotent."""
        if self._closed:
            return
        self._closed = True
        os.eventfd_write(self._woken, 1)
        with self._waiting, self._lock:
            self._x.close()
            os.close(self._woken)

    def _drain(self) -> None:
        """Note what the server reported. DesktopError when it is gone."""
        if self._closed:
            raise DesktopError(f"the change reports of {self._x.display} are closed")
        while (event := self._x.event()) is not None:
            if isinstance(event, xcffib.damage.NotifyEvent):
                self._painted = True
            elif isinstance(event, xcffib.xfixes.CursorNotifyEvent):
                self._cursor = event.name
