"""What was on the screen before an act can be told afterwards, however often it was painted over."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deskhand.messages import Rect
from deskhand.tools.before import Before

WIDTH, HEIGHT = 24, 16
RECTS = st.builds(
    lambda x, y, right, bottom: Rect(min(x, right), min(y, bottom), abs(x - right) + 1, abs(y - bottom) + 1),
    st.integers(0, WIDTH - 1),
    st.integers(0, HEIGHT - 1),
    st.integers(0, WIDTH - 1),
    st.integers(0, HEIGHT - 1),
)


def _slices(rect: Rect) -> tuple[slice, slice]:
    return slice(rect.y, rect.bottom), slice(rect.x, rect.right)


@given(painted=st.lists(RECTS, max_size=40), asked=RECTS)
def test_any_part_is_told_as_it_was_whatever_was_painted_since(painted: list[Rect], asked: Rect) -> None:
    frame: Any = np.arange(WIDTH * HEIGHT, dtype=np.uint32).reshape(HEIGHT, WIDTH)
    original = frame.copy()
    before = Before(frame)
    for number, rect in enumerate(painted, 1):
        before.keep(rect, frame)
        frame[_slices(rect)] = 10_000 + number
    assert np.array_equal(before.at(asked, frame), original[_slices(asked)])


def test_painting_the_same_place_for_hours_keeps_it_once() -> None:
    frame: Any = np.zeros((HEIGHT, WIDTH), np.uint32)
    before = Before(frame)
    spots = [Rect(x, y, 2, 2) for x in range(0, WIDTH, 2) for y in range(0, HEIGHT, 2)]
    for number in range(1, 300):
        for rect in spots:
            before.keep(rect, frame)
            frame[_slices(rect)] = number
    assert not before.at(Rect(0, 0, WIDTH, HEIGHT), frame).any()
    assert sum(old.size for _, old in before._parts) <= frame.size
