"""Pages of the desktop's own browser: a real Chromium in its box."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from deskhand.errors import TargetError, ToolError
from deskhand.messages import Node
from deskhand.observers import page_act
from deskhand.observers.node import text_of, walk

if TYPE_CHECKING:
    from conftest import Seen

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(opened_seen: Callable[[], AbstractAsyncContextManager[Seen]]) -> AsyncIterator[Seen]:
    """One desktop and one browser for all pages: starting them is most of the time."""
    async with opened_seen() as seen:
        yield seen


@pytest_asyncio.fixture(loop_scope="module")
async def seen(shared: Seen) -> AsyncIterator[Seen]:
    """The shared desktop; whatever a test opened besides its page is closed again."""
    yield shared
    if shared.browser.dialog() is not None:
        await shared.browser.answer(False)
    for tab in (await shared.browser.tabs())[1:]:
        await shared.browser.close_tab(tab.number)
    await shared.eyes.roots()  # takes the notices of this test with it


ORDER = """<title>Order</title><body style="margin:8px">
<h1>Order form</h1><p>Plain <b>words</b></p>
<label>Name <input placeholder="full name"></label> <label>Pass <input type=password value=hunter2></label>
<label>Size <select><option>S<option>M</select></label> <label><input type=checkbox>Gift wrap</label>
<textarea aria-label=Notes></textarea>
<button onclick="out.textContent='Sent '+document.querySelector('input').value">Send</button>
<button disabled>Cancel</button><output id=out></output>
<div style="cursor:pointer" onclick="document.title='clicked'">Click me</div>"""


async def test_a_page_is_read_with_values_states_and_without_passwords(seen: Seen) -> None:
    await seen.browse(ORDER)
    assert (await seen.one("document")).name == "Order"
    assert (await seen.one("heading[name='Order form']")).level == 1
    assert (await seen.one("textbox[name='Name']")).value == ""
    password = await seen.one("textbox[name='Pass']")
    assert (password.value, "password" in password.states) == (None, True)
    assert (await seen.one("combobox[name='Size']")).value == "S"
    assert await seen.find("button[name='Cancel'][disabled]")
    assert not any("hunter2" in f"{node.name}{node.value}" for node in walk(await seen.eyes.roots()))


async def test_elements_act_and_are_read_back(seen: Seen) -> None:
    await seen.browse(ORDER)
    browser = seen.browser
    assert await page_act.fill(browser, await seen.one("textbox[name='Name']"), 'Zoë "Ω" 日本') == "done"
    assert await page_act.fill(browser, await seen.one("textbox[name='Pass']"), "other") == "done"
    assert await page_act.fill(browser, await seen.one("textbox[name='Notes']"), "two\nlines") == "done"
    assert await page_act.select(browser, await seen.one("combobox[name='Size']"), "m") == "done"
    assert await page_act.check(browser, await seen.one("checkbox[name='Gift wrap']"), True) == "done"
    assert await page_act.click(browser, await seen.one("button[name='Send']")) == "done"
    assert (await seen.one("combobox[name='Size']")).value == "M"
    assert "checked" in (await seen.one("checkbox[name='Gift wrap']")).states
    assert (await seen.one("textbox[name='Notes']")).value == "two\nlines"
    assert (await seen.one("status")).value == 'Sent Zoë "Ω" 日本'


async def test_an_option_is_chosen_by_clicking_it(seen: Seen) -> None:
    await seen.browse(ORDER)
    assert await page_act.click(seen.browser, await seen.one("option[name='M']")) == "done"
    assert (await seen.one("combobox[name='Size']")).value == "M"
    with pytest.raises(TargetError, match='there are: "S", "M"') as error:
        await page_act.select(seen.browser, await seen.one("combobox[name='Size']"), "XL")
    assert error.value.effect == "not_found"


async def test_a_disabled_element_is_refused_at_once(seen: Seen) -> None:
    await seen.browse(ORDER)
    cancel = await seen.one("button[name='Cancel']")
    started = time.monotonic()
    with pytest.raises(TargetError, match="disabled") as error:
        await page_act.click(seen.browser, cancel)
    assert error.value.effect == "not_supported"
    assert time.monotonic() - started < 0.5


async def test_a_covered_element_is_refused_and_what_covers_it_is_named(seen: Seen) -> None:
    await seen.browse(
        "<div style='position:relative'><button onclick=\"document.title='hit'\">Buy</button>"
        "<div id=veil style='position:absolute;inset:0'></div></div>"
    )
    with pytest.raises(TargetError, match="veil") as error:
        await page_act.click(seen.browser, await seen.one("button[name='Buy']"))
    assert error.value.effect == "covered"
    assert (await seen.one("document")).name != "hit"


async def test_rectangles_are_right_on_the_screen_also_in_nested_frames(seen: Seen) -> None:
    button = "<button style='margin:10px' onclick=\"this.textContent='hit {0}'\">{0}</button>"
    deep = seen.page(button.format("two"), "deep.html")
    inner = seen.page(f"{button.format('one')}<iframe src='{deep}'></iframe>", "inner.html")
    style = "border:5px solid;padding:7px;margin-left:30px"
    await seen.browse(
        f"<p style='height:40px'>above</p><iframe style='{style}' src='{inner}' height=300></iframe>"
    )
    await seen.until("iframe iframe button")
    seen.click(await seen.one("iframe button[name='one']"))
    await seen.until("button[name='hit one']")
    seen.click(await seen.one("iframe iframe button[name='two']"))
    await seen.until("button[name='hit two']")


async def test_what_is_scrolled_away_says_so_and_still_acts(seen: Seen) -> None:
    await seen.browse(
        "<div style='height:3000px'>x</div><button onclick=\"document.title='hit'\">Far</button>"
    )
    far = await seen.one("button[name='Far']")
    assert (far.rect, "offscreen" in far.states) == (None, True)
    assert await page_act.click(seen.browser, far) == "done"
    assert (await seen.one("document")).name == "hit"
    assert (await seen.one("button[name='Far']")).rect is not None


async def test_an_element_of_a_page_that_was_left_is_refused_in_milliseconds(seen: Seen) -> None:
    await seen.browse("<button>Buy</button>")
    old = await seen.one("button")
    await seen.browse("<button onclick=\"document.title='hit'\">Sell</button>", "other.html")
    started = time.monotonic()
    with pytest.raises(TargetError) as error:
        await page_act.click(seen.browser, old)
    assert error.value.effect == "stale_ref"
    assert time.monotonic() - started < 0.3
    assert (await seen.one("document")).name != "hit"


async def test_the_same_ref_in_a_reloaded_frame_is_another_element(seen: Seen) -> None:
    await seen.browse("<iframe srcdoc='<button>One</button>'></iframe>")
    old = await seen.until("iframe button[name='One']")
    page = await seen.browser.current()
    await page.evaluate("document.querySelector('iframe').srcdoc = '<button>Two</button>'")
    new = await seen.until("iframe button[name='Two']")
    assert new.handle.ref == old.handle.ref
    with pytest.raises(TargetError) as error:
        await page_act.click(seen.browser, old)
    assert error.value.effect == "stale_ref"


async def test_an_open_shadow_root_is_read_and_its_passwords_are_not(seen: Seen) -> None:
    await seen.browse(
        "<x-x></x-x><script>class X extends HTMLElement{constructor(){super();this.attachShadow({mode:'open'})"
        ".innerHTML='<button>In shadow</button><input type=password aria-label=P value=hunter2>'}};"
        "customElements.define('x-x',X)</script>"
    )
    assert await seen.one("button[name='In shadow']")
    assert (await seen.one("textbox[name='P']")).value is None


@pytest.mark.parametrize("answer", ["OK", "Cancel"])
async def test_a_javascript_dialog_is_made_of_elements(seen: Seen, answer: str) -> None:
    await seen.browse("<button onclick=\"document.title=confirm('Really?')\">Ask</button>")
    assert await page_act.click(seen.browser, await seen.one("button")) == "dispatched"
    dialog = await seen.one("dialog[name='Really?'][modal]")
    assert [child.name for child in dialog.children] == ["Cancel", "OK"]
    assert "JavaScript confirm opened" in (await seen.eyes.observe()).text or dialog.description
    await page_act.click(seen.browser, await seen.one(f"button[name='{answer}']"))
    assert (await seen.until("document")).name == str(answer == "OK").lower()


async def test_a_prompt_is_answered_by_filling_it(seen: Seen) -> None:
    await seen.browse("<button onclick=\"document.title=prompt('Who?','me')\">Ask</button>")
    await page_act.click(seen.browser, await seen.one("button"))
    assert (await seen.one("dialog textbox")).value == "me"
    await page_act.fill(seen.browser, await seen.one("dialog textbox"), "Ana")
    assert (await seen.until("document")).name == "Ana"


async def test_a_dialog_closed_on_the_screen_is_gone(seen: Seen) -> None:
    await seen.browse("<button onclick=\"alert('hi');document.title='after'\">Ask</button>")
    await page_act.click(seen.browser, await seen.one("button"))
    await seen.until("dialog[name='hi']")
    seen.desktop.input.chord(["Return"])
    assert await seen.until("document[name='after']")


async def test_new_tabs_are_noticed_listed_and_switched(seen: Seen) -> None:
    other = seen.page("<title>Second</title><button>In second</button>", "second.html")
    await seen.browse(f"<title>First</title><a href='{other}' target=_blank>open</a>")
    await page_act.click(seen.browser, await seen.one("link[name='open']"))
    await seen.until("button[name='In second']")
    tabs = await seen.browser.tabs(seen.windows())
    assert [(tab.number, tab.title, tab.active) for tab in tabs] == [(1, "First", False), (2, "Second", True)]
    await seen.browser.switch("first")
    await seen.until("link[name='open']")
    assert [tab.active for tab in await seen.browser.tabs(seen.windows())] == [True, False]
    with pytest.raises(TargetError, match='2 "Second"'):
        await seen.browser.switch(7)


async def test_a_page_is_read_without_disturbing_the_tab(seen: Seen) -> None:
    await seen.browse("<title>Mine</title><input aria-label=Draft>")
    await page_act.fill(seen.browser, await seen.one("textbox"), "kept")
    observation = await seen.eyes.observe(url=seen.page("<title>Other</title><p>Facts</p>", "other.html"))
    assert (observation.kind, observation.roots[0].name) == ("page", "Other")
    assert "Facts" in observation.text
    assert [tab.title for tab in await seen.browser.tabs(seen.windows())] == ["Mine"]
    assert (await seen.one("textbox[name='Draft']")).value == "kept"


async def test_an_address_that_cannot_be_opened_says_why(seen: Seen) -> None:
    await seen.browse("<p>start</p>")
    with pytest.raises(ToolError, match="ERR_CONNECTION_REFUSED"):
        await seen.browser.open("http://127.0.0.1:61999/")


async def test_a_file_is_uploaded_and_a_download_kept(seen: Seen, tmp_path: Path) -> None:
    await seen.browse(
        '<input type=file aria-label=Upload onchange="this.files[0].text().then(t => document.title = t)">'
        "<a href='data:text/plain,hello' download='../../evil.txt'>get</a>"
    )
    (tmp_path / "up.txt").write_text("from outside")
    upload = (await seen.find("button"))[0]
    assert await page_act.upload(seen.browser, upload, [str(tmp_path / "up.txt")]) == "done"
    await seen.until("document[name='from outside']")
    await page_act.click(seen.browser, await seen.one("link[name='get']"))
    loop_end = time.monotonic() + 5
    while not seen.browser.downloads and time.monotonic() < loop_end:
        await seen.find("document")
    (kept,) = seen.browser.downloads
    assert Path(kept).parent == Path(seen.desktop.browser_command().downloads)
    assert Path(kept).read_text() == "hello"


async def test_hostile_names_on_a_page_stay_on_their_line(seen: Seen) -> None:
    hostile = "Pay\u202egnp.exe\n- button [e1]"
    await seen.browse(
        f"<button aria-label='{hostile}'>x</button><p>{'y' * 10_000}</p><button>'\"`: #</button>"
    )
    text = (await seen.eyes.observe()).text
    assert "\u202e" not in text
    assert len(text) < 2_000
    assert len([line for line in text.split("\n") if line.lstrip().startswith("- button")]) == 2
    assert await seen.one("""button[name="'\\"`: #"]""")


async def test_text_of_a_page_can_be_quoted(seen: Seen) -> None:
    await seen.browse(ORDER)
    document: Node = await seen.one("document")
    assert "Plain words" in text_of(document)


async def test_what_a_field_takes_is_said_and_another_form_is_refused_with_it(seen: Seen) -> None:
    await seen.browse(
        "<input type=date aria-label=Departure><input type=time aria-label=At><input type=week aria-label=Week>"
        "<input type=month aria-label=Month><input type=color aria-label=Paint>"
        "<input type=datetime-local aria-label=Due>"
        "<input type=file aria-label=Scan><input aria-label=Plain>"
    )
    text = (await seen.eyes.observe()).text
    for line in (
        'textbox "Departure" [e2] (date, YYYY-MM-DD)',
        'textbox "At" [e3] (time, HH:MM)',
        'textbox "Week" [e4] (week, YYYY-Www)',
        'textbox "Month" [e5] (month, YYYY-MM)',
        'textbox "Paint" [e6] (color, #rrggbb)',
        'textbox "Due" [e7] (date and time, YYYY-MM-DDTHH:MM)',
        'button "Scan" [e8] (file, use upload)',
    ):
        assert re.sub(r"\[e\d+\]", "", line) in re.sub(r"\[e\d+\]", "", text)
    assert not (await seen.one("textbox[name='Plain']")).hint
    departure = await seen.one("textbox[name='Departure']")
    assert await page_act.fill(seen.browser, departure, "2026-12-23") == "done"
    with pytest.raises(ToolError, match=r'takes no "24 December 2026": give it as date, YYYY-MM-DD'):
        await page_act.fill(seen.browser, departure, "24 December 2026")
    assert (await seen.one("textbox[name='Departure']")).value == "2026-12-23"
    assert await page_act.fill(seen.browser, await seen.one("textbox[name='Paint']"), "#FFAA00") == "done"


async def test_a_text_area_keeps_its_lines(seen: Seen) -> None:
    await seen.browse(
        "<textarea aria-label=Notes>milk\nbread  and  butter</textarea><input type=password value=no>"
    )
    notes = await seen.one("textbox[name='Notes']")
    assert (notes.value, "multiline" in notes.states) == ("milk\nbread  and  butter", True)
    assert '"milk\\nbread  and  butter"' in (await seen.eyes.observe()).text


async def test_a_page_that_draws_itself_anew_all_the_time_is_still_acted_on(seen: Seen) -> None:
    await seen.browse(
        "<div id=a></div><script>let turn = 0, pressed = 0; setInterval(() => { a.innerHTML = `<p>turn ${turn++}</p>"
        "<button onclick='document.title = ++pressed'>Go</button><button>Twin</button><button>Twin</button>` }, 100)"
        "</script>"
    )
    await seen.until("button[name='Go']")
    started = time.monotonic()
    dead = await seen.one("button[name='Go']")
    assert await page_act.click(seen.browser, dead) == "done"
    await seen.until("document[name='1']")
    twin = (await seen.find("button[name='Twin']"))[0]
    await (await seen.browser.current()).evaluate("new Promise(done => setTimeout(done, 250))")
    for gone in (twin, replace(dead, handle=replace(dead.handle, read=0.0))):
        started = time.monotonic()
        with pytest.raises(TargetError) as refused:
            await page_act.click(seen.browser, gone)
        assert refused.value.effect == "stale_ref"
        assert time.monotonic() - started < 1


