"""The screen as a picture for a model: scaled, with the transform that maps its pixels back to the screen's."""

from __future__ import annotations

from io import BytesIO

from deskhand.desktop.base import Frame
from deskhand.messages import Image, Point


def picture(frame: Frame, *, edge: int, id: str = "") -> Image:  # noqa: A002 (the field it sets)
    """The frame as PNG, its longer side at most ``edge`` pixels (never enlarged)."""
    import PIL.Image

    height, width = frame.pixels.shape
    raw = PIL.Image.frombuffer("RGB", (width, height), frame.pixels.tobytes(), "raw", "BGRX", 0, 1)
    factor = min(1.0, edge / max(width, height))
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
