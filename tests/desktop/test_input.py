"""Pointer and keyboard, as clients of the display see them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from deskhand.desktop import input as input_module
from deskhand.desktop.browser import find_browser
from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.input import XInput
from deskhand.desktop.x11 import XConnection
from deskhand.errors import DesktopError, InvalidStep
from deskhand.messages import Point
from desktop_world import Bare, bare_display, ended, window
from pad import RECT, Pad

CENTER = RECT.center
UNICODE = 'àÉÜÑ Ω 日本語 🎉 👩‍👩‍👧 e\u0301 עברית ~`|\\"<>{}[] ąĘ €'


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A display of our own without a window manager, which would move the focus: its name and its cookie file."""
    with bare_display(tmp_path_factory.mktemp("field")) as (display, authority, _):
        x = XConnection(display, authority)
        x.set_marker("ours")
        yield display, authority
        x.close()


@pytest.fixture
def hands(field: tuple[str, str]) -> Iterator[XInput]:
    """Input on that display."""
    x = XConnection(*field)
    made = XInput(x)
    yield made
    made.close()
    x.close()


@pytest.fixture
def pad(field: tuple[str, str]) -> Iterator[Pad]:
    """A window on it that has the keyboard."""
    made = Pad(*field)
    yield made
    made.close()


def test_each_button_presses_and_releases(hands: XInput, pad: Pad) -> None:
    for button in ("left", "middle", "right", "back", "forward"):
        hands.click(CENTER, button)
    numbers = [1, 2, 3, 8, 9]
    assert pad.log() == [f"{what} {number}" for number in numbers for what in ("press", "release")]


def test_an_unknown_button_is_refused(hands: XInput) -> None:
    with pytest.raises(InvalidStep, match="left, middle, right"):
        hands.click(CENTER, "leftt")  # type: ignore[arg-type]


def test_a_double_click_is_two_presses_within_the_interval_and_not_at_one_moment(
    hands: XInput, pad: Pad
) -> None:
    hands.click(CENTER, count=2)
    times = [event.time for event in pad.events() if getattr(event, "detail", 0) == 1]
    assert len(times) == 4
    assert 0 < times[2] - times[0] < 250


def test_two_single_clicks_never_make_a_double_click(hands: XInput, pad: Pad) -> None:
    hands.click(CENTER)
    hands.click(CENTER)
    times = [event.time for event in pad.events() if getattr(event, "detail", 0) == 1]
    assert times[2] - times[0] >= 490


def test_clicks_on_different_places_do_not_wait(hands: XInput, pad: Pad) -> None:
    hands.click(CENTER)
    began = time.monotonic()
    hands.click(Point(CENTER.x + 40, CENTER.y))
    assert time.monotonic() - began < 0.2


def test_a_drag_travels_with_the_button_down_and_arrives(hands: XInput, pad: Pad) -> None:
    goal = Point(CENTER.x + 120, CENTER.y + 60)
    hands.move(CENTER)
    pad.forget()
    hands.drag([CENTER, goal])
    events = pad.events()
    moves = [
        event for event in events if hasattr(event, "root_x") and event.detail == 0 and event.state & 0x100
    ]
    assert len(moves) >= 10
    released = events[-1]
    assert (released.root_x, released.root_y) == (goal.x, goal.y)
    assert not pad.pointer_mask() & 0x1F00


