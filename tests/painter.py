"""A program with one window that paints by a script whose times are known: ``python painter.py SCENARIO``.

It paints what goes on by itself from the start, and what a click on it brings at each click. Every paint that a person
would see as the app's doing is reported on stdout as its time on the monotonic clock. Started by tests and benchmarks.
"""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count, cycle
from typing import Any

WIDTH, HEIGHT = 800, 560
WHITE, BLACK, BLUE, GREEN, RED, ORANGE = 0xFFFFFF, 0x000000, 0x2060C0, 0x20A040, 0xC02020, 0xE08020

Script = Iterator[float]
"""Yields the seconds until it is to go on."""


def tell(what: str) -> None:
    """A line to the caller."""
    sys.stdout.write(what + "\n")
    sys.stdout.flush()


class Canvas:
    """The window. ``reported`` paints count as what an act waits for; the others go on by themselves."""

    def __init__(self, size: tuple[int, int] | None = (WIDTH, HEIGHT), title: str = "painter") -> None:
        import xcffib
        import xcffib.xproto

        from deskhand.desktop.x11 import XConnection

        self.proto: Any = xcffib.xproto
        self.x = XConnection(os.environ["DISPLAY"], os.environ.get("XAUTHORITY"))
        self.window: int = self.x.raw.generate_id()
        core, masks = self.x.core, self.proto.EventMask
        events = masks.ButtonPress | masks.KeyPress | masks.Exposure | masks.PointerMotion
        screen = self.x.setup.roots[0]
        full = size is None
        self.size = size = size or (screen.width_in_pixels, screen.height_in_pixels)
        core.CreateWindow(
            0, self.window, self.x.root, 0, 0, *size, 0, self.proto.WindowClass.InputOutput, screen.root_visual,
            self.proto.CW.BackPixel | self.proto.CW.EventMask, [WHITE, events],
        )  # fmt: skip
        self.x.set_property(self.window, "_NET_WM_NAME", "UTF8_STRING", 8, title.encode())
        self.x.set_property(self.window, "WM_CLASS", "STRING", 8, b"painter\0Painter\0")
        if full:
            state = struct.pack("=I", self.x.atom("_NET_WM_STATE_FULLSCREEN"))
            self.x.set_property(self.window, "_NET_WM_STATE", "ATOM", 32, state)
        self.popups: list[int] = []
        self.gc = self.x.raw.generate_id()
        core.CreateGC(self.gc, self.window, self.proto.GC.GraphicsExposures, [0])
        core.MapWindow(self.window)
        self.x.flush()

    def fill(self, x: int, y: int, width: int, height: int, color: int, *, reported: bool = True) -> None:
        """Paint a rectangle."""
        core = self.x.core
        core.ChangeGC(self.gc, self.proto.GC.Foreground, [color])
        core.PolyFillRectangle(self.window, self.gc, 1, [self.proto.RECTANGLE.synthetic(x, y, width, height)])
        self.x.sync()
        if reported:
            self.report()

    def popup(self, x: int, y: int, width: int, height: int, color: int = 0xF0F0D0) -> int:
        """A window that no window manager handles, at (x, y) of this one: a menu, a tooltip. Its id."""
        found: int = self.x.raw.generate_id()
        corner = self.x.reply(self.x.core.TranslateCoordinates(self.window, self.x.root, x, y))
        self.x.core.CreateWindow(
            0, found, self.x.root, corner.dst_x, corner.dst_y, width, height, 0,
            self.proto.WindowClass.InputOutput, self.x.setup.roots[0].root_visual,
            self.proto.CW.BackPixel | self.proto.CW.OverrideRedirect, [color, 1],
        )  # fmt: skip
        self.x.core.MapWindow(found)
        self.x.sync()
        self.report()
        return found

    def remove(self, window: int, *, reported: bool = True) -> None:
        """Close a window."""
        self.x.core.DestroyWindow(window)
        self.x.sync()
        if reported:
            self.report()

    def report(self) -> None:
        """Tell the time of what was just painted."""
        tell(f"{time.monotonic():.6f}")


# --- scenarios: what goes on by itself, and what a click brings ----------------------------------------------


def nothing(canvas: Canvas, _arg: float) -> Script:
    """No paint at all."""
    return iter(())


def box(canvas: Canvas, delay: float) -> Script:
    """One box after a while, of another colour each time."""
    yield delay
    canvas.fill(100, 100, 120, 60, next(_colors))


def tick(canvas: Canvas, _arg: float) -> Script:
    """A check mark of 7×7 pixels."""
    yield 0.03
    canvas.fill(300, 40, 7, 7, next(_colors))


def edge(canvas: Canvas, _arg: float) -> Script:
    """A change of the window's last six columns of pixels."""
    yield 0.03
    canvas.fill(canvas.size[0] - 6, 0, 6, canvas.size[1], next(_colors))


def two_phases(canvas: Canvas, gap: float) -> Script:
    """A frame, then its contents."""
    yield from box(canvas, 0.03)
    yield gap
    canvas.fill(120, 110, 60, 30, next(_colors))


