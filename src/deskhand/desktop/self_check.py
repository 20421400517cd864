"""Whether a desktop can be seen and worked: a small window is clicked, dragged, scrolled, typed into and seen."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from deskhand.config import Settings
from deskhand.desktop import open_desktop_backend, self_check_window
from deskhand.desktop.base import Desktop
from deskhand.desktop.portable import PortableDesktop
from deskhand.errors import DeskhandError
from deskhand.messages import Point, Rect
from deskhand.terms import Private

SHOWN_IN: Final = 15.0
REACTS_IN: Final = 5.0
_ASCII: Final = "Hello, World! 1+2=3 <a@b.c> {x}"
_BEYOND: Final = "Grüße, Zoë – 5 €"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing that was tried: whether it works, and what was seen. ``why`` says what it is needed for."""

    name: str
    works: bool
    detail: str
    why: str


async def check_here(settings: Settings, environ: Mapping[str, str]) -> list[Row]:
    """Try everything on a desktop such as tasks get here. DeskhandError when there is none.

    On Linux that is a private desktop (worked as `Settings.backend` says); elsewhere it is the user's own screen.
    """
    async with contextlib.AsyncExitStack() as undo:
        if sys.platform != "linux":
            desktop: Desktop = await asyncio.to_thread(PortableDesktop, "real", environ)
        else:
            # The window is a program of this Python's, which apps in a box do not see
            desktop = await open_desktop_backend(
                Private(isolation="display"), settings=settings, environ=environ
            )
        undo.push_async_callback(asyncio.to_thread, desktop.close)
        if sys.platform == "linux" and settings.backend == "portable":
            there = {**environ, **desktop.client_env}
            name = f"display:{desktop.display}"
            desktop = await open_desktop_backend(name, settings=settings, environ=there)
            undo.push_async_callback(asyncio.to_thread, desktop.close)
        return await asyncio.to_thread(lambda: list(check(desktop)))


def report(rows: Sequence[Row], *, colour: bool = False) -> list[str]:
    """The rows as lines for a person, who may pass them on."""
    lines = [f"self-check on {platform.platform()}, Python {platform.python_version()}"]
    for row in rows:
        mark, code = ("✓", "32") if row.works else ("✗", "31")
        mark = f"\x1b[{code}m{mark}\x1b[0m" if colour else mark
        lines.append(f"  {mark} {row.name:14} {row.detail}" + ("" if row.works else f" (for {row.why})"))
    failed = sum(not row.works for row in rows)
    return [*lines, "Everything works." if not failed else f"{failed} of {len(rows)} do not work."]


class _Failed(Exception):
    """What was tried did not work."""


def check(desktop: Desktop) -> Iterator[Row]:
    """Try everything, one row after the other; what builds on something that failed is not tried."""
    with tempfile.TemporaryDirectory(prefix="deskhand-") as directory:
        trial = _Trial(desktop, Path(directory, "notes"))
        for name, why, tried in (
            ("screen", "pictures", trial.screen),
            ("changes", "knowing when an application has come to rest", trial.window),
            ("click", "every task", trial.click),
            ("double click", "opening things", trial.double_click),
            ("right click", "context menus", trial.right_click),
            ("drag", "moving and selecting", trial.drag),
            ("wheel", "scrolling", trial.wheel),
            ("typing", "every task", trial.typing),
            ("other letters", "names and languages beyond English", trial.letters),
            ("clipboard", "long texts, and letters that the keyboard lacks", trial.clipboard),
            ("release", "no key stays down after a task", trial.release),
        ):
            began = time.monotonic()
            try:
                detail = tried()
            except (_Failed, DeskhandError, ValueError) as error:
                yield Row(name=name, works=False, detail=str(error), why=why)
                if name in ("screen", "changes"):
                    return
            else:
                took = f"{(time.monotonic() - began) * 1000:.0f} ms"
                yield Row(name=name, works=True, detail=f"{detail} ({took})", why=why)


