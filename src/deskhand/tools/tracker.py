"""Follows a desktop's screen from start to end: paint reports in, real changes out. Costs nothing while it is still."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deskhand.desktop.base import Changes, Screen
from deskhand.errors import DeskhandError, DesktopError
from deskhand.messages import Rect
from deskhand.tools.before import Before
from deskhand.tools.motion import Beat, Motion, Region, components, merged, touching

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FASTEST_LOOK = 0.004
"""Seconds between two looks while an act waits; its half is what a verdict's timing may be off."""
_IDLE_LOOK = 0.05
"""Seconds between two looks while nobody waits."""
_SLOWEST_LOOK = 0.1
_SHARE = 0.05
"""Share of a core that looking may take: a look that takes long is followed by a longer pause."""
_SHARE_AWAITED = 0.07
"""The same while a verdict is waited for, which can be no more exact than the pauses are short."""
_MANY_RECTS = 16
_CHANGES_KEPT = 4096


@dataclass(frozen=True, slots=True)
class Change:
    """Pixels became different. ``time`` is on the monotonic clock; ``region`` is the place it belongs to."""

    time: float
    rect: Rect
    region: Region
    serial: int


class Tracker:
    """Knows the last frame, what changed and when, and what moves by itself.

    Its lock is a condition that is notified of every change. DesktopError from any method once the display is gone.
    """

    def __init__(self, screen: Screen, changes: Changes, ignore: Sequence[Rect] = ()) -> None:
        self._screen, self._reports, self._ignore = screen, changes, tuple(ignore)
        self.changed = threading.Condition()
        self.motion = Motion()
        self.log: deque[Change] = deque(maxlen=_CHANGES_KEPT)
        self.serial = 0
        """Counts the changes."""
        self.acting = False
        """Whether an act is under way: what changes now may be its doing."""
        self._act, self._act_began = 0, 0.0
        self._awaited = False
        self._hurry = threading.Event()
        self.looks = 0
        self._error: DeskhandError | None = None
        self._ending = threading.Event()
        self._looked = self._pause = 0.0
        self._before: Before | None = None
        with self.changed:
            changes.collect()
            self._frame = self._grab_all()
        self._thread = threading.Thread(target=self._run, name="deskhand-tracker", daemon=True)
        self._thread.start()

    @property
    def frame(self) -> NDArray[np.uint32]:
        """The last frame; belongs to the tracker, under its lock."""
        return self._frame

    def keep(self) -> Before:
        """Keep the last frame as it is, good until the next one is kept."""
        self._before = Before(self._frame)
        return self._before

    @property
    def size(self) -> tuple[int, int]:
        height, width = self._frame.shape
        return width, height

    def look(self) -> None:
        """Take in what was painted until now."""
        with self.changed:
            self._check()
            began = time.monotonic()
            before = self.serial
            try:
                self._take_in(self._reports.collect())
            except DeskhandError as error:
                self._error = error
                self.changed.notify_all()
                raise
            self._looked = time.monotonic()
            self._pause = min(
                _SLOWEST_LOOK, (self._looked - began) / (_SHARE_AWAITED if self._awaited else _SHARE)
            )
            self.looks += 1
            if self.serial != before:
                self.changed.notify_all()

    def begin(self, now: float, *, act: bool) -> None:
        """Somebody waits for a verdict from ``now`` on, to the millisecond; ``act``: as something is being done."""
        self._awaited, self.acting = True, act
        if act:
            self._act, self._act_began = self._act + 1, now
        self._hurry.set()
        hurry = getattr(self._reports, "hurry", None)
        if hurry is not None:
            hurry()

    def end(self) -> None:
        """The verdict is given."""
        self._awaited = self.acting = False
        self._hurry.clear()

    def wait(self, timeout: float) -> None:
        """Wait, holding the lock, for a change or for ``timeout`` seconds."""
        self._check()
        self.changed.wait(timeout)
        self._check()

    def since(self, moment: float) -> list[Change]:
        """The changes from ``moment`` on, oldest first."""
        found = []
        for change in reversed(self.log):
            if change.time < moment:
                break
            found.append(change)
        return found[::-1]

    def close(self) -> None:
        """End the thread; whoever waits gets a DesktopError. Idempotent."""
        self._ending.set()
        self._hurry.set()
        wake = getattr(self._reports, "wake", None)
        if wake is not None:
            wake()
        self._error = self._error or DesktopError("the desktop is closed")
        if self.changed.acquire(timeout=0.2):  # unless the thread is stuck with it in a server that hangs
            self.changed.notify_all()
            self.changed.release()
        self._thread.join(0.5)

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                if not self._reports.wait(60.0):
                    continue
                self._rest()
                if not self._ending.is_set():
                    self.look()
            except DeskhandError as error:
                with self.changed:
                    self._error = self._error or error
                    self.changed.notify_all()
                return

    def _rest(self) -> None:
        """Let some time pass between two looks, so that floods of painting cost little; less while somebody waits."""
        while True:
            hurried = self._awaited
            due = self._looked + max(self._pause, _FASTEST_LOOK if hurried else _IDLE_LOOK)
            left = due - time.monotonic()
            if left <= 0 or self._ending.is_set():
                return
            if hurried:
                self._ending.wait(left)
            else:
                self._hurry.wait(left)

    def _check(self) -> None:
        if self._error is not None:
            raise DesktopError(str(self._error)) from self._error

    def _grab_all(self) -> NDArray[np.uint32]:
        return self._screen.grab().pixels.copy()

    def _take_in(self, painted: Sequence[Rect]) -> None:
        """Compare what was painted with the last frame: painted is not changed."""
        if not painted:
            return
        now = time.monotonic()
        width, height = self.size
        if any(rect.right > width or rect.bottom > height for rect in painted) and self._screen.size != (
            width,
            height,
        ):
            self._resized(now)
            return
        screen = Rect(0, 0, width, height)
        parts: list[Rect] = []
        for rect in _to_grab(painted):
            inside = rect.intersection(screen)
            if inside is not None:
                parts.extend(self._compare(inside))
        for part in touching(parts):  # the server cuts what it reports into bands
            self._note(part, now)
        self.motion.forget(now)

    def _compare(self, rect: Rect) -> list[Rect]:
        """What of ``rect`` is different from the last frame, by region; takes it into the frame."""
        new = self._screen.grab(rect).pixels
        old = self._frame[rect.y : rect.bottom, rect.x : rect.right]
        if new.shape != old.shape:  # the screen is being resized: its own report follows
            return []
        changed = new != old
        for ignored in self._ignore:
            if common := ignored.intersection(rect):
                changed[
                    common.y - rect.y : common.bottom - rect.y, common.x - rect.x : common.right - rect.x
                ] = False
        found = components(changed, rect.x, rect.y)
        if found:
            if self._before is not None:
                self._before.keep(rect, self._frame)
            old[:] = new
        return found

    def _note(self, part: Rect, now: float) -> None:
        region = self.motion.note(part, Beat(now, not self.acting, self._act, now - self._act_began))
        self.serial += 1
        self.log.append(Change(now, part, region, self.serial))

    def _resized(self, now: float) -> None:
        self._frame = self._grab_all()
        if self._before is not None:
            self._before.shape = ()
        self.motion = Motion()
        self._note(Rect(0, 0, *self.size), now)


def _to_grab(painted: Sequence[Rect]) -> Sequence[Rect]:
    """As few grabs as make sense: fine rectangles while there are few, one around all where they would cost more."""
    whole = painted[0]
    for rect in painted[1:]:
        whole = whole.union(rect)
    if len(painted) == 1 or sum(rect.area for rect in painted) * 2 >= whole.area:
        return (whole,)
    if len(painted) <= _MANY_RECTS:
        return painted
    return merged(painted, _MANY_RECTS)
