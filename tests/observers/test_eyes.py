"""What `Eyes` says of a whole desktop, and what it says a second time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from deskhand.errors import TargetError
from deskhand.messages import Rect
from deskhand.observers import page_act

if TYPE_CHECKING:
    from conftest import Seen

FORM = ("zenity", "--forms", "--text=Who?", "--add-entry=Name")


async def test_an_empty_desktop_has_no_windows_and_no_picture_unasked(seen: Seen) -> None:
    observation = await seen.eyes.observe()
    assert (observation.text, observation.image, observation.roots) == ("Windows: none", None, ())


async def test_the_active_window_is_chosen_and_others_are_named(seen: Seen) -> None:
    await seen.run("gnome-calculator", until="button[name='=']")
    await seen.run(*FORM, until="button[name='OK']")
    observation = await seen.eyes.observe()
    assert observation.text.split("\n")[0] == 'Windows: "zenity" (active), "Calculator"'
    assert 'textbox "Name"' in observation.text
    assert "÷" not in observation.text
    assert "÷" in (await seen.eyes.observe(window="calc")).text
    with pytest.raises(TargetError, match='"zenity", "Calculator"'):
        await seen.eyes.observe(window="nope")


async def test_a_second_look_tells_only_what_changed(seen: Seen) -> None:
    await seen.run("gnome-calculator", until="button[name='=']")
    await seen.eyes.observe()
    assert (await seen.eyes.look_again()).text == "No element changed."
    await seen.native.perform(await seen.one("button[name='7']"), "invoke")
    await seen.until("textbox[value='7']")
    again = await seen.eyes.look_again()
    assert again.text.split("\n") == [again.text]
    assert again.text.startswith("~ textbox")
    assert again.text.endswith(': "7"')
    assert len(again.roots[0].children) > 0
    assert (await seen.eyes.look_again()).text == "No element changed."


async def test_a_new_window_is_shown_whole_and_a_closed_one_named(seen: Seen) -> None:
    await seen.run("gnome-calculator", until="button[name='=']")
    await seen.eyes.observe()
    await seen.run(*FORM, until="button[name='OK']")
    opened = (await seen.eyes.look_again()).text
    assert 'Windows: "zenity" (active), "Calculator"' in opened
    assert 'textbox "Name"' in opened
    seen.click(await seen.one("button[name='Cancel']"))
    await seen.until("dialog", there=False)
    assert 'gone: dialog "zenity" (closed)' in (await seen.eyes.look_again()).text


async def test_refs_are_resolved_live_and_moved_elements_say_so(seen: Seen) -> None:
    await seen.run(*FORM, until="button[name='OK']")
    ref = (await seen.one("button[name='OK']")).ref
    node, moved = await seen.eyes.resolve(ref)
    assert (node.name, node.ref, moved) == ("OK", ref, False)
    window = seen.windows()[0]
    await seen.eyes.observe()
    seen.desktop.windows.move_resize(window.id, Rect(20, 40, window.rect.width, window.rect.height))
    again, moved = await seen.eyes.resolve(ref)
    assert moved
    assert again.rect is not None
    assert again.rect.x < 300
    seen.click(again)
    await seen.until("dialog", there=False)
    with pytest.raises(TargetError, match="gone") as error:
        await seen.eyes.resolve(ref)
    assert error.value.effect == "stale_ref"


async def test_a_ref_of_an_element_that_is_called_otherwise_by_now_is_refused(seen: Seen) -> None:
    await seen.browse("<button onclick=\"this.textContent = 'Delete'\">Keep</button>")
    keep = await seen.one("button")
    await page_act.click(seen.browser, keep)
    with pytest.raises(TargetError) as error:
        await seen.eyes.resolve(keep.ref)
    assert error.value.effect == "stale_ref"


async def test_a_query_lists_matches_of_all_windows_with_what_holds_them(seen: Seen) -> None:
    await seen.run("mousepad", until="menuitem[name='File']")
    await seen.run(*FORM, until="button[name='OK']")
    text = (await seen.eyes.observe(query="save as")).text
    assert 'menuitem "Save As..."' in text
    assert 'offscreen (in menuitem "File" < window "Untitled 1 - Mousepad")' in text
    listed = (await seen.eyes.observe(role="push button")).text
    assert 'button "OK"' in listed
    assert "textbox" not in listed
    page = (await seen.eyes.observe(role="menuitem", limit=3, offset=2)).text.split("\n")
    assert len([line for line in page if line.startswith("- menuitem")]) == 3
    assert page[-1].endswith("offset=5")
    assert "nothing matches" in (await seen.eyes.observe(query="no such words")).text


async def test_lines_are_paged_by_limit_and_offset(seen: Seen) -> None:
    await seen.run("gnome-calculator", until="button[name='=']")
    first = (await seen.eyes.observe(limit=5)).text.split("\n")
    rest = (await seen.eyes.observe(offset=5, limit=500)).text.split("\n")
    whole = (await seen.eyes.observe()).text.split("\n")
    assert first[-1].endswith("offset=5")
    assert [*first[:-1], *rest[1:]] == whole


async def test_detail_adds_rectangles_and_tooltips(seen: Seen) -> None:
    await seen.run("gnome-calculator", until="button[name='=']")
    text = (await seen.eyes.observe(detail=True)).text
    assert '("Multiply [*]") @' in text


async def test_pictures_come_when_asked_for_and_carry_their_transform(seen: Seen) -> None:
    await seen.run(*FORM, until="button[name='OK']")
    whole = (await seen.eyes.observe(screenshot=True)).image
    assert whole is not None
    assert (whole.id, whole.width, whole.height) == ("i1", 1280, 800)
    part = (await seen.eyes.observe(region=Rect(100, 200, 300, 150))).image
    assert part is not None
    assert (part.id, part.width, part.height) == ("i2", 1200, 600)
    assert part.to_screen(42, 42).x == 110


async def test_a_window_without_elements_comes_with_a_picture_and_no_second_one_of_the_same(
    seen: Seen,
) -> None:
    seen.desktop.launch(["xmessage", "-buttons", "", "no accessibility here"])
    await _window(seen)
    observation = await seen.eyes.observe()
    assert (observation.kind, observation.image is not None) == ("screen", True)
    assert "use the picture" in observation.text
    again = await seen.eyes.look_again()
    assert (again.image, again.text) == (None, "No element changed.")


async def test_secrets_appear_under_their_names_only(seen: Seen) -> None:
    await seen.run(*FORM, until="button[name='OK']")
    await seen.native.set_text(await seen.one("textbox[name='Name']"), "s3cret-pin")
    await seen.until("textbox[value='<secret:pin>']")
    observation = await seen.eyes.observe()
    assert "<secret:pin>" in observation.text
    assert "s3cret-pin" not in observation.text


async def test_a_page_is_told_with_its_address_and_its_changes_alone(seen: Seen) -> None:
    await seen.browse(
        "<title>Shop</title><button onclick=\"s.textContent='Sold'\">Buy</button><output id=s></output>"
    )
    await seen.until("button[name='Buy']")
    observation = await seen.eyes.observe()
    assert observation.kind == "page"
    assert 'Page: "Shop" file:///' in observation.text or 'Page: "Shop" "file:///' in observation.text
    assert observation.url.endswith("page.html")
    await page_act.click(seen.browser, await seen.one("button[name='Buy']"))
    assert (await seen.eyes.look_again()).text == '~ status: "Sold" (was no value)'


async def test_a_page_that_never_answers_is_reported_and_not_waited_for(seen: Seen) -> None:
    await seen.browse("<button onclick='for(;;);'>Hang</button>")
    with pytest.raises(TargetError):
        await page_act.click(seen.browser, await seen.one("button"))
    started = time.monotonic()
    observation = await seen.eyes.observe()
    assert time.monotonic() - started < 2
    assert "not answering" in observation.text


async def _window(seen: Seen) -> None:
    while not any(window.active for window in seen.windows()):
        await asyncio.to_thread(seen.desktop.changes.wait, 0.2)
        seen.desktop.changes.collect()
