"""Pointer and keyboard through XTEST. Everything pressed is remembered, and let go of on every exit."""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
import time
from collections.abc import Sequence

import xcffib.xtest
from xcffib import xproto

from deskhand.desktop.base import Button
from deskhand.desktop.keymap import Keymap, KeyPress, caps_lock_is_on
from deskhand.desktop.keys import character_keysym, is_modifier, key_name, keysym
from deskhand.desktop.ping import wait_until_read
from deskhand.desktop.watchdog import Watchdog
from deskhand.desktop.x11 import MARKER, REPLY_DEADLINE, XConnection
from deskhand.errors import DesktopError, InvalidStep
from deskhand.messages import Point

BUTTONS: dict[str, int] = {"left": 1, "middle": 2, "right": 3, "back": 8, "forward": 9}
_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 4, 5, 6, 7
_KEY_PRESS, _KEY_RELEASE, _BUTTON_PRESS, _BUTTON_RELEASE, _MOTION = (
    2,
    3,
    4,
    5,
    6,
)  # the core protocol's event codes

DOUBLE_CLICK_INTERVAL = 0.5
"""Seconds within which toolkits take two clicks for one double click (GTK 0.4, Tk and Chromium 0.5)."""
DOUBLE_CLICK_DISTANCE = 8
"""Pixels within which they do (GTK 5, Chromium 4, Qt 5)."""
_CLICK_GAP_MS = (
    20  # between the clicks of a double click: Chromium takes two presses of one millisecond for one
)
_DRAG_STEP_MS = 10  # between the motions of a drag
_DRAG_DWELL_MS = 60  # over the place of the drop, so that it can accept before the button comes up
_TYPE_CHUNK = (
    128  # key strokes after which the app has to catch up: it would be read half a minute later otherwise
)

_SHIFT = "Shift_L"
_CAPS = "Caps_Lock"


