"""Windows of real apps, through the window manager."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.windows import XWindows
from deskhand.errors import TargetError
from deskhand.messages import Point, Rect, WindowInfo
from desktop_world import ended, window
from pad import RECT, Pad


@pytest.fixture
def dialogs(shared: X11Desktop) -> Iterator[tuple[WindowInfo, WindowInfo]]:
    """Two windows, of two apps."""
    pids, found = [], []
    windows = shared.windows
    assert isinstance(windows, XWindows)
    for title in ("First ž", "Second"):
        pids.append(shared.launch(["zenity", "--info", "--title", title, "--text", title]))
        shown = windows.wait_for(lambda info, title=title: info.title == title and info.active, 20)
        assert shown is not None
        found.append(shown)
    yield found[0], found[1]
    for info in shared.windows.list():
        shared.windows.close(info.id)
    assert ended(pids, 10)


def test_windows_are_listed_topmost_first_with_title_app_and_real_pid(
    shared: X11Desktop, dialogs: tuple[WindowInfo, WindowInfo]
) -> None:
    listed = shared.windows.list()
    assert [info.title for info in listed] == ["Second", "First ž"]
    assert [info.active for info in listed] == [True, False]
    assert {info.app for info in listed} == {"zenity"}
    for info in listed:  # outside of the box, where the app itself has another number
        assert info.pid is not None
        with open(f"/proc/{info.pid}/comm") as name:
            assert name.read() == "zenity\n"
    assert listed[0].pid != listed[1].pid


def test_an_activated_window_is_active_and_on_top(
    shared: X11Desktop, dialogs: tuple[WindowInfo, WindowInfo]
) -> None:
    first, _ = dialogs
    shared.windows.activate(first.id)
    active = shared.windows.active()
    assert active is not None
    assert active.id == first.id
    assert shared.windows.list()[0].id == first.id


def test_a_window_moves_to_where_it_is_sent(
    shared: X11Desktop, dialogs: tuple[WindowInfo, WindowInfo]
) -> None:
    _, second = dialogs
    there = Rect(100, 120, second.rect.width, second.rect.height)
    shared.windows.move_resize(second.id, there)
    assert shared.windows.list()[0].rect == there


def test_the_window_under_a_point_is_found_by_its_client_area_and_its_frame(
    shared: X11Desktop, dialogs: tuple[WindowInfo, WindowInfo]
) -> None:
    _, second = dialogs
    shared.windows.move_resize(second.id, Rect(100, 120, second.rect.width, second.rect.height))
    for point in (Point(140, 160), Point(140, 110)):  # inside, and on the title bar
        found = shared.windows.at(point)
        assert found is not None
        assert found.id == second.id
    assert shared.windows.at(Point(1270, 790)) is None


def test_a_minimised_window_comes_back_when_activated_and_a_maximised_one_fills_the_screen(
    shared: X11Desktop,
) -> None:
    pid = shared.launch(["mousepad"])
    editor = window(shared, "Mousepad")
    shared.windows.activate(editor.id)
    shared.windows.maximize(editor.id)
    active = shared.windows.active()
    assert active is not None
    assert active.rect.width == 1280
    shared.windows.move_resize(editor.id, Rect(50, 60, 640, 480))
    active = shared.windows.active()
    assert active is not None
    assert active.rect == Rect(50, 60, 640, 480)
    shared.windows.minimize(editor.id)
    assert shared.windows.at(Point(300, 300)) is None
    shared.windows.activate(editor.id)
    found = shared.windows.at(Point(300, 300))
    assert found is not None
    assert found.id == editor.id
    shared.windows.close(editor.id)
    assert ended([pid], 10)


def test_a_popup_is_under_the_point_and_listed_apart(shared: X11Desktop, pad: Pad) -> None:
    windows = shared.windows
    assert isinstance(windows, XWindows)
    found = windows.at(RECT.center)
    assert found is not None
    assert found.id == pad.window
    assert found.pid == os.getpid()
    assert [popup.id for popup in windows.popups()] == [pad.window]
    assert pad.window not in [info.id for info in windows.list()]


def test_a_window_that_is_gone_is_not_found(shared: X11Desktop) -> None:
    for act in (
        shared.windows.activate,
        shared.windows.close,
        shared.windows.minimize,
        shared.windows.maximize,
    ):
        with pytest.raises(TargetError, match="no window") as caught:
            act(0x1234567)
        assert caught.value.effect == "not_found"


def test_waiting_for_a_window_ends_when_time_is_up(shared: X11Desktop) -> None:
    windows = shared.windows
    assert isinstance(windows, XWindows)
    assert windows.wait_for(lambda info: info.title == "never", 0.05) is None


def test_a_window_is_found_by_a_title_that_it_takes_later(shared: X11Desktop, pad: Pad) -> None:
    windows = shared.windows
    assert isinstance(windows, XWindows)
    dialog = shared.launch(["zenity", "--info", "--title", "Before", "--text", "x"])
    found = window(shared, "Before")
    threading.Timer(0.2, pad.x.set_property, (found.id, "_NET_WM_NAME", "UTF8_STRING", 8, b"After")).start()
    later = windows.wait_for(lambda info: info.title == "After", 5)
    assert later is not None
    assert later.id == found.id
    shared.windows.close(found.id)
    assert ended([dialog], 10)


def test_a_modal_dialog_says_so(shared: X11Desktop) -> None:
    pid = shared.launch(
        ["zenity", "--question", "--modal", "--title", "Modal", "--text", "?", "--attach", "0"]
    )
    found = window(shared, "Modal")
    assert found.modal
    shared.windows.close(found.id)
    assert ended([pid], 10)
