"""A process that holds the screen, the pointer and keyboard, or the clipboard of a desktop, through mss and pyautogui.

``python -m deskhand.desktop.portable_helper eyes|hands|board`` reads a JSON object a line and answers each with one,
followed by as many bytes as it says. A process of its own, because pyautogui binds its display when it is imported,
may end the interpreter there, and can hang in a call; when its input closes, it lets go of all it holds and ends.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import string
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, Final

DOUBLE_CLICK_INTERVAL: Final = 0.55
"""Seconds after which a click on the same place is no double click any more (Windows 0.5, GTK 0.4, Tk 0.5)."""
_CLICK_GAP: Final = 0.02
_KEY_GAP: Final = 0.002  # between characters: programs read some hundred a second
_LOOKED_AT: Final = 1.0  # seconds after which the monitors are asked for again
_WHEEL: Final = {"win32": 120, "darwin": 3}  # pyautogui hands the number on as it is: 120ths, lines
_TYPED: Final = string.ascii_letters + string.digits + string.punctuation + " "


class Refused(Exception):
    """Something that is not done. ``kind`` is ``stopped``, ``not_supported`` or ``missing``."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Eyes:
    """The primary monitor. Rectangles are in its own pixels, from its upper left corner."""

    def __init__(self) -> None:
        self._mss = _part("mss")
        self._grabber: Any = None
        self._scale = 0.0  # pixels a point; known from the first look at all of it
        self._open()

    def look(self, rect: Sequence[int] | None = None) -> tuple[dict[str, Any], bytes]:
        """The pixels of ``rect``, or of all: their place, and BGRX bytes."""
        if time.monotonic() - self._opened > _LOOKED_AT:
            self._open()
        try:
            return self._look(rect)
        except self._mss.ScreenShotError:  # the screen may have become another one
            self._open()
            return self._look(rect)

    def close(self) -> None:
        """Let the screen go."""
        self._grabber.close()

    def _open(self) -> None:
        if self._grabber is not None:
            self._grabber.close()
        self._grabber = self._mss.MSS()
        monitors = self._grabber.monitors
        self._monitor = self._grabber.primary_monitor if len(monitors) > 1 else monitors[0]
        self._opened = time.monotonic()

    def _look(self, rect: Sequence[int] | None) -> tuple[dict[str, Any], bytes]:
        left, top, wide, high = (self._monitor[name] for name in ("left", "top", "width", "height"))
        place = {"left": left, "top": top, "points": [wide, high]}
        if rect is not None and self._scale == 1:
            x, y, width, height = rect
            area = {"left": left + x, "top": top + y, "width": width, "height": height}
            return {**place, "rect": list(rect), "scale": 1}, self._grabber.grab(area).bgra
        shot = self._grabber.grab({"left": left, "top": top, "width": wide, "height": high})
        self._scale = shot.width / wide
        place["scale"] = self._scale
        whole = [0, 0, shot.width, shot.height]
        return {**place, "rect": whole}, shot.bgra


