"""Paint reports and a flood of them."""

from __future__ import annotations

import threading
import time

import pytest
from xcffib import xproto

from deskhand.desktop.changes import DamageChanges
from deskhand.desktop.composed import X11Desktop
from deskhand.errors import DesktopError
from deskhand.messages import Rect
from pad import RECT, Pad


class Brush:
    """Paints on a pad."""

    def __init__(self, pad: Pad) -> None:
        self.pad = pad
        self.gc: int = pad.x.raw.generate_id()
        pad.x.core.CreateGC(self.gc, pad.window, 0, [])

    def fill(self, *rects: Rect) -> None:
        for r in rects:  # one request each: what one request paints is reported as one rectangle
            made = xproto.RECTANGLE.synthetic(r.x, r.y, r.width, r.height)
            self.pad.x.core.PolyFillRectangle(self.pad.window, self.gc, 1, [made])
        self.pad.x.sync()


@pytest.fixture
def changes(shared: X11Desktop, pad: Pad) -> DamageChanges:
    made = DamageChanges(shared.display, shared.client_env["XAUTHORITY"])
    made.collect()
    return made


def on_screen(rect: Rect) -> Rect:
    return Rect(RECT.x + rect.x, RECT.y + rect.y, rect.width, rect.height)


def test_a_still_screen_reports_nothing(changes: DamageChanges) -> None:
    assert not changes.wait(0.05)
    assert changes.collect() == ()
    changes.close()


def test_what_was_painted_is_reported_as_fine_rectangles_once(changes: DamageChanges, pad: Pad) -> None:
    brush = Brush(pad)
    painted = [Rect(10, 10, 20, 20), Rect(200, 100, 5, 5)]
    brush.fill(*painted)
    assert changes.wait(2)
    assert sorted(changes.collect(), key=lambda r: r.x) == [on_screen(rect) for rect in painted]
    assert changes.collect() == ()
    brush.fill(Rect(0, 0, 1, 1))
    assert changes.wait(2)
    assert changes.collect() == (on_screen(Rect(0, 0, 1, 1)),)
    changes.close()


def test_a_flood_is_one_report_a_look(changes: DamageChanges, pad: Pad) -> None:
    brush = Brush(pad)
    for _ in range(20):
        brush.fill(*(Rect(x, x, 2, 2) for x in range(0, 280, 4)))
    assert changes.wait(2)
    assert len(changes.collect()) == 70
    assert changes.collect() == ()
    changes.close()


def test_a_wait_in_another_thread_is_woken_and_ended(changes: DamageChanges) -> None:
    woken: list[object] = []

    def wait() -> None:
        woken.append(changes.wait(30))
        try:
            changes.wait(30)
        except DesktopError as error:
            woken.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    changes.wake()
    end = time.monotonic() + 5
    while not woken and time.monotonic() < end:
        thread.join(0.01)
    assert woken == [False]
    changes.close()
    thread.join(5)
    assert not thread.is_alive()
    changes.close()


def test_a_busy_cursor_is_seen(changes: DamageChanges, pad: Pad) -> None:
    assert not changes.busy()
    x, font, cursor = pad.x, pad.x.raw.generate_id(), pad.x.raw.generate_id()
    x.core.OpenFont(font, len("cursor"), "cursor")
    watch = 150  # XC_watch, cursorfont.h
    x.core.CreateGlyphCursor(cursor, font, font, watch, watch + 1, 0, 0, 0, 65535, 65535, 65535)
    x.core.ChangeWindowAttributes(pad.window, xproto.CW.Cursor, [cursor])
    import xcffib.xfixes

    fixes = x.extension(xcffib.xfixes)
    x.reply(fixes.QueryVersion(5, 0))
    fixes.SetCursorName(cursor, len("watch"), "watch")
    center = RECT.center
    x.core.WarpPointer(0, x.root, 0, 0, 0, 0, center.x, center.y)
    x.sync()
    changes._x.sync()  # what the server tells it has arrived
    assert changes.busy()
    changes.close()
