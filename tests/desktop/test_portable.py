"""What is particular to the portable backend: the corner that stops it, pasting, its helpers, limits and absence."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.config import Settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.keys import keysyms
from deskhand.desktop.portable import PortableDesktop
from deskhand.desktop.portable_input import PortableClipboard, PortableInput
from deskhand.desktop.portable_keys import PORTABLE_KEYSYMS, portable_names
from deskhand.desktop.portable_link import Helper
from deskhand.desktop.portable_screen import Geometry
from deskhand.desktop.self_check import check_here, report
from deskhand.errors import DesktopError, MissingPart, StopTask, TargetError
from deskhand.messages import Point, Rect
from desktop_world import ended, open_display
from pad import RECT, Pad

CENTER = RECT.center
CORNERS = [Point(0, 0), Point(639, 0), Point(0, 480), Point(639, 480)]


@pytest.fixture(scope="module")
def portable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PortableDesktop]:
    """A desktop on a display without a window manager."""
    home = tmp_path_factory.mktemp("portable")
    with open_display(home) as (display, authority):
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XAUTHORITY": authority}
        settings = Settings(backend="portable")
        opened = asyncio.run(open_desktop_backend(f"display:{display}", settings=settings, environ=environ))
        assert isinstance(opened, PortableDesktop)
        yield opened
        opened.close()


@pytest.fixture
def pad(portable: PortableDesktop) -> Iterator[Pad]:
    """A window that has the keyboard."""
    made = Pad(portable.display, portable.client_env["XAUTHORITY"])
    yield made
    made.close()


def group(leader: int) -> list[int]:
    """The processes of a group."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(int(pid)) == leader:
                found.append(int(pid))
    return found


def push(pad: Pad, point: Point) -> None:
    """Move the pointer as a person does, past the backend."""
    pad.x.core.WarpPointer(0, pad.x.root, 0, 0, 0, 0, point.x, point.y)
    pad.x.sync()


@pytest.mark.parametrize("corner", CORNERS, ids=str)
def test_a_pointer_pushed_into_a_corner_stops_everything_and_lets_go(
    portable: PortableDesktop, pad: Pad, corner: Point
) -> None:
    hands = portable.input
    hands.move(CENTER)
    hands.button("left", True)
    hands.key("shift", True)
    push(pad, corner)
    pad.forget()
    for act in (lambda: hands.move(CENTER), lambda: hands.chord(["a"]), lambda: hands.type("abc")):
        with pytest.raises(StopTask, match="corner") as caught:
            act()
        assert caught.value.reason == "stopped_by_person"
    assert not pad.keys_down()
    assert not pad.pointer_mask() & 0x1F00
    assert [line for line in pad.log() if line.startswith(("press", "down"))] == []
    push(pad, CENTER)
    hands.click(CENTER)
    assert "press 1" in pad.log()


def test_a_drag_that_a_person_stops_lets_go_of_its_button(portable: PortableDesktop, pad: Pad) -> None:
    hands = portable.input
    hands.move(CENTER)
    hands.button("right", True)  # a first act, during which the person moves the pointer
    push(pad, Point(0, 0))
    with pytest.raises(StopTask):
        hands.drag([CENTER, Point(CENTER.x + 100, CENTER.y)])
    assert not pad.pointer_mask() & 0x1F00
    push(pad, CENTER)


def test_a_corner_that_the_task_itself_went_to_stops_nothing(portable: PortableDesktop, pad: Pad) -> None:
    for corner in (*CORNERS, Point(5000, 5000)):
        portable.input.move(corner)
        portable.input.chord(["a"])
    assert pad.text() == "a" * 5


def test_pasted_text_that_nothing_takes_is_an_error_and_the_clipboard_is_put_back(
    portable: PortableDesktop, pad: Pad
) -> None:
    portable.clipboard.write("mine")
    with pytest.raises(TargetError, match="nothing took it") as caught:
        portable.input.type("日本語")
    assert caught.value.effect == "not_supported"
    assert portable.clipboard.read() == "mine"
    portable.clipboard.clear()


