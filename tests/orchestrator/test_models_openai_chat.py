"""Chat Completions: requests in full, and servers that can do less than others."""

from __future__ import annotations

import base64
import json
from types import SimpleNamespace
from typing import Any

import pytest

from deskhand.errors import ModelError
from deskhand.messages import Json, Results, ToolCall, Turn, Words
from model_helpers import BOTH_WAYS, BRIEF, RULES, TOOL, Make, picture, result
from wire import Request, Wire

LOCAL = "openai-chat:qwen/some-model:7b"
REPLIES = BOTH_WAYS


async def test_a_whole_exchange_with_pictures_after_the_tool_messages(
    wire: Wire, make: Make, streamed: Json
) -> None:
    calls = [{"name": "act", "input": {"n": 1}}, {"name": "act", "input": {"n": 2}}]
    wire.play([{"text": "Two.", "thinking": "Hm.", "calls": calls}, {"text": "Done."}])
    model = make(LOCAL)
    turn = await model.turn([RULES, BRIEF], [TOOL])
    assert turn.calls == (
        ToolCall(id="call_1_1", name="act", arguments={"n": 1}),
        ToolCall(id="call_1_2", name="act", arguments={"n": 2}),
    )
    image = picture(8, 6, name="i2")
    answers = Results(results=(result("call_1_1", "a", image), result("call_1_2", "")))
    await model.turn([RULES, BRIEF, turn, answers, Words(role="user", text="Hurry")], [TOOL])
    url = f"data:image/png;base64,{base64.b64encode(image.data).decode()}"
    assert wire.requests[1].path == "/v1/chat/completions"
    assert wire.requests[1].headers["authorization"] == "Bearer any"
    assert wire.bodies[1] == {
        "model": "qwen/some-model:7b",
        **streamed,
        **({"stream_options": {"include_usage": True}} if streamed else {}),
        "messages": [
            {"role": "system", "content": "You are a hand."},
            {"role": "user", "content": "Do it"},
            {
                "role": "assistant",
                "content": "Two.",
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {
                        "id": f"call_1_{n}",
                        "type": "function",
                        "function": {"name": "act", "arguments": f'{{"n": {n}}}'},
                    }
                    for n in (1, 2)
                ],
            },
            {"role": "tool", "tool_call_id": "call_1_1", "content": "a"},
            {"role": "tool", "tool_call_id": "call_1_2", "content": "done"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "[image i2, 8x6]"},
                    {"type": "image_url", "image_url": {"url": url}},
                    {"type": "text", "text": "Hurry"},
                ],
            },
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "act", "description": "Acts.", "parameters": TOOL.schema},
            }
        ],
    }


def _blind(request: Request) -> dict[str, Any]:
    if "image_url" in json.dumps(request.body):
        return {"http": 400, "message": "at most 0 image(s) may be provided"}
    return {"text": "ok"}


async def test_a_server_without_vision_gets_the_same_in_text_and_is_not_shown_pictures_again(
    wire: Wire, make: Make, streamed: Json
) -> None:
    wire.play(_blind)
    model = make(LOCAL)
    transcript = [RULES, Words(role="user", text="Look", images=(picture(8, 6, name="i1"),))]
    turn = await model.turn(transcript, [TOOL])
    assert turn.text == "ok"
    assert turn.usage.images == 0
    said = "Look\n\n[image i1, 8x6, was left out: this model cannot see images]"
    assert wire.bodies[-1]["messages"][1] == {"role": "user", "content": said}
    tried = len(wire.requests)
    await model.turn(transcript, [TOOL])
    assert len(wire.requests) == tried + 1
    assert wire.bodies[-1].get("stream", False) == bool(streamed)


async def test_an_error_that_pictures_did_not_cause_stays_an_error(wire: Wire, make: Make) -> None:
    wire.play(lambda request: {"http": 400, "message": "no such parameter"})
    model = make(LOCAL)
    transcript = [RULES, Words(role="user", text="Look", images=(picture(8, 6, name="i1"),))]
    with pytest.raises(ModelError, match="no such parameter"):
        await model.turn(transcript, [TOOL])
    wire.play([{"text": "ok"}])
    assert (await model.turn(transcript, [TOOL])).usage.images == 1


