"""Between the look and the act the window changes: only what was meant is pressed, and a refusal says what to do.

The app (GTK 3 and GTK 4) writes down what was really pressed. Each change is met by ref, by selector and by pixel.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from deskhand.messages import BatchReport, Node
from deskhand.observers.node import walk
from deskhand.tools.desk import Desk, open_desktop
from deskhand.tools.wording import batch_text
from ledger import Fickle

REFUSALS = ("stale_ref", "ambiguous", "not_found", "covered", "not_supported", "busy")


@pytest.fixture(params=[3, 4], ids=["gtk3", "gtk4"])
async def ledger(request: pytest.FixtureRequest) -> AsyncIterator[Fickle]:
    """The changing window of this version of GTK, on a desk of its own."""
    async with open_desktop() as desk:
        app = await Fickle.start(desk, request.param)
        yield app
        app.close()


async def test_of_ten_thousand_rows_those_in_sight_are_read_in_time(ledger: Fickle) -> None:
    started = time.monotonic()
    text = (await ledger.desk.observe()).text
    assert time.monotonic() - started < 3.0
    assert '"File 3' in text
    assert "more" in text
    assert "out of sight; query to narrow, or scroll" in text
    assert text.count("File ") < 60


def runs(test: Any) -> Any:
    """Two runs with the quick tests, twenty with the long ones."""
    twenty = pytest.param(20, marks=[pytest.mark.long, pytest.mark.timeout(900)])
    return pytest.mark.parametrize("times", [2, twenty])(test)


async def look(ledger: Fickle, seed: int, name: str = "Save") -> Node:
    """A fresh start, and the element as it was seen then."""
    await ledger.afresh(seed)
    seen = await ledger.desk.observe(screenshot=True)
    return next(node for node in walk(seen.roots) if node.name == name and node.ref)


async def act(desk: Desk, target: Any, **more: Any) -> BatchReport:
    return await desk.act([{"kind": "click", "target": target, **more}])


def pixel(desk: Desk, node: Node) -> dict[str, Any]:
    """The middle of an element, as a point of the last picture."""
    image = list(desk.workspace.images.values())[-1]
    assert node.rect is not None
    x = (node.rect.center.x - image.origin.x) / image.scale[0]
    y = (node.rect.center.y - image.origin.y) / image.scale[1]
    return {"x": round(x), "y": round(y), "image": image.id}


def refused(report: BatchReport) -> str:
    """The refusal, which must say why and what to do."""
    (step,) = report.steps
    assert step.effect in REFUSALS, batch_text(report)
    assert any(
        word in step.message for word in ("look", "say which", "there are", "first", "again", "scroll")
    ), step.message
    return step.message


@runs
async def test_a_button_that_moved_is_pressed_where_it_is_now(ledger: Fickle, times: int) -> None:
    for seed in range(times):
        save = await look(ledger, seed)
        await ledger.do("reorder")
        report = await act(ledger.desk, save.ref)
        (pressed,) = await ledger.pressed()
        assert pressed.startswith("Save ")
        assert report.steps[0].target is not None
        assert report.steps[0].target.note == "target_reacquired"
        await act(ledger.desk, "button[name='Save']")
        assert await ledger.pressed() == [pressed, pressed]


@runs
async def test_a_pixel_under_which_another_button_moved_is_not_pressed(ledger: Fickle, times: int) -> None:
    for seed in range(times):
        save = await look(ledger, seed)
        await ledger.do("reorder")
        message = refused(await act(ledger.desk, pixel(ledger.desk, save)))
        assert 'button "Save"' in message
        assert await ledger.pressed() == []


@runs
async def test_a_button_that_is_called_otherwise_now_is_not_pressed(ledger: Fickle, times: int) -> None:
    for seed in range(times):
        save = await look(ledger, seed)
        await ledger.do("rename")
        assert 'has become button "Delete"' in refused(await act(ledger.desk, save.ref))
        assert 'button "Delete"' in refused(await act(ledger.desk, pixel(ledger.desk, save)))
        assert await ledger.pressed() == []
        await act(ledger.desk, "button[name='Save']")
        (pressed,) = await ledger.pressed()
        assert pressed.startswith("Save ")


@runs
async def test_a_twin_in_the_place_of_a_button_is_not_taken_for_it(ledger: Fickle, times: int) -> None:
    for seed in range(times):
        save = await look(ledger, seed)
        await ledger.do("twin")
        message = refused(await act(ledger.desk, save.ref))
        assert "is gone" in message
        assert await ledger.pressed() == []
        fresh = message.rpartition("[")[2].partition("]")[0]
        await act(ledger.desk, fresh)
        assert [line.split()[0] for line in await ledger.pressed()] == ["Save"]


@runs
async def test_what_a_modal_dialog_blocks_is_not_pressed_and_neither_is_its_twin_in_the_dialog(
    ledger: Fickle, times: int
) -> None:
    for seed in range(times):
        save = await look(ledger, seed)
        await ledger.do("modal")
        assert "say which" in refused(await act(ledger.desk, "button[name='Save']"))
        assert 'blocked by the dialog "Overwrite?"' in refused(await act(ledger.desk, save.ref))
        assert "blocked by" in refused(await act(ledger.desk, "window[name='Ledger'] button[name='Print']"))
        refused(await act(ledger.desk, pixel(ledger.desk, save)))
        assert await ledger.pressed() == []
        await act(ledger.desk, "window[name='Overwrite?'] button[name='Save']")
        assert [line.split()[0] for line in await ledger.pressed()] == ["Save"]


@runs
async def test_a_row_that_scrolled_away_is_not_taken_for_the_one_in_its_place(
    ledger: Fickle, times: int
) -> None:
    for seed in range(times):
        await ledger.afresh(seed)
        await ledger.desk.wait_for("[name^='File 3'][visible]")
        seen = await ledger.desk.observe(screenshot=True)
        third = next(node for node in walk(seen.roots) if node.name in ("File 3", "File 3 Open") and node.ref)
        inside = [node for node in walk((third,)) if node.ref]
        await ledger.do("scroll")
        for node in inside:
            refused(await act(ledger.desk, node.ref))
            refused(await act(ledger.desk, pixel(ledger.desk, node)))
        refused(await act(ledger.desk, f"{third.role}[name='{third.name}']", timeout=0.1))
        assert await ledger.pressed() == []
        shown = [node for node in walk((await ledger.desk.observe()).roots) if node.rect is not None]
        row = next(node for node in shown if node.role == third.role and node.name.startswith("File"))
        target = next((node for node in walk((row,)) if node.role == "button"), row)
        await act(ledger.desk, target.ref)
        assert await ledger.pressed() == [f"row {row.name.removesuffix(' Open')}"]
