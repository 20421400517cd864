"""A window that paints by plan on a desktop, and clicking on it: what tests of the settle engine share."""

from __future__ import annotations

import time

from deskhand.config import SettleSettings
from deskhand.desktop.composed import X11Desktop
from deskhand.messages import Point, Rect, Settled
from deskhand.tools.settle import Settler
from painter import Painter

QUIET = SettleSettings().quiet
SLACK = 2.0  # seconds by which a crowded test machine may be late
EARLY = 0.1  # seconds by which a painter on such a machine may tell of a paint after it was seen


class Stage:
    """A painter's window on the desktop, and clicking on it."""

    def __init__(self, screen: X11Desktop, settler: Settler, click: str, background: str = "") -> None:
        self.screen, self.settler = screen, settler
        baseline = settler.before("launch")
        self.painter = Painter.start(screen.client_env, click, background)
        window = screen.windows.wait_for(lambda info: info.app == "painter", 10)
        assert window is not None
        screen.windows.activate(window.id)
        active = screen.windows.active()
        assert active is not None
        self.rect = active.rect
        screen.input.move(self.spot)
        settler.after(baseline)
        self.paint_count = 0

    @property
    def spot(self) -> Point:
        return Point(self.rect.x + 30, self.rect.y + 500)

    def click(self) -> Settled:
        """Click where the painter listens, and settle. ``lag``: from the last paint to the verdict, less quiet."""
        baseline = self.settler.before("click")
        self.screen.input.click(self.spot)
        settled = self.settler.after(baseline)
        self.lag = time.monotonic() - self.painter.last_paint() - QUIET
        return settled

    def place(self, x: int, y: int, width: int, height: int) -> Rect:
        """A rectangle of the window on the screen."""
        return Rect(self.rect.x + x, self.rect.y + y, width, height)

    def learn(self, seconds: float) -> None:
        """Let what moves by itself be seen for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.settler.wait_painted(left)
