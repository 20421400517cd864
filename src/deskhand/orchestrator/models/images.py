"""Pictures within each provider's limits, and coordinates back from what the model saw."""

from __future__ import annotations

import base64
import io
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.errors import ModelError
from deskhand.messages import Image, Json, Results, Transcript, Words
from deskhand.orchestrator.models.capabilities import Capabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A picture as it goes out. ``factor`` is pixels of the original for one pixel sent, by axis."""

    base64: str
    media_type: str
    factor: tuple[float, float] = (1.0, 1.0)

    @property
    def url(self) -> str:
        return f"data:{self.media_type};base64,{self.base64}"


def all_images(transcript: Transcript) -> tuple[Image, ...]:
    """Every picture of a transcript, in the order in which it is sent."""
    found: list[Image] = []
    for entry in transcript:
        if isinstance(entry, Words) and entry.role != "system":
            found += entry.images
        elif isinstance(entry, Results):
            found += (image for result in entry.results for image in result.images)
    return tuple(found)


def fitted_size(width: int, height: int, limits: Capabilities, count: int = 1) -> tuple[int, int]:
    """The largest size, in pixels, of the same shape that may be sent as one of ``count`` pictures."""
    edge = min(limits.image_edge, limits.many_edge) if count > limits.many_images else limits.image_edge
    scale = min(1.0, edge / max(width, height))
    if limits.image_pixels is not None:
        scale = min(scale, math.sqrt(limits.image_pixels / (width * height)))
    if scale == 1.0:
        return width, height
    return max(1, math.floor(width * scale)), max(1, math.floor(height * scale))


class Pictures:
    """The pictures of one request: encodes each within the limits and remembers which had to be scaled."""

    def __init__(self, transcript: Transcript, limits: Capabilities) -> None:
        images = all_images(transcript)
        self._limits, self._count = limits, len(images)
        self._last = images[-1].id if images else ""
        self._frame = _whole_screen(images)
        self._factors: dict[str, tuple[float, float]] = {}

    @property
    def count(self) -> int:
        """How many pictures the request carries."""
        return self._count if self._limits.vision else 0

    def encode(self, image: Image) -> Encoded:
        """The picture as it is sent: the very bytes when they are within the limits. ModelError: not a picture."""
        size = fitted_size(image.width, image.height, self._limits, self._count)
        if size == (image.width, image.height) and len(image.data) <= self._limits.image_bytes:
            return Encoded(base64=base64.b64encode(image.data).decode("ascii"), media_type=image.media_type)
        data, media_type = _reencode(image, size, self._limits.image_bytes)
        factor = (image.width / size[0], image.height / size[1])
        if factor != (1.0, 1.0):
            self._factors[image.id] = factor
        return Encoded(base64=base64.b64encode(data).decode("ascii"), media_type=media_type, factor=factor)

    def to_image(self, arguments: Json) -> Json:
        """Arguments of a call with every point moved from the pixels that were sent to those of the image itself."""
        if not self._factors:
            return arguments
        moved = self._move(arguments, self._last)
        assert isinstance(moved, dict)
        return moved

    def point(self, coordinate: Any) -> Json | None:
        """A native point, pixels of the last whole picture as it was sent, as the target of a step; None: no point."""
        if isinstance(coordinate, dict):
            coordinate = [coordinate.get("x"), coordinate.get("y")]
        if not (
            isinstance(coordinate, (list, tuple))
            and len(coordinate) == 2
            and all(map(_is_number, coordinate))
        ):
            return None
        if self._frame is None:
            return {"x": coordinate[0], "y": coordinate[1]}
        factor = self._factors.get(self._frame.id, (1.0, 1.0))
        x, y = (round(value * by) for value, by in zip(coordinate, factor, strict=True))
        return {"x": x, "y": y, **({"image": self._frame.id} if self._frame.id else {})}

    def region(self, corners: Any) -> list[int] | None:
        """A native region, two corners in pixels of the last whole picture, as screen pixels; None: it is none."""
        if not (isinstance(corners, (list, tuple)) and len(corners) == 4 and all(map(_is_number, corners))):
            return None
        if self._frame is None:
            return None
        factor, frame = self._factors.get(self._frame.id, (1.0, 1.0)), self._frame
        across, down = factor[0] * frame.scale[0], factor[1] * frame.scale[1]
        x0, x1 = sorted(round(frame.origin.x + value * across) for value in corners[0::2])
        y0, y1 = sorted(round(frame.origin.y + value * down) for value in corners[1::2])
        return [x0, y0, max(1, x1 - x0), max(1, y1 - y0)]

    @property
    def display(self) -> tuple[int, int] | None:
        """The size of the last whole picture as it is sent; None while there is none."""
        if self._frame is None:
            return None
        return fitted_size(self._frame.width, self._frame.height, self._limits, self._count)

    def _move(self, value: Any, image: str) -> Any:
        if isinstance(value, list):
            return [self._move(item, image) for item in value]
        if not isinstance(value, dict):
            return value
        named = value.get("image")
        image = named if isinstance(named, str) else image
        moved = {key: self._move(item, image) for key, item in value.items()}
        factor = self._factors.get(image)
        if factor is not None and _is_number(value.get("x")) and _is_number(value.get("y")):
            moved["x"], moved["y"] = round(value["x"] * factor[0]), round(value["y"] * factor[1])
        return moved


def _whole_screen(images: Sequence[Image]) -> Image | None:
    """The last of those pictures that show the most of the screen."""

    def shown(image: Image) -> float:
        return image.width * image.scale[0] * image.height * image.scale[1]

    most = max(map(shown, images), default=0)
    return next((image for image in reversed(images) if shown(image) >= 0.99 * most), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _reencode(image: Image, size: tuple[int, int], limit: int) -> tuple[bytes, str]:
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(image.data)) as opened:
            picture = opened.convert("RGB")
    except (OSError, ValueError) as error:
        raise ModelError(f"image {image.id} cannot be read: {error}") from error
    if picture.size != size:
        picture = picture.resize(size, PIL.Image.Resampling.LANCZOS)
    for form, options in _forms():
        out = io.BytesIO()
        picture.save(out, form, **options)
        if out.tell() <= limit:
            return out.getvalue(), f"image/{form.lower()}"
    raise ModelError(f"image {image.id} ({size[0]}x{size[1]}) does not fit in {limit} bytes")


def _forms() -> Sequence[tuple[str, dict[str, Any]]]:
    return (
        ("PNG", {"compress_level": 3}),
        ("JPEG", {"quality": 90}),
        ("JPEG", {"quality": 70}),
        ("JPEG", {"quality": 40}),
    )


def _blank_png() -> bytes:
    """A grey square of 16 pixels: PNG's signature and its three chunks."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + b"\x80" * 16) * 16)
    header = struct.pack(">IIBBBBB", 16, 16, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


BLANK = "data:image/png;base64," + base64.b64encode(_blank_png()).decode("ascii")
"""A picture to send where one has to be and there is none."""
