"""The desk on real applications: what is said to be done is done."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desk_helpers import all_done, effects, steps
from deskhand.errors import TargetError
from deskhand.messages import Json, Rect
from deskhand.terms import Private
from deskhand.tools.desk import Desk, open_desktop, open_desktop_sync
from deskhand.tools.wording import batch_text


async def test_the_calculator_is_worked_by_its_elements(desk: Desk) -> None:
    await desk.launch("gnome-calculator")
    report = all_done(await desk.act(steps(*[("click", f"button[name='{key}']") for key in "12×34="])))
    assert {step.route for step in report.steps} == {"element"}
    target = report.steps[0].target
    assert target is not None
    assert (target.role, target.name, target.window) == ("button", "1", "Calculator")
    assert target.rect is not None
    assert target.ref
    assert await desk.holds("408")
    assert not await desk.holds("40")
    assert not await desk.holds("409")


async def test_text_typed_into_an_editor_and_saved_by_its_dialog_is_on_disk(desk: Desk, home: Path) -> None:
    text = "Zoë wrote:\n\t“naïve café” — 日本語 ✓ \U0001f600\n"
    await desk.launch("mousepad")
    report = await desk.act(
        [
            {"kind": "type", "text": text},
            {"kind": "key", "keys": "ctrl+s"},
            {"kind": "fill", "target": "dialog textbox[name^='Name']", "text": "note.txt"},
            {"kind": "click", "target": "dialog button[name='Save']"},
            {"kind": "wait", "for": "window[name*='note.txt']"},
        ]
    )
    all_done(report)
    assert (home / "note.txt").read_text("utf-8") == text


async def test_a_dialog_of_five_kinds_of_fields_is_filled_and_sent_in_one_batch(
    desk: Desk, home: Path
) -> None:
    form = "zenity --forms --title=Order --add-entry=Name --add-entry=City --add-password=PIN"
    await desk.launch(["sh", "-c", f"{form} --add-combo=Size '--combo-values=S|M|L' > ~/out.txt"])
    report = await desk.act(
        [
            {"kind": "fill", "target": "textbox[name='Name']", "text": "Ana"},
            {"kind": "type", "target": "textbox[name='City']", "text": "Kraków"},
            {"kind": "fill", "target": "textbox[name='PIN']", "text": "12 34"},
            {"kind": "select", "target": "combobox[name='Size']", "option": "L"},
            {"kind": "click", "target": "button[name='OK']"},
        ]
    )
    all_done(report, "dispatched")
    assert effects(report)[2] == "dispatched", "a password is not read back"
    assert (home / "out.txt").read_text("utf-8") == "Ana|Kraków|12 34|L\n"


async def test_a_second_application_is_read_as_well_as_the_first(desk: Desk) -> None:
    await desk.launch(["zenity", "--info", "--text=first"])
    all_done(await desk.act(steps(("click", "button[name='OK']"))))
    await desk.launch(["zenity", "--question", "--text=second"])
    assert await desk.wait_for("button[name='Yes']") is not None
    assert await desk.holds("second")
    assert not await desk.holds("first")


async def test_a_menu_is_walked_and_a_setting_toggled_once(desk: Desk) -> None:
    await desk.launch("mousepad")
    numbers = "checkbox[name='Show line numbers']"
    report = await desk.act(
        [
            {"kind": "menu", "path": ["Edit", "Preferences…"]},
            {"kind": "toggle", "target": numbers, "on": True},
            {"kind": "toggle", "target": numbers, "on": True},
            {"kind": "check", "selector": f"{numbers}[checked]"},
            {"kind": "toggle", "target": numbers},
            {"kind": "check", "selector": f"{numbers}[checked='false']"},
        ]
    )
    all_done(report)
    assert "already" in report.steps[2].message


async def test_a_window_that_lies_over_the_target_is_not_clicked(desk: Desk) -> None:
    await desk.launch("mousepad")
    await desk.act([{"kind": "menu", "path": ["Edit", "Preferences…"]}])
    dialog = next(each for each in await desk.windows() if "Preferences" in each.title)
    editor = next(each for each in await desk.windows() if each.id != dialog.id)
    desk.desktop.windows.move_resize(dialog.id, editor.rect)
    before = {node.name: node.states for node in (await desk.find("checkbox"))[0]}
    report = await desk.act(steps(("click", "textbox[multiline]")))
    assert effects(report) == ["covered"]
    assert {node.name: node.states for node in (await desk.find("checkbox"))[0]} == before


async def test_a_point_in_a_picture_hits_what_is_there(desk: Desk, home: Path) -> None:
    await desk.launch(["sh", "-c", "zenity --question --text=Sure? && touch ~/yes"])
    seen = await desk.observe(screenshot=True)
    node = (await desk.find("button[name='Yes']"))[0][0]
    assert seen.image is not None
    assert node.rect is not None
    scale_x, scale_y = seen.image.scale
    where = {"x": node.rect.center.x / scale_x, "y": node.rect.center.y / scale_y, "image": seen.image.id}
    report = all_done(await desk.act([{"kind": "click", "target": where, "aim": "Yes"}]))
    assert report.steps[0].route == "pointer"
    assert await desk.wait_for("button[name='Yes']", "absent") is None
    assert (home / "yes").exists()


async def test_a_region_of_the_screen_maps_back_to_it(desk: Desk) -> None:
    await desk.launch(["zenity", "--info", "--text=x"])
    node = (await desk.find("button[name='OK']"))[0][0]
    assert node.rect is not None
    image = await desk.screenshot(Rect(node.rect.x - 10, node.rect.y - 10, 60, 40))
    assert (image.width, image.height) == (60, 40)
    all_done(await desk.act([{"kind": "click", "target": {"x": 15, "y": 15, "image": image.id}}]))
    assert await desk.wait_for("button[name='OK']", "absent") is None


async def test_windows_are_moved_maximised_minimised_and_closed(desk: Desk) -> None:
    await desk.launch("mousepad")
    all_done(await desk.act([{"kind": "window", "do": "move", "title": "mousepad", "x": 40, "y": 60}]))
    (window,) = await desk.windows()
    assert (window.rect.x, window.rect.y) == (40, 60)
    all_done(await desk.act([{"kind": "window", "do": "resize", "width": 500, "height": 400}]))
    assert ((await desk.windows())[0].rect.width, (await desk.windows())[0].rect.height) == (500, 400)
    all_done(await desk.act([{"kind": "window", "do": "maximize"}]))
    assert (await desk.windows())[0].rect.width >= 1200
    all_done(await desk.act([{"kind": "window", "do": "close"}]))
    assert not await desk.windows()


async def test_a_window_that_asks_back_is_not_reported_as_closed(desk: Desk) -> None:
    await desk.launch("mousepad")
    report = await desk.act([{"kind": "type", "text": "unsaved"}, {"kind": "window", "do": "close"}])
    assert effects(report) == ["done", "dispatched"]
    assert "still there" in report.steps[1].message


async def test_a_copied_selection_is_on_the_clipboard(desk: Desk) -> None:
    await desk.launch("mousepad")
    report = await desk.act(
        [{"kind": "key", "keys": "t:grüße;ctrl+a;ctrl+c"}, {"kind": "clipboard"}], on_no_change="never"
    )
    assert report.steps[1].value == "grüße"
    await desk.act([{"kind": "clipboard", "text": "neu"}, {"kind": "key", "keys": "ctrl+v"}])
    assert await desk.wait_for("textbox[value='neu']", timeout=5) is not None


async def test_a_program_that_cannot_be_started_is_an_error_and_one_that_ends_is_said_to(desk: Desk) -> None:
    with pytest.raises(TargetError, match="nonesuch"):
        await desk.launch("nonesuch-editor")
    with pytest.raises(TargetError, match="ended without showing a window"):
        await desk.launch(["true"])


async def test_a_key_that_does_nothing_is_no_change(desk: Desk) -> None:
    await desk.launch(["zenity", "--info", "--text=x"])
    report = await desk.act([{"kind": "key", "keys": "F9"}, {"kind": "key", "keys": "F8"}])
    assert effects(report) == ["no_change"]
    assert report.not_run == 1


async def test_a_cancelled_batch_leaves_a_desk_that_works_and_nothing_held(desk: Desk) -> None:
    await desk.launch("mousepad")
    acting = asyncio.create_task(
        desk.act([{"kind": "press", "target": "textbox[multiline]"}, {"kind": "wait", "for": "dialog"}])
    )
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(acting, 1.5)
    all_done(
        await desk.act([{"kind": "release"}, {"kind": "type", "text": "still here"}]),
        "dispatched",
        "no_change",
    )
    assert await desk.holds("still here")


async def test_typing_that_is_cancelled_stops(desk: Desk) -> None:
    await desk.launch("mousepad")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(desk.act([{"kind": "type", "text": "All work and no play\n" * 4000}]), 0.5)
    typed = len((await desk.find("textbox[multiline]"))[0][0].value or "")
    assert typed < 4000 * 21 / 2


# --- pages --------------------------------------------------------------------------------------------------------

FORM = """
<h1>Order</h1>
<form onsubmit="event.preventDefault(); done.textContent = ['Thanks', n.value, s.value, g.checked, c.value].join(' ')">
<label>Name <input id=n></label>
<label>Size <select id=s><option>S<option>M<option>L</select></label>
<fieldset><legend>Colour</legend><label><input type=radio name=c value=Red>Red</label>
<label><input type=radio name=c value=Blue>Blue</label></fieldset><input type=hidden id=c>
<label><input type=checkbox id=g> Gift wrap</label><label>PIN <input type=password></label>
<div style="height:1500px"></div><button>Buy</button></form><p role=status id=done></p>
<script>document.querySelectorAll('[name=c]').forEach(r => r.onchange = () => c.value = r.value)</script>
"""


async def test_a_page_is_filled_and_sent_in_one_batch_aimed_at_selectors(
    desk: Desk, page: Callable[[str, str], str]
) -> None:
    report = await desk.act(
        [
            {"kind": "launch", "app": page("order.html", FORM)},
            {"kind": "fill", "target": "textbox[name='Name']", "text": "Zoë 日本"},
            {"kind": "select", "target": "combobox[name='Size']", "option": "M"},
            {"kind": "click", "target": "radio[name='Blue']"},
            {"kind": "toggle", "target": "checkbox[name='Gift wrap']", "on": True},
            {"kind": "fill", "target": "textbox[name='PIN']", "text": "s3cret"},
            {"kind": "click", "target": "button[name='Buy']"},
            {"kind": "wait", "for": "status:has-text('Thanks')"},
        ]
    )
    all_done(report, "dispatched")
    assert await desk.holds("Thanks Zoë 日本 M true Blue")
    assert "s3cret" not in repr(report) + (await desk.observe()).text
    assert {step.route for step in report.steps[1:7]} == {"page"}


async def test_tabs_dialogs_and_history_of_the_browser(desk: Desk, page: Callable[[str, str], str]) -> None:
    asks = page(
        "asks.html",
        "<button onclick=\"out.textContent = confirm('Sure?')\">Ask</button><p id=out role=status>-</p>",
    )
    other = page("other.html", "<h1>Other</h1>")
    report = await desk.act(
        [
            {"kind": "navigate", "url": asks},
            {"kind": "click", "target": "button[name='Ask']"},
            {"kind": "dialog", "accept": True},
            {"kind": "wait", "for": "status[name='true'], status:has-text('true')"},
            {"kind": "navigate", "url": other},
            {"kind": "check", "selector": "heading[name='Other']", "timeout": 3},
            {"kind": "navigate", "to": "back"},
            {"kind": "wait", "for": "button[name='Ask']"},
            {"kind": "tab", "do": "open", "url": other},
            {"kind": "wait", "for": "heading[name='Other']"},
            {"kind": "tab", "do": "switch", "title": "asks"},
            {"kind": "wait", "for": "button[name='Ask']"},
            {"kind": "tab", "do": "close", "title": "other"},
        ]
    )
    all_done(report)


async def test_a_page_is_read_without_disturbing_the_open_tab(
    desk: Desk, page: Callable[[str, str], str]
) -> None:
    await desk.launch(page("a.html", "<h1>First</h1>"))
    assert "Second" in await desk.read_page(page("b.html", "<h1>Second</h1>"))
    assert await desk.holds("First")
    assert not await desk.holds("Second")


async def test_a_file_of_the_desktop_is_uploaded_and_one_outside_is_refused(
    desk: Desk, home: Path, page: Callable[[str, str], str], tmp_path: Path
) -> None:
    (home / "cv.txt").write_text("hello")
    (home / "link").symlink_to("/etc/passwd")
    url = page(
        "up.html",
        '<label>File <input type=file onchange="out.textContent = files[0].name + files[0].size"></label>'
        "<p id=out>-</p>",
    )
    await desk.launch(url)
    target = "button[name*='File']"
    for path in ("/etc/passwd", "link", "../../../../etc/passwd", str(tmp_path / "x"), "missing.txt"):
        report = await desk.act([{"kind": "upload", "target": target, "files": [path]}])
        assert effects(report) == ["not_found"], path
    all_done(await desk.act([{"kind": "upload", "target": target, "files": ["~/cv.txt"]}]))
    assert await desk.holds("cv.txt5")


async def test_an_address_that_cannot_be_opened_is_said_so(desk: Desk) -> None:
    report = await desk.act([{"kind": "launch", "app": "http://127.0.0.1:2/"}])
    assert effects(report) == ["not_supported"]
    assert "ERR_CONNECTION_REFUSED" in batch_text(report)


# --- the façade ---------------------------------------------------------------------------------------------------


def test_the_sync_desk_works_in_a_plain_script() -> None:
    events: list[Json] = []
    with open_desktop_sync(Private(size=(800, 600)), on_event=events.append) as desk:
        desk.launch(["zenity", "--entry", "--text=Name?"])
        report = desk.act([{"kind": "type", "text": "Ana"}])
        assert effects(report) == ["done"]
        assert desk.find("button")[1] == 2
        assert desk.screenshot().width == 800
        assert desk.holds("Name?")
        name = desk.desktop.name
    assert name == "private"
    assert [event["step"]["kind"] for event in events] == ["launch", "type"]


async def test_the_sync_desk_works_inside_running_asyncio_code() -> None:
    with open_desktop_sync() as desk:
        assert desk.observe().windows == ()


async def test_two_desks_at_once_do_not_disturb_each_other() -> None:
    async with open_desktop() as one, open_desktop() as two:
        await asyncio.gather(one.launch("mousepad"), two.launch("mousepad"))
        await asyncio.gather(
            *(d.act([{"kind": "type", "text": t}]) for d, t in ((one, "first"), (two, "second")))
        )
        assert [await one.holds(t) for t in ("first", "second")] == [True, False]
        assert [await two.holds(t) for t in ("first", "second")] == [False, True]


async def test_everything_ends_with_the_block_even_when_it_fails() -> None:
    seen: list[str] = []

    async def work() -> None:
        async with open_desktop() as desk:
            await desk.launch("mousepad")
            seen.extend([desk.desktop.home, f"/proc/{(await desk.windows())[0].pid}/exe"])  # type: ignore[attr-defined]
            assert all(os.path.exists(path) for path in seen)
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        await work()
    assert not any(os.path.exists(path) for path in seen)


async def test_a_recording_has_a_duration(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "r.mp4"
    async with desk.record(path) as recording:
        await desk.launch(["zenity", "--info", "--text=x"])
        assert recording.running
        with pytest.raises(ValueError, match="a recording is running already"):
            await desk.record(tmp_path / "second.mp4")
    assert (recording.path, recording.running) == (str(path), False)
    probe = shutil.which("ffprobe")
    assert probe is not None
    command = [probe, "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(path)]
    said = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    assert float(said.stdout) > 0
    again = await desk.record(tmp_path / "second.mp4")
    assert again.running
    assert await again.stop() == str(tmp_path / "second.mp4")
    assert await again.stop() is None


async def test_waiting_ends_as_soon_as_the_element_is_there(desk: Desk) -> None:
    waiting = asyncio.create_task(desk.wait_for("button[name='OK']", timeout=10))
    await desk.launch(["zenity", "--info", "--text=x"])
    node = await asyncio.wait_for(waiting, 3)
    assert node is not None
    with pytest.raises(TargetError, match="still there after"):
        await desk.wait_for("button[name='OK']", "absent", timeout=0.2)


async def test_evidence_of_the_child_is_checked_on_every_window(desk: Desk) -> None:
    await desk.launch(["zenity", "--info", "--text=behind"])
    await desk.launch("mousepad")
    assert await desk.holds("behind")
    assert await desk.matches("dialog, window")
    assert not await desk.holds("dialog, window")


@pytest.mark.parametrize("computer", ["", "nowhere", "display:99x", 7])
async def test_a_computer_that_means_nothing_is_refused(computer: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        async with open_desktop(computer):
            pytest.fail("opened")
