"""Lines of text in a picture, kept from look to look: only what changed is read again."""

from __future__ import annotations

import itertools
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from deskhand.messages import Rect
from deskhand.observers.ink import PAD, bands, changed_parts, has_ink, phrases

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    """(height, width, 3), blue first: what the models were trained on."""

LEAST_SURE: Final = 0.6
"""Confidence below which a reading is of no use: icons and drawings are taken for letters there."""

REMEMBERED: Final = 4_000
"""Readings kept by their pixels: a page that scrolls or comes back is not read again."""

PAGES: Final = 6
"""Windows and regions whose last picture is kept (4 MB each at 1280 by 800)."""

_GONE: Final = 1_000

_MARGIN: Final = 8
"""Pixels around a changed part that are looked at with it, so that no letter is cut."""

_SLACK: Final = 3
"""Pixels by which a change may stick out above or below a line and still be one of that line."""


_ONE_LINE: Final = 1.25
"""What is higher than its highest phrase by more than this is not one line."""


class Engine(Protocol):
    """Finds lines of text, and reads one."""

    def detect(self, picture: Pixels) -> list[Rect]:
        """Where lines are, in pixels of the picture."""
        ...

    def recognise(self, lines: Sequence[Pixels], until: float) -> list[tuple[str, float]]:
        """What lines say, and how sure that is (0–1): at least the first, and as many as are begun by ``until``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A run of words without a wide gap. ``rect`` is in pixels of the picture; ``id`` stays while it stays the same."""

    id: int
    text: str
    rect: Rect
    sure: float


@dataclass(slots=True)
class _Page:
    pixels: Pixels
    phrases: list[Phrase] = field(default_factory=list)
    unread: list[Rect] = field(default_factory=list)
    gone: list[Phrase] = field(default_factory=list)
    """What is there no more, the last of it: a menu that closes shows the same again."""

    def let_go(self, old: Sequence[Phrase]) -> None:
        """These are there no more."""
        self.phrases = [each for each in self.phrases if each not in old]
        self.gone = [*self.gone, *old][-_GONE:]


