"""What was painted, told by looking, for screens without DAMAGE: as `desktop.changes`, at a price."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from deskhand.desktop.base import Screen
from deskhand.errors import DesktopError
from deskhand.messages import Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PERIOD = 0.03
"""Seconds between two looks at a screen that somebody waits on."""
SHARE = 0.15
"""Share of a core that looking may take: large screens are looked at less often."""
_CALM: Final = 0.25
"""Seconds between two looks at a screen on which nothing has changed for a while and nobody acts."""
_CALMER: Final = 1.2
"""By which the pause between two looks grows while nothing changes."""
_BAND = 32  # rows of pixels that are reported together


class PollingChanges:
    """Paint reports made by comparing whole frames while somebody waits, and at each `collect`.

    A paint and its being undone between two looks are not seen. `hurry` tells of an act: looks get more frequent.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._closed = False
        self._painted: list[Rect] = []
        self._pause = self._least = PERIOD
        self._frame = self._grab()

    def collect(self) -> Sequence[Rect]:
        """The rectangles that changed since the last call. DesktopError when the screen is gone."""
        with self._lock:
            self._look()
            painted, self._painted = self._painted, []
            return tuple(painted)

    def wait(self, timeout: float) -> bool:
        """Block until something changes or ``timeout`` seconds have passed; True when something did.

        `wake` ends it early, with False.
        """
        end = time.monotonic() + timeout
        while True:
            with self._lock:
                self._look()
                if self._painted:
                    return True
                pause = self._pause
            left = end - time.monotonic()
            if left <= 0:
                return False
            if self._woken.wait(min(left, pause)):
                if not self._closed:
                    self._woken.clear()
                return False

    def hurry(self) -> None:
        """Something may change from now on: look often again."""
        self._pause = self._least
        self.wake()

    def wake(self) -> None:
        """End a `wait` in another thread."""
        self._woken.set()

    def close(self) -> None:
        """End all waits for good. The screen stays with its owner. Idempotent."""
        self._closed = True
        self._woken.set()

    def _grab(self) -> NDArray[np.uint32]:
        return self._screen.grab().pixels.copy()

    def _look(self) -> None:
        if self._closed:
            raise DesktopError("the change reports are closed")
        began = time.monotonic()
        new, known = self._grab(), len(self._painted)
        if new.shape != self._frame.shape:
            self._painted.append(Rect(0, 0, new.shape[1], new.shape[0]))
        else:
            self._painted.extend(_bands(new != self._frame))
        self._frame = new
        self._least = max(PERIOD, (time.monotonic() - began) / SHARE)
        still = len(self._painted) == known
        self._pause = max(self._least, min(_CALM, self._pause * _CALMER) if still else 0.0)


def _bands(changed: NDArray[np.bool_]) -> list[Rect]:
    """The changed pixels' bounds, by bands of the screen: two distant changes are not one large rectangle."""
    import numpy as np

    rows = np.flatnonzero(changed.any(axis=1))
    if not len(rows):
        return []
    found = []
    for part in np.split(rows, np.flatnonzero(np.diff(rows) > _BAND) + 1):
        top, bottom = int(part[0]), int(part[-1]) + 1
        columns = np.flatnonzero(changed[top:bottom].any(axis=0))
        found.append(Rect(int(columns[0]), top, int(columns[-1]) + 1 - int(columns[0]), bottom - top))
    return found
