"""What a provider or its model does wrong is got over, or ends the task for the right reason, with each of the APIs."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from child_stage import act, child_on, finish, outcome_of
from deskhand.audit.read import read_events
from deskhand.messages import Json
from deskhand.orchestrator.loop import QUIET_TURNS
from deskhand.orchestrator.models import transport
from deskhand.orchestrator.result import Outcome
from deskhand.orchestrator.stuck import STOP_AT
from deskhand.terms import Limits
from deskhand.tools.desk import Desk
from fake_desk import Element, World, open_fake_desk
from model_helpers import Make
from wire import Request, Wire

SPECS = ("anthropic:claude-sonnet-5-5", "openai:gpt-5.6-sol", "openai-chat:any")
DONE: Json = {"calls": [finish(evidence=["button[name='OK']"])]}
PRESS: Json = {"calls": [act({"kind": "click", "target": "button[name='OK']"})]}

pytestmark = pytest.mark.parametrize("spec", SPECS)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-off that starts at a millisecond."""
    monkeypatch.setattr(transport, "FIRST_DELAY", 0.001)


def desk() -> Desk:
    return open_fake_desk(World([Element("window", "Form", [Element("button", "OK")])]))


async def played(make: Make, spec: str, directory: Path, **stage: Any) -> Outcome:
    """How a task of this model ends."""
    settings = stage.pop("settings", None)
    seconds = stage.pop("seconds", 60)
    end = time.monotonic() + seconds
    model = make(spec, settings, timeout=lambda: end - time.monotonic())
    with child_on(desk(), model, directory / "task", seconds=seconds, **stage) as child:
        return await outcome_of(child)


ENDS: dict[str, tuple[Json, str, int]] = {
    "a refusal": ({"text": "I will not.", "stop": "refusal"}, "model_refused", 1),
    "empty replies": ({"text": ""}, "gave_up", QUIET_TURNS),
    "words alone": ({"text": "I think I am done."}, "gave_up", QUIET_TURNS),
    "replies that are cut off": ({"text": "First I would", "stop": "length"}, "gave_up", QUIET_TURNS),
    "a tool that does not exist": ({"calls": [{"name": "fly", "input": {}}]}, "stalled", STOP_AT),
    "invalid arguments": ({"calls": [{"name": "act", "input": {"steps": 7}}]}, "stalled", STOP_AT),
    "errors of the server": ({"http": 500}, "model_error", transport.ATTEMPTS),
    "an overloaded server": ({"http": 529}, "model_error", transport.ATTEMPTS),
    "a quota that comes back tomorrow": (
        {"http": 429, "headers": {"retry-after": "86400"}},
        "model_error",
        1,
    ),
    "a request that is too large": ({"http": 413}, "model_error", 1),
    "a key that is refused": ({"http": 401}, "model_error", 1),
    "connections that break": ({"text": "half", "drop": True}, "model_error", transport.ATTEMPTS),
    "malformed replies": ({"raw": "<html>"}, "model_error", transport.MALFORMED_ATTEMPTS),
}


@pytest.mark.parametrize("fault", ENDS)
async def test_a_fault_that_does_not_pass_ends_the_task(
    wire: Wire, make: Make, spec: str, tmp_path: Path, fault: str
) -> None:
    reply, reason, requests = ENDS[fault]
    wire.play(lambda request: reply)
    outcome = await played(make, spec, tmp_path)
    assert (outcome.reason, len(wire.requests)) == (reason, requests), outcome


async def test_a_server_that_says_nothing_costs_the_time_of_the_task_and_no_more(
    wire: Wire, make: Make, spec: str, tmp_path: Path
) -> None:
    wire.play(lambda request: {"hang": 60})
    started = time.monotonic()
    outcome = await played(make, spec, tmp_path, seconds=1.5)
    assert outcome.reason == "deadline"
    assert time.monotonic() - started < 10


async def test_faults_that_pass_are_got_over_and_told_where_the_model_is_to_blame(
    wire: Wire, make: Make, spec: str, tmp_path: Path
) -> None:
    wire.play(
        [
            {"http": 500},
            {"calls": [{"name": "fly", "input": {}}]},
            {"text": "half", "drop": True},
            {"calls": [{"name": "act", "input": {"steps": 7}}]},
            {"raw": "<html>"},
            {"text": "First I would", "stop": "length"},
            {"http": 429, "headers": {"retry-after": "0.01"}},
            {"text": ""},
            PRESS,
            DONE,
        ]
    )
    outcome = await played(make, spec, tmp_path)
    assert (outcome.reason, outcome.verified) == (None, True)
    told = json.dumps(wire.bodies[-1])
    assert "does not exist; there are observe" in told
    assert "steps must be a list" in told
    assert "Your reply was cut off" in told
    assert "Nothing happens without a tool call" in told


