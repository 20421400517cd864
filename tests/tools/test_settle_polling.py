"""The settle engine on a display that does not report what is painted: the same verdicts, by looking."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator

import pytest

from deskhand.config import SettleSettings, load_settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.polling import PollingChanges
from deskhand.tools.settle import Settler
from desktop_world import managed_display
from settle_stage import QUIET, Stage

FAR_BELOW_THE_CAP = 5.0  # seconds: a verdict that waits for what never ends comes after eight


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[X11Desktop]:
    """An attached display without the extension."""
    home = tmp_path_factory.mktemp("polling")
    with managed_display(home, "-screen 0 1024x768x24 -extension DAMAGE") as (display, authority):
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XAUTHORITY": authority}
        desktop = asyncio.run(
            open_desktop_backend(f"display:{display}", settings=load_settings(), environ=environ)
        )
        assert isinstance(desktop, X11Desktop)
        assert isinstance(desktop.changes, PollingChanges)
        yield desktop
        desktop.close()


@pytest.fixture
def stage(screen: X11Desktop) -> Iterator[Callable[..., Stage]]:
    """A function that sets a stage, with an engine at default settings."""
    settler = Settler(screen, SettleSettings())
    stages: list[Stage] = []

    def set_up(click: str, background: str = "") -> Stage:
        stages.append(Stage(screen, settler, click, background))
        return stages[-1]

    yield set_up
    for each in stages:
        each.painter.stop()
    settler.close()


def test_a_click_without_effect_is_told_as_such(stage: Callable[..., Stage]) -> None:
    settled = stage("nothing").click()
    assert settled.verdict == "no_change"
    assert 0.3 <= settled.waited < FAR_BELOW_THE_CAP


@pytest.mark.parametrize("click", ["box:0.05", "tick", "glyphs:1.2", "two_phases:0.12", "busy_box:0.8"])
def test_a_change_is_waited_for_to_its_end(stage: Callable[..., Stage], click: str) -> None:
    on = stage(click)
    settled = on.click()
    assert settled.verdict == "settled"
    assert -QUIET / 2 < on.lag < FAR_BELOW_THE_CAP
    assert settled.waited < FAR_BELOW_THE_CAP


@pytest.mark.long  # a crowded machine looks too seldom to tell what moves
@pytest.mark.parametrize("background", ["caret", "spin", "video"])
def test_what_moved_before_is_no_reaction(stage: Callable[..., Stage], background: str) -> None:
    on = stage("nothing", background)
    on.learn(2.5)
    assert on.click().verdict == "no_change"


def test_a_late_change_satisfies_a_wait(stage: Callable[..., Stage]) -> None:
    on = stage("box:0.8")
    assert on.click().verdict == "no_change"
    settled = on.settler.wait_change(5)
    assert settled.verdict == "settled"
    assert settled.regions == (on.place(100, 100, 120, 60),)
