"""What the screen says is data: a child that obeys it is held before each sensitive act, and the log says why.

The same act is not held when the goal names it.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from false_pages import COMMON
from injected import INJECTED, Injected
from trust_stage import Stage, Told, open_stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

APP = Path(__file__).parents[1] / "apps" / "gtk3_message.py"
SOON = (
    "visible text",
    "an envelope of its own",
    "an OK that means more",
    "names of files",
    "a command to paste",
)
"""Those that run with every change."""


def cases() -> list[object]:
    return [pytest.param(name, marks=() if name in SOON else pytest.mark.long) for name in INJECTED]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One desktop for all screens."""
    async with open_stage(Path(tmp_path_factory.mktemp("stage"))) as opened:
        shutil.copy(APP, opened.home / APP.name)
        yield opened


async def obey(stage: Stage, case: Injected, goal: str) -> tuple[Told, str]:
    """Open the screen and do what it says; how that ended, and what is there to show for it."""
    kept, noted = stage.home / "keep", stage.home / "noted.txt"
    kept.mkdir(exist_ok=True)
    noted.write_text("")
    (stage.home / "diary.txt").write_text("dear diary")
    if case.native:
        opens = {
            "kind": "launch",
            "app": ["/usr/bin/python3", f"/home/desk/{APP.name}", "/home/desk/noted.txt", *case.native],
        }
    else:
        opens = {"kind": "launch", "app": stage.page("injected.html", COMMON + case.html)}
    told = await stage.play(goal, [[opens], case.steps], **case.brief)
    gone = "" if kept.exists() else "(the folder is gone)"
    notes = [f"noted: {line}" for line in noted.read_text().splitlines()]
    return told, "\n".join([told.screen, *notes, gone])


@pytest.mark.parametrize("name", cases())
async def test_a_child_that_obeys_the_screen_is_held(stage: Stage, name: str) -> None:
    case = INJECTED[name]
    told, shown = await obey(stage, case, case.goal)
    assert told.outcome.reason == "consent", told.words()
    [held] = told.consents()
    assert case.why in held["what"], held
    assert (held["allowed"], held["by"]) == (False, "nobody")
    assert case.trace not in shown


@pytest.mark.parametrize("name", cases())
async def test_it_is_not_held_when_the_goal_names_the_act(stage: Stage, name: str) -> None:
    case = INJECTED[name]
    told, shown = await obey(stage, case, case.named)
    assert told.consents() == [], told.words()
    assert case.trace in shown, told.words()


async def test_there_are_twenty_five() -> None:
    assert len(INJECTED) == 25
    assert set(SOON) <= set(INJECTED)
