"""What every backend does alike, on a display that is already there: through X's own means, and through pyautogui."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deskhand.config import Settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.base import Desktop
from deskhand.errors import DesktopError, InvalidStep, TargetError
from deskhand.messages import Point, Rect
from desktop_world import ended, managed_display, open_display
from pad import RECT, Pad

APPS = Path(__file__).parents[1] / "apps"
CENTER = RECT.center
BACKENDS = ("auto", "portable")


def opened(backend: str, display: str, authority: str, home: Path) -> Desktop:
    """The desktop on that display."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XAUTHORITY": authority}
    settings = Settings(backend=backend)  # type: ignore[arg-type]
    return asyncio.run(open_desktop_backend(f"display:{display}", settings=settings, environ=environ))


@pytest.fixture(scope="module", params=BACKENDS)
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    """A desktop on a display without a window manager, which would move the focus."""
    home = tmp_path_factory.mktemp(request.param)
    with open_display(home) as (display, authority):
        desktop = opened(request.param, display, authority, home)
        yield desktop
        desktop.close()


@pytest.fixture(params=BACKENDS)
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desktop]:
    """A desktop of the test's own, with a window manager."""
    with managed_display(tmp_path) as (display, authority):
        desktop = opened(request.param, display, authority, tmp_path)
        yield desktop
        desktop.close()


@pytest.fixture
def pad(desk: Desktop) -> Iterator[Pad]:
    """A window that has the keyboard."""
    made = Pad(desk.display, desk.client_env["XAUTHORITY"])
    yield made
    made.close()


def until(desktop: Desktop, holds: Callable[[], bool], timeout: float = 20) -> bool:
    """Whether it comes to hold; looked at with every change of the screen, and ten times a second."""
    end = time.monotonic() + timeout
    while not holds():
        if time.monotonic() > end:
            return False
        desktop.changes.wait(0.1)
        desktop.changes.collect()
    return True


def test_it_says_what_it_is(desk: Desktop) -> None:
    assert desk.name == f"display:{desk.display}"
    assert desk.isolation == "display"
    assert any("not isolated" in note for note in desk.notes)
    assert desk.alive()


def test_the_screen_is_seen_whole_and_in_parts(desk: Desktop, pad: Pad) -> None:
    assert desk.screen.size == (640, 481)
    assert list(desk.screen.monitors) == [Rect(0, 0, 640, 481)]
    whole = desk.screen.grab()
    assert whole.rect == Rect(0, 0, 640, 481)
    assert whole.pixels.shape == (481, 640)
    part = desk.screen.grab(Rect(RECT.x - 1, RECT.y + 5, 3, 2))
    assert [int(pixel) & 0xFFFFFF for pixel in part.pixels[0]] == [0, 0xFFFFFF, 0xFFFFFF]
    assert desk.screen.grab(Rect(630, 470, 100, 100)).rect == Rect(630, 470, 10, 11)
    with pytest.raises(ValueError, match="outside"):
        desk.screen.grab(Rect(640, 0, 5, 5))


def test_the_pointer_is_where_it_was_moved(desk: Desktop, pad: Pad) -> None:
    desk.input.move(Point(CENTER.x + 7, CENTER.y))
    assert desk.screen.cursor() == Point(CENTER.x + 7, CENTER.y)
    assert pad.points()[-1] == Point(CENTER.x + 7, CENTER.y)


def test_each_button_presses_and_releases(desk: Desktop, pad: Pad) -> None:
    for button in ("left", "middle", "right"):
        desk.input.click(CENTER, button)
    assert pad.log() == [f"{what} {number}" for number in (1, 2, 3) for what in ("press", "release")]
    with pytest.raises(InvalidStep, match="left, middle, right"):
        desk.input.click(CENTER, "leftt")  # type: ignore[arg-type]


def test_a_double_click_is_one_and_two_clicks_are_none(desk: Desktop, pad: Pad) -> None:
    desk.input.click(CENTER, count=2)
    times = [event.time for event in pad.events() if getattr(event, "detail", 0) == 1]
    assert len(times) == 4
    assert 0 < times[2] - times[0] < 500
    desk.input.click(CENTER)
    later = [event.time for event in pad.events() if getattr(event, "detail", 0) == 1]
    assert later[0] - times[2] >= 450


