"""No false success: tasks whose last step silently fails are not reported as done, and their honest twins are.

The child claims success by what is plausible on the screen, in vain, then by each thing that is there; its judge can
never tell. One pair in four runs with every change, all of them in the long run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from false_pages import COMMON, PAIRS, Pair
from trust_stage import Stage, Told, open_stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

SOON = (
    "a save that is refused",
    "a switch that springs back",
    "a dialog that is about its twin",
    "a total that is stale",
    "a number that is cut down",
)
"""The pairs that run with every change."""


def pairs(names: list[str]) -> list[object]:
    return [pytest.param(name, marks=() if name in SOON else pytest.mark.long) for name in names]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One desktop and one browser for all pairs."""
    async with open_stage(Path(tmp_path_factory.mktemp("stage"))) as opened:
        yield opened


async def play(stage: Stage, pair: Pair, *, broken: bool) -> Told:
    """The pair's task in one of its two ways."""
    address = stage.page("pair.html", COMMON + pair.html) + ("?broken" if broken else "")
    steps = pair.wrong if broken and pair.wrong is not None else pair.steps
    claim = {"result": pair.result, "evidence": list(pair.plausible if broken else pair.evidence)}
    batch = [{"kind": "launch", "app": address}, *steps]
    # Where a person would be asked, and allows it all, the checks are on their own.
    confirm = "allow" if broken else None
    return await stage.play(
        pair.goal, [batch], claim, everything=broken, confirm=confirm, inputs=dict(pair.inputs)
    )


@pytest.mark.parametrize("name", pairs(list(PAIRS)))
async def test_a_failure_is_not_taken_for_success(stage: Stage, name: str) -> None:
    told = await play(stage, PAIRS[name], broken=True)
    assert told.outcome.reason == "unverified", told.words()
    assert not told.stubborn, told.words()


@pytest.mark.parametrize("name", pairs(list(PAIRS)))
async def test_its_honest_twin_is_a_success(stage: Stage, name: str) -> None:
    told = await play(stage, PAIRS[name], broken=False)
    assert told.succeeded, told.words()
    assert told.outcome.verified is True


async def test_there_are_twenty_pairs() -> None:
    assert len(PAIRS) == 20
    assert set(SOON) <= set(PAIRS)


# --- native applications -------------------------------------------------------------------------------------------

NOTE = [
    {"kind": "launch", "app": "mousepad"},
    {"kind": "type", "text": "milk and bread"},
    {"kind": "key", "keys": "ctrl+shift+s"},
]
SUM = [
    {"kind": "launch", "app": "gnome-calculator"},
    {"kind": "type", "text": "12*34"},
]


async def in_mousepad(path: Path, folder: str, evidence: str) -> Told:
    """Save a note in a folder, and claim that it was saved."""
    save = [
        {"kind": "fill", "target": "dialog textbox", "text": f"{folder}/list.txt"},
        {"kind": "key", "keys": "Return"},
    ]
    claim = {"result": "The note was saved as list.txt.", "evidence": [evidence]}
    goal = "Write a note that says milk and bread and save it as list.txt"
    async with open_stage(path) as stage:
        return await stage.play(goal, [NOTE, save], claim)


@pytest.mark.parametrize("evidence", ["milk and bread", "absent:dialog[name='Save As']", "list.txt"])
@pytest.mark.long
async def test_a_note_that_the_disk_refuses_is_not_saved(tmp_path: Path, evidence: str) -> None:
    told = await in_mousepad(tmp_path, "/usr/share", evidence)
    assert told.outcome.reason == "unverified", told.words()


@pytest.mark.long
async def test_a_note_that_the_disk_takes_is_saved(tmp_path: Path) -> None:
    told = await in_mousepad(tmp_path, "/home/desk", "window[name*='list.txt']")
    assert told.succeeded, told.words()


async def in_calculator(path: Path, steps: list[dict[str, str]], evidence: str) -> Told:
    claim = {"result": "12 × 34 is 408.", "evidence": [evidence]}
    async with open_stage(path) as stage:
        goal = "Compute 12 × 34 in the calculator and tell me the result"
        return await stage.play(goal, [[*SUM, *steps]], claim, everything=not steps)


@pytest.mark.long
async def test_a_sum_that_was_not_carried_out_has_no_result(tmp_path: Path) -> None:
    told = await in_calculator(tmp_path, [], "12×34")
    assert told.outcome.reason == "unverified", told.words()
    assert not told.stubborn, told.words()


@pytest.mark.long
async def test_a_sum_that_was_carried_out_has_one(tmp_path: Path) -> None:
    told = await in_calculator(tmp_path, [{"kind": "key", "keys": "Return"}], "408")
    assert told.succeeded, told.words()