def test_caps_lock_does_not_turn_what_is_typed_into_something_else(
    portable: PortableDesktop, pad: Pad
) -> None:
    portable.input.chord(["Caps_Lock"])
    try:
        with pytest.raises(TargetError):  # pasted, therefore: this window takes no paste
            portable.input.type("abc")
        assert "abc" not in pad.text().lower()
        portable.input.type("123")
        assert pad.text() == "123"
    finally:
        portable.input.chord(["Caps_Lock"])


def test_what_it_cannot_do_it_refuses_in_words(portable: PortableDesktop) -> None:
    for button in ("back", "forward"):
        with pytest.raises(TargetError, match="cannot be pressed here"):
            portable.input.click(CENTER, button)  # type: ignore[arg-type]
    for key in ("U20AC", "Hangul", "XF86Calculator"):
        with pytest.raises(TargetError, match="cannot be pressed"):
            portable.input.chord([key])
    with pytest.raises(TargetError, match="no browser of its own"):
        portable.browser_command()
    with pytest.raises(DesktopError, match="cannot be recorded"):
        portable.record("x.mp4")
    with pytest.raises(TargetError, match="windows are not known"):
        portable.windows.move_resize(1, RECT)


def test_the_whole_screen_stands_for_the_windows_that_are_not_known(portable: PortableDesktop) -> None:
    (whole,) = portable.windows.list()
    assert whole.rect == Rect(0, 0, 640, 481)
    assert whole.active
    assert portable.windows.active() == portable.windows.at(Point(3, 3)) == whole
    assert portable.windows.at(Point(640, 3)) is None


def test_apps_get_no_keys_of_the_users(tmp_path: Path) -> None:
    environ = {
        "PATH": "/bin",
        "OPENAI_API_KEY": "x",
        "MY_TOKEN": "x",
        "db_password": "x",
        "LANG": "C",
    }
    with open_display(tmp_path) as (display, authority):
        environ |= {"HOME": str(tmp_path), "XAUTHORITY": authority}
        settings = Settings(backend="portable")
        desktop = asyncio.run(open_desktop_backend(f"display:{display}", settings=settings, environ=environ))
        try:
            pid = desktop.launch(["sh", "-c", "env > env.txt"])
            assert ended([pid], 10)
        finally:
            desktop.close()
    names = {line.partition("=")[0] for line in (tmp_path / "env.txt").read_text().splitlines()}
    assert names >= {"PATH", "LANG", "DISPLAY"}
    assert not names & {"OPENAI_API_KEY", "MY_TOKEN", "db_password"}


def test_the_clipboard_works_through_pyperclip_and_leaves_nothing_behind(portable: PortableDesktop) -> None:
    board = PortableClipboard({"PATH": os.environ["PATH"], **portable.client_env})
    for text in ("plain", "Zoë — 日本語 🎉\n\tsecond line"):
        board.write(text)
        assert board.read() == portable.clipboard.read() == text
    assert board.wait_taken(0.01)
    helper = board._helper
    assert helper is not None
    started = group(helper.pid)
    assert len(started) >= 2  # the helper, and the xclip that answers for it
    board.close()
    board.close()
    assert ended(started, 5)
    assert portable.clipboard.read() is None
    with pytest.raises(DesktopError, match="closed"):
        board.read()


def test_without_a_clipboard_program_that_is_said(portable: PortableDesktop, tmp_path: Path) -> None:
    board = PortableClipboard({"PATH": str(tmp_path), **portable.client_env})
    try:
        with pytest.raises(TargetError, match="no clipboard here") as caught:
            board.write("x")
        assert caught.value.effect == "not_supported"
    finally:
        board.close()


