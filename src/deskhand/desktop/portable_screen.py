"""The screen of a portable desktop: its primary monitor, grabbed by a helper process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deskhand.desktop.base import Frame
from deskhand.desktop.portable_link import Helper
from deskhand.messages import Point, Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """How a monitor's pixels and the pointer's points are related: ``scale`` pixels a point, from ``left, top``."""

    left: int = 0
    top: int = 0
    scale: float = 1.0

    def points(self, pixel: Point) -> tuple[int, int]:
        """Where the pointer has to be put for a pixel."""
        return int(self.left + pixel.x / self.scale), int(self.top + pixel.y / self.scale)

    def pixel(self, x: int, y: int) -> Point:
        """The pixel that a place of the pointer lies on."""
        return Point(round((x - self.left) * self.scale), round((y - self.top) * self.scale))


class PortableScreen:
    """The primary monitor, in its own pixels (on some there are two for each point of the pointer's)."""

    def __init__(self, eyes: Helper, hands: Helper) -> None:
        self._eyes, self._hands = eyes, hands
        self._lock = threading.Lock()
        self._size = (0, 0)
        self.geometry = Geometry()
        self.grab()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, as of the last look at all of it."""
        return self._size

    @property
    def monitors(self) -> Sequence[Rect]:
        """The one that is seen."""
        return (Rect(0, 0, *self._size),)

    def grab(self, rect: Rect | None = None) -> Frame:
        """The pixels of ``rect`` (all when None), clipped to the screen.

        DesktopError when the display is gone, ValueError when nothing of ``rect`` is on the screen.
        """
        with self._lock:
            wanted = None if rect is None else self._on_screen(rect)
            asked = None if wanted is None else [wanted.x, wanted.y, wanted.width, wanted.height]
            said, data = self._eyes.ask_bytes("look", rect=asked)
            there = Rect(*said["rect"])
            if there != wanted:  # all of it
                self._size = (there.width, there.height)
                self.geometry = Geometry(left=said["left"], top=said["top"], scale=said["scale"])
            pixels = _pixels(data, there)
            if wanted is None or wanted == there:
                return Frame(pixels, there)
            return Frame(pixels[wanted.y : wanted.bottom, wanted.x : wanted.right].copy(), wanted)

    def cursor(self) -> Point:
        """Where the pointer is."""
        return self.geometry.pixel(*self._hands.ask("position"))

    def _on_screen(self, rect: Rect) -> Rect:
        found = Rect(0, 0, *self._size).intersection(rect)
        if found is None:
            raise ValueError(f"{rect} is outside the screen, which is {self._size[0]}x{self._size[1]} pixels")
        return found


def _pixels(data: bytes, rect: Rect) -> NDArray[np.uint32]:
    import numpy as np

    return np.frombuffer(data, dtype=np.uint32).reshape(rect.height, rect.width)