class XInput:
    """The pointer and the keyboard of an X display, in screen pixels.

    On a display that is not ours, a watchdog releases what is held if this process is killed (see `desktop.watchdog`);
    a private one dies with the process.
    """

    def __init__(self, x: XConnection) -> None:
        self._x = x
        self._xtest = x.extension(xcffib.xtest)
        ours = x.get_property(x.root, MARKER) is not None
        self._watchdog = None if ours else Watchdog(x.display, x.xauthority)
        self._lock = threading.RLock()
        self._keymap: Keymap | None = None
        self._stale = False
        self._buttons: dict[int, None] = {}
        self._codes: dict[int, None] = {}
        self._shifted_by: dict[int, int] = {}
        """Keycodes that are held together with a Shift that the caller did not ask for."""
        self._last_click: tuple[float, Point, int] | None = None
        self._caps_meant = False
        """Whether Caps Lock is on because it was pressed here: then text comes out as it does on a keyboard."""

    # --- pointer ------------------------------------------------------------------------------------------------------

    def move(self, point: Point) -> None:
        """Move the pointer."""
        with self._lock:
            self._motion(point)
            self._done()

    def button(self, button: Button, down: bool) -> None:
        """Press or release a button where the pointer is."""
        with self._lock:
            self._button(_button(button), down)
            self._done()

    def click(self, point: Point, button: Button = "left", count: int = 1) -> None:
        """Move there and click ``count`` times, near enough in time to count as one multiple click.

        A click that would make a double click together with the one before waits until it does not.
        """
        number = _button(button)
        with self._lock:
            self._motion(point)
            delay = self._apart_from_last(point, number)
            try:
                for _ in range(count):
                    self._button(number, True, delay)
                    self._button(number, False)
                    delay = _CLICK_GAP_MS
            finally:
                self._let_go_of_button(number)
            self._done(extra=2.0)
            self._last_click = (time.monotonic(), point, number)

    def drag(self, path: Sequence[Point], button: Button = "left") -> None:
        """Press at the first point, travel through the others with intermediate motion, release at the last.

        The server paces the motion (XTEST's delay), so that toolkits see a start, a way and a stay over the goal.
        The button comes up whatever happens.
        """
        if len(path) < 2:
            raise InvalidStep("a drag needs at least two points")
        number = _button(button)
        with self._lock:
            try:
                self._motion(path[0])
                self._button(number, True)
                for start, end in itertools.pairwise(path):
                    for point in _way(start, end):
                        self._motion(point, _DRAG_STEP_MS)
                    self._done(extra=1.0)
                self._motion(Point(path[-1].x + 1, path[-1].y), _DRAG_STEP_MS)
                self._motion(path[-1], _DRAG_STEP_MS)
                self._button(number, False, _DRAG_DWELL_MS)
                self._done(extra=1.0)
            finally:
                self._let_go_of_button(number)

    def scroll(self, point: Point, down: int = 0, right: int = 0) -> None:
        """Wheel detents at the point; negative is up or left."""
        with self._lock:
            self._motion(point)
            for amount, back, forth in ((down, _WHEEL_UP, _WHEEL_DOWN), (right, _WHEEL_LEFT, _WHEEL_RIGHT)):
                for _ in range(abs(amount)):
                    self._button(forth if amount > 0 else back, True)
                    self._button(forth if amount > 0 else back, False)
            self._done()

    # --- keyboard -----------------------------------------------------------------------------------------------------

    def key(self, name: str, down: bool) -> None:
        """Press or release one key by name. InvalidStep, with suggestions, when there is no such key."""
        canonical = key_name(name)
        with self._lock:
            if down:
                self._press(canonical)
            else:
                self._release(canonical)
            self._done()
            self._note_caps(canonical)

    def chord(self, names: Sequence[str], *, hold: float = 0.0) -> None:
        """Press in order, hold for ``hold`` seconds, release in reverse order, whatever happens in between."""
        keys = [key_name(name) for name in names]
        with self._lock:
            try:
                for key in keys:
                    self._press(key)
                self._done()
                if hold > 0:
                    time.sleep(hold)  # the hold itself: what the caller asked for
            finally:
                for key in reversed(keys):
                    with contextlib.suppress(DesktopError):
                        self._release(key)
            self._done()
            self._note_caps(*keys)

    def type(self, text: str) -> None:
        """Type any Unicode text exactly, newline as Return and tab as Tab, whatever the layout holds.

        A Caps Lock that somebody left on is taken off meanwhile; one that was pressed through `key` or `chord` was
        meant, and counts. InvalidStep for other control characters and lone surrogates, before anything is typed.
        """
        syms = [_typed_keysym(character) for character in text.replace("\r\n", "\n")]
        with self._lock:
            keymap = self._current_keymap()
            caps = not self._caps_meant and caps_lock_is_on(self._x)
            if caps:
                self._tap(_CAPS)
            try:
                for batch in keymap.batches(syms):
                    if keymap.reuses(batch):
                        wait_until_read(self._x)
                    keymap.place(batch)
                    self._type(batch, keymap)
            finally:
                if caps:
                    self._tap(_CAPS)
                self._done()

    # --- the end ------------------------------------------------------------------------------------------------------

    def release_all(self) -> None:
        """Let go of everything that is held. Idempotent; quiet when the display is gone."""
        with self._lock, contextlib.suppress(DesktopError):
            for number in list(self._buttons):
                self._button(number, False)
            for code in list(self._codes):
                self._code(code, False)
            self._shifted_by.clear()
            self._done()

    def close(self) -> None:
        """Release everything and, on a display that is not ours alone, give back the keys that were mapped."""
        self.release_all()
        with self._lock:
            with contextlib.suppress(DesktopError):
                if self._keymap is not None and self._keymap.owes:
                    wait_until_read(self._x)
                    self._keymap.restore()
            if self._watchdog is not None:
                self._watchdog.close()

    @property
    def held(self) -> bool:
        """Whether any key or button is down."""
        return bool(self._buttons or self._codes)

    # --- under the lock -----------------------------------------------------------------------------------------------

    def _fake(self, kind: int, detail: int, delay_ms: int = 0, at: Point | None = None) -> None:
        x, y = (at.x, at.y) if at is not None else (0, 0)
        self._xtest.FakeInput(kind, detail, delay_ms, self._x.root if at is not None else 0, x, y, 0)

    def _motion(self, point: Point, delay_ms: int = 0) -> None:
        if not (-0x8000 <= point.x < 0x8000 and -0x8000 <= point.y < 0x8000):
            raise InvalidStep(f"({point.x}, {point.y}) is not a place on a screen")
        self._fake(_MOTION, 0, delay_ms, point)

    def _button(self, number: int, down: bool, delay_ms: int = 0) -> None:
        self._track(self._buttons, "button", number, down)
        self._fake(_BUTTON_PRESS if down else _BUTTON_RELEASE, number, delay_ms)

    def _code(self, code: int, down: bool) -> None:
        self._track(self._codes, "key", code, down)
        self._fake(_KEY_PRESS if down else _KEY_RELEASE, code)

    def _track(self, held: dict[int, None], kind: str, detail: int, down: bool) -> None:
        """Remember first, then press: what might be down is released, what is down is never forgotten."""
        if down:
            held[detail] = None
        else:
            held.pop(detail, None)
        if self._watchdog is not None:
            self._watchdog.note(kind, detail, down)

    def _let_go_of_button(self, number: int) -> None:
        if number in self._buttons:
            with contextlib.suppress(DesktopError):
                self._button(number, False)
                self._x.flush()

    def _done(self, extra: float = 0.0) -> None:
        """Return once the server has carried out all of it; ``extra`` seconds for what it was told to delay."""
        self._x.sync(REPLY_DEADLINE + extra)
        self._note_events()

    def _note_events(self) -> None:
        while (event := self._x.event()) is not None:
            if isinstance(event, xproto.MappingNotifyEvent) and event.request != xproto.Mapping.Pointer:
                self._stale = True

    def _current_keymap(self) -> Keymap:
        self._note_events()
        if self._keymap is None:
            self._keymap = Keymap(self._x)
        elif self._stale:
            self._keymap.refresh()
        self._stale = False
        return self._keymap

    def _apart_from_last(self, point: Point, number: int) -> int:
        """Milliseconds to wait so that this click is not the second half of a double click."""
        if self._last_click is None:
            return 0
        when, where, which = self._last_click
        near = max(abs(where.x - point.x), abs(where.y - point.y)) <= DOUBLE_CLICK_DISTANCE
        left = when + DOUBLE_CLICK_INTERVAL - time.monotonic()
        return math.ceil(left * 1000) if near and which == number and left > 0 else 0

    def _key_for(self, name: str) -> KeyPress:
        keymap = self._current_keymap()
        sym = keysym(name)
        if keymap.find(sym) is None:
            keymap.place([sym])
        found = keymap.find(sym)
        assert found is not None
        return found

    def _press(self, name: str) -> None:
        press = self._key_for(name)
        shift = self._key_for(_SHIFT).code
        if press.shift and not is_modifier(name) and shift not in self._codes:
            self._code(shift, True)
            self._shifted_by[press.code] = shift
        self._code(press.code, True)

    def _release(self, name: str) -> None:
        press = self._key_for(name)
        self._code(press.code, False)
        if (shift := self._shifted_by.pop(press.code, None)) is not None:
            self._code(shift, False)

    def _note_caps(self, *names: str) -> None:
        if _CAPS in names:
            self._caps_meant = caps_lock_is_on(self._x)

    def _tap(self, name: str) -> None:
        self._press(name)
        self._release(name)

    def _type(self, syms: Sequence[int], keymap: Keymap) -> None:
        shift = self._key_for(_SHIFT).code
        down = False
        try:
            for index, sym in enumerate(syms, 1):
                press = keymap.find(sym)
                assert press is not None
                if press.shift != down:
                    down = press.shift
                    self._code(shift, down)
                self._code(press.code, True)
                self._code(press.code, False)
                if index % _TYPE_CHUNK == 0:
                    wait_until_read(self._x)
        finally:
            if down:
                self._code(shift, False)
        self._x.sync()


def _button(name: str) -> int:
    if name not in BUTTONS:
        raise InvalidStep(f"there is no button {name!r}: use one of {', '.join(BUTTONS)}")
    return BUTTONS[name]


def _typed_keysym(character: str) -> int:
    if character in "\n\r":
        return keysym("Return")
    if character == "\t":
        return keysym("Tab")
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
        raise InvalidStep(
            f"U+{code:04X} cannot be typed: it is no character; use a `key` step for a control key"
        )
    return character_keysym(character)


def _way(start: Point, end: Point) -> Sequence[Point]:
    """Points on the way, the goal included: first past the drag threshold by small steps, then evenly; 24 at most."""
    distance = math.hypot(end.x - start.x, end.y - start.y)
    if distance == 0:
        return (end,)
    small = [part / distance for part in (2, 5, 9, 14) if part < distance]
    even = max(1, min(20, round(distance / 12)))
    parts = sorted({*small, *(i / even for i in range(1, even + 1))})
    return [
        Point(round(start.x + (end.x - start.x) * p), round(start.y + (end.y - start.y) * p)) for p in parts
    ]
