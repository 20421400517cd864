"""The whole vocabulary on real applications: candidates, evidence, clipboard, file choosers, windows, repeats."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from desk_helpers import all_done, effects
from deskhand.errors import TargetError
from deskhand.terms import Private
from deskhand.tools.desk import Desk, open_desktop
from deskhand.tools.entry import paste
from deskhand.tools.wording import batch_text

APPS = Path(__file__).parents[1] / "apps"


async def test_of_several_candidates_the_first_that_exists_is_used(desk: Desk, home: Path) -> None:
    await desk.launch(["sh", "-c", "zenity --question --text=Sure? --ok-label=Proceed && touch ~/yes"])
    names = ["button[name='OK']", "button[name='Yes']", "button[name='Proceed']", "button"]
    report = all_done(await desk.act([{"kind": "click", "target": names}]))
    target = report.steps[0].target
    assert target is not None
    assert target.name == "Proceed"
    assert await desk.wait_for("button[name='Proceed']", "absent") is None
    assert (home / "yes").exists()


async def test_a_click_on_pixels_says_what_was_under_it_what_changed_and_what_is_active(desk: Desk) -> None:
    await desk.launch("mousepad")
    await desk.launch(["zenity", "--info", "--title=Notice", "--text=x"])
    node = (await desk.find("button[name='OK']"))[0][0]
    assert node.rect is not None
    image = await desk.screenshot()
    where = {"x": node.rect.center.x, "y": node.rect.center.y, "image": image.id}
    report = all_done(await desk.act([{"kind": "click", "target": where}]))
    said = report.steps[0].message
    assert 'hit button "OK"' in said, said
    assert 'in window "Notice"' in said
    assert "% of the screen changed" in said
    assert "Mousepad" in said.split("active is")[1]


async def test_a_click_that_misses_its_aim_says_by_how_much_and_where_to_click(desk: Desk) -> None:
    await desk.launch(["zenity", "--question", "--title=Sure", "--text=Sure?"])
    node = (await desk.find("button[name='Yes']"))[0][0]
    assert node.rect is not None
    image = await desk.screenshot()
    where = {"x": node.rect.center.x, "y": node.rect.center.y - 60, "image": image.id}
    report = await desk.act([{"kind": "click", "target": where, "aim": "Yes"}])
    said = batch_text(report)
    assert 'missed button "Yes"' in said
    assert "by 60 px" in said
    assert f"({node.rect.center.x}, {node.rect.center.y})" in said


async def test_what_the_clipboard_held_is_there_again_after_a_paste(desk: Desk, home: Path) -> None:
    shutil.copy(APPS / "gtk3_text.py", home / "text.py")
    await desk.launch(["/usr/bin/python3", "/home/desk/text.py", "/home/desk/held"])
    await desk.act(
        [{"kind": "clipboard", "text": "mine"}, {"kind": "focus", "target": "textbox[name='Text']"}]
    )
    (field,), _ = await desk.find("textbox[name='Text']")
    assert await paste(desk.workspace, "pasted ✓ 日本", field)
    assert (await desk.find("textbox[name='Text']"))[0][0].value == "pasted ✓ 日本"
    assert (await desk.act([{"kind": "clipboard"}])).steps[0].value == "mine"


async def test_an_empty_clipboard_is_empty_again_after_a_paste(desk: Desk, home: Path) -> None:
    shutil.copy(APPS / "gtk3_text.py", home / "text.py")
    await desk.launch(["/usr/bin/python3", "/home/desk/text.py", "/home/desk/held"])
    await desk.act([{"kind": "focus", "target": "textbox[name='Text']"}])
    assert await paste(desk.workspace, "once", (await desk.find("textbox[name='Text']"))[0][0])
    report = await desk.act([{"kind": "clipboard"}])
    assert report.steps[0].value is None


async def test_characters_that_gtk_takes_for_dead_keys_arrive_in_their_place(desk: Desk, home: Path) -> None:
    shutil.copy(APPS / "gtk3_text.py", home / "text.py")
    await desk.launch(["/usr/bin/python3", "/home/desk/text.py", "/home/desk/held"])
    text = "a＠Ｗ﹖b"
    field = "textbox[name='Text']"
    report = all_done(
        await desk.act([{"kind": "type", "target": field, "text": text}, {"kind": "clipboard"}])
    )
    assert (await desk.find(field))[0][0].value == text
    assert report.steps[1].value is None


async def test_a_file_is_opened_through_the_applications_own_chooser(desk: Desk, home: Path) -> None:
    (home / "letter.txt").write_text("Dear all")
    await desk.launch("mousepad")
    report = await desk.act(
        [
            {"kind": "key", "keys": "ctrl+o"},
            {"kind": "wait", "for": "dialog"},
            {"kind": "key", "keys": "t:/home/desk/letter.txt;Return"},
            {"kind": "wait", "for": "window[name*='letter.txt']"},
        ],
        on_no_change="never",
    )
    all_done(report, "dispatched")
    assert await desk.holds("Dear all")


async def test_a_file_of_a_shared_folder_is_uploaded_and_one_beside_it_is_not(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "scan.txt").write_text("hello")
    (tmp_path / "private.txt").write_text("no")
    (shared / "link.txt").symlink_to(tmp_path / "private.txt")
    async with open_desktop(Private(share=(str(shared),))) as desk:
        home = Path(desk.desktop.home)  # type: ignore[attr-defined]
        (home / "up.html").write_text(
            '<label>File <input type=file onchange="out.textContent = files[0].name + files[0].size"></label>'
            "<p id=out>-</p>"
        )
        await desk.launch("file:///home/desk/up.html")
        target = "button[name*='File']"
        for path in ("link.txt", "../private.txt"):
            report = await desk.act([{"kind": "upload", "target": target, "files": [str(shared / path)]}])
            assert effects(report) == ["not_found"], path
        report = await desk.act([{"kind": "upload", "target": target, "files": [str(shared / "scan.txt")]}])
        all_done(report)
        assert await desk.holds("scan.txt5")


async def test_a_download_is_said_and_is_a_file_of_the_desktop(
    desk: Desk, page: Callable[[str, str], str]
) -> None:
    url = page("down.html", '<a download="report.csv" href="data:text/csv,a;b">Get it</a>')
    await desk.launch(url)
    report = all_done(await desk.act([{"kind": "click", "target": "link[name='Get it']"}]), "no_change")
    browser: Any = desk.workspace.browser
    await desk.act([{"kind": "wait", "seconds": 0.5}])
    (download,) = browser.downloads
    assert "report.csv" in str(download)
    assert "report.csv" in batch_text(report) + (await desk.observe()).text


async def test_a_step_is_repeated_until_its_selector_holds_and_no_further(
    desk: Desk, page: Callable[[str, str], str]
) -> None:
    url = page(
        "count.html",
        '<button onclick="out.textContent = ++n">More</button><p role=status id=out></p><script>n=0</script>',
    )
    report = await desk.act(
        [
            {"kind": "launch", "app": url},
            {"kind": "click", "target": "button[name='More']", "until": "status:has-text('4')", "times": 9},
            {"kind": "check", "selector": "status:has-text('4')"},
            {"kind": "click", "target": "button[name='Nonesuch']", "optional": True},
            {"kind": "click", "target": "button[name='More']", "until": "status:has-text('9')", "times": 2},
        ]
    )
    assert effects(report) == ["done", "done", "done", "skipped", "not_found"], batch_text(report)
    assert "after 4 times" in report.steps[1].message
    assert await desk.holds("status:has-text('6')")


async def test_a_window_is_waited_for_by_its_title_and_focused_by_a_part_of_it(desk: Desk) -> None:
    await desk.launch(["zenity", "--info", "--title=First note", "--text=1"])
    late = "zenity --info --title='Second note' --text=2"
    report = await desk.act(
        [
            {"kind": "launch", "app": ["sh", "-c", f"sleep 1; {late}"]},
            {"kind": "wait", "for": "window[name='Second note']"},
            {"kind": "window", "do": "focus", "title": "First"},
        ]
    )
    all_done(report)
    active = desk.desktop.windows.active()
    assert active is not None
    assert active.title == "First note"


async def test_a_program_that_ends_without_a_window_says_why(desk: Desk) -> None:
    with pytest.raises(TargetError) as failed:
        await desk.launch(["sh", "-c", "seq 100000; echo 'cannot open the archive' >&2; exit 3"])
    assert "sh ended without showing a window (exit status 3)" in str(failed.value)
    assert 'its last words: "cannot open the archive"' in str(failed.value)


async def test_a_program_may_say_much_and_leave_others_running(desk: Desk) -> None:
    late = "sleep 1; exec zenity --info --title=Child --text=x"
    await desk.launch(["sh", "-c", f"seq 200000; ({late}) & seq 200000; wait"])
    assert await desk.wait_for("window[name='Child']") is not None


async def test_the_last_clicks_on_pixels_can_be_looked_back_at(desk: Desk) -> None:
    assert (await desk.last_clicks())[1] is None
    await desk.launch(["zenity", "--question", "--title=Sure", "--text=Sure?"])
    node = (await desk.find("button[name='Yes']"))[0][0]
    assert node.rect is not None
    place = node.rect.center
    image = await desk.screenshot()
    for x, y in ((2, 3), (place.x, place.y)):
        await desk.act([{"kind": "click", "target": {"x": x, "y": y, "image": image.id}}])
    words, shown = await desk.last_clicks(2)
    assert shown is not None
    assert "1. (2, 3) on the screen: hit nothing but the background" in words
    assert f'2. ({place.x}, {place.y}) on the screen: hit button "Yes"' in words
    pixels = np.asarray(PIL.Image.open(BytesIO(shown.data)))
    cross = (pixels == (255, 0, 160)).all(axis=2)
    middles = [np.flatnonzero(cross.sum(axis=0) > 60), np.flatnonzero(cross.sum(axis=1) > 60)]
    assert 7 in middles[0], "the first was near the corner of the screen"
    assert shown.width - 128 * 3 + 64 * 3 + 1 in middles[0], "the second is in the middle of its picture"
    # What is shown of the second is the button as it was before the click, enlarged threefold
    was = np.asarray(PIL.Image.open(BytesIO(image.data)))[
        place.y - 4 : place.y + 4, place.x - 4 : place.x + 4
    ]
    x, y = shown.width - 64 * 3, 64 * 3
    assert np.array_equal(pixels[y - 12 : y + 12 : 3, x - 12 : x + 12 : 3], was[..., :3])