def test_a_drag_travels_with_the_button_down_and_arrives(desk: Desktop, pad: Pad) -> None:
    goal = Point(CENTER.x + 120, CENTER.y + 60)
    desk.input.move(CENTER)
    pad.forget()
    desk.input.drag([CENTER, goal])
    events = pad.events()
    moves = [event for event in events if event.detail == 0 and event.state & 0x100]
    assert len(moves) >= 8
    assert (events[-1].root_x, events[-1].root_y) == (goal.x, goal.y)
    assert not pad.pointer_mask() & 0x1F00


def test_the_wheel_turns_by_detents_both_ways(desk: Desktop, pad: Pad) -> None:
    desk.input.scroll(CENTER, down=2)
    desk.input.scroll(CENTER, down=-1)
    desk.input.scroll(CENTER, right=1)
    desk.input.scroll(CENTER, right=-1)
    assert [line for line in pad.log() if line.startswith("press")] == [
        f"press {number}" for number in (5, 5, 4, 7, 6)
    ]


def test_a_chord_goes_down_in_order_and_up_in_reverse(desk: Desktop, pad: Pad) -> None:
    desk.input.chord(["ctrl", "alt", "k"])
    assert pad.log() == ["down 0xffe3", "down 0xffe9", "down 0x6b", "up 0x6b", "up 0xffe9", "up 0xffe3"]


def test_named_keys_are_pressed(desk: Desktop, pad: Pad) -> None:
    for name in ("Return", "Escape", "BackSpace", "Delete", "Prior", "End", "Left", "F5", "tab"):
        desk.input.chord([name])
    syms = (0xFF0D, 0xFF1B, 0xFF08, 0xFFFF, 0xFF55, 0xFF57, 0xFF51, 0xFFC2, 0xFF09)
    assert pad.log() == [f"{what} {sym:#x}" for sym in syms for what in ("down", "up")]


def test_a_held_key_stays_down_as_long_as_asked(desk: Desktop, pad: Pad) -> None:
    desk.input.chord(["a"], hold=0.2)
    events = pad.events()
    assert events[-1].time - events[0].time >= 190


def test_an_unknown_key_presses_nothing(desk: Desktop, pad: Pad) -> None:
    with pytest.raises(InvalidStep, match="did you mean"):
        desk.input.chord(["ctrl", "retrun"])
    assert pad.log() == []


def test_everything_held_is_released(desk: Desktop, pad: Pad) -> None:
    desk.input.move(CENTER)
    desk.input.button("left", True)
    desk.input.key("shift", True)
    desk.input.key("b", True)
    assert pad.keys_down()
    assert pad.pointer_mask() & 0x100
    desk.input.release_all()
    desk.input.release_all()
    assert not pad.keys_down()
    assert not pad.pointer_mask() & 0x1F00


def test_every_character_of_ascii_arrives_exactly(desk: Desktop, pad: Pad) -> None:
    text = "".join(map(chr, range(0x20, 0x7F))) + "\n\tEnd"
    desk.input.type(text)
    assert pad.text() == text


def test_a_control_character_is_refused_before_anything_is_typed(desk: Desktop, pad: Pad) -> None:
    for wrong in ("ab\x07", "\ud800", "x\x1b[A"):
        with pytest.raises(InvalidStep, match="cannot be typed"):
            desk.input.type(wrong)
    assert pad.log() == []


def test_what_is_written_to_the_clipboard_is_read(desk: Desktop) -> None:
    for text in ("plain", "Zoë — 日本語 🎉\n\tsecond line"):
        desk.clipboard.write(text)
        assert desk.clipboard.read() == text
    desk.clipboard.clear()
    assert desk.clipboard.read() is None


def test_changes_are_told_where_they_are_and_only_once(desk: Desktop) -> None:
    for _ in range(20):  # what an earlier test closed may go only now
        desk.changes.collect()
        if not desk.changes.wait(0.2):
            break
    assert desk.changes.collect() == ()
    made = Pad(desk.display, desk.client_env["XAUTHORITY"])
    try:
        assert desk.changes.wait(5)
        # What is told may be what was painted or what changed, in one piece or in several.
        found = desk.changes.collect()
        assert found
        assert all(RECT.intersection(rect) is not None for rect in found)
        assert desk.changes.collect() == ()
    finally:
        made.close()