class Hands:
    """The pointer and the keyboard, in the points of pyautogui. Everything pressed is remembered."""

    def __init__(self) -> None:
        sys.modules["mouseinfo"] = None  # type: ignore[assignment]  # a window nobody asks for; exits without tkinter
        self._gui = _part("pyautogui")
        self._gui.FAILSAFE = (
            False  # ours lets go of what is held, and is not set off by where we went ourselves
        )
        self._gui.PAUSE = 0
        self._strokes: dict[str, tuple[str, ...]] = {}
        self._buttons: dict[str, None] = {}
        self._keys: dict[str, None] = {}
        self._put = tuple(self.position())
        self._last_click: tuple[float, tuple[int, int], str] | None = None

    def position(self) -> list[int]:
        """Where the pointer is."""
        return [int(value) for value in self._gui.position()]

    def move(self, x: int, y: int) -> None:
        """Move the pointer."""
        self._check()
        if (
            self._buttons and sys.platform == "darwin"
        ):  # there, what moves with a button down is another event
            self._gui.dragTo(x, y, button=next(iter(self._buttons)), mouseDownUp=False, _pause=False)
        else:
            self._gui.moveTo(x, y, _pause=False)
        self._put = tuple(self.position())  # which may be nearer: the screen ends somewhere

    def button(self, name: str, down: bool) -> None:
        """Press or release a button where the pointer is."""
        if down:
            self._check()
            self._buttons[name] = None
            self._gui.mouseDown(button=name, _pause=False)
        else:
            self._gui.mouseUp(button=name, _pause=False)
            self._buttons.pop(name, None)

    def click(self, x: int, y: int, name: str, count: int) -> None:
        """Click there; a click that would make a double click of the one before waits until it does not."""
        self.move(x, y)
        if self._last_click is not None and self._last_click[1:] == ((x, y), name):
            left = self._last_click[0] + DOUBLE_CLICK_INTERVAL - time.monotonic()
            time.sleep(max(0.0, left))
        if sys.platform == "darwin" and count > 1:  # there, an event carries which click of how many it is
            self._gui.click(x, y, clicks=count, interval=0.0, button=name, _pause=False)
        else:
            for number in range(count):
                if number:
                    time.sleep(_CLICK_GAP)
                try:
                    self.button(name, True)
                finally:
                    self.button(name, False)
        self._last_click = (time.monotonic(), (x, y), name)

    def scroll(self, down: int, right: int) -> None:
        """Turn the wheel by detents."""
        self._check()
        if right and sys.platform == "win32":
            raise Refused(
                "not_supported", "the wheel only turns up and down here; hold shift to scroll sideways"
            )
        unit = _WHEEL.get(sys.platform, 1)
        if down:
            self._gui.vscroll(-down * unit, _pause=False)
        if right:
            self._gui.hscroll(right * unit, _pause=False)

    def key(self, names: Sequence[str], down: bool) -> None:
        """Press or release the first of ``names`` that this keyboard has."""
        name = next((each for each in names if self._has(each)), None)
        if name is None:
            raise Refused("not_supported", f"this keyboard has no key {names[0]!r}")
        if down:
            self._check()
            self._keys[name] = None
            self._gui.keyDown(name, _pause=False)
        else:
            self._gui.keyUp(name, _pause=False)
            self._keys.pop(name, None)

    def typeable(self) -> str:
        """The characters that keys give as they are now: by this layout, with Caps Lock as it is."""
        found = {character: self._stroke(character) for character in _TYPED}
        self._strokes = {character: keys for character, keys in found.items() if keys}
        return "".join(self._strokes)

    def write(self, text: str) -> None:
        """Press the keys of characters that are `typeable`, of newline and of tab."""
        self._check()
        for character in text:
            keys = self._strokes.get(character, (character,))
            for key in keys:
                self._gui.keyDown(key, _pause=False)
            for key in reversed(keys):
                self._gui.keyUp(key, _pause=False)
            time.sleep(_KEY_GAP)

    def release_all(self) -> None:
        """Let go of everything."""
        for name in reversed(list(self._keys)):
            self._gui.keyUp(name, _pause=False)
        for name in reversed(list(self._buttons)):
            self._gui.mouseUp(button=name, _pause=False)
        self._keys.clear()
        self._buttons.clear()

    def close(self) -> None:
        """Let go of everything."""
        with contextlib.suppress(Exception):  # the display may be gone
            self.release_all()

    def _check(self) -> None:
        """Whether a person has pushed the pointer into a corner: then everything comes up and nothing is done."""
        here = tuple(self.position())
        width, height = self._gui.size()
        if here != self._put and here[0] in (0, width - 1) and here[1] in (0, height - 1):
            self.release_all()
            raise Refused("stopped", "the pointer was pushed into a corner of the screen, which means: stop")
        self._put = here

    def _has(self, name: str) -> bool:
        code = self._keyboard().get(name)
        return code is not None and code not in (0, -1)

    def _keyboard(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._gui.platformModule.keyboardMapping
        return found

    def _stroke(self, character: str) -> tuple[str, ...]:
        """The keys that give a character for sure; none when there are none."""
        if (
            sys.platform == "darwin"
        ):  # there, pyautogui's keys are those of an American keyboard, whatever is set
            return ()
        if character.isalpha() and self._caps_lock():
            return ()
        if sys.platform == "win32":
            return (character,) if self._has(character) else ()
        shifted = bool(self._gui.isShiftCharacter(character))
        if self._gives(character, shifted) == ord(character):
            return (character,)
        # pyautogui takes Shift for granted as on an American keyboard: another key may have it there
        unshifted = (key for key in _TYPED if not self._gui.isShiftCharacter(key))
        return next((("shift", key) for key in unshifted if self._gives(key, True) == ord(character)), ())

    def _gives(self, key: str, shifted: bool) -> int:
        """The keysym of a key with or without Shift; 0 when there is no such key."""
        if not self._has(key):
            return 0
        code = self._keyboard()[key]
        return int(self._gui.platformModule._display.keycode_to_keysym(code, 1 if shifted else 0))

    def _caps_lock(self) -> bool:
        if sys.platform == "win32":
            import ctypes

            return bool(ctypes.windll.user32.GetKeyState(0x14) & 1)  # VK_CAPITAL
        return bool(self._gui.platformModule._display.get_keyboard_control().led_mask & 1)


class Board:
    """The clipboard."""

    def __init__(self) -> None:
        self._clip = _part("pyperclip")

    def read(self) -> str:
        """Its text; empty when there is none."""
        return str(self._translated(self._clip.paste))

    def write(self, text: str) -> None:
        """Put text there."""
        self._translated(self._clip.copy, text)

    def close(self) -> None:
        """Nothing is held."""

    def _translated(self, call: Callable[..., Any], *arguments: str) -> Any:
        try:
            return call(*arguments)
        except self._clip.PyperclipException as error:
            raise Refused(
                "not_supported", f"there is no clipboard here: {' '.join(str(error).split())[:200]}"
            ) from None


_ROLES: Final[dict[str, Callable[[], Any]]] = {"eyes": Eyes, "hands": Hands, "board": Board}


def _part(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Refused("missing", error.name or name) from None


def serve(role: str, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there is nothing more to read. The first answer says whether the role could be had."""
    part: Any = None

    def start() -> None:
        nonlocal part
        part = _ROLES[role]()

    _answer(answers, start)
    try:
        for line in requests if part is not None else ():
            asked = json.loads(line)
            _answer(answers, getattr(part, asked["do"]), **asked["with"])
    finally:
        if part is not None:
            part.close()


def _answer(answers: BinaryIO, call: Callable[..., Any], **arguments: Any) -> None:
    data = b""
    try:
        value = call(**arguments)
        if isinstance(value, tuple):
            value, data = value
        said = {"value": value, "bytes": len(data)}
    except Refused as refusal:
        said = {"error": refusal.kind, "message": str(refusal)}
    except (
        Exception,
        SystemExit,
    ) as error:  # whatever these libraries raise: the other side says what it means
        said = {"error": "failed", "message": f"{type(error).__name__}: {error}"}
    answers.write(json.dumps(said).encode() + b"\n")
    answers.write(data)
    answers.flush()


def main() -> None:
    """Serve one role on standard input and output, and end everything that was started for it."""
    answers = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)  # what libraries print, and what their children inherit
    os.dup2(quiet, 1)
    try:
        with contextlib.suppress(BrokenPipeError):
            serve(sys.argv[1], sys.stdin.buffer, answers)
    finally:
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)  # an xclip stays behind as long as it holds the clipboard


if __name__ == "__main__":
    main()