def test_a_helper_that_dies_is_an_error_at_once(portable: PortableDesktop) -> None:
    helper = Helper("eyes", {"PATH": os.environ["PATH"], **portable.client_env})
    os.kill(helper.pid, 9)
    began = time.monotonic()
    with pytest.raises(DesktopError, match="gone"):
        helper.ask("look")
    with pytest.raises(DesktopError, match="gone"):
        helper.ask("look")
    assert time.monotonic() - began < 4
    helper.close()
    helper.close()


def test_a_helper_that_hangs_is_ended_when_its_time_is_up(portable: PortableDesktop) -> None:
    helper = Helper("eyes", {"PATH": os.environ["PATH"], **portable.client_env})
    os.kill(helper.pid, 19)  # SIGSTOP
    with pytest.raises(DesktopError, match="did not answer"):
        helper.ask("look", deadline=0.2)
    assert ended([helper.pid], 5)
    helper.close()


def test_a_display_that_lets_nobody_in_is_an_error(tmp_path: Path) -> None:
    for role in ("eyes", "hands"):
        with pytest.raises(DesktopError, match=role):
            Helper(role, {"PATH": os.environ["PATH"], "DISPLAY": ":64999"})


def test_without_the_extra_the_error_names_it(tmp_path: Path) -> None:
    (tmp_path / "pyautogui.py").write_text("raise ModuleNotFoundError('no', name='pyautogui')\n")
    with pytest.raises(MissingPart, match="portable") as caught:
        Helper("hands", {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "DISPLAY": ":64999"})
    assert caught.value.part == "pyautogui"
    assert "pip install" in caught.value.command


def test_a_monitor_with_two_pixels_a_point_is_clicked_where_it_is_seen() -> None:
    retina = Geometry(left=100, top=-50, scale=2.0)
    assert retina.points(Point(0, 0)) == (100, -50)
    assert retina.points(Point(401, 300)) == (300, 100)
    assert retina.pixel(300, 100) == Point(400, 300)


def test_its_keys_are_xs_keys() -> None:
    known = keysyms()
    assert {name: value for name, value in PORTABLE_KEYSYMS.items() if known.get(name) != value} == {}
    assert all(portable_names(name) for name in PORTABLE_KEYSYMS)


_ELSEWHERE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in GONE:
            raise ModuleNotFoundError(f"no {name} here", name=name)

GONE = {"xcffib", "dbus_fast", "fcntl", "resource", "pwd", "grp", "termios"}
for name in [name for name in sys.modules if name.partition(".")[0] in GONE]:
    del sys.modules[name]
sys.meta_path.insert(0, Missing())
import deskhand.cli, deskhand.desktop.portable_helper
from deskhand.desktop import self_check
from deskhand.desktop.keys import key_name
print(*(key_name(key) for key in ("Return", "ctrl", "F5", "pgdn", "a", "+")))
"""


def test_it_and_the_self_check_need_nothing_that_only_linux_has() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["Return", "Control_L", "F5", "Next", "a", "plus"], done.stderr


@pytest.mark.parametrize("backend", ["auto", "portable"])
async def test_the_self_check_finds_everything_working(backend: str) -> None:
    settings = Settings(backend=backend)  # type: ignore[arg-type]
    rows = await check_here(settings, dict(os.environ))
    assert [row for row in rows if not row.works] == []
    assert len(rows) == 11
    assert report(rows)[-1] == "Everything works."


async def test_the_self_check_says_what_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = PortableInput.__dict__["scroll"]
    monkeypatch.setattr(
        PortableInput, "scroll", lambda self, point, down=0, right=0: deaf(self, point, -down)
    )
    rows = await check_here(Settings(backend="portable"), dict(os.environ))
    assert [row.name for row in rows if not row.works] == ["wheel"]
    assert "the wheel turned up for down" in "\n".join(report(rows))
    assert report(rows)[-1] == "1 of 11 do not work."
