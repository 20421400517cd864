"""Paint reports by looking, for screens that have no better."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from deskhand.desktop.base import Frame
from deskhand.desktop.polling import PollingChanges
from deskhand.errors import DesktopError
from deskhand.messages import Point, Rect


class Canvas:
    """A screen in memory."""

    def __init__(self) -> None:
        self.pixels = np.zeros((200, 300), dtype=np.uint32)

    @property
    def size(self) -> tuple[int, int]:
        return self.pixels.shape[1], self.pixels.shape[0]

    @property
    def monitors(self) -> tuple[Rect, ...]:
        return (Rect(0, 0, *self.size),)

    def grab(self, rect: Rect | None = None) -> Frame:
        return Frame(self.pixels, Rect(0, 0, *self.size))

    def cursor(self) -> Point:
        return Point(0, 0)


def test_what_changed_is_told_once_and_distant_changes_apart() -> None:
    screen = Canvas()
    changes = PollingChanges(screen)
    assert changes.collect() == ()
    screen.pixels[10:20, 30:50] = 7
    screen.pixels[150, 299] = 7
    assert changes.collect() == (Rect(30, 10, 20, 10), Rect(299, 150, 1, 1))
    assert changes.collect() == ()


def test_waiting_ends_with_a_change_and_keeps_it() -> None:
    screen = Canvas()
    changes = PollingChanges(screen)
    assert not changes.wait(0.05)
    threading.Timer(0.05, lambda: screen.pixels.__setitem__((5, 5), 1)).start()
    assert changes.wait(5)
    assert changes.collect() == (Rect(5, 5, 1, 1),)


def test_waking_ends_a_wait() -> None:
    changes = PollingChanges(Canvas())
    began = time.monotonic()
    threading.Timer(0.05, changes.wake).start()
    assert not changes.wait(10)
    assert time.monotonic() - began < 5


def test_a_screen_of_another_size_has_changed_as_a_whole() -> None:
    screen = Canvas()
    changes = PollingChanges(screen)
    screen.pixels = np.zeros((100, 150), dtype=np.uint32)
    assert changes.collect() == (Rect(0, 0, 150, 100),)


def test_once_closed_it_tells_nothing_any_more() -> None:
    changes = PollingChanges(Canvas())
    changes.close()
    changes.close()
    with pytest.raises(DesktopError):
        changes.collect()
