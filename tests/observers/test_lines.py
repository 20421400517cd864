"""Lines of text in a picture: what is read, what is remembered, and what a change costs."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest

from deskhand.messages import Rect
from deskhand.observers.ink import bands, changed_parts, phrases
from deskhand.observers.lines import LineReader

WIDTH, HEIGHT = 600, 400
FOREVER = time.monotonic() + 1e6


class Tally:
    """An engine that reads bars: a line is as many dark columns as it says. Counts what it is asked."""

    def __init__(self) -> None:
        self.detected: list[tuple[int, int]] = []
        self.read: list[int] = []

    def detect(self, picture: np.ndarray) -> list[Rect]:
        self.detected.append(picture.shape[:2])
        rows = np.flatnonzero((picture < 128).any(axis=(1, 2)))
        starts = rows[np.concatenate(([True], np.diff(rows) > 1))] if rows.size else rows
        return [Rect(0, max(0, int(top) - 6), picture.shape[1], 24) for top in starts]

    def recognise(self, lines: Sequence[np.ndarray], until: float) -> list[tuple[str, float]]:
        said = []
        for line in lines:
            if said and time.monotonic() > until:
                break
            columns = int((line < 128).any(axis=(0, 2)).sum())
            self.read.append(columns)
            said.append((f"w{columns}", 0.99))
        return said


def sheet(*bars: tuple[int, int, int]) -> np.ndarray:
    """A white picture with bars 12 pixels high: x, y and width of each."""
    pixels = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    for x, y, width in bars:
        pixels[y : y + 12, x : x + width] = 0
    return pixels


LINES = [(20, 40 * row, 100 + row) for row in range(1, 9)]


@pytest.fixture
def engine() -> Tally:
    return Tally()


@pytest.fixture
def reader(engine: Tally) -> LineReader:
    return LineReader(engine)


def texts(reader: LineReader, pixels: np.ndarray, **options: object) -> list[str]:
    found, _ = reader.read("page", pixels, FOREVER, **options)
    return [each.text for each in found]


def test_every_line_is_read_in_reading_order_with_its_place(engine: Tally, reader: LineReader) -> None:
    found, unread = reader.read("page", sheet(*LINES), FOREVER)
    assert ([each.text for each in found], unread) == ([f"w{width}" for _, _, width in LINES], 0)
    first = found[0].rect
    assert (first.x <= 20, first.right >= 121, first.y <= 40, first.bottom >= 52) == (True,) * 4
    assert first.width < 130


def test_a_picture_that_did_not_change_is_not_read_again(engine: Tally, reader: LineReader) -> None:
    before, _ = reader.read("page", sheet(*LINES), FOREVER)
    asked = len(engine.detected), len(engine.read)
    after, _ = reader.read("page", sheet(*LINES), FOREVER)
    assert (after, (len(engine.detected), len(engine.read))) == (before, asked)


def test_a_changed_line_is_read_without_looking_for_lines_and_the_others_stay(
    engine: Tally, reader: LineReader
) -> None:
    before, _ = reader.read("page", sheet(*LINES), FOREVER)
    searches = len(engine.detected)
    engine.read.clear()
    after, _ = reader.read("page", sheet(*LINES[:3], (20, 160, 77), *LINES[4:]), FOREVER)
    assert [each.text for each in after][3] == "w77"
    assert (len(engine.detected), engine.read) == (searches, [77])
    kept = [each for each in after if each.text != "w77"]
    assert kept == [each for each in before if each.text != "w104"]
    assert after[3].id not in [each.id for each in before]


def test_what_appears_where_nothing_was_is_searched_for_there_only(engine: Tally, reader: LineReader) -> None:
    reader.read("page", sheet(*LINES), FOREVER)
    engine.detected.clear()
    assert texts(reader, sheet(*LINES, (400, 200, 60))).count("w60") == 1
    assert [height * width < 120 * 80 for height, width in engine.detected] == [True]


def test_text_that_goes_is_no_longer_told(reader: LineReader) -> None:
    reader.read("page", sheet(*LINES), FOREVER)
    assert "w104" not in texts(reader, sheet(*LINES[:3], *LINES[4:]))


def test_a_scrolled_page_is_searched_but_its_lines_are_known(engine: Tally, reader: LineReader) -> None:
    reader.read("page", sheet(*LINES), FOREVER)
    engine.read.clear()
    scrolled = [(x, y - 20, width) for x, y, width in LINES]
    assert texts(reader, sheet(*scrolled)) == [f"w{width}" for _, _, width in LINES]
    assert engine.read == []


def test_a_phrase_keeps_its_number_while_it_says_the_same_at_the_same_place(reader: LineReader) -> None:
    before, _ = reader.read("page", sheet(*LINES), FOREVER)
    covered = sheet(*LINES)
    covered[100:250, :] = 0
    reader.read("page", covered, FOREVER)
    after, _ = reader.read("page", sheet(*LINES), FOREVER)
    assert [each.id for each in after] == [each.id for each in before]


def test_a_phrase_that_moved_is_another_one(reader: LineReader) -> None:
    before, _ = reader.read("page", sheet((20, 40, 100)), FOREVER)
    after, _ = reader.read("page", sheet((20, 240, 100)), FOREVER)
    assert [each.text for each in after] == ["w100"]
    assert after[0].id != before[0].id


def test_words_on_one_line_are_one_phrase_and_labels_side_by_side_are_several(reader: LineReader) -> None:
    words = [(20, 40, 30), (54, 40, 30), (88, 40, 30)]
    labels = [(20, 80, 31), (80, 80, 32), (140, 80, 33)]
    assert texts(reader, sheet(*words, *labels)) == ["w90", "w31", "w32", "w33"]


def test_what_there_was_no_time_for_is_said_and_read_the_next_time(engine: Tally, reader: LineReader) -> None:
    bars = [(20, 40 + 90 * row, 100 + row) for row in range(4)]
    found, unread = reader.read("page", sheet(*bars), time.monotonic() - 1)
    assert (len(found) < 4, unread > 0) == (True, True)
    for _ in range(8):
        found, unread = reader.read("page", sheet(*bars), time.monotonic() - 1)
    assert ([each.text for each in found], unread) == (["w100", "w101", "w102", "w103"], 0)
    assert sorted(engine.read) == [100, 101, 102, 103]


def test_no_time_at_all_tells_what_is_known_and_nothing_that_may_have_changed(
    engine: Tally, reader: LineReader
) -> None:
    reader.read("page", sheet(*LINES), FOREVER)
    engine.read.clear()
    found, unread = reader.read("page", sheet(*LINES[:3], (20, 160, 77), *LINES[4:]), 0.0)
    assert [each.text for each in found] == [f"w{width}" for _, _, width in LINES if width != 104]
    assert (engine.read, unread > 0) == ([], True)


def test_only_a_part_is_read_when_only_that_is_wanted(engine: Tally, reader: LineReader) -> None:
    top = Rect(0, 0, WIDTH, 100)
    assert texts(reader, sheet(*LINES), only=top) == ["w101", "w102"]
    assert sorted(engine.read) == [101, 102]
    assert texts(reader, sheet(*LINES)) == [f"w{width}" for _, _, width in LINES]
    assert len(engine.read) == len(LINES)


def test_a_picture_of_another_size_is_read_anew(reader: LineReader) -> None:
    reader.read("page", sheet(*LINES), FOREVER)
    found, _ = reader.read("page", sheet(*LINES)[:100], FOREVER)
    assert [each.text for each in found] == ["w101", "w102"]


def test_an_empty_picture_costs_nothing(engine: Tally, reader: LineReader) -> None:
    assert texts(reader, sheet()) == []
    assert (engine.detected, engine.read) == ([], [])


def test_changes_far_apart_are_told_apart() -> None:
    old = sheet()
    new = sheet((20, 40, 30), (300, 40, 30), (20, 200, 30))
    assert changed_parts(old, new) == [Rect(20, 40, 30, 12), Rect(300, 40, 30, 12), Rect(20, 200, 30, 12)]
    assert changed_parts(new, new.copy()) == []


def test_a_high_picture_is_cut_between_lines() -> None:
    pixels = np.full((2000, 300, 3), 255, np.uint8)
    for top in range(20, 1980, 24):
        pixels[top : top + 12, 10:200:3] = 0
    cut = list(bands(pixels))
    assert max(band.height for band in cut) <= 480
    edges = [band.y for band in cut[1:]]
    assert [bool((pixels[edge] < 128).any()) for edge in edges] == [False] * len(edges)


def test_what_reaches_in_from_the_line_above_is_not_part_of_a_line() -> None:
    line = np.full((24, 300, 3), 255, np.uint8)
    line[6:18, 10:200:2] = 0
    line[0:2, 40:44] = 0  # the foot of a letter of the line above
    (found,) = list(phrases(line))
    assert (found.y, found.bottom) == (1, 23)