def two_phases_busy(canvas: Canvas, gap: float) -> Script:
    """The same, computing in between."""
    yield from box(canvas, 0.03)
    end = time.monotonic() + gap
    while time.monotonic() < end:
        pass
    canvas.fill(120, 110, 60, 30, next(_colors))


def busy_box(canvas: Canvas, delay: float) -> Script:
    """Computes first, then paints."""
    end = time.monotonic() + delay
    while time.monotonic() < end:
        pass
    canvas.fill(100, 100, 120, 60, next(_colors))
    yield 0


def glyphs(canvas: Canvas, seconds: float) -> Script:
    """Text that is painted glyph by glyph."""
    color = next(_colors)
    for i in range(int(seconds / 0.05)):
        canvas.fill(40 + 9 * (i % 60), 200 + 20 * (i // 60), 7, 12, color)
        yield 0.05


def scrolling(canvas: Canvas, seconds: float) -> Script:
    """A list that scrolls smoothly and comes to rest."""
    for i in range(int(seconds * 60)):
        for row in range(8):
            canvas.fill(
                400, 40 + row * 40 + i % 40, 200, 20, (row * 4000 + i * 97) & 0xFFFFFF, reported=False
            )
        canvas.report()
        yield 1 / 60


def progress(canvas: Canvas, seconds: float) -> Script:
    """A bar that fills."""
    steps = int(seconds / 0.1)
    canvas.fill(100, 400, 400, 16, 0xE0E0E0)
    for i in range(steps):
        canvas.fill(100 + i * 400 // steps, 400, 400 // steps + 1, 16, GREEN)
        yield 0.1


def spin(canvas: Canvas, _arg: float, x: int = 600, y: int = 40, scale: int = 1) -> Script:
    """A spinner of 24×24 pixels, without end."""
    places = [(8, 0), (14, 3), (16, 8), (14, 14), (8, 16), (3, 14), (0, 8), (3, 3)]
    for old, new in zip(cycle(places), cycle(places[1:] + places[:1]), strict=False):
        canvas.fill(x + scale * old[0], y + scale * old[1], 8 * scale, 8 * scale, WHITE, reported=False)
        canvas.fill(x + scale * new[0], y + scale * new[1], 8 * scale, 8 * scale, BLUE, reported=False)
        yield 0.08


def far_spin(canvas: Canvas, _arg: float) -> Script:
    """One of 48×48 pixels in the window's last corner."""
    return spin(canvas, 0, canvas.size[0] - 80, canvas.size[1] - 160, 2)


def spinner_after(canvas: Canvas, _arg: float) -> Script:
    """A box, and a spinner from then on."""
    yield from box(canvas, 0.03)
    yield from spin(canvas, 0)


def caret(canvas: Canvas, _arg: float) -> Script:
    """A text caret, by GTK's pace."""
    while True:
        canvas.fill(40, 60, 1, 18, BLACK, reported=False)
        yield 0.8
        canvas.fill(40, 60, 1, 18, WHITE, reported=False)
        yield 0.4


def clock(canvas: Canvas, _arg: float) -> Script:
    """Something that changes each second."""
    for i in count():
        canvas.fill(700, 10, 30, 12, (i * 0x123457) & 0xFFFFFF, reported=False)
        yield 1.0


def video(canvas: Canvas, _arg: float) -> Script:
    """A picture of 320×180 pixels, 25 times a second."""
    for i in count():
        canvas.fill(420, 300, 320, 180, (i * 0x0F1E2D) & 0xFFFFFF, reported=False)
        yield 0.04


def full_video(canvas: Canvas, seconds: float) -> Script:
    """A picture as large as the window, 25 times a second; without end when it has no length."""
    for i in count() if not seconds else range(int(seconds * 25)):
        canvas.fill(0, 0, canvas.size[0], canvas.size[1], (i * 0x0F1E2D) & 0xFFFFFF, reported=False)
        yield 0.04


def spin_for(canvas: Canvas, seconds: float) -> Script:
    """A box, and a spinner from then on for a while."""
    yield from box(canvas, 0.03)
    end = time.monotonic() + seconds
    for pause in spin(canvas, 0):
        if time.monotonic() > end:
            return
        yield pause


def sixth_loads(canvas: Canvas, seconds: float) -> Script:
    """A box at each click; every sixth click a large animation as well, for a while."""
    yield from box(canvas, 0.03)
    if next(_clicks) % 6 == 0:
        end = time.monotonic() + seconds
        for pause in video(canvas, 0):
            if time.monotonic() > end:
                return
            yield pause


def menu(canvas: Canvas, _arg: float) -> Script:
    """A menu with its entries, closed again by the next click."""
    if canvas.popups:
        canvas.remove(canvas.popups.pop())
        return
    yield 0.02
    canvas.popups.append(canvas.popup(60, 60, 180, 240))
    yield 0.03
    canvas.fill(20, 20, 60, 12, BLACK)


def tooltip(canvas: Canvas, delay: float) -> Script:
    """A tooltip some time later, gone after a while."""
    yield delay
    shown = canvas.popup(200, 300, 140, 24)
    yield 2.0
    canvas.remove(shown, reported=False)


def closing(canvas: Canvas, _arg: float) -> Script:
    """A window of this app closes."""
    yield 0.05
    for shown in canvas.popups:
        canvas.remove(shown)
    canvas.popups.clear()


def dialog(canvas: Canvas, _arg: float) -> Script:
    """A second window, to be closed."""
    canvas.popups.append(canvas.popup(300, 60, 320, 200))
    return iter(())


def strip(canvas: Canvas, _arg: float) -> Script:
    """The last six columns of the screen change."""
    width, height = canvas.x.size
    corner = canvas.x.reply(canvas.x.core.TranslateCoordinates(canvas.window, canvas.x.root, 0, 0))
    yield 0.03
    if canvas.popups:
        canvas.remove(canvas.popups.pop())
    else:
        canvas.popups.append(canvas.popup(width - 6 - corner.dst_x, -corner.dst_y, 6, height, next(_colors)))


def repaint(canvas: Canvas, _arg: float) -> Script:
    """The same pixels again and again."""
    while True:
        canvas.fill(0, 0, 30, 30, RED, reported=False)
        yield 0.05


def _colors_cycle() -> Iterator[int]:
    return cycle((BLUE, GREEN, RED, ORANGE))  # none is what lies beneath: the wallpaper is black


_colors = _colors_cycle()
_clicks = count(1)

PARTS: dict[str, Callable[[Canvas, float], Script]] = {
    f.__name__: f
    for f in (
        nothing, box, tick, edge, two_phases, two_phases_busy, busy_box, glyphs, scrolling, progress, spin,
        spinner_after, far_spin, caret, clock, video, repaint, full_video, spin_for, sixth_loads, menu, tooltip,
        closing, dialog, strip,
    )
}  # fmt: skip


def main(click: str, background: str, hover: str, full: bool) -> None:
    """Run. ``click``, ``background`` and ``hover`` (what the pointer's coming brings) are parts joined by ``,``, each
    with an argument after ``:``."""
    canvas = Canvas(None if full else (WIDTH, HEIGHT))
    due: list[tuple[float, int, Script]] = []
    numbers = count()
    hovered = 0.0

    asked: set[int] = set()

    def begin(parts: str, by: str = "") -> None:
        for part in filter(None, parts.split(",")):
            name, _, argument = part.partition(":")
            number = next(numbers)
            heappush(due, (time.monotonic(), number, PARTS[name](canvas, float(argument or 0))))
            if by:
                asked.add(number)
                tell("begun")

    started = False
    while True:
        wait = max(0.0, due[0][0] - time.monotonic()) if due else None
        event = canvas.x.event()
        if event is None and (wait is None or wait > 0):
            ready = select.select([canvas.x.fd, sys.stdin], [], [], wait)[0]
            if sys.stdin in ready and not sys.stdin.read(1):
                return
            event = canvas.x.event()
        if isinstance(event, canvas.proto.ExposeEvent) and not started:
            started = True
            tell("ready")
            begin(background)
        elif isinstance(event, canvas.proto.ButtonPressEvent):
            begin(click, "click")
        elif isinstance(event, canvas.proto.MotionNotifyEvent) and time.monotonic() - hovered > 0.2:
            hovered = time.monotonic()
            begin(hover, "hover")
        while due and due[0][0] <= time.monotonic():
            at, number, script = heappop(due)
            pause = next(script, None)
            if pause is not None:
                heappush(due, (max(at + pause, time.monotonic()), number, script))
            elif number in asked:
                tell("ended")


# --- the caller's side ---------------------------------------------------------------------------------------------


@dataclass
class Painter:
    """A running painter. ``paints`` are the reported times so far."""

    process: subprocess.Popen[str]
    paints: list[float] = field(default_factory=list)
    going_on: int = 0

    @classmethod
    def start(
        cls,
        client_env: Mapping[str, str],
        click: str = "nothing",
        background: str = "",
        hover: str = "",
        *,
        full: bool = False,
    ) -> Painter:
        """Start it on a display, ``full`` on the whole screen; returns when its window is shown."""
        process = subprocess.Popen(
            [sys.executable, __file__, click, background, hover, "full" if full else ""],
            env={**os.environ, **client_env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        painter = cls(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return painter

    def last_paint(self) -> float:
        """The time of the last reported paint; reads what is there."""
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        while line := self.process.stdout.readline():
            if line.startswith(("begun", "ended")):
                self.going_on += 1 if line.startswith("begun") else -1
            else:
                self.paints.append(float(line))
        return self.paints[-1] if self.paints else 0.0

    def finish(self, timeout: float) -> None:
        """Wait until all that clicks and hovering have begun has ended, at most ``timeout`` seconds."""
        end = time.monotonic() + timeout
        assert self.process.stdout is not None
        self.last_paint()
        while self.going_on and (left := end - time.monotonic()) > 0:
            select.select([self.process.stdout], [], [], left)
            self.last_paint()

    def stop(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], bool(sys.argv[4]))
