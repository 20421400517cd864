"""Caps Lock and typed text: what was pressed on purpose counts, what was left on does not."""

from __future__ import annotations

from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.input import XInput
from deskhand.desktop.x11 import XConnection
from desktop_world import ended, window


def _typed_into_a_dialog(desktop: X11Desktop, *acts: tuple[str, str]) -> str:
    """What an entry holds after ``("key", name)`` and ``("type", text)``, as its dialog prints it."""
    answer = "/home/desk/answer" if desktop.isolation == "files" else f"{desktop.home}/answer"
    pid = desktop.launch(["sh", "-c", f"zenity --entry --title Type --text x > {answer}"])
    desktop.windows.activate(window(desktop, "Type").id)
    for kind, what in acts:
        if kind == "key":
            desktop.input.chord([what])
        else:
            desktop.input.type(what)
    desktop.input.chord(["Return"])
    assert ended([pid], 10)
    with open(f"{desktop.home}/answer") as file:
        return file.read().rstrip("\n")


async def test_caps_lock_that_was_pressed_on_purpose_counts_until_it_is_pressed_again(
    desktop: X11Desktop,
) -> None:
    typed = _typed_into_a_dialog(
        desktop, ("key", "Caps_Lock"), ("type", "ab"), ("key", "Caps_Lock"), ("type", "cd")
    )
    assert typed == "ABcd"


async def test_caps_lock_that_somebody_else_left_on_changes_nothing_and_stays_on(desktop: X11Desktop) -> None:
    x = XConnection(desktop.display, desktop.client_env["XAUTHORITY"])
    try:
        XInput(x).chord(["Caps_Lock"])
        assert _typed_into_a_dialog(desktop, ("type", "Müller ab")) == "Müller ab"
        lock = 2  # LockMask, X.h
        assert x.reply(x.core.QueryPointer(x.root)).mask & lock
    finally:
        x.close()
