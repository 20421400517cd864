"""Pictures for the record: raw frames are kept, and encoded only when somebody wants them and nothing is the same."""

from __future__ import annotations

import asyncio

from deskhand.desktop.base import Frame, Screen
from deskhand.messages import Image, Point


class Pictures:
    """Grabs and encodes the whole screen. A frame equal to the last one encoded gives the same `Image`."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._last: tuple[Frame, Image] | None = None
        self.wanted = True

    def grab(self) -> Frame | None:
        """The screen now (about a millisecond: it may block the loop); None when nobody wants pictures."""
        return self._screen.grab() if self.wanted else None

    async def encode(self, frame: Frame | None) -> Image | None:
        """The frame as PNG at full size, in a thread."""
        return None if frame is None else await asyncio.to_thread(self._encode, frame)

    def _encode(self, frame: Frame) -> Image:
        import numpy as np

        if self._last is not None and np.array_equal(self._last[0].pixels, frame.pixels):
            return self._last[1]
        height, width = frame.pixels.shape
        origin = Point(frame.rect.x, frame.rect.y)
        image = Image(data=frame.png(), width=width, height=height, origin=origin)
        self._last = (frame, image)
        return image
