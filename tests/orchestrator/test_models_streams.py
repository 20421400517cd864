"""Streamed replies: put together as they would have come in one piece, and never waited for without end."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest

from deskhand.errors import ModelError
from deskhand.messages import Results, Turn
from deskhand.orchestrator.models import transport
from deskhand.orchestrator.models.streams import ChatStream, MessagesStream, ResponsesStream
from model_helpers import BRIEF, RULES, TOOL, Make, result
from wire import Wire

SPECS = ("anthropic:claude-sonnet-5-5", "openai:gpt-5.6-sol", "openai-chat:any")
RICH: dict[str, Any] = {
    "thinking": "First I look, then I think about it for a good while.",
    "text": "Two things, and each of them in its turn: ä, 字, 🙂.",
    "calls": [{"name": "act", "input": {"n": 1, "text": "ö" * 60}}, {"name": "act", "input": {}}],
    "usage": {"input": 1000, "output": 90, "cached": 500},
}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-off that starts at a millisecond."""
    monkeypatch.setattr(transport, "FIRST_DELAY", 0.001)


@pytest.mark.parametrize("spec", SPECS)
async def test_a_streamed_reply_is_the_same_turn_and_goes_back_as_the_same_content(
    wire: Wire, make: Make, spec: str
) -> None:
    seen: list[tuple[Turn, Any]] = []
    for stream in (True, False):
        model = make(spec, SimpleNamespace(models={"*": {"stream": stream}}))
        wire.requests.clear()
        wire.play([RICH, {"text": "Done."}])
        turn = await model.turn([RULES, BRIEF], [TOOL])
        answers = Results(results=tuple(result(call.id, "a") for call in turn.calls))
        await model.turn([RULES, BRIEF, turn, answers], [TOOL])
        body = {key: value for key, value in wire.bodies[1].items() if not key.startswith("stream")}
        seen.append((turn, body))
    assert seen[0] == seen[1]
    assert seen[0][0].calls[0].arguments == {"n": 1, "text": "ö" * 60}
    assert RICH["thinking"] in json.dumps(seen[0][1])


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.usefixtures("quick")
async def test_a_stream_that_stands_still_is_asked_for_again(wire: Wire, make: Make, spec: str) -> None:
    wire.play([{"text": "half of it", "stall": 60}, {"text": "whole"}])
    model = make(spec, SimpleNamespace(models={"*": {"silence": 0.2}}), timeout=30)
    started = time.monotonic()
    assert (await model.turn([RULES, BRIEF], [TOOL])).text == "whole"
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.usefixtures("quick")
async def test_a_stream_that_keeps_moving_may_take_longer_than_a_silence(
    wire: Wire, make: Make, spec: str
) -> None:
    wire.play([{"text": "slow", "hang": 0.3, "stall": 0.3}])
    model = make(spec, SimpleNamespace(models={"*": {"silence": 5.0}}), timeout=30)
    assert (await model.turn([RULES, BRIEF], [TOOL])).text == "slow"
    assert len(wire.requests) == 1


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.usefixtures("quick")
async def test_a_stream_that_ends_in_order_but_too_early_is_asked_for_again(
    wire: Wire, make: Make, spec: str
) -> None:
    wire.play([{"text": "half", "cut": 4}, {"text": "whole"}])
    assert (await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])).text == "whole"


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.usefixtures("quick")
async def test_an_error_that_may_pass_in_the_middle_of_a_stream_is_asked_again(
    wire: Wire, make: Make, spec: str
) -> None:
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "too many"}}
    wire.play([{"text": "half", "event": event}, {"text": "whole"}])
    assert (await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])).text == "whole"


@pytest.mark.parametrize("spec", SPECS)
async def test_an_error_that_will_not_pass_in_the_middle_of_a_stream_is_said(
    wire: Wire, make: Make, spec: str
) -> None:
    event = {"error": {"type": "invalid_request_error", "message": "not this"}}
    wire.play([{"text": "half", "event": event}, {"text": "whole"}])
    with pytest.raises(ModelError, match=r"HTTP 400.*not this"):
        await make(spec, timeout=10).turn([RULES, BRIEF], [TOOL])


