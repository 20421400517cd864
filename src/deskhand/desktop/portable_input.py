"""Pointer, keyboard and clipboard of a portable desktop, through helper processes."""

from __future__ import annotations

import contextlib
import itertools
import math
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from deskhand.desktop.base import Button, Clipboard
from deskhand.desktop.keys import key_name
from deskhand.desktop.portable_keys import portable_names
from deskhand.desktop.portable_link import Helper
from deskhand.desktop.portable_screen import PortableScreen
from deskhand.errors import DesktopError, InvalidStep, TargetError
from deskhand.messages import Point

_BUTTONS: Final = ("left", "middle", "right")
_STEP: Final = 12  # pixels between the motions of a drag
_PAUSE: Final = 0.01  # seconds between them: toolkits take a jump for no drag
_DWELL: Final = 0.06  # seconds over the place of the drop, so that it can accept before the button comes up
_CHUNK: Final = 50  # characters between two looks whether a person wants it to stop
_TAKEN: Final = 3.0
_SHOWN: Final = 0.7  # seconds after which pasted text that does not show has been put in all the same
_LOOK: Final = 0.02
_PASTED: Final = 0.3
"""Seconds after which a paste counts as read where nothing tells: a program reads it when it gets the keys."""


class PortableInput:
    """The pointer and the keyboard, in the screen's pixels. Text that the keys do not give is pasted."""

    def __init__(self, hands: Helper, screen: PortableScreen, board: Clipboard) -> None:
        self._hands, self._screen, self._board = hands, screen, board
        self._lock = threading.RLock()

    def move(self, point: Point) -> None:
        """Move the pointer. StopTask, here and below, when a person has pushed it into a corner of the screen."""
        with self._lock:
            x, y = self._screen.geometry.points(point)
            self._hands.ask("move", x=x, y=y)

    def button(self, button: Button, down: bool) -> None:
        """Press or release a button where the pointer is."""
        with self._lock:
            self._hands.ask("button", name=_button(button), down=down)

    def click(self, point: Point, button: Button = "left", count: int = 1) -> None:
        """Move there and click ``count`` times, near enough in time to count as one multiple click."""
        with self._lock:
            x, y = self._screen.geometry.points(point)
            self._hands.ask("click", x=x, y=y, name=_button(button), count=count)

    def drag(self, path: Sequence[Point], button: Button = "left") -> None:
        """Press at the first point, travel through the others with intermediate motion, release at the last."""
        if len(path) < 2:
            raise InvalidStep("a drag needs at least two points")
        name = _button(button)
        with self._lock:
            self.move(path[0])
            try:
                self._hands.ask("button", name=name, down=True)
                for start, end in itertools.pairwise(path):
                    for point in _way(start, end):
                        time.sleep(_PAUSE)
                        self.move(point)
                time.sleep(_DWELL)
            finally:
                self._hands.ask("button", name=name, down=False)

    def scroll(self, point: Point, down: int = 0, right: int = 0) -> None:
        """Wheel detents at the point; negative is up or left."""
        with self._lock:
            self.move(point)
            self._hands.ask("scroll", down=down, right=right)

    def key(self, name: str, down: bool) -> None:
        """One key by its X keysym name or alias. InvalidStep when unknown, TargetError when this keyboard lacks it."""
        names = portable_names(key_name(name))
        with self._lock:
            self._hands.ask("key", names=names, down=down)

    def chord(self, names: Sequence[str], *, hold: float = 0.0) -> None:
        """Press in order, release in reverse order."""
        known = [portable_names(key_name(name)) for name in names]
        with self._lock, contextlib.ExitStack() as held:
            for each in known:
                self._hands.ask("key", names=each, down=True)
                held.callback(self._hands.ask, "key", names=each, down=False)
            if hold:
                time.sleep(hold)

    def type(self, text: str) -> None:
        """Type text. What holds a character that the keys do not give is pasted, by lines.

        InvalidStep for control characters; TargetError ``not_supported`` when there is no clipboard, or when nothing
        takes what is pasted.
        """
        if wrong := next((each for each in text if not _printable(each) and each not in "\n\t"), ""):
            raise InvalidStep(f"the character {wrong!r} cannot be typed: use a key step for keys")
        with self._lock:
            plain = set(self._hands.ask("typeable")) | {"\n", "\t"}
            if all(character in plain for character in text):
                for start in range(0, len(text), _CHUNK):
                    self._hands.ask("write", text=text[start : start + _CHUNK])
                return
            for piece in _pieces(text):
                if piece in ("\n", "\t") or all(character in plain for character in piece):
                    self._hands.ask("write", text=piece)
                else:
                    self._paste(piece)

    def release_all(self) -> None:
        """Let go of all that is pressed."""
        self._hands.ask("release_all")

    def _paste(self, text: str) -> None:
        import numpy as np

        before = self._board.read()
        self._board.write(text)
        pixels = self._screen.grab().pixels
        try:
            self.chord(["cmd" if sys.platform == "darwin" else "ctrl", "v"])
            if not self._board.wait_taken(_TAKEN):
                raise TargetError(
                    "not_supported",
                    "text that these keys cannot give is pasted here, and nothing took it: the keyboard is in no text"
                    " field, or its program pastes with other keys",
                )
            # A program that has asked for the text may take the next keys before it has put it in
            end = time.monotonic() + _SHOWN
            while np.array_equal(pixels, self._screen.grab().pixels) and time.monotonic() < end:
                time.sleep(_LOOK)
        finally:
            if before is None:
                self._board.clear()
            else:
                self._board.write(before)


