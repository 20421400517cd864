"""Steps that are written down, and tasks that are done again, without a model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deskhand import Private, Recipe, computer_task, load_recipe, replay_task, run_recipe
from deskhand.orchestrator.recipes import recipe_of
from hand_played import Mailbox, pages
from watching import Script
from wire import Wire

RECIPES = Path(__file__).parents[2] / "examples" / "recipes"


def test_a_recipe_runs_with_its_parameters_checks_and_outputs() -> None:
    done = run_recipe(load_recipe(RECIPES / "note.yaml"), 60, inputs={"text": 'Dear "Ana",\nyours\nBen'})
    assert (done["status"], done["verified"], done["model"]) == ("success", True, "recipe:note"), done
    assert done["data"] == {"title": "/home/desk/note.txt - Mousepad", "text": 'Dear "Ana",\nyours\nBen'}
    assert done["steps"] == 4


def test_a_recipe_that_meets_something_else_stops_and_says_what(scripted: Script) -> None:
    steps = [
        {"kind": "launch", "app": "mousepad"},
        {"kind": "click", "target": "button[name='Frobnicate']", "timeout": 1},
        {"kind": "key", "keys": "ctrl+s"},
    ]
    done = run_recipe(Recipe(steps=steps), 60)
    assert (done["status"], done["reason"]) == ("failure", "gave_up"), done
    assert "Frobnicate" in done["result"]
    assert "1 not run" in done["result"]
    write = {"kind": "fill", "target": "textbox", "text": "blue"}
    end = {"result": "written", "evidence": ["textbox[value='blue']"]}
    goes_on = scripted(
        [
            {"calls": [{"name": "act", "input": {"steps": [write]}}]},
            {"calls": [{"name": "finish", "input": end}]},
        ]
    )
    handed = run_recipe(Recipe(steps=steps), 60, model=goes_on)
    assert handed["status"] == "success", handed


@pytest.mark.parametrize(
    ("recipe", "inputs", "words"),
    [
        ({"steps": [{"kind": "frob"}]}, {}, "step 1 of the recipe: .*frob"),
        ({"steps": [{"kind": "click", "target": "e4"}]}, {}, "a ref means nothing"),
        ({"steps": [{"kind": "type", "text": "${who}"}]}, {}, r"\$\{who\}, which is none of its parameters"),
        (
            {"parameters": {"who": None}, "steps": [{"kind": "type", "text": "${who}"}]},
            {},
            "needs a value for who",
        ),
        ({"steps": [{"kind": "key", "keys": "Return"}]}, {"who": "Ana"}, "no parameter 'who'"),
        ({"steps": [{"kind": "key", "keys": "Return"}], "outputs": {"x": "button["}}, {}, "output 'x'"),
    ],
)
def test_a_wrong_recipe_is_refused_whole_before_anything_starts(recipe: Any, inputs: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        run_recipe(Recipe.model_validate(recipe), 60, inputs=inputs)


@pytest.mark.parametrize("text", ["steps: [", "steps: 3", "stepz: []", "- a"])
def test_a_file_that_is_no_recipe_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"r\.yaml"):
        load_recipe(path)
    with pytest.raises(ValueError, match="cannot be read"):
        load_recipe(tmp_path / "nothing.yaml")


def test_a_task_on_a_page_is_done_again_with_other_inputs(wire: Wire, tmp_path: Path) -> None:
    share = tmp_path / "shared"
    share.mkdir()
    (share / "passport.png").write_text("a scan")
    (share / "other.png").write_text("another")
    where = Private(share=(str(share),))
    with pages() as web:
        box = Mailbox("visa", web=web, share=share)
        wire.play(box)
        given = {**box.task["inputs"], "Arrival": "2026-12-24", "Departure": "2027-01-06"}
        first = computer_task(box.task["goal"], 120, box.task["model"], inputs=given, computer=where)
        assert first["status"] == "success", first
        asked = len(wire.requests)
        again = replay_task(
            first["conversation"],
            60,
            inputs={
                "name": "Ben Okri",
                "arrival": "2027-02-01",
                "departure": "2027-02-20",
                "purpose": "Work",
            },
            computer=where,
        )
    assert (again["status"], again["verified"]) == ("success", True), again
    assert len(wire.requests) == asked
    checks = " ".join(item["check"] for item in again["evidence"])
    assert "of Ben Okri for Work from 2027-02-01 to 2027-02-20" in checks


def test_a_task_in_an_app_is_done_again_from_its_file(scripted: Script, tmp_path: Path) -> None:
    launch = {"calls": [{"name": "act", "input": {"steps": [{"kind": "launch", "app": "gnome-calculator"}]}}]}
    keys = [
        {"calls": [{"name": "find", "input": {"selector": f"button[name='{name}']"}}]} for name in ("7", "8")
    ]
    press = {
        "calls": [{"name": "act", "input": {"steps": [
            {"kind": "click", "target": "button[name='7']"}, {"kind": "click", "target": "button[name='8']"}
        ]}}]
    }  # fmt: skip
    end = {"calls": [{"name": "finish", "input": {"result": "78", "evidence": ["textbox[value='78']"]}}]}
    first = computer_task("type 78 with the buttons", 60, scripted([launch, *keys, press, end]))
    assert first["status"] == "success", first
    path = tmp_path / "keys.yaml"
    command = [sys.executable, "-m", "deskhand.cli", "replay", first["conversation"]]
    subprocess.run([*command, "--save", str(path)], check=True, capture_output=True)
    assert [step["kind"] for step in load_recipe(path).steps] == ["launch", "click", "click"]
    ran = subprocess.run(
        [sys.executable, "-m", "deskhand.cli", "run", str(path), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ran.stdout)["status"] == "success"


def test_what_did_not_succeed_is_not_replayed(scripted: Script) -> None:
    end = {"calls": [{"name": "finish", "input": {"result": "no", "status": "failure", "reason": "gave_up"}}]}
    failed = computer_task("x", 60, scripted([end]))
    with pytest.raises(ValueError, match="did not end in success"):
        recipe_of(Path(str(failed["logdir"])))