@pytest.mark.parametrize(
    "event", [{"type": "content_block_delta", "index": 99, "delta": {"type": "text_delta"}}]
)
@pytest.mark.usefixtures("quick")
async def test_an_event_that_cannot_be_is_a_malformed_reply(wire: Wire, make: Make, event: Any) -> None:
    wire.play(lambda request: {"text": "half", "event": event})
    with pytest.raises(ModelError, match="the reply has an event that is none"):
        await make(SPECS[0], timeout=10).turn([RULES, BRIEF], [TOOL])
    assert len(wire.requests) == transport.MALFORMED_ATTEMPTS


@pytest.mark.parametrize("spec", SPECS)
async def test_a_server_that_answers_in_one_piece_all_the_same_is_understood(
    wire: Wire, make: Make, spec: str
) -> None:
    wire.plain = True
    wire.play([RICH])
    turn = await make(spec).turn([RULES, BRIEF], [TOOL])
    assert [call.arguments.get("n") for call in turn.calls] == [1, None]
    assert wire.bodies[0]["stream"] is True


@pytest.mark.parametrize("spec", SPECS)
async def test_one_connection_serves_one_turn_after_another(wire: Wire, make: Make, spec: str) -> None:
    wire.play(lambda request: {"text": "ok"})
    model = make(spec)
    for _ in range(3):
        await model.turn([RULES, BRIEF], [TOOL])
    assert wire.connections == 1


async def test_arguments_that_a_limit_cut_off_are_invalid_and_go_back_as_an_object(
    wire: Wire, make: Make
) -> None:
    stream = [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 5}}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "c1", "name": "act", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"steps": [{"ki'},
        },
        {
            "type": "message_delta",
            "delta": {"stop_reason": "max_tokens"},
            "usage": {"input_tokens": None, "output_tokens": 9},
        },
        {"type": "message_stop"},
    ]
    whole = put_together(MessagesStream(), stream)
    assert whole["usage"] == {"input_tokens": 5, "output_tokens": 9}
    wire.play([{"body": whole}, {"text": "ok"}])
    model = make(SPECS[0])
    turn = await model.turn([RULES, BRIEF], [TOOL])
    assert turn.stop == "length"
    assert turn.calls[0].invalid
    await model.turn([RULES, BRIEF, turn, Results(results=(result("c1", "bad", is_error=True),))], [TOOL])
    assert wire.bodies[1]["messages"][1]["content"][0]["input"] == {}


def put_together(assembler: Any, events: list[Any]) -> Any:
    for event in events:
        assembler.add(event)
    return assembler.whole()


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def part(index: int | None, id_: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    return {"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "parts",
    [
        [part(0, "a", "act", '{"n"'), part(0, None, None, ": 1}"), part(1, "b", "act", '{"n": 2}')],
        [part(0, "a", "act", '{"n": 1}'), part(0, "b", "act", '{"n": 2}')],
        [part(None, "a", "act", '{"n": 1}'), part(None, "b", "act", '{"n": 2}')],
        [part(0, "a", "act", '{"n"'), part(1, "b", "act", '{"n": 2}'), part(0, "a", "act", ": 1}")],
        [part(0, "a", "act", {"n": 1}), part(1, "b", "act", {"n": 2})],
    ],
)  # fmt: skip
def test_parallel_calls_of_a_stream_are_told_apart_however_a_server_numbers_them(
    parts: list[dict[str, Any]],
) -> None:
    whole = put_together(ChatStream(), [delta(tool_calls=[each]) for each in parts])
    calls = whole["choices"][0]["message"]["tool_calls"]
    assert [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls
    ] == [
        ("a", "act", {"n": 1}),
        ("b", "act", {"n": 2}),
    ]


def test_reasoning_that_comes_in_parts_is_joined_by_its_index() -> None:
    parts = [{"index": 0, "type": "t", "text": "a"}, {"index": 0, "text": "b"}, {"index": 1, "text": "c"}]
    whole = put_together(ChatStream(), [delta(reasoning_details=[each]) for each in parts])
    message = whole["choices"][0]["message"]
    assert message["reasoning_details"] == [
        {"index": 0, "type": "t", "text": "ab"},
        {"index": 1, "text": "c"},
    ]


def test_items_of_a_response_count_where_its_end_does_not_repeat_them() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "ok"}]}
    events = [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ]
    assert put_together(ResponsesStream(), events)["output"] == [item]