async def test_settings_can_say_that_a_model_is_blind_or_makes_one_call_at_a_time(
    wire: Wire, make: Make
) -> None:
    wire.play(
        [{"calls": [{"name": "act", "input": {"n": 1}}, {"name": "act", "input": {"n": 2}}]}, {"text": "ok"}]
    )
    settings = SimpleNamespace(model=None, models={"qwen/*": {"vision": False, "parallel_calls": False}})
    model = make(LOCAL, settings)
    brief = Words(role="user", text="Look", images=(picture(8, 6),))
    turn = await model.turn([RULES, brief], [TOOL])
    assert [call.arguments for call in turn.calls] == [{"n": 1}]
    await model.turn([RULES, brief, turn, Results(results=(result("call_1_1", "a"),))], [TOOL])
    assert "image_url" not in json.dumps(wire.bodies)
    assert [call["id"] for call in wire.bodies[1]["messages"][2]["tool_calls"]] == ["call_1_1"]


async def test_malformed_arguments_are_told_and_go_back_as_json_that_servers_can_read(
    wire: Wire, make: Make
) -> None:
    wire.play([{"calls": [{"name": "act", "arguments": '{"n": 1'}]}, {"text": "ok"}])
    model = make(LOCAL)
    turn = await model.turn([RULES, BRIEF], [TOOL])
    assert turn.calls == (ToolCall(id="call_1_1", name="act", invalid='{"n": 1'),)
    await model.turn(
        [RULES, BRIEF, turn, Results(results=(result("call_1_1", "bad", is_error=True),))], [TOOL]
    )
    assert wire.bodies[1]["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


async def test_calls_without_ids_or_all_with_the_same_get_their_own(wire: Wire, make: Make) -> None:
    wire.play(
        [
            {"calls": [{"name": "act", "id": "x"}, {"name": "act", "id": "x"}, {"name": "act", "id": ""}]},
            {"text": "ok"},
        ]
    )
    model = make(LOCAL)
    turn = await model.turn([RULES, BRIEF], [TOOL])
    ids = [call.id for call in turn.calls]
    assert len(set(ids)) == 3
    assert all(ids)
    await model.turn([RULES, BRIEF, turn, Results(results=tuple(result(each, "a") for each in ids))], [TOOL])
    messages = wire.bodies[1]["messages"]
    assert [call["id"] for call in messages[2]["tool_calls"]] == ids
    assert [message["tool_call_id"] for message in messages[3:]] == ids


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"name": "act", "arguments": {"n": 3}}', ""),
        ('Clicking.\n<tool_call>\n{"name": "act", "arguments": {"n": 3}}\n</tool_call>', "Clicking."),
        ('I call:\n```json\n{"tool": "act", "input": {"n": 3}}\n```\n', "I call:"),
        ('[TOOL_CALLS] [{"name": "act", "arguments": {"n": 3}}]', ""),
        ('{"type": "function", "function": {"name": "act", "arguments": "{\\"n\\": 3}"}}', ""),
    ],
)
async def test_a_call_that_was_written_as_text_is_a_call(
    wire: Wire, make: Make, text: str, words: str
) -> None:
    wire.play([{"text": text}, {"text": "ok"}])
    model = make(LOCAL)
    turn = await model.turn([RULES, BRIEF], [TOOL])
    assert (turn.text, turn.stop) == (words, "calls")
    (call,) = turn.calls
    assert (call.name, call.arguments) == ("act", {"n": 3})
    await model.turn([RULES, BRIEF, turn, Results(results=(result(call.id, "a"),))], [TOOL])
    assistant, tool = wire.bodies[1]["messages"][2:4]
    assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"] == call.id
    assert assistant["content"] == (words or None)


@pytest.mark.parametrize(
    "text",
    [
        'The page says {"name": "act", "arguments": {"n": 3}} and I think so too.',
        '<tool_call>{"name": "act", "arguments": {"n": 3}}</tool_call> is what I would do. Shall I?',
        '{"name": "unknown", "arguments": {}}',
        '{"name": "act"}',
        '{"name": "act", "arguments": {}, "unsure": true}',
        '<tool_call>{"name": "act", "arguments": {"n": 1}}</tool_call><tool_call>{"name": "act"</tool_call>',
        "[]",
        "",
    ],
)
async def test_text_that_may_mean_something_else_stays_text(wire: Wire, make: Make, text: str) -> None:
    wire.play([{"text": text}])
    turn = await make(LOCAL).turn([RULES, BRIEF], [TOOL])
    assert (turn.text, turn.calls, turn.stop) == (text, (), "end")