def test_text_of_any_script_arrives_exactly_in_an_application(own: Desktop, tmp_path: Path) -> None:
    text = "àÉ Ω 日本語 🎉 עברית — €\nsecond <line>"
    out = tmp_path / "out.txt"
    pid = own.launch(["/usr/bin/python3", str(APPS / "gtk3_text.py"), str(out)])
    assert until(own, lambda: _shown(own))
    middle = Point(own.screen.size[0] // 2, own.screen.size[1] // 2)
    own.input.click(middle)
    own.clipboard.write("the user's own")
    own.input.type(text)
    assert own.clipboard.read() == "the user's own"

    def emptied() -> bool:
        """Each time all that is there is deleted; what is still on its way comes later."""
        own.input.chord(["ctrl", "a"])
        own.input.chord(["Delete"])
        return out.exists() and "".join(map(json.loads, out.read_text("utf-8").splitlines())) == text

    assert until(own, emptied), out.read_text("utf-8") if out.exists() else "nothing was typed"
    assert own.ended(pid) is None


def _shown(desktop: Desktop) -> bool:
    """Whether a light window lies in the middle of the screen, which is black."""
    width, height = desktop.screen.size
    pixel = desktop.screen.grab(Rect(width // 2, height // 2, 1, 1)).pixels[0][0]
    return int(pixel) & 0xFFFFFF > 0x808080


def test_what_it_started_ends_with_it(own: Desktop) -> None:
    pid = own.launch(["zenity", "--info", "--text=x"])
    assert own.ended(pid) is None
    own.close()
    own.close()
    assert ended([pid], 0)
    assert not own.alive()
    with pytest.raises(DesktopError):
        own.screen.grab()
    with pytest.raises(DesktopError):
        own.input.chord(["a"])


def test_how_a_program_ended_is_known(own: Desktop) -> None:
    pid = own.launch(["sh", "-c", "exit 3"])
    assert until(own, lambda: own.ended(pid) is not None)
    found = own.ended(pid)
    assert found is not None
    assert found.status == 3
    with pytest.raises(DesktopError, match="no-such-program"):
        own.launch(["no-such-program-at-all"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_keys_held_come_up_when_the_process_is_killed(backend: str, tmp_path: Path) -> None:
    program = (
        "import asyncio, os, sys\n"
        "from deskhand.config import Settings\n"
        "from deskhand.desktop import open_desktop_backend\n"
        "from deskhand.messages import Point\n"
        "settings = Settings(backend=sys.argv[1])\n"
        "d = asyncio.run(open_desktop_backend(sys.argv[2], settings=settings, environ=dict(os.environ)))\n"
        f"d.input.move(Point({CENTER.x}, {CENTER.y})); d.input.button('left', True); d.input.key('shift', True)\n"
        "print('held', flush=True); sys.stdin.read()\n"
    )
    with contextlib.ExitStack() as undo:
        display, authority = undo.enter_context(open_display(tmp_path))
        pad = Pad(display, authority)
        undo.callback(pad.close)
        process = undo.enter_context(
            subprocess.Popen(
                [sys.executable, "-c", program, backend, f"display:{display}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XAUTHORITY": authority},
            )
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert pad.keys_down()
        assert pad.pointer_mask() & 0x100
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert pad.wait_released(5)


def test_a_display_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    for backend in BACKENDS:
        with pytest.raises(DesktopError, match=":64999"):
            opened(backend, ":64999", "", tmp_path)
        with pytest.raises(ValueError, match="display::99"):
            opened(backend, "99", "", tmp_path)


def test_a_window_that_is_gone_cannot_be_acted_on(desk: Desktop) -> None:
    windows = desk.windows
    for act in (windows.activate, windows.close, windows.minimize, windows.maximize):
        with pytest.raises(TargetError, match="window"):
            act(0x1234567)