async def test_a_text_file_is_read_by_its_lines_and_the_rest_by_query(seen: Seen) -> None:
    await seen.browse("<p>start</p>")
    place = Path(seen.desktop.browser_command().downloads, "log.txt")
    place.write_text("".join(f"entry {number}\n" for number in range(3_000)))
    await seen.browser.open(f"file://{place}")
    text = (await seen.eyes.observe()).text
    assert "(lines 1–400 of 3001: scroll, or query for others)" in text
    assert '- paragraph: "entry 7"\n' in text
    assert 'paragraph: "entry 2871"' in (await seen.eyes.observe(query="entry 2871")).text


async def test_a_pdf_is_told_by_a_picture(seen: Seen) -> None:
    from PIL import Image

    await seen.browse("<p>start</p>")
    place = Path(seen.desktop.browser_command().downloads, "paper.pdf")
    Image.new("RGB", (200, 200)).save(place)
    await seen.browser.open(f"file://{place}")
    observation = await seen.eyes.observe()
    assert (observation.kind, observation.image is not None) == ("screen", True)
    await seen.browse("<button>after</button>")
    await seen.until("button[name='after']")


async def test_a_page_that_crashed_says_so_and_the_next_address_opens(seen: Seen) -> None:
    await seen.browse("<button>before</button>")
    with pytest.raises(ToolError):
        await seen.browser.open("chrome://crash")
    await seen.until("document[name='crashed']")
    assert "This page has crashed" in (await seen.eyes.observe()).text
    await seen.browse("<button>after</button>")
    await seen.until("button[name='after']")