async def test_several_calls_of_one_turn_run_in_order_and_an_end_among_them_does_not_count(
    wire: Wire, make: Make, spec: str, tmp_path: Path
) -> None:
    wire.play([{"calls": [*PRESS["calls"], {"name": "observe", "input": {}}, *DONE["calls"]]}, DONE])
    outcome = await played(make, spec, tmp_path)
    assert outcome.reason is None
    assert "must be the only call of its turn" in json.dumps(wire.bodies[1])
    kinds = [event["kind"] for event in read_events(tmp_path / "task" / "audit.jsonl")]
    assert kinds == ["observation", "model_call", "observation", "model_call", "verification"]


async def test_the_last_turn_is_offered_nothing_but_the_end(
    wire: Wire, make: Make, spec: str, tmp_path: Path
) -> None:
    wire.play([PRESS, PRESS, PRESS, DONE])
    outcome = await played(make, spec, tmp_path, limits=Limits(steps=4))
    assert outcome.reason is None
    offered = [
        [tool.get("name") or tool.get("function", {}).get("name") or tool["type"] for tool in body["tools"]]
        for body in wire.bodies
    ]
    assert "act" in offered[2]
    assert offered[3] == ["finish"]
    assert "Used: 75% of your turns" in json.dumps(wire.bodies[3])


def _sizes(wire: Wire) -> list[int]:
    return [
        len(json.dumps(body["messages"] if "messages" in body else body["input"])) for body in wire.bodies
    ]


def _summarises(request: Request) -> bool:
    return "Its older part will be replaced" in json.dumps(request.body)


async def test_a_conversation_that_fills_its_window_goes_on_from_a_summary_that_is_unverified(
    wire: Wire, make: Make, spec: str, tmp_path: Path
) -> None:
    acted = 0

    def reply(request: Request) -> Json:
        nonlocal acted
        if _summarises(request):
            return {"text": "Pressed OK often; the code is 4711.", "usage": {"input": 1000, "output": 10}}
        if acted == 12:
            return DONE
        acted += 1
        press = act({"kind": "click", "target": "button[name='OK']", "aim": f"time {acted}"})
        size = len(json.dumps(request.body.get("messages") or request.body["input"])) // 4
        return {"text": "x" * 2000, "calls": [press], "usage": {"input": size, "output": 10}}

    wire.play(reply)
    settings = SimpleNamespace(models={"*": {"window": 8000}})
    outcome = await played(make, spec, tmp_path, settings=settings)
    assert outcome.reason is None, outcome
    asked = [_summarises(request) for request in wire.requests]
    assert 1 <= sum(asked) <= 3
    after = json.dumps(wire.bodies[-1])
    assert "the code is 4711" in after
    assert "It is unverified" in after
    assert max(_sizes(wire)) < 4 * 9000
    calls = [
        event for event in read_events(tmp_path / "task" / "audit.jsonl") if event["kind"] == "model_call"
    ]
    assert len(calls) == len(wire.requests)


REFUSED_FOR_LENGTH: Json = {
    "anthropic": {"http": 400, "message": "prompt is too long: 210000 tokens > 200000 maximum"},
    "openai": {"http": 400, "code": "context_length_exceeded", "message": "too long"},
    "openai-chat": {"http": 413, "message": "payload too large"},
}


async def test_a_conversation_that_is_refused_for_its_length_goes_on_shortened(
    wire: Wire, make: Make, spec: str, tmp_path: Path
) -> None:
    def reply(request: Request) -> Json:
        number = request.number + 1
        if number == 6:
            return REFUSED_FOR_LENGTH[spec.partition(":")[0]]  # type: ignore[no-any-return]
        press = act({"kind": "click", "target": "button[name='OK']", "aim": f"time {number}"})
        return DONE if number > 8 else {"text": f"thought {number} " + "x" * 500, "calls": [press]}

    wire.play(reply)
    outcome = await played(make, spec, tmp_path)
    assert outcome.reason is None, outcome
    sizes = _sizes(wire)
    assert sizes[6] < sizes[5]
    assert "thought 1" in json.dumps(wire.bodies[-1])
