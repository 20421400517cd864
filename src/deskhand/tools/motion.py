"""What moves on the screen, region by region: its history, whether it moves by itself, and what kind of thing it is.

Nothing here touches a display: changes come in with their times, so all of it can be tested with made-up ones.
"""

from __future__ import annotations

import itertools
import statistics
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

_MANY_CELLS = 80  # beyond this a change is cut up more coarsely: it would cost more than it tells
_COARSE = 64  # pixels
_MANY_PARTS = 64  # rectangles of one look that are put together again
_SMALL = 64  # pixels: a change within such a square is one region without looking closer
_MARGIN = 3  # pixels by which anti-aliasing and outlines leave a region
_EPISODE = 0.06  # seconds: changes nearer in time are one repaint done in parts
_BURST = 0.25  # seconds: the longest gap within continuous motion (4 frames a second)
_ESTABLISHED = 1.5  # seconds within which a few changes make a place that moves
_SPINNER = 120  # pixels: a larger place has to change more often to be one, as windows come and go
_QUICK = 1.3  # seconds: a rhythm up to this may be uneven, as a caret's or a spinner's on a busy machine
_CARET_AGE = 2.5  # seconds: no toolkit's caret is slower
_SAME_DELAY = 0.15  # seconds by which an app's answers to the same act differ
_REMEMBERED = 12.0  # seconds: GTK stops a caret after ten
_KEPT = 200  # changes remembered by region: over three seconds at 60 frames a second


def components(changed: NDArray[np.bool_], x: int, y: int) -> list[Rect]:
    """The connected regions, cut to their bounds, of a mask of changed pixels whose corner is at screen (x, y)."""
    import numpy as np

    bounds = _bounds(changed)
    if bounds is None:
        return []
    left, top, right, bottom = bounds
    whole = Rect(x + left, y + top, right - left, bottom - top)
    if whole.width <= _SMALL and whole.height <= _SMALL:
        return [whole]
    part = changed[top:bottom, left:right]
    size, cells = CELL, _cells(part, CELL)
    if int(cells.sum()) > _MANY_CELLS:
        size, cells = _COARSE, _cells(part, _COARSE)
    found = []
    for group in _connected({(int(row), int(column)) for row, column in np.argwhere(cells)}):
        top_cell, left_cell = min(row for row, _ in group), min(column for _, column in group)
        bottom_cell, right_cell = max(row for row, _ in group) + 1, max(column for _, column in group) + 1
        box = _bounds(part[top_cell * size : bottom_cell * size, left_cell * size : right_cell * size])
        assert box is not None
        found.append(
            Rect(
                whole.x + left_cell * size + box[0],
                whole.y + top_cell * size + box[1],
                box[2] - box[0],
                box[3] - box[1],
            )
        )
    return found


