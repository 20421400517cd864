"""The clipboard, with other clients on the other side."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from xcffib import xproto

from deskhand.desktop.clipboard import XClipboard
from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.x11 import XConnection
from deskhand.errors import DesktopError

TEXT = "Grüße, 世界 🎉\nline two"


@pytest.fixture
def two(shared: X11Desktop) -> Iterator[tuple[XClipboard, XClipboard]]:
    """The clipboard as two clients have it."""
    address = shared.display, shared.client_env["XAUTHORITY"]
    one, other = XClipboard(*address), XClipboard(*address)
    yield one, other
    one.close()
    other.close()


def test_what_one_writes_another_reads(two: tuple[XClipboard, XClipboard]) -> None:
    one, other = two
    one.write(TEXT)
    assert other.read() == TEXT
    assert one.read() == TEXT
    other.write("newer")
    assert one.read() == "newer"
    one.write("")
    assert other.read() == ""


def test_megabytes_go_through(two: tuple[XClipboard, XClipboard]) -> None:
    one, other = two
    long = TEXT * 40_000
    one.write(long)
    assert other.read() == long


def test_nothing_is_there_when_nobody_owns_it(two: tuple[XClipboard, XClipboard]) -> None:
    one, other = two
    one.write("gone soon")
    one.close()
    assert other.read() is None
    with pytest.raises(DesktopError, match="closed"):
        one.read()


class Foreign(threading.Thread):
    """An owner that answers in its own way, in a thread."""

    def __init__(self, shared: X11Desktop, answer: str) -> None:
        super().__init__(daemon=True)
        self.x = XConnection(shared.display, shared.client_env["XAUTHORITY"])
        self.answer = answer
        self.window: int = self.x.raw.generate_id()
        self.x.core.CreateWindow(
            0, self.window, self.x.root, 0, 0, 1, 1, 0, xproto.WindowClass.InputOnly, 0, 0, []
        )
        self.x.core.SetSelectionOwner(self.window, self.x.atom("CLIPBOARD"), 0)
        for name in ("STRING", "UTF8_STRING", "INCR"):
            self.x.atom(name)
        self.x.sync()
        self.start()

    def run(self) -> None:
        try:
            while True:
                event = self.x.wait_event(20)
                if isinstance(event, xproto.SelectionRequestEvent) and self.answer != "silence":
                    self._serve(event)
        except DesktopError:
            pass

    def _serve(self, event: Any) -> None:
        x = self.x
        if self.answer == "latin" and event.target != x.atom("STRING"):
            self._notify(event, 0)
        elif self.answer == "latin":
            self._put(event, x.atom("STRING"), "Grüße".encode("latin-1"))
            self._notify(event, event.property)
        else:
            x.core.ChangeWindowAttributes(
                event.requestor, xproto.CW.EventMask, [xproto.EventMask.PropertyChange]
            )
            x.core.ChangeProperty(
                0, event.requestor, event.property, x.atom("INCR"), 32, 1, struct.pack("=I", 30)
            )
            self._notify(event, event.property)
            for piece in (b"first ", b"second ", b"third", b""):
                deleted = xproto.Property.Delete
                while (e := x.wait_event(5)) is not None:
                    if isinstance(e, xproto.PropertyNotifyEvent) and e.state == deleted:
                        break
                self._put(event, x.atom("UTF8_STRING"), piece)
                x.flush()

    def _put(self, event: Any, kind: int, data: bytes) -> None:
        self.x.core.ChangeProperty(0, event.requestor, event.property, kind, 8, len(data), data)

    def _notify(self, event: Any, property_: int) -> None:
        notice = struct.pack(
            "=BxHIIIII8x", 31, 0, event.time, event.requestor, event.selection, event.target, property_
        )
        self.x.core.SendEvent(False, event.requestor, 0, notice)
        self.x.flush()

    def close(self) -> None:
        self.x.interrupt()
        self.join(5)
        self.x.close()


@pytest.mark.parametrize(
    ("answer", "text"), [("latin", "Grüße"), ("pieces", "first second third"), ("silence", None)]
)
def test_owners_of_all_kinds_are_understood(
    shared: X11Desktop, two: tuple[XClipboard, XClipboard], answer: str, text: str | None
) -> None:
    owner = Foreign(shared, answer)
    try:
        assert two[0].read() == text
    finally:
        owner.close()


def test_closing_ends_the_thread(shared: X11Desktop) -> None:
    clipboard = XClipboard(shared.display, shared.client_env["XAUTHORITY"])
    clipboard.write("x")
    assert any(thread.name == "deskhand-clipboard" for thread in threading.enumerate())
    before = {thread for thread in threading.enumerate() if thread.name == "deskhand-clipboard"}
    clipboard.close()
    assert sum(thread.is_alive() for thread in before) == len(before) - 1