class LineReader:
    """Reads pictures. Of a picture that was seen before under the same key, only the changed lines are read.

    A change inside a known line needs no detection. Elsewhere the surroundings of the change are searched for lines.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pages: OrderedDict[str, _Page] = OrderedDict()
        self._known: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._ids = itertools.count(1)

    def read(
        self, key: str, pixels: Pixels, until: float, only: Rect | None = None
    ) -> tuple[list[Phrase], int]:
        """The phrases in reading order, and how many parts had to be left unread at ``until`` (`time.monotonic`).

        ``until`` 0: nothing is read now. ``only``: nothing outside of this part is. What was left is read the next
        time; what stood there before is not told, since it may be there no more.
        """
        page = self._pages.pop(key, None)
        if page is None or page.pixels.shape != pixels.shape:
            page = _Page(pixels, unread=[Rect(0, 0, pixels.shape[1], pixels.shape[0])])
        else:
            page.unread += changed_parts(page.pixels, pixels)
            page.pixels = pixels
        self._pages[key] = page
        while len(self._pages) > PAGES:
            self._pages.popitem(last=False)
        parts, later = _divided(page.unread, only)
        page.unread = later
        todo = list(self._todo(page, parts))
        late = 0
        for place, (part, is_line) in enumerate(todo):
            if (place or not until) and time.monotonic() > until:
                page.unread += [each for each, _ in todo[place:]]
                late += len(todo) - place
                break
            late += self._read_part(page, part, is_line, until)
        page.phrases = in_reading_order(page.phrases)
        unread = page.unread
        known = [each for each in page.phrases if not any(each.rect.intersection(part) for part in unread)]
        return known, late

    # --- inside -----------------------------------------------------------------------------------------------

    def _todo(self, page: _Page, parts: Sequence[Rect]) -> Iterator[tuple[Rect, bool]]:
        """What to read, and whether that is one known line. Parts that touch the same lines are read as one."""
        whole = Rect(0, 0, page.pixels.shape[1], page.pixels.shape[0])
        grown: list[tuple[Rect, bool]] = []
        for part in parts:
            row = _row_of(part, page.phrases)
            rect = row.intersection(whole) if row is not None else None
            is_line, rect = rect is not None, rect or _grown(part, page.phrases, whole)
            while (other := _touching(rect, is_line, grown)) is not None:
                grown.remove(other)
                rect, is_line = rect.union(other[0]), is_line and other[1]
                if not is_line:
                    rect = _grown(rect, page.phrases, whole)
            grown.append((rect, is_line))
        if sum(rect.area for rect, _ in grown) > whole.area * 0.7:
            grown = [(whole, False)]
        for rect, is_line in sorted(grown, key=lambda each: (each[0].y, each[0].x)):
            if is_line:
                yield rect, True
                continue
            # Also where nothing is any more.
            page.let_go([each for each in page.phrases if _mostly_in(each.rect, rect)])
            for band in bands(_cut(page.pixels, rect)):
                yield moved_into(band, rect), False

    def _read_part(self, page: _Page, part: Rect, is_line: bool, until: float) -> int:
        """Read it into the page; how many phrases there was no time for."""
        page.let_go([each for each in page.phrases if _mostly_in(each.rect, part)])
        image = _cut(page.pixels, part)
        if not has_ink(image):
            return 0
        lines = [Rect(0, 0, part.width, part.height)] if is_line else self._engine.detect(image)
        height, width = page.pixels.shape[:2]
        whole = Rect(0, 0, width, height)
        found = [
            moved_into(moved_into(rect, line), part) for line in lines for rect in phrases(_cut(image, line))
        ]
        spots = [spot for each in found if (spot := each.intersection(whole)) is not None]
        said = self._recognise([_cut(page.pixels, spot) for spot in spots], until)
        page.unread.extend(spots[len(said) :])
        new = [
            self._named(text.strip(), sure, spot, page.gone)
            for (text, sure), spot in zip(said, spots, strict=False)
            if sure >= LEAST_SURE and text.strip()
        ]
        page.let_go(
            [each for each in page.phrases if any(_mostly_in(each.rect, other.rect) for other in new)]
        )
        page.phrases += new
        return len(spots) - len(said)

    def _recognise(self, images: Sequence[Pixels], until: float) -> list[tuple[str, float]]:
        """What the images say, those that were read before without reading; fewer when the time is up."""
        keys = [b"%d:" % image.shape[1] + image.tobytes() for image in images]
        said = {key: self._known.pop(key) for key in dict.fromkeys(keys) if key in self._known}
        new = {key: image for key, image in zip(keys, images, strict=True) if key not in said}
        if new:
            said |= dict(zip(new, self._engine.recognise(list(new.values()), until), strict=False))
        self._known |= said
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return [said[key] for key in itertools.takewhile(said.__contains__, keys)]

    def _named(self, text: str, sure: float, rect: Rect, old: Sequence[Phrase]) -> Phrase:
        """The phrase under the number that it had, where it says the same at the same place."""
        for was in reversed(old):
            common = was.rect.intersection(rect)
            if was.text == text and common is not None and common.area > 0.5 * max(was.rect.area, rect.area):
                return replace(was, rect=rect, sure=sure)
        return Phrase(id=next(self._ids), text=text, rect=rect, sure=sure)


def in_reading_order(found: Sequence[Phrase]) -> list[Phrase]:
    """From top to bottom, what stands side by side from left to right."""
    rows: list[list[Phrase]] = []
    for each in sorted(found, key=lambda phrase: phrase.rect.center.y):
        last = rows[-1][0].rect if rows else None
        if last is not None and abs(each.rect.center.y - last.center.y) < 0.5 * min(
            each.rect.height, last.height
        ):
            rows[-1].append(each)
        else:
            rows.append([each])
    return [each for row in rows for each in sorted(row, key=lambda phrase: phrase.rect.x)]


def _divided(parts: Sequence[Rect], only: Rect | None) -> tuple[list[Rect], list[Rect]]:
    """What of the parts is to be read, and what is outside of ``only``."""
    if only is None:
        return list(parts), []
    inside: list[Rect] = []
    outside: list[Rect] = []
    for part in parts:
        common = part.intersection(only)
        if common is None:
            outside.append(part)
            continue
        inside.append(common)
        outside += [
            rest
            for rest in (
                Rect(part.x, part.y, part.width, common.y - part.y),
                Rect(part.x, common.bottom, part.width, part.bottom - common.bottom),
                Rect(part.x, common.y, common.x - part.x, common.height),
                Rect(common.right, common.y, part.right - common.right, common.height),
            )
            if rest.area
        ]
    return inside, outside


def moved_into(inner: Rect, outer: Rect) -> Rect:
    """A rectangle in ``outer``'s own coordinates as one in those that ``outer`` is in."""
    return Rect(inner.x + outer.x, inner.y + outer.y, inner.width, inner.height)


