"""Pages that are huge, deep or restless: each is answered for correctly, in bounded length, in less than a second."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from deskhand.messages import Observation
from deskhand.observers import page_act
from deskhand.observers.serialize import LIMIT_CHARS

if TYPE_CHECKING:
    from conftest import Seen

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRIES = 8
"""Looks of which the quickest counts: the machine may be busy with something else."""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def seen(opened_seen: Callable[[], AbstractAsyncContextManager[Seen]]) -> AsyncIterator[Seen]:
    """One desktop and one browser for all pages."""
    async with opened_seen() as seen:
        yield seen


async def quick(seen: Seen, query: str | None = None) -> Observation:
    """A look that took less than a second and is no longer than a look may be."""
    took: list[float] = []
    for _ in range(TRIES):
        started = time.monotonic()
        observation = await seen.eyes.observe(query=query)
        took.append(time.monotonic() - started)
        if took[-1] < 1:
            break
    assert min(took) < 1, took
    assert len(observation.text) <= LIMIT_CHARS + 1_000
    return observation


async def test_a_page_of_five_megabytes_is_read_near_its_view_and_the_rest_by_query(seen: Seen) -> None:
    rows = "".join(
        f"<li>row {i} {'words ' * 180}<button onclick='document.title={i}'>Buy {i}</button></li>"
        for i in range(4_500)
    )
    assert len(rows) > 5_000_000
    await seen.browse(f"<h1>Shop</h1><ul>{rows}</ul><button>Pay</button>")
    await seen.until("button[name='Buy 0']", timeout=60)
    observation = await quick(seen)
    assert 'heading "Shop"' in observation.text
    assert 'button "Buy 1"' in observation.text
    assert "(long page, " in observation.text
    assert "Buy 4400" not in observation.text
    assert 'button "Buy 4400"' in (await quick(seen, "buy 4400")).text
    assert await page_act.click(seen.browser, await seen.one("button[name='Buy 4400']")) == "done"
    await seen.until("document[name='4400']")
    assert 'button "Pay"' in (await seen.eyes.observe(query="pay", role="button")).text


@pytest.mark.long
async def test_a_text_of_five_megabytes_in_one_piece_is_read_where_it_can_be_seen(seen: Seen) -> None:
    lines = "\n".join(f"line {i} of the log" + " and more of it" * 4 for i in range(65_000))
    assert len(lines) > 5_000_000
    await seen.browse(f"<h1>Log</h1><pre id=log>{lines}</pre><button>End</button>")
    await seen.until("heading[name='Log']", timeout=60)
    assert "line 0 of the log" in (await quick(seen)).text
    await (await seen.browser.current()).evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    assert "line 32" in (await quick(seen)).text.split("text ")[1][:20]
    assert "line 64321 of the log" in (await quick(seen, "line 64321 of")).text


@pytest.mark.long
async def test_fifty_thousand_elements_in_one_are_read_where_they_can_be_seen(seen: Seen) -> None:
    words = "".join(f"<a href='#{i}'>w{i}</a> " for i in range(50_000))
    await seen.browse(
        f"<div>{words}</div><button style='position:fixed;right:40px;bottom:40px'>Fixed</button>"
    )
    await seen.until("link[name='w3']", timeout=90)
    text = (await quick(seen)).text
    assert 'link "w1"' in text
    assert 'button "Fixed"' in text
    assert "w25000" not in text


@pytest.mark.long
async def test_a_table_of_ten_thousand_rows_is_read_near_its_view_and_the_rest_by_query(seen: Seen) -> None:
    rows = "".join(
        f"<tr><td>{i}</td><td>name {i}</td><td><button onclick='document.title={i}'>Edit</button></td></tr>"
        for i in range(10_000)
    )
    await seen.browse(f"<table>{rows}</table>")
    await seen.until("row", timeout=60)
    text = (await quick(seen)).text
    assert '- row: 7 | name 7 | button "Edit" [e' in text
    assert "name 9000" not in text
    assert 'cell "name 9321"' in (await quick(seen, "name 9321")).text
    edit = await seen.one("row:has-text('name 9321') button")
    assert await page_act.click(seen.browser, edit) == "done"
    await seen.until("document[name='9321']")


@pytest.mark.long
async def test_forty_nested_frames_are_read_to_the_last(seen: Seen) -> None:
    inner = "<button>deepest</button><input type=password value=hunter2>"
    for level in range(40):
        seen.page(f"<p>level {level}</p>{inner}", f"level{level}.html")
        inner = f"<iframe src='level{level}.html' width=900 height=600></iframe>"
    await seen.browse(inner, "nest.html")
    await seen.until("button[name='deepest']", timeout=60)
    observation = await quick(seen)
    assert 'button "deepest"' in observation.text
    assert "hunter2" not in observation.text


@pytest.mark.long
async def test_forty_frames_beside_one_another_are_each_where_they_stand(seen: Seen) -> None:
    frames = "".join(
        f"<iframe srcdoc=\"<button onclick='parent.document.title={i}'>b{i}</button>\" width=120 height=50></iframe>"
        for i in range(40)
    )
    await seen.browse(
        f"<iframe width=120 height=50 srcdoc='<p>same</p>' style='position:absolute'></iframe>{frames}"
    )
    await seen.until("button[name='b39']", timeout=60)
    text = (await quick(seen)).text
    assert all(f'button "b{i}"' in text for i in range(40))
    for number in (7, 23, 38):
        seen.click(await seen.one(f"button[name='b{number}']"))
        await seen.until(f"document[name='{number}']")


async def test_a_page_that_replaces_its_document_all_the_time_is_read_whole(seen: Seen) -> None:
    await seen.browse(
        "<script>let turn = 0; setInterval(() => { turn++; document.body.innerHTML = `<h1>turn ${turn}</h1>` +"
        " [...Array(100).keys()].map(i => `<p>${turn} ${i} <button>go ${i}</button></p>`).join('') }, 100)</script>"
    )
    await seen.until("button[name='go 99']")
    for _ in range(5):
        observation = await quick(seen)
        turns = {word.split()[0] for word in observation.text.split('paragraph: "')[1:]}
        assert len(turns) == 1  # never two moments in one look
        assert f'heading "turn {turns.pop()}"' in observation.text


async def test_names_of_any_length_and_kind_stay_on_their_lines(seen: Seen) -> None:
    await seen.browse(
        "<body><script>for (let i = 0; i < 100; i++) { const b = document.createElement('button');"
        "b.setAttribute('aria-label', `${i} \"'\\n- button \"Pay\" [e1]\\u202e` + 'z'.repeat(10000));"
        "b.onclick = () => document.title = i; document.body.append(b) }</script>"
    )
    await seen.until("button")
    observation = await quick(seen)
    assert "\u202e" not in observation.text
    lines = observation.text.split("\n")
    assert not any(line.strip() == '- button "Pay" [e1]' for line in lines)
    assert all(len(line) < 300 for line in lines)
    assert "… 75 more button" in observation.text
    assert await page_act.click(seen.browser, await seen.one("button[name^='93 ']")) == "done"
    await seen.until("document[name='93']")
