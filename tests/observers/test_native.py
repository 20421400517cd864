"""Native trees of real apps: gnome-calculator (GTK 4), mousepad and zenity (GTK 3)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deskhand.errors import DesktopError, TargetError
from deskhand.messages import Node
from deskhand.observers.assemble import assemble
from deskhand.observers.atspi import NotAnswering
from deskhand.observers.native import NativeTree
from deskhand.observers.node import quote, walk
from deskhand.observers.raw import App, Harvest, Raw
from deskhand.observers.serialize import render

if TYPE_CHECKING:
    from conftest import Seen

APPS = Path(__file__).parents[1] / "apps"
FORM = ("zenity", "--forms", "--text=Who?", "--add-entry=Name", "--add-password=Pass", "--add-combo=Size")


async def form(seen: Seen) -> Node:
    return await seen.run(*FORM, "--combo-values=Small|Large", until="button[name='OK']")


async def calculator(seen: Seen) -> Node:
    return await seen.run("gnome-calculator", until="button[name='=']")


async def test_a_gtk4_app_is_read_whole_and_in_reading_order(seen: Seen) -> None:
    await calculator(seen)
    keys = [node.name for node in await seen.find("button") if node.name.isdigit()]
    assert keys == ["7", "8", "9", "4", "5", "6", "1", "2", "3", "0"]
    assert (await seen.one("window")).name == "Calculator"
    assert (await seen.one("window[active]")).app == "gnome-calculator"


async def test_rectangles_are_right_on_the_screen_in_gtk4(seen: Seen) -> None:
    await calculator(seen)
    for key in "12×34":
        seen.click(await seen.one(f"button[name='{key}']"))
    assert (await seen.until("textbox[value='12×34']")).role == "textbox"


async def test_rectangles_are_right_in_an_open_popover_and_gone_when_it_closes(seen: Seen) -> None:
    await calculator(seen)
    seen.click(await seen.one("button[name='Primary menu']"))
    await seen.until("menuitem[name='Preferences'][visible]")
    await seen.still()
    seen.click(await seen.one("menuitem[name='Preferences']"))
    dialog = await seen.until("window[name='Preferences']")
    assert "modal" in dialog.states
    await seen.until("menuitem[visible]", there=False)
    decimals = await seen.one("spinbutton[name='Number of decimals']")
    assert decimals.value == "9"
    assert (await seen.one("combobox[name='Angle units']")).value == "Degrees"


async def test_elements_of_gtk4_act_by_themselves(seen: Seen) -> None:
    await calculator(seen)
    for key in "12×34=":
        assert await seen.native.perform(await seen.one(f"button[name='{key}']"), "invoke") == "done"
    assert (await seen.until("textbox[value='408']")).value == "408"


async def test_fields_are_named_by_the_label_beside_them(seen: Seen) -> None:
    await form(seen)
    assert (await seen.one("textbox[name='Name']")).value == ""
    assert "password" in (await seen.one("textbox[name='Pass']")).states
    assert (await seen.one("combobox[name='Size']")).value is None


async def test_text_is_set_and_read_back(seen: Seen) -> None:
    await form(seen)
    field = await seen.one("textbox[name='Name']")
    assert await seen.native.set_text(field, "Ana Ωé 日本") == "done"
    assert (await seen.one("textbox[name='Name']")).value == "Ana Ωé 日本"


async def test_a_password_is_never_read(seen: Seen) -> None:
    await form(seen)
    assert await seen.native.set_text(await seen.one("textbox[name='Pass']"), "hunter2") == "effect_unknown"
    roots = await seen.eyes.roots()
    assert (await seen.one("textbox[name='Pass']")).value is None
    assert not any("hunter2" in f"{node.name}{node.value}{node.description}" for node in walk(roots))


async def test_what_a_combo_box_holds_is_its_value(seen: Seen) -> None:
    await form(seen)
    size = await seen.one("combobox[name='Size']")
    assert await seen.native.select(size, "large") == "done"
    assert (await seen.one("combobox[name='Size']")).value == "Large"
    with pytest.raises(TargetError, match='there are: "Small", "Large"'):
        await seen.native.select(size, "Huge")


async def test_rectangles_are_right_on_the_screen_in_gtk3(seen: Seen) -> None:
    await form(seen)
    seen.click(await seen.one("textbox[name='Name']"))
    seen.desktop.input.type("Zoë")
    await seen.until("textbox[name='Name'][value='Zoë'][focused]")
    seen.click(await seen.one("button[name='Cancel']"))
    await seen.until("dialog", there=False)


async def test_a_menu_of_a_menu_bar_holds_its_items_and_its_text_does_not_list_them(seen: Seen) -> None:
    await seen.run("mousepad", until="menuitem[name='File']")
    items = [node.name for node in await seen.find("menuitem[name='File'] > menuitem")]
    assert items[:2] == ["New", "New Window"]
    text = render(await seen.eyes.roots())
    assert 'menuitem "File"' in text
    assert "New Window" not in text


async def test_an_app_still_answers_when_its_menu_opened_a_modal_dialog(seen: Seen) -> None:
    await seen.run("mousepad", until="menuitem[name='File']")
    file = await seen.one("menuitem[name='File']")
    assert await seen.native.perform(file, "invoke") == "not_supported"  # GTK 3 would not answer any more
    seen.click(file)
    await seen.until("menuitem[name='Save As'][visible]")
    await seen.still()
    seen.click(await seen.one("menuitem[name='Save As']"))
    assert (await seen.until("dialog[name='Save As'] textbox[name='Name']")).states >= {"focused"}
    assert await seen.find("dialog button[name='Save'][disabled]")


async def within(seconds: float, ask: Callable[[], Awaitable[Any]]) -> Any:
    """The answer, which must come in this time, if only once: other programs on this machine take theirs, too."""
    took: list[float] = []
    while not took or took[-1] > seconds:
        assert len(took) < 8, f"not within {seconds} s: {took}"
        started = time.monotonic()
        answer = await ask()
        took.append(time.monotonic() - started)
    return answer


async def said_to_be_silent(seen: Seen, pid: int, title: str) -> None:
    """Reading the app takes no more than 0.3 s, and a look names it and reads the form beside it."""

    async def refused() -> None:
        with pytest.raises(NotAnswering) as error:
            await seen.native.read(pid)
        assert error.value.effect == "busy"

    await within(0.3, refused)
    observation = await within(1.0, seen.eyes.observe)
    assert f'"{title}" is not answering' in observation.text
    assert 'textbox "Name"' in observation.text


async def test_a_frozen_app_costs_a_third_of_a_second_and_the_others_are_read(seen: Seen) -> None:
    await calculator(seen)
    await form(seen)
    frozen = next(window for window in seen.windows() if window.title == "Calculator")
    assert frozen.pid is not None
    os.kill(frozen.pid, signal.SIGSTOP)
    try:
        await said_to_be_silent(seen, frozen.pid, "Calculator")
    finally:
        os.kill(frozen.pid, signal.SIGCONT)


async def test_an_app_that_hangs_by_itself_costs_no_more(seen: Seen) -> None:
    shutil.copy(APPS / "gtk3_hang.py", seen.desktop.home)
    await seen.run("/usr/bin/python3", "/home/desk/gtk3_hang.py", until="button[name='Hang']")
    await seen.still()
    hang = await seen.one("button[name='Hang']")
    seen.click(hang)

    async def read_on() -> None:
        while True:
            await seen.native.read(hang.handle.pid)

    with pytest.raises(NotAnswering):
        await asyncio.wait_for(read_on(), 10)
    await form(seen)
    await said_to_be_silent(seen, hang.handle.pid, "Hangs")


@pytest.mark.parametrize("milliseconds", [0, 5, 20])
async def test_an_app_that_exits_while_it_is_read_ends_the_reading(seen: Seen, milliseconds: int) -> None:
    await seen.run("mousepad", until="menuitem[name='File']")
    window = seen.windows()[0]
    assert window.pid is not None
    started = time.monotonic()
    reading = asyncio.ensure_future(seen.native.read(window.pid, seen.windows()))
    await asyncio.sleep(milliseconds / 1000)
    os.kill(window.pid, signal.SIGKILL)
    assert isinstance(await reading, tuple)
    assert await seen.native.read(window.pid, ()) == ()
    assert time.monotonic() - started < 1.0


async def test_two_windows_of_two_apps_with_one_name_are_told_apart(seen: Seen) -> None:
    for number in (1, 2):
        await seen.run(
            "zenity", "--info", "--title=Same", f"--text=text {number}", until=f"[name='text {number}']"
        )
    first, second = sorted(await seen.find("dialog[name='Same']"), key=lambda node: node.children[0].name)
    assert first.handle.pid != second.handle.pid
    ok = (await seen.find("dialog:has-text('text 1') button[name='OK']"))[0]
    window = seen.eyes.window_of(ok)
    assert window is not None
    assert window.pid == first.handle.pid or window.pid == second.handle.pid
    assert window.pid == ok.handle.pid


@pytest.mark.parametrize("said", ["", 'say "hi"', "two\nlines", "bidi \u202e exe", "x" * 10_000])
async def test_hostile_titles_and_names_are_bounded_and_quoted(seen: Seen, said: str) -> None:
    question = ("zenity", "--question", f"--title={said}", f"--text={said or 'none'}", "--cancel-label=Leave")
    await seen.run(*question, f"--ok-label={said or 'none'}", until="button[name='Leave']")
    observation = await within(1.0, seen.eyes.observe)
    assert len(observation.text) < 1_500
    assert "\u202e" not in observation.text
    assert 'button "Leave"' in observation.text
    (told,) = {node.name for node in await seen.find("button")} - {"Leave"}
    assert "\n" not in told
    assert (await seen.one(f"button[name={quote(told, 20_000)}]")).name == told


async def test_a_list_of_ten_thousand_rows_is_read_in_part_and_in_time(seen: Seen) -> None:
    rows = "seq -f 'row %g' 0 9999 | zenity --list --column=Rows"
    await seen.run("sh", "-c", rows, until="cell[name='row 99']")
    observation = await within(1.0, seen.eyes.observe)
    assert 'cell "row 0"' in observation.text
    assert "query to narrow" in observation.text
    assert 'button "OK"' in observation.text


def test_an_element_that_is_listed_twice_is_told_once() -> None:
    shown = frozenset({"visible", "showing", "enabled"})

    def raw(path: str, role: str, *children: str) -> Raw:
        return Raw(
            path=path, parent="", index=-1, count=len(children), interfaces=frozenset(), name=path, role=role,
            description="", states=shown, children=list(children),
        )  # fmt: skip

    raws = (raw("w", "frame", "a", "b", "a"), raw("a", "panel", "c"), raw("b", "panel", "c"))
    reading = Harvest(
        App(":1.1", 1), {each.path: each for each in (*raws, raw("c", "push button"))}, ["w"], True
    )
    assert sorted(node.name for node in walk(assemble(reading))) == ["a", "b", "c", "w"]


async def test_without_a_bus_there_is_an_error_and_not_the_users_bus() -> None:
    with pytest.raises(DesktopError, match="accessibility bus"):
        await NativeTree("unix:path=/nonexistent/bus").connect()