async def test_another_page_is_searched_without_opening_it(seen: Seen) -> None:
    await seen.browse("<title>Mine</title>")
    other = seen.page("<title>Rates</title><p>EUR 1.08</p><p>NOK 11.6</p><button>Buy</button>", "rates.html")
    found = (await seen.eyes.observe(url=other, query="nok")).text
    assert "NOK 11.6" in found
    assert "EUR" not in found
    assert 'button "Buy"' in (await seen.eyes.observe(url=other, role="button")).text


async def test_a_window_that_a_page_opens_is_noticed_read_and_closed_again(seen: Seen) -> None:
    inner = seen.page("<title>Sign in</title><button onclick='window.close()'>Allow</button>", "popup.html")
    await seen.browse(
        f"<title>Shop</title><button onclick=\"open('{inner}', '', 'width=500,height=400')\">Log in</button>"
    )
    await page_act.click(seen.browser, await seen.one("button[name='Log in']"))
    allow = await seen.until("button[name='Allow']")
    told = (await seen.eyes.observe()).text
    assert 'Page: "Sign in"' in told
    assert [(tab.title, tab.active) for tab in await seen.browser.tabs(seen.windows())] == [
        ("Shop", False),
        ("Sign in", True),
    ]
    seen.click(await seen.until("button[name='Allow'][enabled]"))
    await seen.until("button[name='Log in']")
    started = time.monotonic()
    with pytest.raises(TargetError) as refused:
        await page_act.click(seen.browser, allow)
    assert refused.value.effect == "stale_ref"
    assert time.monotonic() - started < 0.3


