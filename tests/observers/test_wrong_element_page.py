"""Between the look and the act the page changes: only what was meant is clicked, and a refusal says what to do.

The page (tests/apps/fickle.html) writes down what was really clicked. Each change is met by ref, by selector, by pixel.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from deskhand.messages import BatchReport, Node
from deskhand.observers.node import walk
from deskhand.tools.desk import Desk, open_desktop
from deskhand.tools.wording import batch_text

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = Path(__file__).parent.parent / "apps" / "fickle.html"
REFUSALS = ("stale_ref", "ambiguous", "not_found", "covered", "not_supported", "busy")


class Ledger:
    """The changing page on a desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def run(self, script: str) -> Any:
        assert self.desk.workspace.browser is not None
        return await (await self.desk.workspace.browser.current()).evaluate(script)

    async def do(self, change: str) -> None:
        """Have it change; it is painted then."""
        await self.run(f"change('{change}')")

    async def pressed(self) -> list[str]:
        """What was really clicked: what each button is called, and its number."""
        return list(await self.run("pressed"))

    async def look(self, seed: int, name: str = "Save", place: int = 0) -> Node:
        """A fresh start, and the element as it was seen then."""
        await self.run(f"change('fill', {seed})")
        seen = await self.desk.observe(screenshot=True)
        return [node for node in walk(seen.roots) if node.name == name and node.ref][place]

    async def act(self, target: Any, **more: Any) -> BatchReport:
        return await self.desk.act([{"kind": "click", "target": target, **more}])

    def pixel(self, node: Node) -> dict[str, Any]:
        """The middle of an element, as a point of the last picture."""
        image = list(self.desk.workspace.images.values())[-1]
        assert node.rect is not None
        x = (node.rect.center.x - image.origin.x) / image.scale[0]
        y = (node.rect.center.y - image.origin.y) / image.scale[1]
        return {"x": round(x), "y": round(y), "image": image.id}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def ledger() -> AsyncIterator[Ledger]:
    """One desk and one browser for all: starting them is most of the time."""
    async with open_desktop() as desk:
        shared = Path(desk.desktop.browser_command().downloads, PAGE.name)
        shutil.copy(PAGE, shared)
        await desk.launch(f"file://{shared}")
        await desk.wait_for("button[name='Save']")
        yield Ledger(desk)


def runs(test: Any) -> Any:
    """Two runs with the quick tests, twenty with the long ones."""
    many = pytest.param(20, marks=[pytest.mark.long, pytest.mark.timeout(600)])
    return pytest.mark.parametrize("times", [2, many])(test)


def refused(report: BatchReport) -> str:
    """The refusal, which must say why and what to do."""
    (step,) = report.steps
    assert step.effect in REFUSALS, batch_text(report)
    told = ("look", "say which", "there are", "first", "again", "scroll", "in front of it")
    assert any(words in step.message for words in told), step.message
    return step.message


@runs
async def test_a_button_that_moved_is_clicked_where_it_is_now(ledger: Ledger, times: int) -> None:
    for seed in range(times):
        save = await ledger.look(seed)
        await ledger.do("reorder")
        report = await ledger.act(save.ref)
        (pressed,) = await ledger.pressed()
        assert pressed == "Save 1"
        assert report.steps[0].target is not None
        assert report.steps[0].target.note == "target_reacquired"


@runs
async def test_a_pixel_under_which_another_button_came_is_not_clicked(ledger: Ledger, times: int) -> None:
    for seed in range(times):
        save = await ledger.look(seed)
        await ledger.do("reorder")
        assert 'button "Save"' in refused(await ledger.act(ledger.pixel(save)))
        assert await ledger.pressed() == []


@runs
async def test_a_button_that_is_called_otherwise_now_is_not_clicked(ledger: Ledger, times: int) -> None:
    for seed in range(times):
        save = await ledger.look(seed)
        await ledger.do("rename")
        refused(await ledger.act(save.ref))
        refused(await ledger.act(ledger.pixel(save)))
        assert await ledger.pressed() == []
        await ledger.act("button[name='Save']")
        (pressed,) = await ledger.pressed()
        assert pressed == "Save 3"


@runs
async def test_a_scrolled_page_is_clicked_at_the_element_and_not_at_its_old_pixel(
    ledger: Ledger, times: int
) -> None:
    for seed in range(times):
        save = await ledger.look(seed)
        await ledger.do("scroll")
        refused(await ledger.act(ledger.pixel(save)))
        assert await ledger.pressed() == []
        await ledger.act(save.ref)
        assert await ledger.pressed() == ["Save 1"]


@runs
@pytest.mark.parametrize("cover", ["veil", "modal"])
async def test_what_is_covered_is_not_clicked_and_neither_is_its_twin_in_the_dialog(
    ledger: Ledger, cover: str, times: int
) -> None:
    for seed in range(times):
        save = await ledger.look(seed)
        await ledger.do(cover)
        assert "in front of it" in refused(await ledger.act(save.ref))
        refused(await ledger.act(ledger.pixel(save)))
        refused(await ledger.act("button[name='Save']", timeout=0.1))
        assert await ledger.pressed() == []
        if cover == "modal":
            await ledger.act("dialog[name='Overwrite?'] button[name='Save']")
            assert [each.split()[0] for each in await ledger.pressed()] == ["Save"]


@runs
async def test_a_twin_elsewhere_is_not_taken_for_the_button_that_went(ledger: Ledger, times: int) -> None:
    for seed in range(times):
        save = await ledger.look(seed)
        await ledger.do("elsewhere")
        message = refused(await ledger.act(save.ref))
        refused(await ledger.act(ledger.pixel(save)))
        assert await ledger.pressed() == []
        fresh = message.rpartition("[")[2].partition("]")[0]
        await ledger.act(fresh)
        assert [each.split()[0] for each in await ledger.pressed()] == ["Save"]


@runs
async def test_what_came_in_the_place_of_a_button_is_not_taken_for_it(ledger: Ledger, times: int) -> None:
    for seed in range(times):
        save = await ledger.look(seed)
        await ledger.do("inplace")
        refused(await ledger.act(save.ref))
        refused(await ledger.act(ledger.pixel(save)))
        refused(await ledger.act("button[name='Save']", timeout=0.1))
        assert await ledger.pressed() == []


@runs
async def test_a_row_that_is_used_for_other_contents_is_not_taken_for_the_old_one(
    ledger: Ledger, times: int
) -> None:
    for seed in range(times):
        opened = await ledger.look(seed, "Open", place=2)
        await ledger.do("recycle")
        refused(await ledger.act(opened.ref))
        refused(await ledger.act(ledger.pixel(opened)))
        assert await ledger.pressed() == []