def _touching(rect: Rect, is_line: bool, others: Sequence[tuple[Rect, bool]]) -> tuple[Rect, bool] | None:
    """One that has to be read together with a part: they overlap, and are not two lines one below the other."""
    for other in others:
        lines = is_line and other[1] and not _side_by_side(_core(rect), _core(other[0]))
        if other[0].intersection(rect) and not lines:
            return other
    return None


def _row_of(part: Rect, known: Sequence[Phrase]) -> Rect | None:
    """The line that a change is inside of, as wide as line and change together; None when it is of no one line."""
    cores = [_core(each.rect) for each in known]
    touched = [core for core in cores if core.intersection(part)]
    if not touched:
        return None
    row = touched[0]
    for core in touched[1:]:
        if not _side_by_side(core, row):
            return None
        row = row.union(core)
    if part.y < row.y - _SLACK or part.bottom > row.bottom + _SLACK:
        return None
    row = row.union(part)
    # What stands close by may have become one with it.
    for core in cores:
        near = Rect(row.x - row.height, row.y, row.width + 2 * row.height, row.height)
        if _side_by_side(core, row) and core.intersection(near):
            row = row.union(core)
            touched.append(core)
    if row.height > _ONE_LINE * max(core.height for core in touched):
        return None
    if any(core.intersection(row) and not _side_by_side(core, row) for core in cores):
        return None
    beside, above = PAD
    return Rect(row.x - beside, row.y - above, row.width + 2 * beside, row.height + 2 * above)


def _core(rect: Rect) -> Rect:
    """A phrase without the ground around it."""
    beside, above = PAD
    return Rect(
        rect.x + beside, rect.y + above, max(1, rect.width - 2 * beside), max(1, rect.height - 2 * above)
    )


def _side_by_side(one: Rect, other: Rect) -> bool:
    """Whether two stand on the same line."""
    common = min(one.bottom, other.bottom) - max(one.y, other.y)
    return common > 0.6 * min(one.height, other.height)


def _grown(part: Rect, known: Sequence[Phrase], whole: Rect) -> Rect:
    """A change with its surroundings and all lines that it touches."""
    rect = Rect(part.x - _MARGIN, part.y - _MARGIN, part.width + 2 * _MARGIN, part.height + 2 * _MARGIN)
    touched = [each.rect for each in known if each.rect.intersection(rect)]
    for each in touched:
        rect = rect.union(Rect(each.x - 2, each.y - 2, each.width + 4, each.height + 4))
    return rect.intersection(whole) or whole


def _mostly_in(rect: Rect, part: Rect) -> bool:
    common = rect.intersection(part)
    return common is not None and common.area > 0.5 * rect.area


def _cut(image: Pixels, rect: Rect) -> Pixels:
    return image[max(0, rect.y) : rect.bottom, max(0, rect.x) : rect.right]