class PortableClipboard:
    """The clipboard, by pyperclip. It cannot tell who reads it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._lock = threading.Lock()
        self._helper: Helper | None = None
        self._closed = False

    def read(self) -> str | None:
        """Its text; None when it holds none. TargetError when there is no clipboard, or it does not answer."""
        with self._helping() as helper:
            return helper.ask("read") or None

    def write(self, text: str) -> None:
        """Put text there."""
        with self._helping() as helper:
            helper.ask("write", text=text)

    def clear(self) -> None:
        """Hold no text any more."""
        self.write("")

    def wait_taken(self, timeout: float) -> bool:
        """True, when a program had the time to read it: whether one did is not known."""
        time.sleep(min(timeout, _PASTED))
        return True

    def close(self) -> None:
        """End the helper. Idempotent."""
        with self._lock:
            self._closed = True
            helper, self._helper = self._helper, None
        if helper is not None:
            helper.close()

    @contextlib.contextmanager
    def _helping(self) -> Iterator[Helper]:
        """The helper, started at the first use, and again when the last did not answer: its owner may hang."""
        with self._lock:
            if self._closed:
                raise DesktopError("the clipboard of this desktop is closed")
            if self._helper is None:
                self._helper = Helper("board", self._env)
            try:
                yield self._helper
            except DesktopError as error:
                broken, self._helper = self._helper, None
                broken.close()
                raise TargetError("busy", f"the clipboard does not answer: {error}") from None


def _button(name: str) -> str:
    if name not in ("left", "middle", "right", "back", "forward"):
        raise InvalidStep(f"there is no button {name!r}: left, middle, right")
    if name not in _BUTTONS:
        raise TargetError("not_supported", f"the button {name!r} cannot be pressed here; alt+left goes back")
    return name


def _printable(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cs")


def _way(start: Point, end: Point) -> Iterator[Point]:
    """Points from one to the other, `_STEP` pixels apart at most, the last included."""
    steps = max(2, math.ceil(max(abs(end.x - start.x), abs(end.y - start.y)) / _STEP))
    for step in range(1, steps + 1):
        yield Point(
            start.x + round((end.x - start.x) * step / steps),
            start.y + round((end.y - start.y) * step / steps),
        )


def _pieces(text: str) -> Iterator[str]:
    """Lines, and each newline and tab between them."""
    piece = ""
    for character in text:
        if character not in "\n\t":
            piece += character
            continue
        if piece:
            yield piece
        yield character
        piece = ""
    if piece:
        yield piece