class _Trial:
    """The window, where it is, and what it has noted."""

    def __init__(self, desktop: Desktop, notes: Path) -> None:
        self._desktop, self._notes = desktop, notes
        self._field = Rect(0, 0, 0, 0)

    def screen(self) -> str:
        """Look at all of it."""
        frame = self._desktop.screen.grab()
        width, height = self._desktop.screen.size
        if frame.pixels.shape != (height, width):
            raise _Failed(f"a picture of {frame.pixels.shape} came from a screen of {width}x{height}")
        return f"{width}x{height} pixels"

    def window(self) -> str:
        """Show the window, and find it by what has changed."""
        self._desktop.changes.collect()
        pid = self._desktop.launch([_python(), self_check_window.__file__, str(self._notes)])
        changed: list[Rect] = []

        def found() -> bool:
            changed.extend(self._desktop.changes.collect())
            self._field = _coloured(self._desktop)
            return self._field.width > 100

        if not self._until(found, SHOWN_IN):
            ended = self._desktop.ended(pid)
            raise _Failed(
                f"the window's program ended (status {ended.status}): it needs tkinter"
                if ended is not None
                else "no window was seen: may this program record the screen? (macOS: Privacy, Screen Recording)"
            )
        # It may still be on its way to its place: it counts from where it lies still.
        end = time.monotonic() + REACTS_IN  # where something else moves all the time, this has to do
        while self._desktop.changes.wait(0.3) and time.monotonic() < end:
            changed.extend(self._desktop.changes.collect())
            self._field = _coloured(self._desktop)
        if not any(self._field.intersection(rect) for rect in changed):
            raise _Failed("the window came without a change being told")
        return f"the window came at {self._field.x}, {self._field.y}"

    def click(self) -> str:
        """Click, and see that it is answered."""
        self._desktop.input.click(self._field.center)
        note = self._noted("click", "the click did not arrive: may this program control the computer?")
        middle = Rect(self._field.center.x, self._field.center.y, 1, 1)

        def green() -> bool:
            red, green, blue = _colours(int(self._desktop.screen.grab(middle).pixels[0][0]))
            return green > red + 40 and green > blue + 40

        if not self._until(green, REACTS_IN):
            raise _Failed("the click arrived, and its answer was not seen")
        return f"arrived at {note[1]}, {note[2]} and was seen"

    def double_click(self) -> str:
        """Click twice."""
        self._desktop.input.click(self._field.center, "left", 2)
        self._noted("double click", "two clicks came as single ones")
        return "arrived"

    def right_click(self) -> str:
        """Click with the right button."""
        self._desktop.input.click(self._field.center, "right")
        self._noted("right click", "the right button did not arrive")
        return "arrived"

    def drag(self) -> str:
        """Drag across the field."""
        middle, quarter = self._field.center, self._field.width // 4
        before = len(self._all())
        self._desktop.input.drag([Point(middle.x - quarter, middle.y), Point(middle.x + quarter, middle.y)])
        self._noted("release", "the drag did not end", since=before)
        motions = [note for note in self._all()[before:] if note[0] == "motion"]
        if len(motions) < 3:
            raise _Failed(f"the drag came with {len(motions)} motions")
        return f"arrived with {len(motions)} motions"

    def wheel(self) -> str:
        """Turn the wheel both ways."""
        for down, name in ((1, "down"), (-1, "up")):
            before = len(self._all())
            self._desktop.input.scroll(self._field.center, down=down)
            note = self._noted("wheel", f"the wheel did not turn {name}", since=before)
            if note[1] != name:
                raise _Failed(f"the wheel turned {note[1]} for {name}")
        return "down and up arrived"

    def typing(self) -> str:
        """Type what every keyboard has."""
        return self._typed(_ASCII)

    def letters(self) -> str:
        """Type what this keyboard may lack."""
        return self._typed(_BEYOND)

    def clipboard(self) -> str:
        """Write and read, and put back what was there."""
        board = self._desktop.clipboard
        before = board.read()
        board.write(_BEYOND)
        found = board.read()
        if before is None:
            board.clear()
        else:
            board.write(before)
        if found != _BEYOND:
            raise _Failed(f"{_BEYOND!r} came back as {found!r}")
        return "text came back"

    def release(self) -> str:
        """Hold Shift, let go of everything, and type: it comes in small letters."""
        self._desktop.input.key("shift", True)
        self._desktop.input.release_all()
        return self._typed("small")

    def _typed(self, text: str) -> str:
        below = Point(self._field.center.x, self._field.bottom + self._field.height // 12)
        self._desktop.input.click(below)
        self._rest()  # keys go to who has the keyboard, which it may be about to get
        before = len(self._all())
        self._desktop.input.type(text)
        self._desktop.input.chord(["Return"])
        note = self._noted("text", "nothing typed arrived", since=before)
        if note[1] != text:
            raise _Failed(f"{text!r} arrived as {note[1]!r}")
        return f"{text!r} arrived"

    def _noted(self, kind: str, otherwise: str, *, since: int = 0) -> list[Any]:
        """The first note of that kind, waited for."""
        found: list[list[Any]] = []

        def noted() -> bool:
            found.extend(note for note in self._all()[since:] if note[0] == kind)
            return bool(found)

        if not self._until(noted, REACTS_IN):
            raise _Failed(otherwise)
        return found[0]

    def _rest(self) -> None:
        """Wait until the screen is still; a caret may blink on."""
        end = time.monotonic() + 1.5
        while self._desktop.changes.wait(0.3) and time.monotonic() < end:
            self._desktop.changes.collect()

    def _all(self) -> list[list[Any]]:
        if not self._notes.is_file():
            return []
        whole = self._notes.read_text("utf-8").rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def _until(self, holds: Callable[[], bool], timeout: float) -> bool:
        """Whether it comes to hold; looked at with every change of the screen, and ten times a second."""
        end = time.monotonic() + timeout
        while not holds():
            if time.monotonic() > end:
                return False
            self._desktop.changes.wait(0.1)
        return True


def _coloured(desktop: Desktop) -> Rect:
    """The bounds of what has the field's first colour; nothing when there is none. Screens may tint it."""
    import numpy as np

    pixels = desktop.screen.grab().pixels
    blue, green, red = (((pixels >> shift) & 0xFF).astype(np.int16) for shift in (0, 8, 16))
    rows, columns = np.nonzero((red > 160) & (green < 90) & (blue > 90) & (red > blue + 30))
    if not len(rows):
        return Rect(0, 0, 0, 0)
    left, top = int(columns.min()), int(rows.min())
    return Rect(left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top)


def _colours(pixel: int) -> tuple[int, int, int]:
    return pixel >> 16 & 0xFF, pixel >> 8 & 0xFF, pixel & 0xFF


def _python() -> str:
    """A Python that has tkinter, as far as can be told: this one, else the system's."""
    there = importlib.util.find_spec("tkinter") and importlib.util.find_spec("_tkinter")
    return sys.executable if there or sys.platform == "win32" else "/usr/bin/python3"