def test_a_drag_releases_the_button_when_it_fails(
    hands: XInput, pad: Pad, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("in the middle")

    with monkeypatch.context() as patched:
        patched.setattr(input_module, "_way", broken)
        with pytest.raises(RuntimeError):
            hands.drag([CENTER, Point(CENTER.x + 50, CENTER.y)])
    pad.x.sync()
    assert not pad.pointer_mask() & 0x1F00
    assert pad.log() == ["press 1", "release 1"]


def test_the_wheel_turns_by_detents_both_ways(hands: XInput, pad: Pad) -> None:
    hands.scroll(CENTER, down=2)
    hands.scroll(CENTER, down=-1, right=1)
    hands.scroll(CENTER, right=-1)
    assert [line for line in pad.log() if line.startswith("press")] == [
        "press 5",
        "press 5",
        "press 4",
        "press 7",
        "press 6",
    ]


def test_a_chord_goes_down_in_order_and_up_in_reverse(hands: XInput, pad: Pad) -> None:
    hands.chord(["ctrl", "alt", "k"])
    assert pad.log() == ["down 0xffe3", "down 0xffe9", "down 0x6b", "up 0x6b", "up 0xffe9", "up 0xffe3"]


def test_a_key_on_the_second_level_brings_its_shift(hands: XInput, pad: Pad) -> None:
    hands.chord(["ctrl", "plus"])
    assert pad.log() == ["down 0xffe3", "down 0xffe1", "down 0x2b", "up 0x2b", "up 0xffe1", "up 0xffe3"]


def test_a_key_that_the_layout_lacks_can_be_pressed(hands: XInput, pad: Pad) -> None:
    hands.chord(["U20AC"])
    assert pad.log() == ["down 0x10020ac", "up 0x10020ac"]


def test_a_held_key_stays_down_as_long_as_asked(hands: XInput, pad: Pad) -> None:
    hands.chord(["a"], hold=0.2)
    events = pad.events()
    assert events[-1].time - events[0].time >= 190


def test_an_unknown_key_presses_nothing(hands: XInput, pad: Pad) -> None:
    with pytest.raises(InvalidStep, match="did you mean"):
        hands.chord(["ctrl", "retrun"])
    assert pad.log() == []


def test_everything_held_is_released(hands: XInput, pad: Pad) -> None:
    hands.move(CENTER)
    hands.button("left", True)
    hands.key("shift", True)
    hands.key("b", True)
    assert pad.keys_down()
    assert pad.pointer_mask() & 0x100
    hands.release_all()
    hands.release_all()
    assert not pad.keys_down()
    assert not pad.pointer_mask() & 0x1F00


def test_any_text_arrives_exactly(hands: XInput, pad: Pad) -> None:
    for text in (UNICODE, "Hello, World!\n\tSECOND line", "ÀàÀà ßẞ ǅ"):
        hands.type(text)
        assert pad.text() == text


def test_text_with_more_strange_characters_than_spare_keys_arrives_exactly(hands: XInput, pad: Pad) -> None:
    text = "".join(chr(code) for code in range(0x4E00, 0x4E00 + 150))
    hands.type(text)
    assert pad.text() == text


def test_a_control_character_is_refused_before_anything_is_typed(hands: XInput, pad: Pad) -> None:
    for wrong in ("ab\x07", "\ud800", "x\x1b[A"):
        with pytest.raises(InvalidStep, match="cannot be typed"):
            hands.type(wrong)
    assert pad.log() == []


def test_typing_is_at_least_twice_as_fast_as_xdotools_twelve_milliseconds_a_key(
    hands: XInput, pad: Pad
) -> None:
    text = "The quick brown fox, 1234567890! " * 15
    hands.type("warm up")
    pad.forget()
    began = time.monotonic()
    hands.type(text)
    assert time.monotonic() - began < len(text) * 0.012 / 2
    assert pad.text() == text


def test_text_typed_into_a_gtk_editor_arrives_exactly(shared: X11Desktop) -> None:
    pid = shared.launch(["mousepad"])
    editor = window(shared, "Mousepad")
    shared.windows.activate(editor.id)
    text = UNICODE + "\n\tnext line " * 3
    shared.input.type(text)
    shared.input.chord(["ctrl", "a"])
    shared.input.chord(["ctrl", "c"])
    assert _copied(shared, text) == text
    os.kill(pid, signal.SIGKILL)  # closing it would ask about saving
    assert ended([pid], 10)


def test_text_typed_into_chromium_arrives_exactly(shared: X11Desktop) -> None:
    # More strange characters than there are quiet keycodes: none of them may be one that the browser goes by.
    text = UNICODE + "".join(chr(code) for code in range(0x3041, 0x3041 + 80)) + "\nend"
    page = (  # its address is its first title: the later ones are not in it
        "<textarea id=t autofocus style='position:fixed;inset:0'></textarea><script>"
        "setInterval(()=>{if(document.hasFocus())document.title='Typ'+'ing'},20)</script>"
    )
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    pid = shared.launch([find_browser(), *root, "--no-first-run", f"--app=data:text/html,{page}"])
    browser = window(shared, "Typing")
    active = shared.windows.active()
    assert active is not None
    shared.input.click(active.rect.center)
    shared.input.type(text)
    shared.input.chord(["ctrl", "a"])
    shared.input.chord(["ctrl", "c"])
    assert _copied(shared, text) == text
    shared.windows.close(browser.id)
    assert ended([pid], 10)


def _copied(desktop: X11Desktop, expected: str) -> str | None:
    """The clipboard once it holds what is expected, or what it holds after ten seconds."""
    end = time.monotonic() + 10
    while (found := desktop.clipboard.read()) != expected and time.monotonic() < end:
        desktop.changes.wait(0.1)
        desktop.changes.collect()
    return found


def test_keys_held_on_an_attached_display_come_up_after_sigkill(bare: Bare) -> None:
    display, authority, _ = bare
    pad = Pad(display, authority)
    program = (
        "import sys\n"
        "from deskhand.desktop.x11 import XConnection\n"
        "from deskhand.desktop.input import XInput\n"
        "from deskhand.messages import Point\n"
        "i = XInput(XConnection(sys.argv[1], sys.argv[2]))\n"
        f"i.move(Point({CENTER.x}, {CENTER.y})); i.button('left', True); i.key('shift', True)\n"
        "print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, display, authority], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert pad.keys_down()
        assert pad.pointer_mask() & 0x100
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert pad.wait_released(3)
    pad.close()


def test_spare_keys_of_an_attached_display_are_given_back(bare: Bare) -> None:
    display, authority, _ = bare
    pad = Pad(display, authority)
    before = _mapping(pad)
    x = XConnection(display, authority)
    attached = XInput(x)
    attached.type("語 Ω")
    assert pad.text() == "語 Ω"
    assert _mapping(pad) != before
    attached.close()
    assert _mapping(pad) == before
    x.close()
    pad.close()


def _mapping(pad: Pad) -> list[int]:
    first, last = pad.x.setup.min_keycode, pad.x.setup.max_keycode
    reply = pad.x.reply(pad.x.core.GetKeyboardMapping(first, last - first + 1))
    width = reply.keysyms_per_keycode
    keysyms = list(reply.keysyms)
    return [keysyms[i * width] for i in range(last - first + 1)]


def test_input_on_a_display_that_is_gone_is_a_desktop_error(field: tuple[str, str]) -> None:
    x = XConnection(*field)
    pointer = XInput(x)
    x.interrupt()
    with pytest.raises(DesktopError, match="gone"):
        pointer.click(CENTER)
    pointer.release_all()
    x.close()
