"""Capture and encoding."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from deskhand.desktop.base import Frame
from deskhand.desktop.capture import encode_jpeg, encode_png
from deskhand.desktop.composed import X11Desktop
from deskhand.messages import Point, Rect
from pad import RECT, Pad


def test_the_whole_screen_is_grabbed(shared: X11Desktop) -> None:
    frame = shared.screen.grab()
    assert frame.rect == Rect(0, 0, 1280, 800)
    assert frame.pixels.shape == (800, 1280)
    assert frame.pixels.dtype == np.uint32


def test_a_region_is_the_same_pixels_and_is_clipped_to_the_screen(shared: X11Desktop, pad: Pad) -> None:
    whole = shared.screen.grab().pixels
    part = shared.screen.grab(RECT)
    assert part.rect == RECT
    assert (part.pixels == whole[RECT.y : RECT.bottom, RECT.x : RECT.right]).all()
    assert (part.pixels & 0xFFFFFF == 0xFFFFFF).all()
    corner = shared.screen.grab(Rect(1270, 790, 50, 50))
    assert corner.rect == Rect(1270, 790, 10, 10)
    with pytest.raises(ValueError, match="1280x800"):
        shared.screen.grab(Rect(2000, 0, 10, 10))


def test_encoding_keeps_the_colours(shared: X11Desktop) -> None:
    pixels = np.zeros((3, 5), dtype=np.uint32)
    pixels[1, 2] = 0x00FF8000
    frame = Frame(pixels, Rect(0, 0, 5, 3))
    for data, exact in ((encode_png(frame), True), (frame.png(), True), (encode_jpeg(frame, 95), False)):
        with Image.open(io.BytesIO(data)) as image:
            assert image.size == (5, 3)
            if exact:
                assert image.convert("RGB").getpixel((2, 1)) == (0xFF, 0x80, 0)


def test_the_pointer_is_where_it_was_put(shared: X11Desktop) -> None:
    shared.input.move(Point(321, 123))
    assert shared.screen.cursor() == Point(321, 123)


def test_monitors_cover_the_screen(shared: X11Desktop) -> None:
    assert list(shared.screen.monitors) == [Rect(0, 0, 1280, 800)]
