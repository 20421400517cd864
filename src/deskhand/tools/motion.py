"""What moves on the screen, region by region: its history, whether it moves by itself, and what kind of thing it is.

Nothing here touches a display: changes come in with their times, so all of it can be tested with made-up ones.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deskhand.messages import Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CELL = 16
"""Changed pixels nearer than one or two of these cells, in pixels, are one region."""

_MANY_CELLS = 600  # beyond this a change is one region: cutting it up would cost more than it tells
_SMALL = 64  # pixels: a change within such a square is one region without looking closer
_MARGIN = 3  # pixels by which anti-aliasing and outlines leave a region
_EPISODE = 0.06  # seconds: changes nearer in time are one repaint done in parts
_BURST = 0.25  # seconds: the longest gap within continuous motion (4 frames a second)
_REMEMBERED = 12.0  # seconds: GTK stops a caret after ten
_KEPT = 64  # changes remembered by region


def components(changed: NDArray[np.bool_], x: int, y: int) -> list[Rect]:
    """The connected regions, cut to their bounds, of a mask of changed pixels whose corner is at screen pixel (x, y)."""
    import numpy as np

    bounds = _bounds(changed)
    if bounds is None:
        return []
    left, top, right, bottom = bounds
    whole = Rect(x + left, y + top, right - left, bottom - top)
    if whole.width <= _SMALL and whole.height <= _SMALL:
        return [whole]
    part = changed[top:bottom, left:right]
    rows, columns = -(-part.shape[0] // CELL), -(-part.shape[1] // CELL)
    padded = np.zeros((rows * CELL, columns * CELL), dtype=bool)
    padded[: part.shape[0], : part.shape[1]] = part
    cells = padded.reshape(rows, CELL, columns, CELL).any(axis=(1, 3))
    if int(cells.sum()) > _MANY_CELLS:
        return [whole]
    found = []
    for group in _connected({(int(row), int(column)) for row, column in np.argwhere(cells)}):
        top_cell, left_cell = min(row for row, _ in group), min(column for _, column in group)
        bottom_cell, right_cell = max(row for row, _ in group) + 1, max(column for _, column in group) + 1
        inner = padded[top_cell * CELL : bottom_cell * CELL, left_cell * CELL : right_cell * CELL]
        box = _bounds(inner)
        assert box is not None
        found.append(
            Rect(
                whole.x + left_cell * CELL + box[0],
                whole.y + top_cell * CELL + box[1],
                box[2] - box[0],
                box[3] - box[1],
            )
        )
    return found


def _bounds(mask: NDArray[np.bool_]) -> tuple[int, int, int, int] | None:
    """Left, top, right, bottom (exclusive) of what is set."""
    import numpy as np

    rows = np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return None
    columns = np.flatnonzero(mask[rows[0] : rows[-1] + 1].any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _connected(cells: set[tuple[int, int]]) -> Iterable[list[tuple[int, int]]]:
    while cells:
        group, edge = [], [cells.pop()]
        while edge:
            row, column = edge.pop()
            group.append((row, column))
            near = {(row + dy, column + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & cells
            cells -= near
            edge.extend(near)
        yield group


def grown(rect: Rect, margin: int = _MARGIN) -> Rect:
    """The rectangle with a margin on all sides."""
    return Rect(rect.x - margin, rect.y - margin, rect.width + 2 * margin, rect.height + 2 * margin)


def covers(outer: Rect, inner: Rect) -> bool:
    """Whether ``inner`` lies within ``outer``, give or take the margin."""
    return grown(outer).intersection(inner) == inner


def merged(rects: Iterable[Rect], most: int) -> tuple[Rect, ...]:
    """At most ``most`` rectangles around the same: nearest ones are joined."""
    found: list[Rect] = []
    for rect in rects:
        for index, other in enumerate(found):
            if grown(other, CELL).intersection(rect):
                found[index] = other.union(rect)
                break
        else:
            found.append(rect)
    while len(found) > most:
        pairs = ((a, b) for a in range(len(found)) for b in range(a))
        a, b = min(pairs, key=lambda pair: found[pair[0]].union(found[pair[1]]).area)
        found[b] = found[b].union(found.pop(a))
    return tuple(found)


@dataclass(slots=True)
class Region:
    """A place that changes. Times are on the monotonic clock."""

    rect: Rect
    grown_at: float
    """When it last became larger: what grows is being drawn, what does not goes round in circles."""
    times: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    idle_times: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    """The changes that no act was waiting for."""
    states: deque[int] = field(default_factory=lambda: deque(maxlen=16))
    repeats: int = 0
    """How often it came back to a state that it had shown before."""
    known: bool = False
    """Whether a verdict has named it as moving by itself."""

    @property
    def last(self) -> float:
        return self.times[-1]

    def note(self, rect: Rect, now: float, idle: bool) -> None:
        """It changed, within ``rect``."""
        whole = self.rect.union(rect)
        if not covers(self.rect, rect):
            self.grown_at = now
        self.rect = whole
        self.times.append(now)
        if idle:
            self.idle_times.append(now)

    def looks_like(self, state: int) -> None:
        """A hash of its pixels as they are now: one that was there before says that it goes round."""
        if state in self.states:
            self.repeats += 1
        self.states.append(state)

    def is_caret(self) -> bool:
        """Whether it has the shape of a text caret, and the pace."""
        if not (self.rect.width <= 4 and 8 <= self.rect.height <= 64):
            return False
        return not self._continuous(self.times)

    def moves(self, now: float) -> bool:
        """Whether it is moving by itself at ``now``, to be expected to go on whatever is done."""
        age = now - self.last
        gaps = _gaps(self.times)
        longest = max(gaps[-4:], default=0.0)
        if self.is_caret():
            return age <= 2.5
        if self.known and age <= 1.5 * longest + 0.1:
            return True
        if _is_clock(gaps):
            return age <= 1.6
        episodes = _episodes(self.idle_times)
        if len(episodes) >= (2 if self.repeats else 3):
            longest = max(_gaps(episodes)[-4:])
            if now - episodes[-1] <= 1.5 * longest + 0.1:
                return True
        return self._continuous(self.idle_times) and now - self.idle_times[-1] <= _BURST

    def cycles(self, since: float, now: float, span: float) -> bool:
        """Whether it has gone on in one place for ``span`` seconds after ``since``, without getting anywhere.

        What was drawn larger within the last half of that is not it: text being written, a bar that fills.
        """
        recent = [time for time in self.times if time >= since]
        if self.is_caret() and len(self.times) > 1:
            return True
        if _is_clock(_gaps(self.times)):
            return True
        if len(recent) < 4 or recent[-1] - recent[0] < span or max(_gaps(recent)) > 2 * _BURST:
            return False
        return now - self.grown_at >= span / 2

    def kind(self) -> str:
        """``caret``, ``clock``, ``video``, ``progress``, ``spinner`` or plain ``motion``."""
        gaps = sorted(_gaps(self.times))
        pace = gaps[len(gaps) // 2] if gaps else 1.0
        if self.is_caret():
            return "caret"
        if _is_clock(_gaps(self.times)):
            return "clock"
        if pace > 0.4:
            return "motion"
        if self.rect.width >= 4 * self.rect.height and self.rect.height <= 48:
            return "progress"
        return "video" if self.rect.area > 120 * 120 else "spinner"

    def _continuous(self, times: Sequence[float]) -> bool:
        """Whether the last changes came without a break, for longer than one repaint takes."""
        run = 0.0
        for gap in reversed(_gaps(times)):
            if gap > _BURST:
                break
            run += gap
        return run >= _BURST


def _gaps(times: Sequence[float]) -> list[float]:
    return [b - a for a, b in itertools.pairwise(times)]


def _episodes(times: Iterable[float]) -> list[float]:
    found: list[float] = []
    last = -1.0
    for time in times:
        if not found or time - last > _EPISODE:
            found.append(time)
        last = time
    return found


def _is_clock(gaps: Sequence[float]) -> bool:
    """Whether the last changes came a second apart."""
    return len(gaps) >= 2 and all(0.9 <= gap <= 1.1 for gap in gaps[-2:])


class Motion:
    """All regions that changed within the last twelve seconds."""

    def __init__(self) -> None:
        self.regions: list[Region] = []

    def note(self, rect: Rect, now: float, idle: bool) -> Region:
        """``rect`` changed. Returns the region it belongs to."""
        for region in self.regions:
            if self._same_place(region, rect):
                region.note(rect, now, idle)
                return region
        region = Region(rect, now)
        region.note(rect, now, idle)
        self.regions.append(region)
        return region

    def forget(self, now: float) -> None:
        """Drop what has been still for long."""
        self.regions = [region for region in self.regions if now - region.last <= _REMEMBERED]

    def moving(self, now: float) -> list[Region]:
        """The regions that move by themselves."""
        return [region for region in self.regions if region.moves(now)]

    @staticmethod
    def _same_place(region: Region, rect: Rect) -> bool:
        common = grown(region.rect).intersection(rect)
        if common is None:
            return False
        # A large repaint around a spinner is not the spinner, and one glyph next to a caret is not the caret.
        small, large = sorted((region.rect.area, rect.area))
        return common.area * 2 >= small and (covers(region.rect, rect) or large <= 4 * small + 64 * 64)
