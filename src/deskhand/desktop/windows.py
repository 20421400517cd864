"""Top-level windows through the window manager (EWMH), and the popups that it does not manage."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence

from xcffib import xproto

from deskhand.desktop.facts import window_facts
from deskhand.desktop.x11 import XConnection
from deskhand.errors import TargetError
from deskhand.messages import Point, Rect, WindowInfo

ACTION_DEADLINE = 2.0
"""Seconds a window manager and an app may take to carry out a request; openbox takes milliseconds."""

_PLACING = 0.5
"""Seconds to wait for exactly the place asked for; a window with size steps of its own never takes it."""

_SOURCE_PAGER = 2  # EWMH source indication: a user's tool, which focus-stealing prevention lets through
_ICONIC = 3  # ICCCM WM_CHANGE_STATE
_STATE_ADD, _STATE_REMOVE = 1, 0


class XWindows:
    """The windows of an X display. Rectangles are client areas in screen pixels.

    What is asked of the window manager is waited for, by the events that say it happened.
    """

    def __init__(self, x: XConnection) -> None:
        self._x = x

    # --- looking --------------------------------------------------------------------------------------------------

    def list(self) -> Sequence[WindowInfo]:
        """In stacking order, topmost first; the active one is marked."""
        return window_facts(self._x, self._clients()[::-1], self._active_id())

    def active(self) -> WindowInfo | None:
        """The window that has the window manager's focus."""
        active = self._active_id()
        return self._info(active, active) if active else None

    def at(self, point: Point) -> WindowInfo | None:
        """The topmost window under a point: a client (its frame counts) or a popup; None over the bare desktop."""
        clients = set(self._clients())
        for window, rect, _override in self._toplevels():
            if rect.contains(point):
                client = self._client_in(window, clients)
                info = self._info(client or window, self._active_id())
                if info is not None:
                    return info
        return None

    def popups(self) -> Sequence[WindowInfo]:
        """Menus, tooltips and the like: visible windows that bypass the window manager, topmost first."""
        shown = [
            window
            for window, rect, override in self._toplevels()
            if override and rect.width > 1 and rect.height > 1
        ]
        return window_facts(self._x, shown, 0)

    # --- acting ---------------------------------------------------------------------------------------------------

    def activate(self, window: int) -> None:
        """Raise and focus a window and wait until it is active.

        TargetError ``not_found`` when there is no such window, ``busy`` when it does not come up in time.
        """
        self._require(window)
        if not self._x.cardinals(self._x.root, "_NET_SUPPORTING_WM_CHECK"):
            self._activate_unmanaged(window)
            return
        self._ask(window, "_NET_ACTIVE_WINDOW", (_SOURCE_PAGER, 0, 0, 0, 0))
        self._until(lambda: self._active_id() == window, window, "become active")

    def close(self, window: int) -> None:
        """Ask a window to close, as its close button does. It may ask back, so this does not wait for it to go."""
        self._require(window)
        self._ask(window, "_NET_CLOSE_WINDOW", (0, _SOURCE_PAGER, 0, 0, 0))
        self._x.sync()

    def move_resize(self, window: int, rect: Rect) -> None:
        """Move and resize a window's client area; a window with size steps may take the next size that it can."""
        self._require(window)
        if self._state(window) & self._maximized():
            self._ask(window, "_NET_WM_STATE", (_STATE_REMOVE, *self._maximized_atoms(), _SOURCE_PAGER, 0))
            self._until(
                lambda: not self._state(window) & self._maximized(), window, "leave its maximised state"
            )
        before = self._rect(window)
        static_gravity, x_y_width_height = 10, 0b1111 << 8
        flags = static_gravity | x_y_width_height | _SOURCE_PAGER << 12
        self._ask(
            window,
            "_NET_MOVERESIZE_WINDOW",
            (flags, rect.x & 0xFFFFFFFF, rect.y & 0xFFFFFFFF, rect.width, rect.height),
        )
        if not self._wait(lambda: self._rect(window) == rect, lambda: (window,), _PLACING):
            self._require(window)
            if self._rect(window) == before:
                raise TargetError("busy", f"the window {window:#x} did not move within {_PLACING:g} s")

    def minimize(self, window: int) -> None:
        """Iconify a window and wait until it is."""
        self._require(window)
        self._ask(window, "WM_CHANGE_STATE", (_ICONIC, 0, 0, 0, 0))
        self._until(lambda: self._x.cardinals(window, "WM_STATE")[:1] == (_ICONIC,), window, "be minimised")

    def maximize(self, window: int) -> None:
        """Maximise a window both ways and wait until it is."""
        self._require(window)
        self._ask(window, "_NET_WM_STATE", (_STATE_ADD, *self._maximized_atoms(), _SOURCE_PAGER, 0))
        self._until(lambda: self._maximized() <= self._state(window), window, "be maximised")

    def wait_for(self, match: Callable[[WindowInfo], bool], timeout: float) -> WindowInfo | None:
        """The first window, topmost first, that matches; waits for one at most ``timeout`` seconds. None: none came."""
        found: list[WindowInfo] = []

        def look() -> bool:
            found[:] = [info for info in self.list() if match(info)]
            return bool(found)

        return found[0] if self._wait(look, self._clients, timeout) else None

    # --- what a window is -----------------------------------------------------------------------------------------

    def _clients(self) -> tuple[int, ...]:
        root = self._x.root
        return self._x.cardinals(root, "_NET_CLIENT_LIST_STACKING") or self._x.cardinals(
            root, "_NET_CLIENT_LIST"
        )

    def _active_id(self) -> int:
        return next(iter(self._x.cardinals(self._x.root, "_NET_ACTIVE_WINDOW")), 0)

    def _info(self, window: int, active: int) -> WindowInfo | None:
        return next(iter(window_facts(self._x, (window,), active)), None)

    def _rect(self, window: int) -> Rect | None:
        core = self._x.core
        with self._x.lock:
            geometry, place = self._x.replies(
                [core.GetGeometry(window), core.TranslateCoordinates(window, self._x.root, 0, 0)]
            )
        if geometry is None or place is None:
            return None
        return Rect(place.dst_x, place.dst_y, geometry.width, geometry.height)

    def _state(self, window: int) -> frozenset[int]:
        return frozenset(self._x.cardinals(window, "_NET_WM_STATE"))

    def _maximized_atoms(self) -> tuple[int, int]:
        return self._x.atom("_NET_WM_STATE_MAXIMIZED_HORZ"), self._x.atom("_NET_WM_STATE_MAXIMIZED_VERT")

    def _maximized(self) -> frozenset[int]:
        return frozenset(self._maximized_atoms())

    def _toplevels(self) -> Sequence[tuple[int, Rect, bool]]:
        """The root's visible children, topmost first: id, outer rectangle, whether it bypasses the window manager."""
        core = self._x.core
        with self._x.lock:
            children = tuple(self._x.reply(core.QueryTree(self._x.root)).children)
            attributes = self._x.replies([core.GetWindowAttributes(child) for child in children])
            geometries = self._x.replies([core.GetGeometry(child) for child in children])
        found = []
        for child, attribute, geometry in zip(children, attributes, geometries, strict=True):
            if attribute is None or geometry is None or attribute.map_state != xproto.MapState.Viewable:
                continue
            if attribute._class != xproto.WindowClass.InputOutput:
                continue
            border = 2 * geometry.border_width
            rect = Rect(geometry.x, geometry.y, geometry.width + border, geometry.height + border)
            found.append((child, rect, bool(attribute.override_redirect)))
        return found[::-1]

    def _client_in(self, window: int, clients: set[int]) -> int | None:
        """The managed window in a frame (at most two levels down, as window managers nest them)."""
        level = [window]
        for _ in range(3):
            for candidate in level:
                if candidate in clients:
                    return candidate
            with self._x.lock:
                trees = self._x.replies([self._x.core.QueryTree(candidate) for candidate in level])
            level = [child for tree in trees if tree is not None for child in tree.children]
        return None

    # --- asking and waiting ---------------------------------------------------------------------------------------

    def _require(self, window: int) -> None:
        if self._rect(window) is None:
            raise TargetError("not_found", f"there is no window {window:#x} any more")

    def _ask(self, window: int, message: str, data: tuple[int, ...]) -> None:
        """Send a client message about ``window`` to the window manager."""
        event = struct.pack("=BBHII5I", 33, 32, 0, window, self._x.atom(message), *data)
        mask = xproto.EventMask.SubstructureNotify | xproto.EventMask.SubstructureRedirect
        with self._x.lock:
            self._x.core.SendEvent(False, self._x.root, mask, event)
            self._x.flush()

    def _activate_unmanaged(self, window: int) -> None:
        """Without a window manager (an attached bare display): raise and focus by hand."""
        with self._x.lock:
            self._x.core.ConfigureWindow(window, xproto.ConfigWindow.StackMode, [xproto.StackMode.Above])
            self._x.core.SetInputFocus(xproto.InputFocus.PointerRoot, window, 0)
            self._x.sync()

    def _until(self, done: Callable[[], bool], window: int, what: str) -> None:
        def look() -> bool:
            self._require(window)
            return done()

        if not self._wait(look, lambda: (window,), ACTION_DEADLINE):
            raise TargetError("busy", f"the window {window:#x} did not {what} within {ACTION_DEADLINE:g} s")

    def _wait(self, look: Callable[[], bool], windows: Callable[[], Sequence[int]], timeout: float) -> bool:
        """Whether ``look`` became true. Looks again when something of the root or of these windows changes."""
        end = time.monotonic() + timeout
        if look():
            return True
        watcher = XConnection(self._x.display, self._x.xauthority)
        watched: set[int] = set()
        try:
            _watch(watcher, watcher.root)
            while True:
                for window in windows():
                    if window not in watched:
                        watched.add(window)
                        _watch(watcher, window)
                watcher.sync()
                if look():
                    return True
                left = end - time.monotonic()
                if left <= 0:
                    return False
                watcher.wait_event(left)
        finally:
            watcher.close()


def _watch(x: XConnection, window: int) -> None:
    mask = xproto.EventMask.PropertyChange
    if window != x.root:
        mask |= xproto.EventMask.StructureNotify
    x.core.ChangeWindowAttributes(window, xproto.CW.EventMask, [mask])