async def test_once_a_server_has_made_a_call_its_text_is_only_text(wire: Wire, make: Make) -> None:
    quoted = '<tool_call>{"name": "act", "arguments": {"n": 3}}</tool_call>'
    wire.play([{"calls": [{"name": "act", "input": {"n": 1}}]}, {"text": quoted}])
    model = make(LOCAL)
    turn = await model.turn([RULES, BRIEF], [TOOL])
    again = await model.turn([RULES, BRIEF, turn, Results(results=(result("call_1_1", "a"),))], [TOOL])
    assert (again.text, again.calls) == (quoted, ())


@pytest.mark.parametrize("body", [{"choices": []}, {"choices": [{}]}, {"error": "busy"}, ["x"]])
async def test_a_reply_without_a_message_is_asked_for_again_and_then_an_error(
    wire: Wire, make: Make, body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deskhand.orchestrator.models.transport.FIRST_DELAY", 0.001)
    wire.play(lambda request: {"body": body})
    with pytest.raises(ModelError):
        await make(LOCAL).turn([RULES, BRIEF], [TOOL])
    assert len(wire.requests) == 3


async def test_a_refusal_is_a_turn_that_says_so(wire: Wire, make: Make) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I will not."}
    wire.play(
        [
            {"body": {"choices": [{"message": message, "finish_reason": "stop"}]}},
            {"stop": "refusal", "text": "No."},
        ]
    )
    model = make(LOCAL)
    first, second = await model.turn([RULES, BRIEF], [TOOL]), await model.turn([RULES, BRIEF], [TOOL])
    assert (first.stop, first.text) == ("refusal", "I will not.")
    assert second.stop == "refusal"


async def test_a_server_of_ones_own_needs_no_key_and_has_no_price(
    wire: Wire, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    wire.play([{"text": "ok", "usage": {"input": 10, "cached": 5, "output": 1}}])
    turn = await make(LOCAL).turn([RULES, BRIEF], [])
    assert (turn.usage.input_tokens, turn.usage.cached_tokens, turn.usage.cost_usd) == (15, 5, None)


async def test_a_price_in_the_settings_is_used(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok", "usage": {"input": 1000, "cached": 1000, "output": 100}}])
    prices = {"price_input": 2.0, "price_output": 10.0, "price_cached": 0.5}
    model = make(LOCAL, SimpleNamespace(model=None, models={LOCAL: prices}))
    usage = (await model.turn([RULES, BRIEF], [])).usage
    assert usage.cost_usd == pytest.approx((1000 * 2 + 1000 * 0.5 + 100 * 10) / 1e6)


async def test_a_turn_of_another_model_is_rebuilt(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok"}])
    turn = Turn(
        text="Hi", calls=(ToolCall(id="c", name="act", arguments={"n": 1}),), raw={"api": "anthropic"}
    )
    await make(LOCAL).turn([RULES, BRIEF, turn, Results(results=(result("c", "a"),))], [TOOL])
    call = {"id": "c", "type": "function", "function": {"name": "act", "arguments": '{"n": 1}'}}
    assert wire.bodies[0]["messages"][2] == {"role": "assistant", "content": "Hi", "tool_calls": [call]}


def _plain(request: Request) -> dict[str, Any]:
    if "stream" in request.body:
        return {"http": 400, "message": "unknown field"}
    return {"text": "ok", "usage": {"input": 7}}


async def test_a_server_that_cannot_stream_is_asked_for_whole_replies_from_then_on(
    wire: Wire, make: Make, streamed: Json
) -> None:
    wire.play(_plain)
    model = make(LOCAL)
    transcript = [RULES, Words(role="user", text="Look", images=(picture(8, 6, name="i1"),))]
    turns = [await model.turn(transcript, [TOOL]), await model.turn(transcript, [TOOL])]
    assert [(turn.text, turn.usage.input_tokens, turn.usage.images) for turn in turns] == [("ok", 7, 1)] * 2
    assert len(wire.requests) == 2 + bool(streamed)


async def test_a_server_that_can_neither_stream_nor_see_is_asked_for_neither(wire: Wire, make: Make) -> None:
    wire.play(lambda request: _plain(request) if "stream" in request.body else _blind(request))
    model = make(LOCAL)
    transcript = [RULES, Words(role="user", text="Look", images=(picture(8, 6, name="i1"),))]
    assert (await model.turn(transcript, [TOOL])).text == "ok"
    asked = len(wire.requests)
    assert (await model.turn(transcript, [TOOL])).text == "ok"
    assert len(wire.requests) == asked + 1
