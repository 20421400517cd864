"""Regions of change and what moves by itself, with made-up times."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deskhand.messages import Rect
from deskhand.tools.motion import Beat, Motion, components, merged, touching

CARET = Rect(100, 100, 1, 18)
SPINNER = Rect(600, 40, 24, 24)


def mask(*rects: Rect) -> np.ndarray:
    made = np.zeros((400, 600), dtype=bool)
    for rect in rects:
        made[rect.y : rect.bottom, rect.x : rect.right] = True
    return made


def play(motion: Motion, rect: Rect, times: list[float], *, idle: bool = True) -> None:
    for time in times:
        motion.note(rect, Beat(time, idle))


def test_far_changes_are_regions_of_their_own_cut_to_their_bounds() -> None:
    caret, spinner = Rect(20, 30, 2, 18), Rect(300, 200, 20, 24)
    found = components(mask(caret, spinner), 1000, 2000)
    assert sorted(found, key=lambda rect: rect.x) == [
        Rect(1020, 2030, 2, 18),
        Rect(1300, 2200, 20, 24),
    ]


def test_nothing_changed_is_no_region() -> None:
    assert components(mask(), 0, 0) == []


def test_a_change_of_very_many_places_is_one_region() -> None:
    noise = np.zeros((400, 600), dtype=bool)
    noise[::16, ::16] = True
    assert components(noise, 0, 0) == [Rect(0, 0, 593, 385)]


def test_pieces_that_touch_are_one() -> None:
    assert touching([Rect(10, 10, 1, 2), Rect(50, 10, 5, 5), Rect(10, 12, 1, 16)]) == [
        Rect(50, 10, 5, 5),
        Rect(10, 10, 1, 18),
    ]


rects = st.builds(Rect, st.integers(0, 500), st.integers(0, 300), st.integers(1, 90), st.integers(1, 90))


@given(st.lists(rects, max_size=12))
def test_every_changed_pixel_is_in_a_region(changed: list[Rect]) -> None:
    seen = mask()
    for found in components(mask(*changed), 0, 0):
        seen[found.y : found.bottom, found.x : found.right] = True
    assert not (mask(*changed) & ~seen).any()


@given(st.lists(rects, min_size=1, max_size=20), st.integers(1, 8))
def test_merging_loses_nothing_and_keeps_its_bound(many: list[Rect], most: int) -> None:
    few = merged(many, most)
    assert len(few) <= most
    assert all(any(around.intersection(rect) == rect for around in few) for rect in many)


def test_a_spinner_moves_by_itself_and_its_box_is_the_whole_of_it() -> None:
    motion = Motion()
    for step in range(20):
        motion.note(Rect(600 + step % 3 * 8, 40 + step % 2 * 8, 8, 16), Beat(step * 0.08))
    (spinner,) = motion.moving(20 * 0.08)
    assert spinner.rect == SPINNER
    assert spinner.kind() == "spinner"


def test_a_caret_is_known_from_its_first_blink() -> None:
    motion = Motion()
    play(motion, CARET, [0.0])
    (caret,) = motion.moving(0.8)
    assert caret.kind() == "caret"


def test_a_clock_is_known_from_its_third_tick() -> None:
    motion = Motion()
    play(motion, Rect(700, 10, 30, 12), [0.0, 1.0])
    assert motion.moving(1.9) == []
    play(motion, Rect(700, 10, 30, 12), [2.0])
    (clock,) = motion.moving(2.9)
    assert clock.kind() == "clock"


def test_what_answers_to_acts_a_second_apart_is_no_clock_and_does_not_move() -> None:
    motion = Motion()
    for act in range(5):
        motion.note(Rect(300, 300, 40, 20), Beat(act * 1.0 + 0.05, False, act, 0.05))
    assert motion.moving(5.0) == []


def test_late_answers_to_acts_do_not_move() -> None:
    motion = Motion()
    for act in range(5):
        motion.note(Rect(300, 300, 40, 20), Beat(act * 1.3 + 0.5, True, act, 0.5))
    assert motion.moving(5 * 1.3) == []


def test_an_animation_that_has_ended_does_not_move() -> None:
    motion = Motion()
    play(motion, SPINNER, [i * 0.05 for i in range(20)])
    assert motion.moving(0.95 + 0.1)
    assert motion.moving(0.95 + 0.5) == []


def test_a_change_inside_of_a_window_that_appeared_is_not_the_windows() -> None:
    motion = Motion()
    window = motion.note(Rect(0, 0, 800, 600), Beat(0.0))
    inside = motion.note(Rect(300, 300, 40, 20), Beat(1.0))
    assert inside is not window


def test_a_glyph_next_to_a_caret_is_not_the_caret() -> None:
    motion = Motion()
    play(motion, CARET, [0.0, 0.8, 1.2])
    typed = motion.note(Rect(100, 100, 9, 18), Beat(1.3, False, 1, 0.02))
    assert typed.rect == Rect(100, 100, 9, 18)
    assert [region.kind() for region in motion.regions] == ["caret", "motion"]


def test_a_spinner_goes_round_and_a_bar_that_fills_does_not() -> None:
    motion = Motion()
    for step in range(30):
        spinner = motion.note(SPINNER, Beat(step * 0.08, False, 1))
        bar = motion.note(Rect(100, 400, 10 + step * 10, 16), Beat(step * 0.08, False, 1))
    now = 30 * 0.08
    assert spinner.cycles(0.0, now, 1.2)
    assert not bar.cycles(0.0, now, 1.2)


def test_what_was_still_for_long_is_forgotten() -> None:
    motion = Motion()
    play(motion, CARET, [0.0, 1.0])
    motion.forget(5.0)
    assert motion.regions
    motion.forget(20.0)
    assert motion.regions == []


def test_what_comes_late_after_each_of_several_acts_is_not_motion() -> None:
    motion = Motion()
    for act, delay in enumerate((2.0, 2.0, 0.6, 0.6), 1):
        motion.note(Rect(100, 100, 120, 60), Beat(act * 3 + delay, True, act, delay))
    assert motion.moving(4 * 3 + 0.7) == []


def test_windows_that_come_and_go_every_few_seconds_are_not_motion() -> None:
    motion = Motion()
    for at in (0.0, 2.0, 5.0, 7.2):
        motion.note(Rect(0, 0, 800, 560), Beat(at))
    assert motion.moving(7.5) == []


def test_a_ticker_that_goes_on_between_acts_is_motion() -> None:
    motion = Motion()
    for step in range(5):
        motion.note(Rect(0, 0, 200, 20), Beat(step * 2.0, True, step // 3, step * 2.0))
    assert len(motion.moving(8.5)) == 1


def test_a_spinner_of_sixty_frames_a_second_is_told_as_early_as_a_slow_one() -> None:
    motion = Motion()
    for step in range(80):
        region = motion.note(Rect(600, 40, 56, 56), Beat(step / 60, False))
    assert region.cycles(0.0, 80 / 60, 1.2)


def test_what_was_named_as_moving_and_has_stopped_counts_as_new_when_it_changes_again() -> None:
    motion = Motion()
    for step in range(10):
        region = motion.note(Rect(0, 0, 800, 560), Beat(step * 0.04, False))
    region.known = True
    assert region.moves(0.5)
    motion.note(Rect(0, 0, 800, 560), Beat(4.0, False))
    assert not region.moves(4.1)


def test_one_late_change_after_each_act_is_no_motion_however_steady_the_acts() -> None:
    motion = Motion()
    for act in range(12):
        delay = 1.5 if act < 4 else 0.6
        region = motion.note(Rect(100, 100, 120, 60), Beat(act * 3 + delay, True, act, delay))
        region.known = True
        assert motion.moving(act * 3 + delay + 0.1) == []
