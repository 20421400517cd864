"""Pictures of the screen: parts of it, enlarged, monitor by monitor; and coordinates that map back."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image as Pillow

from deskhand.desktop.base import Frame
from deskhand.errors import ToolError
from deskhand.messages import Point, Rect
from deskhand.observers.screen import ZOOM, part_of, picture, picture_words


class TwoMonitors:
    """A screen of two monitors, the right one lower than the left; the pointer is on the right one."""

    size = (3000, 1000)
    monitors: Sequence[Rect] = (Rect(1000, 100, 2000, 900), Rect(0, 0, 1000, 1000))

    def grab(self, rect: Rect | None = None) -> Frame:
        rect = rect or Rect(0, 0, *self.size)
        return Frame(np.zeros((rect.height, rect.width), np.uint32), rect)

    def cursor(self) -> Point:
        return Point(1500, 400)


@pytest.mark.parametrize(
    "place", [Rect(0, 0, 40, 30), Rect(1111, 222, 33, 77), Rect(5, 5, 1, 1), Rect(7, 9, 400, 2)]
)
def test_a_small_part_is_enlarged_and_each_of_its_pixels_maps_back(place: Rect) -> None:
    values = np.arange(place.area, dtype=np.uint32).reshape(place.height, place.width)
    image = picture(Frame(values, place), edge=1280, id="i1", enlarge=True)
    with Pillow.open(io.BytesIO(image.data)) as opened:
        assert opened.size == (image.width, image.height)
    assert max(image.width, image.height) <= 1280
    assert image.width == round(place.width * min(ZOOM, 1280 / max(place.width, place.height)))
    across, down = image.width / place.width, image.height / place.height
    for x in {0, place.width // 2, place.width - 1}:
        for y in {0, place.height // 2, place.height - 1}:
            assert image.to_screen((x + 0.5) * across - 0.5, (y + 0.5) * down - 0.5) == Point(
                place.x + x, place.y + y
            )


def test_what_is_larger_than_the_model_takes_is_never_enlarged() -> None:
    frame = Frame(np.zeros((1000, 3000), np.uint32), Rect(0, 0, 3000, 1000))
    image = picture(frame, edge=1280, enlarge=True)
    assert (image.width, image.height) == (1280, 427)


def test_monitors_are_numbered_from_left_to_right() -> None:
    screen = TwoMonitors()
    assert part_of(screen, None, None) is None
    assert part_of(screen, None, 1) == Rect(0, 0, 1000, 1000)
    assert part_of(screen, None, 2) == Rect(1000, 100, 2000, 900)
    with pytest.raises(
        ToolError, match=r"no monitor 3: monitors: 1 \[0, 0, 1000, 1000\], 2 \[1000, 100, 2000, 900\]"
    ):
        part_of(screen, None, 3)
    with pytest.raises(ToolError, match="not both"):
        part_of(screen, Rect(0, 0, 5, 5), 1)


@pytest.mark.parametrize(
    "outside", [Rect(3000, 0, 10, 10), Rect(-20, 0, 20, 10), Rect(0, 0, 0, 5), Rect(9, 9, 5, -3)]
)
def test_a_part_that_is_not_on_the_screen_is_refused_with_what_is(outside: Rect) -> None:
    with pytest.raises(ToolError, match="x must be 0–2999, y 0–999"):
        part_of(TwoMonitors(), outside, None)
    assert part_of(TwoMonitors(), Rect(2990, 990, 50, 50), None) == Rect(2990, 990, 10, 10)


def test_a_picture_says_what_it_shows_and_where_the_pointer_is_in_it() -> None:
    screen = TwoMonitors()
    part = Rect(1400, 300, 200, 200)
    image = picture(screen.grab(part), edge=1280, id="i7", enlarge=True)
    assert picture_words(image, part, screen) == (
        "Picture i7: [1400, 300, 200, 200] of the screen; enlarged 4 times; the pointer is at (400, 400) in it; "
        "monitors: 1 [0, 0, 1000, 1000], 2 [1000, 100, 2000, 900]"
    )
    left = picture(screen.grab(Rect(0, 0, 1000, 1000)), edge=500, id="i8")
    assert "pointer" not in picture_words(left, Rect(0, 0, 1000, 1000), screen)
