"""What the screen showed before an act, kept at the price of what has changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from deskhand.messages import Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MANY: Final = 256


class Before:
    """A frame as it was, while the frame itself goes on being written over.

    Only the parts that are written over are copied, each once; where that comes to more than a whole frame, that is
    kept instead.
    """

    def __init__(self, frame: NDArray[np.uint32]) -> None:
        self.shape = frame.shape
        """That of the frame; empty once it has become another one."""
        self._parts: list[tuple[Rect, NDArray[np.uint32]]] = []
        self._area = 0
        self._whole: NDArray[np.uint32] | None = None

    def keep(self, rect: Rect, frame: NDArray[np.uint32]) -> None:
        """Call this before ``rect`` of the frame is written over."""
        if self._whole is not None or any(part.intersection(rect) == rect for part, _ in self._parts):
            return
        self._area += rect.area
        if self._area > frame.size or len(self._parts) >= _MANY:
            height, width = frame.shape
            self._whole = self.at(Rect(0, 0, width, height), frame)
            self._parts.clear()
            return
        self._parts.append((rect, frame[rect.y : rect.bottom, rect.x : rect.right].copy()))

    def at(self, rect: Rect, frame: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """What ``rect`` showed then; ``frame`` as it is now."""
        if self._whole is not None:
            return self._whole[rect.y : rect.bottom, rect.x : rect.right]
        found = frame[rect.y : rect.bottom, rect.x : rect.right].copy()
        for part, old in reversed(self._parts):  # the first that was kept of a place is the oldest
            if common := part.intersection(rect):
                found[
                    common.y - rect.y : common.bottom - rect.y, common.x - rect.x : common.right - rect.x
                ] = old[common.y - part.y : common.bottom - part.y, common.x - part.x : common.right - part.x]
        return found