def _cells(part: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """Which squares of ``size`` pixels hold anything that is set."""
    import numpy as np

    by_rows = np.logical_or.reduceat(part, range(0, part.shape[0], size), axis=0)
    return np.logical_or.reduceat(by_rows, range(0, part.shape[1], size), axis=1)


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


def touching(rects: list[Rect]) -> list[Rect]:
    """The same, with rectangles that touch each other joined."""
    found: list[Rect] = []
    for rect in rects[:_MANY_PARTS]:
        joined = rect
        while near := [other for other in found if grown(other, 1).intersection(joined) is not None]:
            for other in near:
                found.remove(other)
                joined = joined.union(other)
        found.append(joined)
    return found + rects[_MANY_PARTS:]


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


@dataclass(frozen=True, slots=True)
class Beat:
    """One change of a region, at ``time`` on the monotonic clock.

    ``idle``: no act was waiting for it. ``act`` numbers the latest act before it, begun ``delay`` seconds earlier.
    """

    time: float
    idle: bool = True
    act: int = 0
    delay: float = 0.0


@dataclass(slots=True)
class Region:
    """A place that changes."""

    rect: Rect
    grown_at: float
    """When it last became larger: what grows is being drawn, what does not goes round in circles."""
    beats: deque[Beat] = field(default_factory=lambda: deque(maxlen=_KEPT))
    known: bool = False
    """Whether a verdict has named it as moving by itself."""

    @property
    def last(self) -> float:
        """When it changed last."""
        return self.beats[-1].time

    def note(self, rect: Rect, beat: Beat) -> None:
        """It changed, within ``rect``."""
        if not covers(self.rect, rect):
            self.grown_at = beat.time
        if self.known and beat.time - self.last > max(1.6, 4 * self._pace()):
            self.known = False  # it had stopped: this is something else
        self.rect = self.rect.union(rect)
        self.beats.append(beat)

    def _pace(self) -> float:
        """The usual gap between its last changes; 0 when there is none."""
        return statistics.median(_gaps(list(self.beats)[-9:]) or [0.0])

    def established(self, now: float) -> bool:
        """Whether it has been changing for some time now: what changes inside of it belongs to it."""
        enough = 3 if self.rect.area <= _SPINNER * _SPINNER else 6
        return len(self.beats) >= enough and now - self.beats[-enough].time <= _ESTABLISHED

    def is_caret(self) -> bool:
        """Whether it has the shape of a text caret, and the pace."""
        return caret_shaped(self.rect) and not _continuous(self.beats)

    def is_clock(self) -> bool:
        """Whether its last changes came a second apart, and not because acts did."""
        gaps = _gaps(self.beats)[-2:]
        return (
            len(gaps) == 2 and all(abs(gap - 1) <= 0.06 for gap in gaps) and not _alike(list(self.beats)[-3:])
        )

    def moves(self, now: float) -> bool:
        """Whether it is moving by itself at ``now``, to be expected to go on whatever is done."""
        age = now - self.last
        if self.is_caret():
            return age <= _CARET_AGE
        if self.is_clock():
            return age <= 1.6
        slowest = max(_gaps(list(self.beats)[-5:]), default=0.0)
        if self.known and slowest <= _QUICK and age <= 1.5 * slowest + 0.1:
            return True
        idle = [beat for beat in self.beats if beat.idle]
        if _continuous(idle) and now - idle[-1].time <= _BURST:
            return True
        episodes = _episodes(idle)[-4:]
        if len(gaps := _gaps(episodes)) < 2 or _caused(episodes):
            return False
        # A slow rhythm has to be a steady one: windows that come and go every few seconds are no motion.
        if max(gaps) > (2.5 if max(gaps) <= _QUICK else 1.2) * min(gaps):
            return False
        return now - episodes[-1].time <= 1.5 * max(gaps) + 0.1

    def cycles(self, since: float, now: float, span: float) -> bool:
        """Whether it has gone on in one place for ``span`` seconds after ``since``, without getting anywhere.

        What was drawn larger within the last half of that is not it: text being written, a bar that fills.
        """
        recent = [beat for beat in self.beats if beat.time >= since]
        if self.is_caret():  # to come once may be the act's doing, to blink is not
            return len(recent) > 1
        if self.is_clock():
            return True
        if len(recent) < 4 or recent[-1].time - recent[0].time < span or max(_gaps(recent)) > 2 * _BURST:
            return False
        return now - self.grown_at >= span / 2

    def kind(self) -> str:
        """``caret``, ``clock``, ``video``, ``progress``, ``spinner`` or plain ``motion``."""
        gaps = sorted(_gaps(self.beats))
        pace = gaps[len(gaps) // 2] if gaps else 1.0
        if self.is_caret():
            return "caret"
        if self.is_clock():
            return "clock"
        if pace > 0.4:
            return "motion"
        if self.rect.width >= 4 * self.rect.height and self.rect.height <= 48:
            return "progress"
        return "video" if self.rect.area > _SPINNER * _SPINNER else "spinner"


def caret_shaped(rect: Rect) -> bool:
    """Whether a rectangle is a thin upright line of a text line's height."""
    return rect.width <= 4 and 8 <= rect.height <= 64


def _gaps(beats: Sequence[Beat]) -> list[float]:
    return [later.time - earlier.time for earlier, later in itertools.pairwise(beats)]


def _continuous(beats: Sequence[Beat]) -> bool:
    """Whether the last changes came without a break, for longer than one repaint takes."""
    run = 0.0
    for gap in reversed(_gaps(beats)):
        if gap > _BURST:
            break
        run += gap
    return run >= _BURST


def _episodes(beats: Iterable[Beat]) -> list[Beat]:
    """The first change of each run of changes."""
    found: list[Beat] = []
    last = 0.0
    for beat in beats:
        if not found or beat.time - last > _EPISODE:
            found.append(beat)
        last = beat.time
    return found


def _alike(beats: Sequence[Beat]) -> bool:
    """Whether these changes came after different acts and always as long after: then it is the acts that make them."""
    delays = [beat.delay for beat in beats]
    return len({beat.act for beat in beats}) > 1 and max(delays) - min(delays) <= _SAME_DELAY


def _caused(beats: Sequence[Beat]) -> bool:
    """Whether there is no sign that these changes are not made by acts: alike, or one after each."""
    acts = {beat.act for beat in beats}
    return _alike(beats) or 1 < len(acts) == len(beats)


class Motion:
    """All regions that changed within the last twelve seconds."""

    def __init__(self) -> None:
        self.regions: list[Region] = []

    def note(self, rect: Rect, beat: Beat) -> Region:
        """``rect`` changed. Returns the region it belongs to."""
        region = self._place_of(rect, beat.time)
        if region is None:
            region = Region(rect, beat.time)
            self.regions.append(region)
        region.note(rect, beat)
        if region.established(beat.time):
            self._absorb(region, beat.time)
        return region

    def _absorb(self, region: Region, now: float) -> None:
        """Two places that move and turn out to overlap are one."""
        for other in self.regions:
            if (
                other is not region
                and other.established(now)
                and caret_shaped(other.rect) == caret_shaped(region.rect)
                and other.rect.intersection(region.rect) is not None
            ):
                region.rect = region.rect.union(other.rect)
                region.beats = deque(
                    sorted((*region.beats, *other.beats), key=lambda b: b.time), maxlen=_KEPT
                )
                region.known |= other.known
                self.regions = [kept for kept in self.regions if kept is not other]

    def forget(self, now: float) -> None:
        """Drop what has been still for long."""
        self.regions = [region for region in self.regions if now - region.last <= _REMEMBERED]

    def moving(self, now: float) -> list[Region]:
        """The regions that move by themselves."""
        return [region for region in self.regions if region.moves(now)]

    def _place_of(self, rect: Rect, now: float) -> Region | None:
        """The region that ``rect`` is of: the same place first, then what moves around it, then a small neighbour.

        A large repaint around a spinner is not the spinner, a glyph next to a caret is not the caret, and what changes
        in a window that appeared a while ago is not the window's appearing.
        """
        thin = caret_shaped(rect)
        near = [
            region
            for region in self.regions
            if caret_shaped(region.rect) == thin and grown(region.rect).intersection(rect) is not None
        ]
        for region in near:
            if _overlap(region.rect, rect) >= 0.7:
                return region
        for region in near:
            if region.established(now) and covers(region.rect, rect):
                return region
        for region in near:
            small, large = sorted((region.rect.area, rect.area))
            whole = region.rect.union(rect)
            if large <= 4 * small and max(whole.width, whole.height) <= 2 * _SMALL:
                return region
        return None


def _overlap(a: Rect, b: Rect) -> float:
    """Common area as a share of the area of both together."""
    common = a.intersection(b)
    return common.area / (a.area + b.area - common.area) if common is not None else 0.0