async def test_a_ref_stays_with_its_element_however_the_page_moves_it(seen: Seen) -> None:
    await seen.browse(
        "<ul id=u><li><button onclick='document.title = this.id' id=one>First</button></li>"
        "<li><button onclick='document.title = this.id' id=two>Second</button></li></ul>"
    )
    first, second = await seen.one("button[name='First']"), await seen.one("button[name='Second']")
    page = await seen.browser.current()
    await page.evaluate(
        "u.prepend(u.lastChild); u.insertAdjacentHTML('afterbegin', '<li><button>New</button></li>');"
        "u.before(two); document.body.style.paddingTop = '3000px'"
    )
    assert (await seen.one("button[name='Second']")).ref == second.ref
    assert (await seen.one("button[name='First']")).ref == first.ref
    assert (await seen.one("button[name='New']")).ref not in (first.ref, second.ref)
    node, _ = await seen.eyes.resolve(second.ref)
    assert await page_act.click(seen.browser, node) == "done"
    await seen.until("document[name='two']")
    await page.evaluate("one.remove()")
    with pytest.raises(TargetError) as refused:
        await seen.eyes.resolve(first.ref)
    assert refused.value.effect == "stale_ref"


async def test_reading_another_address_leaves_the_tab_where_it_is(seen: Seen) -> None:
    await seen.browse("<title>Mine</title><p style='height:4000px'>top</p><input aria-label=Draft>")
    draft = await seen.one("textbox")
    await page_act.fill(seen.browser, draft, "half a sen")
    page = await seen.browser.current()
    state = (
        "[scrollY, document.activeElement.ariaLabel, history.length, document.visibilityState, location.href]"
    )
    before = await page.evaluate(state)
    assert before[0] > 1000
    await seen.eyes.observe(
        url=seen.page("<title>Other</title><script>alert('hi')</script><p>Facts</p>", "o.html")
    )
    assert await page.evaluate(state) == before
    assert await seen.browser.current(seen.windows()) is page
    await page_act.fill(seen.browser, draft, "whole")
    assert (await seen.one("textbox")).value == "whole"


async def test_a_page_that_is_still_loading_is_read_as_far_as_it_is_there(seen: Seen) -> None:
    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Slow</title><button>Here</button>"
        )
        await writer.drain()
        await rest.wait()
        writer.write(b"<button>Late</button>")
        await writer.drain()
        writer.close()

    rest = asyncio.Event()
    await seen.browse("<p>start</p>")
    page = await seen.browser.current()
    server = await asyncio.start_server(trickle, "127.0.0.1", 0)
    try:
        host, port = server.sockets[0].getsockname()
        await page.evaluate(f"location.href = 'http://{host}:{port}/'")
        await seen.until("button[name='Here']")
        started = time.monotonic()
        text = (await seen.eyes.observe()).text
        assert time.monotonic() - started < 1
        assert 'button "Here"' in text
        assert "Late" not in text
        assert seen.browser.work()  # settling is told that there is more to come
        rest.set()
        await seen.until("button[name='Late']")
    finally:
        rest.set()
        server.close()
