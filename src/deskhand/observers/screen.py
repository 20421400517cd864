"""The screen as a picture for a model: scaled, with the transform that maps its pixels back to the screen's."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Final

from deskhand.desktop.base import Frame, Screen
from deskhand.errors import ToolError
from deskhand.messages import Image, Point, Rect

ZOOM: Final = 4.0
"""The most that a part of the screen is enlarged to be read: small print is then as tall as a headline."""


def picture(frame: Frame, *, edge: int, id: str = "", enlarge: bool = False) -> Image:  # noqa: A002 (the field it sets)
    """The frame as PNG, its longer side at most ``edge`` pixels.

    ``enlarge``: a frame that is smaller becomes up to `ZOOM` times as large. Pixels map back to the screen either way.
    """
    import PIL.Image

    height, width = frame.pixels.shape
    raw = PIL.Image.frombuffer("RGB", (width, height), frame.pixels.tobytes(), "raw", "BGRX", 0, 1)
    factor = min(ZOOM if enlarge else 1.0, edge / max(width, height))
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    if size != (width, height):
        raw = raw.resize(size, PIL.Image.Resampling.LANCZOS, reducing_gap=2.0)
    buffer = BytesIO()
    raw.save(buffer, "PNG", compress_level=1)
    return Image(
        data=buffer.getvalue(),
        width=size[0],
        height=size[1],
        id=id,
        origin=Point(frame.rect.x, frame.rect.y),
        scale=(width / size[0], height / size[1]),
    )


def ordered(monitors: Sequence[Rect]) -> list[Rect]:
    """The monitors as they are numbered, from 1: from left to right, then from top to bottom."""
    return sorted(monitors, key=lambda rect: (rect.x, rect.y))


def part_of(screen: Screen, region: Rect | None, monitor: int | None) -> Rect | None:
    """The part of the screen that is asked for, in screen pixels; None for all of it. May block.

    ToolError when that is not on the screen; it says what is.
    """
    if region is not None and monitor is not None:
        raise ToolError("give a region or a monitor, not both: a region is in pixels of the whole screen")
    width, height = screen.size
    if region is not None:
        seen = region.intersection(Rect(0, 0, width, height))
        if seen is None:
            raise ToolError(
                f"the region {_place(region)} is outside the screen: x must be 0–{width - 1}, y 0–{height - 1}, "
                "width and height at least 1"
            )
        return seen
    if monitor is None:
        return None
    known = ordered(screen.monitors)
    if not 1 <= monitor <= len(known):
        raise ToolError(f"there is no monitor {monitor}: {monitor_words(known) or 'there is one'}")
    return known[monitor - 1]


def picture_words(image: Image, part: Rect | None, screen: Screen) -> str:
    """What a picture that was asked for shows (``part``, or all), where the pointer is in it, which monitors there are.

    May block.
    """
    shown = part or Rect(0, 0, *screen.size)
    words = [f"Picture {image.id}: [{_place(shown)}] of the screen"]
    if image.scale[0] < 1:
        words.append(f"enlarged {1 / image.scale[0]:.2g} times")
    pointer = screen.cursor()
    if shown.contains(pointer):
        x, y = (
            (at - start) / by
            for at, start, by in zip((pointer.x, pointer.y), (shown.x, shown.y), image.scale, strict=True)
        )
        words.append(f"the pointer is at ({x:.0f}, {y:.0f}) in it")
    if monitors := monitor_words(ordered(screen.monitors)):
        words.append(monitors)
    return "; ".join(words)


def monitor_words(monitors: Sequence[Rect]) -> str:
    """Where the monitors are, when there are several."""
    if len(monitors) < 2:
        return ""
    return "monitors: " + ", ".join(f"{number} [{_place(rect)}]" for number, rect in enumerate(monitors, 1))


def _place(rect: Rect) -> str:
    return f"{rect.x}, {rect.y}, {rect.width}, {rect.height}"
