"""Whole tasks on real applications, through the public door, with the embedded model and with both API formats."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deskhand import Private, computer_task
from deskhand.audit.verify import verify_log
from deskhand.demo import duration, shop
from wire import Request, Wire

API_MODELS = ["anthropic:claude-sonnet-5-5", "openai-chat:local"]


def _explained(status: Any) -> str:
    return json.dumps(status, indent=1, ensure_ascii=False)


def _assert_done(status: Any) -> None:
    assert (status["status"], status["verified"]) == ("success", True), _explained(status)
    assert verify_log(Path(status["logdir"], "audit.jsonl"), expect=status["audit_hash"]).intact


def test_a_sum_in_the_calculator_comes_back_with_its_result_and_a_recording() -> None:
    status = computer_task(
        "In gnome-calculator compute 12 × 34 and tell me the result", 60, "embedded", record=True
    )
    _assert_done(status)
    assert "408" in status["result"]
    assert status["model"] == "embedded"
    assert status["evidence"]
    assert duration(status["recording"]) > 0


def test_pressing_named_keys_of_the_calculator_gives_the_same_result() -> None:
    status = computer_task(
        "in gnome-calculator press 1, 2, ×, 3, 4, = and tell me the result", 60, "embedded"
    )
    _assert_done(status)
    assert "408" in status["result"]


def test_a_note_is_typed_saved_through_the_file_dialog_and_is_on_the_disk(tmp_path: Path) -> None:
    shared = tmp_path / "notes"
    shared.mkdir()
    status = computer_task(
        f"In mousepad type 'Grüße from the child' and save it as {shared}/note.txt",
        90,
        "embedded",
        computer=Private(share=(f"{shared}:rw",)),
    )
    _assert_done(status)
    assert (shared / "note.txt").read_text().rstrip("\n") == "Grüße from the child"


def test_a_form_is_filled_in_and_gives_what_was_entered(tmp_path: Path) -> None:
    shared = tmp_path / "out"
    shared.mkdir()
    script = shared / "form.sh"
    script.write_text(
        "#!/bin/sh\n"
        f"zenity --forms --title=Visitor --text=Visitor --add-entry=Name --add-entry=City > {shared}/said.txt\n"
    )
    script.chmod(0o755)
    status = computer_task(
        f"Start {script}, fill Name with Ana, fill City with Lisbon and press OK",
        60,
        "embedded",
        computer=Private(share=(f"{shared}:rw",)),
    )
    _assert_done(status)
    assert (shared / "said.txt").read_text().strip() == "Ana|Lisbon"


def test_an_order_on_a_page_arrives_and_its_confirmation_is_reported() -> None:
    with shop() as order:
        status = computer_task(
            f"Open {order.url}, set Name to Ana, choose Blue, press Buy, and report the confirmation",
            60,
            "embedded",
        )
    _assert_done(status)
    [(form, confirmation)] = order.orders
    assert (form["name"], form["colour"]) == ("Ana", "Blue")
    assert confirmation in status["result"]


def test_what_is_not_understood_is_said_and_nothing_is_done() -> None:
    status = computer_task("In gnome-calculator frobnicate the third moon", 60, "embedded")
    assert (status["status"], status["reason"]) == ("clarification_needed", "not_understood"), _explained(
        status
    )
    assert "frobnicate" in status["result"]


# --- the same with a model that speaks over HTTP ----------------------------------------------------------------


@pytest.mark.parametrize("model", API_MODELS)
def test_a_page_is_driven_by_a_model_over_its_api(model: str, wire: Wire) -> None:
    with shop() as order:

        def reply(request: Request) -> dict[str, Any]:
            if request.number == 0:
                steps = [
                    {"kind": "launch", "app": order.url},
                    {"kind": "fill", "target": "textbox[name='Name']", "text": "Zoë"},
                    {"kind": "click", "target": "radio[name='Green']"},
                    {"kind": "click", "target": "button[name='Buy']"},
                    {"kind": "check", "selector": "status:has-text('Thank you')"},
                ]
                return {"calls": [{"name": "act", "input": {"steps": steps}}]}
            [(_, confirmation)] = order.orders
            assert confirmation in json.dumps(request.body, ensure_ascii=False)
            done = {"status": "success", "result": confirmation, "evidence": [confirmation]}
            return {"calls": [{"name": "finish", "input": done}]}

        wire.play(reply)
        status = computer_task(
            "Order a green mug for Zoë: press Buy", 60, model, expect=["status:has-text('Zoë')"]
        )
    _assert_done(status)
    [(form, confirmation)] = order.orders
    assert (form["name"], form["colour"]) == ("Zoë", "Green")
    assert status["result"] == confirmation
    assert status["steps"] == 2
    assert status["usage"]["input_tokens"] > 0


@pytest.mark.parametrize("model", API_MODELS)
def test_a_file_is_saved_in_mousepad_by_a_model_over_its_api(model: str, wire: Wire, tmp_path: Path) -> None:
    shared = tmp_path / "notes"
    shared.mkdir()
    first = [
        {"kind": "launch", "app": "mousepad"},
        {"kind": "type", "target": "textbox[focused]", "text": "日本 and Ω"},
        {"kind": "key", "keys": "ctrl+s"},
        {"kind": "fill", "target": "textbox[name^='Name']", "text": f"{shared}/note.txt"},
        {"kind": "click", "target": "button[name='Save']"},
        {"kind": "wait", "for": "window[name*='note.txt']"},
    ]
    done = {"status": "success", "result": "saved", "evidence": ["window[name*='note.txt']"]}
    wire.play(
        [
            {"calls": [{"name": "act", "input": {"steps": first}}]},
            {"calls": [{"name": "finish", "input": done}]},
        ]
    )
    status = computer_task("Save a note", 90, model, computer=Private(share=(f"{shared}:rw",)))
    _assert_done(status)
    assert (shared / "note.txt").read_text().rstrip("\n") == "日本 and Ω"


# --- the wall ----------------------------------------------------------------------------------------------------


def test_the_caller_gets_no_picture_and_no_tree_and_a_small_dict() -> None:
    status = computer_task("In gnome-calculator compute 12 × 34 and tell me the result", 60, "embedded")
    text = json.dumps({**status, "data": None}, separators=(",", ":"))
    assert -(-len(text.encode()) // 4) <= 400
    assert re.search(r"data:image|iVBOR|\[ref=|\be\d+\b", text) is None, _explained(status)


# --- wherever it is called from ----------------------------------------------------------------------------------

_CALL = 'computer_task("In gnome-calculator compute 12 × 34 and tell me the result", 60, "embedded")'


_SCRIPT = f"from deskhand import computer_task\nprint({_CALL}['result'])"
_LOOP = f"""
import asyncio
from deskhand import computer_task
async def main():
    print({_CALL}["result"])
asyncio.run(main())
"""
_CELL = ["-m", "IPython", "--quick", "--colors=NoColor", "--HistoryManager.enabled=False", "-c", _SCRIPT]


@pytest.mark.parametrize(
    "command", [["-c", _SCRIPT], ["-c", _LOOP], _CELL], ids=["a script", "a running loop", "an IPython cell"]
)
def test_it_works_when_called_from(command: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "408" in done.stdout


async def test_two_tasks_at_once_do_not_disturb_each_other() -> None:
    import asyncio

    from deskhand import acomputer_task

    first, second = await asyncio.gather(
        acomputer_task("In gnome-calculator compute 12 × 34 and tell me the result", 90, "embedded"),
        acomputer_task("In gnome-calculator compute 56 + 78 and tell me the result", 90, "embedded"),
    )
    _assert_done(first)
    _assert_done(second)
    assert ("408" in first["result"], "134" in second["result"]) == (True, True)
    assert first["conversation"] != second["conversation"]
