"""A window that notes the keys, buttons and motion it gets, as any X client sees them."""

from __future__ import annotations

import time
from typing import Any

from xcffib import xproto

from deskhand.desktop.x11 import XConnection
from deskhand.messages import Point, Rect

RECT = Rect(200, 150, 400, 300)


class Pad:
    """An unmanaged window at `RECT` with the keyboard focus.

    Keysyms are looked up when the event is read, as clients do it, from the mapping of that moment.
    """

    def __init__(self, display: str, xauthority: str | None) -> None:
        self.x = XConnection(display, xauthority)
        core, masks = self.x.core, xproto.EventMask
        self.window: int = self.x.raw.generate_id()
        wanted = (
            masks.KeyPress | masks.KeyRelease | masks.ButtonPress | masks.ButtonRelease | masks.PointerMotion
        )
        core.CreateWindow(
            0, self.window, self.x.root, RECT.x, RECT.y, RECT.width, RECT.height, 0,
            xproto.WindowClass.InputOutput, 0,
            xproto.CW.BackPixel | xproto.CW.OverrideRedirect | xproto.CW.EventMask,
            [0xFFFFFF, 1, wanted | masks.Exposure],
        )  # fmt: skip
        core.MapWindow(self.window)
        while not isinstance(self.x.wait_event(5), xproto.ExposeEvent):
            pass
        core.SetInputFocus(xproto.InputFocus.PointerRoot, self.window, 0)
        self.x.sync()
        self.forget()

    def forget(self) -> None:
        """Drop what came until now."""
        self.x.sync()
        while self.x.event() is not None:
            pass

    def events(self) -> list[Any]:
        """What came since the last call; the input is carried out before, so all of it is here."""
        self.x.sync()
        found = []
        while (event := self.x.event()) is not None:
            if not isinstance(event, (xproto.MappingNotifyEvent, xproto.ExposeEvent)):
                found.append(event)
        return found

    def log(self) -> list[str]:
        """The same in words: ``press 1``, ``release 1``, ``down a``, ``up a`` (keys by keysym), motion left out."""
        said = []
        for event in self.events():
            if isinstance(event, xproto.ButtonPressEvent) and not isinstance(event, xproto.KeyPressEvent):
                said.append(f"press {event.detail}")
            elif isinstance(event, xproto.ButtonReleaseEvent):
                said.append(f"release {event.detail}")
            elif isinstance(event, xproto.KeyPressEvent):
                said.append(f"down {self.keysym(event):#x}")
            elif isinstance(event, xproto.KeyReleaseEvent):
                said.append(f"up {self.keysym(event):#x}")
        return said

    def text(self) -> str:
        """The characters of the key presses since the last call."""
        typed = []
        for event in self.events():
            if type(event) is xproto.KeyPressEvent:
                sym = self.keysym(event)
                if sym < 0x100:
                    typed.append(chr(sym))
                elif sym >= 0x01000000:
                    typed.append(chr(sym - 0x01000000))
                elif sym in (0xFF0D, 0xFF09):
                    typed.append("\n" if sym == 0xFF0D else "\t")
        return "".join(typed)

    def keysym(self, event: Any) -> int:
        """The keysym of a key event by the core rules: Shift chooses the second; a lone letter has its capital."""
        row = list(self.x.reply(self.x.core.GetKeyboardMapping(event.detail, 1)).keysyms)
        shifted = bool(event.state & xproto.KeyButMask.Shift)
        plain, second = row[0], row[1]
        if not second and plain < 0x100:
            second = ord(chr(plain).upper())
        return int((second or plain) if shifted else plain)

    def points(self) -> list[Point]:
        """Where the pointer went since the last call."""
        return [
            Point(event.root_x, event.root_y)
            for event in self.events()
            if isinstance(event, xproto.MotionNotifyEvent)
        ]

    def pointer_mask(self) -> int:
        """The buttons and modifiers that are down now (X.h masks)."""
        return int(self.x.reply(self.x.core.QueryPointer(self.x.root)).mask)

    def keys_down(self) -> set[int]:
        """The keycodes that are down now."""
        keys = bytes(self.x.reply(self.x.core.QueryKeymap()).keys)
        return {i * 8 + bit for i, byte in enumerate(keys) for bit in range(8) if byte & 1 << bit}

    def wait_held(self, keys: int, button: bool, timeout: float) -> bool:
        """Whether as many keys, and a button or none, come to be down within ``timeout`` seconds."""
        end = time.monotonic() + timeout
        while len(self.keys_down()) < keys or bool(self.pointer_mask() & 0x1F00) < button:
            left = end - time.monotonic()
            if left <= 0:
                return False
            self.x.wait_event(min(left, 0.02))  # a grab can keep the events from us
        return True

    def wait_released(self, timeout: float) -> bool:
        """Whether all keys and buttons come up within ``timeout`` seconds, by the events that say so."""
        end = time.monotonic() + timeout
        while self.keys_down() or self.pointer_mask() & 0x1F00:
            left = end - time.monotonic()
            if left <= 0:
                return False
            self.x.wait_event(left)
        return True

    def close(self) -> None:
        """Remove the window."""
        self.x.close()
