"""Where there is something to read in a picture, by its pixels alone: changed parts, bands, phrases of a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from deskhand.messages import Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

CONTRAST: Final = 40
"""Levels (of 255) by which ink differs from its ground; less is a shade or a frame that nobody reads."""

_HIGHEST: Final = 480
"""Pixel rows that are searched for lines at once: it bounds memory, and the time between two looks at the clock."""

PAD: Final = (5, 5)
"""Pixels of ground left beside, and above and below, a phrase: the models were trained on lines with some."""


def changed_parts(old: Pixels, new: Pixels) -> list[Rect]:
    """The rectangles in which two pictures of one size differ, from top to bottom. Close ones are one."""
    differs: Mask = (old != new).any(axis=2)
    parts: list[Rect] = []
    for top, bottom in _runs(differs.any(axis=1), gap=3):
        for left, right in _runs(differs[top:bottom].any(axis=0), gap=24):
            rows = differs[top:bottom, left:right].any(axis=1)
            inner = list(_runs(rows, gap=bottom))
            parts.append(Rect(left, top + inner[0][0], right - left, inner[0][1] - inner[0][0]))
    return parts


def has_ink(image: Pixels) -> bool:
    """Whether there is anything but ground."""
    return image.size > 0 and bool(_spread(image, (0, 1)) > CONTRAST)


def bands(image: Pixels, highest: int = _HIGHEST) -> Iterator[Rect]:
    """The picture cut between its lines into bands at most so high; empty bands are left out.

    Where there is no empty row to cut at, as beside a scroll bar, the emptiest one near the end will do.
    """
    height, width = image.shape[:2]
    busy = _row_business(image)
    filled = [(top, bottom) for top, bottom in _runs(busy > 0, gap=16)]
    for top, bottom in filled:
        top, bottom = max(0, top - 6), min(height, bottom + 6)
        while bottom - top > highest:
            low = top + highest * 2 // 3
            cut = low + int(busy[low : top + highest].argmin())
            yield Rect(0, top, width, cut - top)
            top = cut
        yield Rect(0, top, width, bottom - top)


def phrases(line: Pixels) -> Iterator[Rect]:
    """The phrases of one line: cut where the gap is wider than between words, trimmed to their ink and some ground.

    They may reach over the line's edges by the ground around them, so that the same words look the same wherever the
    line was cut. Labels that stand side by side (``File  Edit  View``) are things of their own to be clicked.
    """
    ink = _ink(line)
    top, bottom = _own_rows(ink)
    gap = max(9, round((bottom - top) * 0.9))
    for left, right in _runs(ink[top:bottom].any(axis=0), gap=gap):
        if right - left < 2 and bottom - top > 24:  # a frame's edge, a caret
            continue
        first, last = _own_rows(ink[top:bottom, left:right])
        beside, above = PAD
        yield Rect(left - beside, top + first - above, right - left + 2 * beside, last - first + 2 * above)


def _own_rows(ink: Mask) -> tuple[int, int]:
    """The pixel rows of a line, without what reaches into its picture from the lines above and below."""
    runs = list(_runs(ink.any(axis=1), gap=0))
    if not runs:
        return 0, 0
    height = ink.shape[0]
    most = max(bottom - top for top, bottom in runs)
    own = [
        (top, bottom) for top, bottom in runs if (top > 0 and bottom < height) or bottom - top > 0.4 * most
    ]
    return own[0][0], own[-1][1]


def _ink(image: Pixels) -> Mask:
    """What stands out from the most frequent colour."""
    import numpy as np

    wide = image.astype(np.int16)
    coarse = (wide >> 3) @ np.array([1, 32, 1024], dtype=np.int32)
    values, counts = np.unique(coarse, return_counts=True)
    ground = wide[coarse == values[counts.argmax()]].mean(axis=0)
    mask: Mask = np.abs(wide - ground).max(axis=2) > CONTRAST
    return mask


def _row_business(image: Pixels) -> Any:
    """How many pixels of each row differ from their left neighbour: none in an empty row, ruled lines aside."""
    import numpy as np

    steps = np.abs(np.diff(image.astype(np.int16), axis=1)).max(axis=2) > CONTRAST // 2
    return steps.sum(axis=1)


def _spread(image: Pixels, axis: tuple[int, ...]) -> Any:
    import numpy as np

    return (image.max(axis=axis).astype(np.int16) - image.min(axis=axis)).max()


def _runs(mask: Any, *, gap: int) -> Iterator[tuple[int, int]]:
    """Start and end of each run of what is true; runs at most ``gap`` apart are one."""
    import numpy as np

    places = np.flatnonzero(mask)
    if not places.size:
        return
    breaks = np.flatnonzero(np.diff(places) > gap + 1)
    starts = places[np.concatenate(([0], breaks + 1))]
    ends = places[np.concatenate((breaks, [places.size - 1]))] + 1
    yield from zip(starts.tolist(), ends.tolist(), strict=True)
