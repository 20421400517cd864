"""OpenAI Responses: requests in full, encrypted reasoning replayed, failures with HTTP 200."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from deskhand.errors import ModelError, ModelRefused
from deskhand.messages import Json, Results, ToolCall, Turn, Words
from model_helpers import BOTH_WAYS, BRIEF, RULES, TOOL, Make, picture, result
from wire import Wire

SOL = "openai/gpt-5.6-sol"
REPLIES = BOTH_WAYS


async def test_a_whole_exchange_replays_everything_and_keeps_nothing_at_the_provider(
    wire: Wire, make: Make, streamed: Json
) -> None:
    wire.play(
        [
            {"thinking": "Hm.", "text": "One.", "calls": [{"name": "act", "input": {"n": 1}}]},
            {"text": "Done."},
        ]
    )
    model = make(SOL)
    turn = await model.turn([RULES, BRIEF], [TOOL])
    assert (turn.text, turn.stop) == ("One.", "calls")
    assert turn.calls == (ToolCall(id="call_1_1", name="act", arguments={"n": 1}),)
    image = picture(8, 6, name="i2")
    await model.turn([RULES, BRIEF, turn, Results(results=(result("call_1_1", "a", image),))], [TOOL])
    first, second = wire.bodies
    assert second["prompt_cache_key"] == first["prompt_cache_key"]
    del second["prompt_cache_key"]
    url = f"data:image/png;base64,{base64.b64encode(image.data).decode()}"
    assert wire.requests[1].path == "/v1/responses"
    part = {"type": "output_text", "text": "One.", "annotations": []}
    assert second == {
        "model": "gpt-5.6-sol",
        "store": False,
        **streamed,
        "include": ["reasoning.encrypted_content"],
        "instructions": "You are a hand.",
        "tools": [
            {
                "type": "function",
                "name": "act",
                "description": "Acts.",
                "parameters": TOOL.schema,
                "strict": False,
            }
        ],
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it"}]},
            {
                "id": "rs_0",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "Hm."}],
                "encrypted_content": "sealed-0",
            },
            {"id": "msg_0", "type": "message", "role": "assistant", "status": "completed", "content": [part]},
            {
                "id": "fc_0_0",
                "call_id": "call_1_1",
                "status": "completed",
                "type": "function_call",
                "name": "act",
                "arguments": '{"n": 1}',
            },
            {
                "type": "function_call_output",
                "call_id": "call_1_1",
                "output": [
                    {"type": "input_text", "text": "a"},
                    {"type": "input_text", "text": "[image i2, 8x6]"},
                    {"type": "input_image", "image_url": url, "detail": "original"},
                ],
            },
        ],
    }


async def test_a_turn_of_another_model_is_rebuilt(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok"}])
    turn = Turn(text="Hi", calls=(ToolCall(id="c", name="act", arguments={"n": 1}),))
    answers = Results(results=(result("c", "", is_error=True),))
    await make(SOL).turn([RULES, BRIEF, turn, answers, Words(role="user", text="Well?")], [TOOL])
    assert wire.bodies[0]["input"][1:] == [
        {"role": "assistant", "content": "Hi"},
        {"type": "function_call", "call_id": "c", "name": "act", "arguments": '{"n": 1}'},
        {"type": "function_call_output", "call_id": "c", "output": "failed"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Well?"}]},
    ]


async def test_replies_that_stop_early_say_why(wire: Wire, make: Make) -> None:
    cut = {"name": "act", "arguments": '{"n": 1', "status": "incomplete"}
    whole_but_cut = {"name": "act", "arguments": "{}", "status": "incomplete"}
    wire.play(
        [
            {"calls": [cut], "stop": "length"},
            {"calls": [whole_but_cut], "stop": "length"},
            {"stop": "refusal"},
        ]
    )
    model = make(SOL)
    turns = [await model.turn([RULES, BRIEF], [TOOL]) for _ in range(3)]
    assert [turn.stop for turn in turns] == ["length", "length", "refusal"]
    assert turns[0].calls[0].invalid == '{"n": 1'
    assert "cut off" in turns[1].calls[0].invalid


async def test_a_refusal_in_words_is_a_turn_that_says_so(wire: Wire, make: Make) -> None:
    part = {"type": "refusal", "refusal": "I will not."}
    message = {"type": "message", "role": "assistant", "content": [part]}
    wire.play([{"body": {"status": "completed", "output": [message]}}])
    turn = await make(SOL).turn([RULES, BRIEF], [TOOL])
    assert (turn.stop, turn.text) == ("refusal", "I will not.")


@pytest.mark.parametrize(
    ("code", "kind"), [("server_error", ModelError), ("invalid_prompt", ModelRefused), (None, ModelError)]
)
async def test_a_response_that_failed_is_an_error(
    wire: Wire, make: Make, code: str | None, kind: type[ModelError], monkeypatch: pytest.MonkeyPatch
) -> None:
    error: Any = {"code": code, "message": "went wrong"} if code else None
    wire.play(lambda request: {"body": {"status": "failed", "error": error, "output": []}})
    monkeypatch.setattr("deskhand.orchestrator.models.transport.FIRST_DELAY", 0.001)
    with pytest.raises(kind, match="went wrong" if code else "no reason given"):
        await make(SOL).turn([RULES, BRIEF], [TOOL])
    assert (len(wire.requests) > 1) == (code == "server_error")


async def test_tokens_are_counted_and_priced(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok", "usage": {"input": 1000, "cached": 4000, "output": 100}}])
    usage = (await make(SOL).turn([RULES, BRIEF], [])).usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (5000, 4000, 100)
    assert usage.cost_usd is not None
    assert usage.cost_usd > 0
