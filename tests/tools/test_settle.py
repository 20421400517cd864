"""The settle engine on a real display: windows that paint at known times."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from deskhand.config import SettleSettings, load_settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.composed import X11Desktop
from deskhand.errors import DesktopError
from deskhand.messages import Point, Settled
from deskhand.tools.settle import Settler
from painter import Painter
from settle_stage import EARLY, QUIET, SLACK, Stage


@pytest.fixture(scope="module")
def screen() -> Iterator[X11Desktop]:
    """A private desktop with a width that is no multiple of anything."""
    from deskhand.terms import Private

    opened = asyncio.run(
        open_desktop_backend(Private(size=(1366, 768)), settings=load_settings(), environ=os.environ)
    )
    assert isinstance(opened, X11Desktop)
    yield opened
    opened.close()


@pytest.fixture
def settler(screen: X11Desktop) -> Iterator[Settler]:
    """An engine at default settings."""
    made = Settler(screen, SettleSettings())
    yield made
    made.close()


@pytest.fixture
def stage(screen: X11Desktop, settler: Settler) -> Iterator[Callable[..., Stage]]:
    """A function that sets a stage."""
    stages: list[Stage] = []

    def set_up(click: str, background: str = "") -> Stage:
        stages.append(Stage(screen, settler, click, background))
        return stages[-1]

    yield set_up
    for each in stages:
        each.painter.stop()


def test_a_click_without_effect_returns_at_the_reaction_deadline(stage: Callable[..., Stage]) -> None:
    settled = stage("nothing").click()
    assert settled.verdict == "no_change"
    assert 0.3 <= settled.waited < 0.3 + SLACK
    assert settled.changed == 0
    assert settled.regions == ()


def test_a_change_settles_after_the_quiet_time_and_says_where_it_was(stage: Callable[..., Stage]) -> None:
    on = stage("box:0.05")
    settled = on.click()
    assert settled.verdict == "settled"
    assert -EARLY < on.lag < SLACK
    assert settled.regions == (on.place(100, 100, 120, 60),)
    assert settled.changed == pytest.approx(120 * 60 / (1366 * 768))


@pytest.mark.parametrize("click", ["tick", "edge"])
def test_small_and_marginal_changes_are_seen(stage: Callable[..., Stage], click: str) -> None:
    assert stage(click).click().verdict == "settled"


def test_text_painted_glyph_by_glyph_is_waited_for(stage: Callable[..., Stage]) -> None:
    on = stage("glyphs:1.8")
    assert on.click().verdict == "settled"
    assert -EARLY < on.lag < SLACK


def test_a_bar_that_fills_and_a_scrolling_list_are_waited_for(stage: Callable[..., Stage]) -> None:
    for click in ("progress:1.5", "scrolling:0.6"):
        on = stage(click)
        assert on.click().verdict == "settled"
        assert -EARLY < on.lag < SLACK
        on.painter.stop()


def test_a_gap_shorter_than_the_quiet_time_is_bridged(stage: Callable[..., Stage]) -> None:
    on = stage("two_phases:0.12")
    assert on.click().verdict == "settled"
    assert len(on.painter.paints) == 2


@pytest.mark.parametrize("click", ["two_phases_busy:1.0", "busy_box:0.8"])
def test_an_app_that_computes_is_waited_for(stage: Callable[..., Stage], click: str) -> None:
    on = stage(click)
    assert on.click().verdict == "settled"
    assert -EARLY < on.lag < SLACK


def test_an_app_that_computes_beyond_the_cap_is_called_thinking(
    screen: X11Desktop, stage: Callable[..., Stage]
) -> None:
    on = stage("busy_box:3")
    short = Settler(screen, SettleSettings(max_wait=1))
    try:
        on.settler = short
        settled = on.click()
    finally:
        short.close()
    assert settled.verdict == "no_change"
    assert settled.thinking
    assert 1 <= settled.waited < 1 + SLACK


def test_a_change_after_the_verdict_opens_the_next_result(stage: Callable[..., Stage]) -> None:
    on = stage("box:0.6")
    first = on.click()
    assert first.verdict == "no_change"
    later = on.settler.wait_change(5)
    assert later.verdict == "settled"
    assert later.regions == (on.place(100, 100, 120, 60),)
    second = on.click()
    assert on.settler.wait_painted(2)
    third = on.click()
    assert not first.note
    assert not second.note
    assert "had changed" in third.note


def test_a_late_change_satisfies_a_wait_at_once(stage: Callable[..., Stage]) -> None:
    on = stage("box:0.6")
    on.click()
    assert on.settler.wait_painted(5)
    began = time.monotonic()
    assert on.settler.wait_change(5).verdict == "settled"
    assert time.monotonic() - began < QUIET + SLACK


@pytest.mark.parametrize("background", ["caret", "spin", "video", "caret,spin", "repaint"])
def test_what_moved_before_is_no_reaction(stage: Callable[..., Stage], background: str) -> None:
    on = stage("nothing", background)
    on.learn(1.5)
    for _ in range(3):
        settled = on.click()
        assert settled.verdict == "no_change"
        assert settled.waited < 0.3 + SLACK


def test_a_clock_that_ticks_is_no_reaction(stage: Callable[..., Stage]) -> None:
    on = stage("nothing", "clock")
    on.learn(2.6)
    assert [on.click().verdict for _ in range(4)] == ["no_change"] * 4


@pytest.mark.parametrize(
    ("background", "verdict", "kinds"),
    [
        ("caret", "settled", {"caret"}),
        ("spin", "settled_except", {"spinner"}),
        ("video", "settled_except", {"video"}),
    ],
)
def test_a_reaction_is_seen_beside_what_moves_and_the_moving_is_named(
    stage: Callable[..., Stage], background: str, verdict: str, kinds: set[str]
) -> None:
    on = stage("box:0.05", background)
    on.learn(1.5)
    settled = on.click()
    assert settled.verdict == verdict
    assert settled.regions == (on.place(100, 100, 120, 60),)
    assert {kind for _, kind in settled.moving} <= kinds
    assert settled.waited < 0.05 + QUIET + SLACK


def test_a_spinner_that_an_act_starts_is_named_and_not_waited_for(stage: Callable[..., Stage]) -> None:
    settled = stage("spinner_after").click()
    assert settled.verdict == "settled_except"
    assert [kind for _, kind in settled.moving] == ["spinner"]
    assert settled.waited < 1.5 + SLACK


def test_at_the_cap_it_says_that_things_still_change(screen: X11Desktop, stage: Callable[..., Stage]) -> None:
    on = stage("glyphs:3")
    short = Settler(screen, SettleSettings(max_wait=0.8))
    try:
        on.settler = short
        settled = on.click()
    finally:
        short.close()
    assert settled.verdict == "still_changing"
    assert 0.8 <= settled.waited < 0.8 + SLACK


def test_an_ignored_region_is_not_watched(screen: X11Desktop, stage: Callable[..., Stage]) -> None:
    on = stage("box:0.05")
    place = on.place(90, 90, 150, 90)
    blind = Settler(screen, SettleSettings(ignore_regions=((place.x, place.y, place.width, place.height),)))
    try:
        on.settler = blind
        assert on.click().verdict == "no_change"
    finally:
        blind.close()


def test_a_wait_without_a_change_ends_when_time_is_up(settler: Settler) -> None:
    settled = settler.wait_change(0.2)
    assert settled.verdict == "no_change"
    assert 0.2 <= settled.waited < 0.2 + SLACK
    assert not settler.wait_painted(0.05)


def test_a_signal_that_says_busy_holds_the_verdict_unless_it_did_before(screen: X11Desktop) -> None:
    said: list[bool] = []
    flags = iter([False] + [True] * 4)
    settler = Settler(
        screen, SettleSettings(), signals=[lambda: next(flags, False), lambda: said.append(True) or True]
    )
    try:
        settled = settler.after(settler.before("click"))
    finally:
        settler.close()
    assert settled.verdict == "no_change"
    assert settled.waited >= 0.3 + 3 * 0.05
    assert said


def test_closing_ends_a_wait_in_another_thread_at_once(screen: X11Desktop) -> None:
    settler = Settler(screen, SettleSettings())
    ended: list[object] = []
    waiting = threading.Event()

    def wait() -> None:
        waiting.set()
        try:
            settler.wait_change(30)
        except DesktopError as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait(5)
    settler.close()
    thread.join(2)
    assert not thread.is_alive()
    assert len(ended) == 1
    with pytest.raises(DesktopError):
        settler.before("click")
    settler.close()


def test_a_new_act_ends_an_abandoned_wait(settler: Settler) -> None:
    results: list[Settled] = []
    thread = threading.Thread(target=lambda: results.append(settler.wait_change(30)))
    thread.start()
    while settler._current is None and thread.is_alive():
        thread.join(0.005)
    settler.after(settler.before("click"))
    thread.join(2)
    assert [settled.verdict for settled in results] == ["no_change"]


def test_a_still_screen_costs_no_looks(settler: Settler, screen: X11Desktop) -> None:
    settler.before("x")
    looks = settler._tracker.looks
    settler.wait_painted(0.3)
    assert settler._tracker.looks == looks


def test_an_act_that_shows_first_and_works_later_is_given_its_time(settler: Settler) -> None:
    settled = settler.after(settler.before("click"), least=0.5)
    assert 0.5 <= settled.waited < 0.5 + SLACK


@pytest.mark.long  # a slow machine may take the tip for late
def test_a_tooltip_belongs_to_the_hovering(screen: X11Desktop, settler: Settler) -> None:
    baseline = settler.before("launch")
    painter = Painter.start(screen.client_env, hover="tooltip:0.5")
    try:
        window = screen.windows.wait_for(lambda info: info.app == "painter", 10)
        assert window is not None
        screen.input.move(Point(2, 2))
        settler.after(baseline)
        baseline = settler.before("move")
        screen.input.move(Point(window.rect.x + 60, window.rect.y + 400))
        settled = settler.after(baseline)
    finally:
        painter.stop()
    assert settled.verdict == "settled"
    assert settled.waited > 0.5


def test_a_dialog_that_closes_and_a_menu_that_opens_are_seen(stage: Callable[..., Stage]) -> None:
    for click, background in (("closing", "dialog"), ("menu", "")):
        on = stage(click, background)
        assert on.click().verdict == "settled"
        on.painter.stop()


@pytest.mark.long  # bounds a share of a processor
def test_a_full_screen_video_is_not_waited_for_and_costs_little(screen: X11Desktop, settler: Settler) -> None:
    baseline = settler.before("launch")
    painter = Painter.start(screen.client_env, background="full_video", full=True)
    try:
        settler.after(baseline)
        used, began = time.process_time(), time.monotonic()
        settled = settler.after(settler.before("click"))
        while (left := began + 2 - time.monotonic()) > 0:
            settler.wait_painted(left)
        share = (time.process_time() - used) / (time.monotonic() - began)
    finally:
        painter.stop()
    assert settled.verdict == "no_change"
    assert settled.waited < 0.5
    assert share < 0.15


def test_an_app_has_its_time_to_react_from_when_the_act_was_carried_out(stage: Callable[..., Stage]) -> None:
    on = stage("box:0.1")
    baseline = on.settler.before("click")
    on.settler.wait_painted(0.4)  # an act that takes its time
    on.screen.input.click(on.spot)
    settled = on.settler.after(baseline)
    assert settled.verdict == "settled"
    assert settled.waited < 0.1 + QUIET + SLACK
