"""The last clicks on bare pixels, to look back at: what lay around each just before it, with a cross where it hit."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, Final

from deskhand.desktop.base import Frame, Screen
from deskhand.messages import Image, Point, Rect

REMEMBERED: Final = 8

_AROUND: Final = 64
"""Screen pixels shown on each side of a click."""
_ENLARGED: Final = 3
_GAP: Final = 6
"""Screen pixels around the point that the cross leaves free: what was hit must stay visible."""
_COLOUR: Final = (255, 0, 160)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicked:
    """One click: where, in screen pixels, what was around it before, and the evidence in words."""

    point: Point
    around: Frame
    said: str = ""


class Clicks:
    """Remembers the last few clicks."""

    def __init__(self) -> None:
        self._kept: deque[Clicked] = deque(maxlen=REMEMBERED)

    def note(self, screen: Screen, point: Point) -> None:
        """Remember what is around a point that is about to be clicked. Blocks for a fraction of a millisecond."""
        width, height = screen.size
        around = Rect(point.x - _AROUND, point.y - _AROUND, 2 * _AROUND, 2 * _AROUND)
        inside = around.intersection(Rect(0, 0, width, height))
        if inside is not None:
            self._kept.append(Clicked(point=point, around=screen.grab(inside)))

    def say(self, evidence: str) -> None:
        """What the last click came to, in words."""
        if self._kept:
            self._kept.append(replace(self._kept.pop(), said=evidence))

    def look_back(self, count: int) -> tuple[str, Image | None]:
        """The last ``count`` clicks, oldest first, in words and side by side in one picture; None when there were none.

        The picture is one to look at: its pixels are no places on the screen.
        """
        shown = list(self._kept)[-count:]
        if not shown:
            return "no pixels were clicked yet", None
        lines = [
            f"{number}. ({click.point.x}, {click.point.y}) on the screen: {click.said or 'no evidence'}"
            for number, click in enumerate(shown, 1)
        ]
        head = (
            "The last clicks on pixels, left to right as they were just before (do not aim at this picture):"
        )
        return "\n".join([head, *lines]), _side_by_side(shown)


def _side_by_side(clicks: list[Clicked]) -> Image:
    import PIL.Image

    side = 2 * _AROUND * _ENLARGED
    sheet = PIL.Image.new("RGB", (len(clicks) * (side + _GAP) - _GAP, side), (128, 128, 128))
    for place, click in enumerate(clicks):
        sheet.paste(_crossed(click), (place * (side + _GAP), 0))
    buffer = BytesIO()
    sheet.save(buffer, "PNG", compress_level=1)
    return Image(data=buffer.getvalue(), width=sheet.width, height=sheet.height)


def _crossed(click: Clicked) -> Any:
    """The surroundings, enlarged, with a cross whose middle is free."""
    import PIL.Image
    import PIL.ImageDraw

    height, width = click.around.pixels.shape
    data = click.around.pixels.tobytes()
    raw = PIL.Image.frombuffer("RGB", (width, height), data, "raw", "BGRX", 0, 1)
    big = raw.resize((width * _ENLARGED, height * _ENLARGED), PIL.Image.Resampling.NEAREST)
    draw = PIL.ImageDraw.Draw(big)
    middle = _ENLARGED // 2
    x = (click.point.x - click.around.rect.x) * _ENLARGED + middle
    y = (click.point.y - click.around.rect.y) * _ENLARGED + middle
    gap = _GAP * _ENLARGED
    for start, end in (((0, y), (x - gap, y)), ((x + gap, y), (big.width, y))):
        draw.line((start, end), fill=_COLOUR, width=_ENLARGED)
    for start, end in (((x, 0), (x, y - gap)), ((x, y + gap), (x, big.height))):
        draw.line((start, end), fill=_COLOUR, width=_ENLARGED)
    return big
