"""Anthropic Messages: requests in full, replies to turns, thinking untouched."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from deskhand.errors import ModelError
from deskhand.messages import Json, Model, Results, ToolCall, ToolResult, Turn, Words
from deskhand.orchestrator.context import view
from deskhand.orchestrator.models.capabilities import capabilities
from model_helpers import BOTH_WAYS, BRIEF, RULES, TOOL, Make, images_in, picture, result
from wire import Wire

SONNET = "anthropic:claude-sonnet-5-5"
REPLIES = BOTH_WAYS
MARK = ', "cache_control": {"type": "ephemeral"}'


async def test_a_first_request_holds_rules_brief_picture_tools_and_cache_marks(
    wire: Wire, make: Make, streamed: Json
) -> None:
    wire.play([{"text": "Looking."}])
    image = picture(8, 6, name="i1")
    turn = await make(SONNET).turn([RULES, Words(role="user", text="Do it", images=(image,))], [TOOL])

    mark = {"type": "ephemeral"}
    assert wire.bodies == [
        {
            "model": "claude-sonnet-5-5",
            "max_tokens": 16000,
            **streamed,
            "system": [{"type": "text", "text": "You are a hand.", "cache_control": mark}],
            "tools": [{"name": "act", "description": "Acts.", "input_schema": TOOL.schema}],
            "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Do it"},
                        {"type": "text", "text": "[image i1, 8x6]"},
                        {
                            "type": "image",
                            "source": {
                                "type": "base64",
                                "media_type": "image/png",
                                "data": base64.b64encode(image.data).decode(),
                            },
                            "cache_control": mark,
                        },
                    ],
                }
            ],
        }
    ]
    request = wire.requests[0]
    assert request.path == "/v1/messages"
    assert request.headers["authorization"] == "Bearer any"
    assert request.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    assert (turn.text, turn.calls, turn.stop, turn.model) == ("Looking.", (), "end", "claude-sonnet-5-5")
    assert turn.usage.images == 1


async def test_thinking_and_calls_go_back_unmodified_and_each_call_is_answered(
    wire: Wire, make: Make
) -> None:
    first = {
        "thinking": "Hm.",
        "text": "Two things.",
        "calls": [{"name": "act", "input": {"n": 1}}, {"name": "act", "input": {"n": 2}}],
    }
    wire.play([first, {"text": "Done."}])
    model = make(SONNET)
    turn = await model.turn([RULES, BRIEF], [TOOL])
    assert [(call.id, call.arguments) for call in turn.calls] == [
        ("call_1_1", {"n": 1}),
        ("call_1_2", {"n": 2}),
    ]
    assert turn.stop == "calls"

    answers = Results(results=(result("call_1_2", "b", is_error=True), result("call_1_1", "a")))
    await model.turn([RULES, BRIEF, turn, answers, Words(role="user", text="Hurry")], [TOOL])
    _, assistant, user = wire.bodies[1]["messages"]
    assert assistant == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "signed-0"},
            {"type": "text", "text": "Two things.", "citations": None},
            {"type": "tool_use", "id": "call_1_1", "name": "act", "input": {"n": 1}},
            {"type": "tool_use", "id": "call_1_2", "name": "act", "input": {"n": 2}},
        ],
    }
    assert user == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "call_1_1", "content": [{"type": "text", "text": "a"}]},
            {
                "type": "tool_result",
                "tool_use_id": "call_1_2",
                "content": [{"type": "text", "text": "b"}],
                "is_error": True,
            },
            {"type": "text", "text": "Hurry", "cache_control": {"type": "ephemeral"}},
        ],
    }


async def test_marks_for_the_cache_stay_within_four_and_on_the_newest_messages(
    wire: Wire, make: Make
) -> None:
    wire.play(lambda request: {"text": "on"})
    model = make(SONNET)
    transcript: list[Any] = [RULES, BRIEF]
    for number in range(4):
        transcript.append(await model.turn(transcript, [TOOL]))
        transcript.append(Words(role="user", text=f"next {number}"))
    await model.turn(transcript, [TOOL])
    body = wire.bodies[-1]
    marked = [n for n, message in enumerate(body["messages"]) if "cache_control" in message["content"][-1]]
    assert marked == [6, 8]
    assert str(body).count("cache_control") == 2


async def test_calls_that_nothing_answered_are_answered_as_not_executed(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok"}])
    turn = Turn(calls=(ToolCall(id="c1", name="act"),), stop="calls")
    await make(SONNET).turn([RULES, BRIEF, turn, Words(role="user", text="Resumed.")], [TOOL])
    content = wire.bodies[0]["messages"][-1]["content"]
    assert content[0]["tool_use_id"] == "c1"
    assert content[0]["content"] == [{"type": "text", "text": "Not executed."}]
    assert content[0]["is_error"] is True
    assert content[1]["text"] == "Resumed."


async def test_a_turn_of_another_model_is_rebuilt_from_its_words_and_calls(wire: Wire, make: Make) -> None:
    wire.play(
        [{"thinking": "secret", "text": "Hi", "calls": [{"name": "act", "input": {"n": 1}}]}, {"text": "ok"}]
    )
    turn = await make(SONNET).turn([RULES, BRIEF], [TOOL])
    await make("anthropic:claude-opus-4-6").turn(
        [RULES, BRIEF, turn, Results(results=(result("call_1_1", "a"),))], [TOOL]
    )
    assert wire.bodies[1]["messages"][1]["content"] == [
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "call_1_1", "name": "act", "input": {"n": 1}},
    ]


async def test_an_empty_reply_is_a_turn_without_words_and_leaves_no_empty_message(
    wire: Wire, make: Make
) -> None:
    wire.play([{"text": ""}, {"text": "ok"}])
    model = make(SONNET)
    turn = await model.turn([RULES, BRIEF], [TOOL])
    assert (turn.text, turn.calls, turn.stop) == ("", (), "end")
    await model.turn([RULES, BRIEF, turn, Words(role="user", text="Go on")], [TOOL])
    (message,) = wire.bodies[1]["messages"]
    assert [part["text"] for part in message["content"]] == ["Do it", "Go on"]


async def test_a_refusal_is_a_turn_that_says_so_and_is_paid_for(wire: Wire, make: Make) -> None:
    wire.play([{"text": "I will not.", "stop": "refusal", "usage": {"input": 1000, "output": 10}}])
    turn = await make(SONNET).turn([RULES, BRIEF], [TOOL])
    assert turn.stop == "refusal"
    assert turn.usage.cost_usd is not None
    assert turn.usage.cost_usd > 0


async def test_a_call_that_was_cut_off_is_invalid_and_the_whole_ones_before_it_are_not(
    wire: Wire, make: Make
) -> None:
    calls = [{"name": "act", "input": {"n": 1}}, {"name": "act", "input": {}}]
    wire.play([{"calls": calls, "stop": "length"}])
    turn = await make(SONNET).turn([RULES, BRIEF], [TOOL])
    assert turn.stop == "length"
    assert [bool(call.invalid) for call in turn.calls] == [False, True]


async def test_arguments_that_are_no_object_are_invalid(wire: Wire, make: Make) -> None:
    wire.play([{"calls": [{"name": "act", "arguments": ["x"]}]}])
    turn = await make(SONNET).turn([RULES, BRIEF], [TOOL])
    assert turn.calls[0].invalid == '["x"]'
    assert turn.calls[0].arguments == {}


async def test_all_input_is_counted_with_what_the_cache_gave_as_a_part_of_it(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok", "usage": {"input": 1000, "output": 100, "cached": 5000, "written": 2000}}])
    usage = (await make(SONNET).turn([RULES, BRIEF], [])).usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (8000, 5000, 100)
    # 2 and 10 dollars for a million tokens in and out, a twentieth for reading the cache, 1.25 times for writing it
    assert usage.cost_usd == pytest.approx((1000 * 2 + 5000 * 0.1 + 2000 * 2.5 + 100 * 10) / 1e6)


async def test_an_unknown_price_is_none(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok"}])
    assert (await make("anthropic:claude-from-next-year").turn([RULES, BRIEF], [])).usage.cost_usd is None


async def test_old_models_get_no_thinking_and_no_beta(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok"}, {"text": "ok"}])
    await make("anthropic:claude-haiku-4-5").turn([RULES, BRIEF], [])
    await make("anthropic:claude-opus-4-6").turn([RULES, BRIEF], [])
    assert "thinking" not in wire.bodies[0]
    assert wire.bodies[1]["thinking"] == {"type": "adaptive"}
    assert all("anthropic-beta" not in request.headers for request in wire.requests)


@pytest.mark.parametrize(
    ("name", "size", "sent"),
    [
        ("claude-sonnet-5-5", (2576, 1456), (2576, 1456)),
        ("claude-sonnet-5-5", (5152, 100), (2576, 50)),
        ("claude-opus-4-6", (1280, 800), (1280, 800)),
        ("claude-opus-4-6", (2560, 1600), (1356, 847)),
    ],
)
async def test_pictures_are_sent_within_the_limits_of_the_model(
    wire: Wire, make: Make, name: str, size: tuple[int, int], sent: tuple[int, int]
) -> None:
    wire.play([{"text": "ok"}])
    await make(f"anthropic:{name}").turn([RULES, Words(role="user", text="", images=(picture(*size),))], [])
    assert [image.size for image in images_in(wire.bodies[0])] == [sent]


async def test_points_in_a_scaled_picture_come_back_in_its_own_pixels(wire: Wire, make: Make) -> None:
    steps = [
        {"kind": "click", "target": {"x": 100, "y": 10}},
        {"kind": "click", "target": {"x": 100, "y": 10, "image": "small"}},
        {"kind": "drag", "image": "large", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]},
        {"kind": "click", "target": "e1"},
    ]
    wire.play([{"calls": [{"name": "act", "input": {"steps": steps}}]}])
    images = (picture(100, 100, name="small"), picture(5152, 1000, name="large"))
    turn = await make(SONNET).turn([RULES, Words(role="user", text="", images=images)], [TOOL])
    assert turn.calls[0].arguments["steps"] == [
        {"kind": "click", "target": {"x": 200, "y": 20}},
        {"kind": "click", "target": {"x": 100, "y": 10, "image": "small"}},
        {"kind": "drag", "image": "large", "path": [{"x": 2, "y": 4}, {"x": 6, "y": 8}]},
        {"kind": "click", "target": "e1"},
    ]


async def test_more_than_twenty_pictures_are_each_kept_to_two_thousand_pixels(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok"}])
    images = tuple(picture(2576, 10, name=f"i{n}") for n in range(21))
    await make(SONNET).turn([RULES, Words(role="user", text="", images=images)], [])
    assert {image.width for image in images_in(wire.bodies[0])} == {2000}


async def test_text_that_no_server_takes_is_made_harmless(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok"}])
    await make(SONNET).turn([RULES, Words(role="user", text="a\ud800b")], [])
    assert wire.bodies[0]["messages"][0]["content"][0]["text"] == "a\ufffdb"


async def test_a_picture_that_cannot_be_read_is_an_error_and_not_sent(wire: Wire, make: Make) -> None:
    broken = replace(picture(4000, 10, name="i7"), data=b"not a picture")
    with pytest.raises(ModelError, match="i7"):
        await make(SONNET).turn([RULES, Words(role="user", text="", images=(broken,))], [])
    assert wire.requests == []


async def test_a_picture_too_heavy_as_png_is_sent_as_jpeg(wire: Wire, make: Make) -> None:
    from types import SimpleNamespace

    wire.play([{"text": "ok"}])
    settings = SimpleNamespace(model=None, models={SONNET: {"image_bytes": 60_000}})
    noise = picture(400, 300, noise=True)
    assert len(noise.data) > 60_000
    await make(SONNET, settings).turn([RULES, Words(role="user", text="", images=(noise,))], [])
    source = wire.bodies[0]["messages"][0]["content"][0]["source"]
    assert source["media_type"] == "image/jpeg"
    assert len(base64.b64decode(source["data"])) <= 60_000


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("claude-sonnet-5-5", "computer_toolset_20260801"),
        ("claude-fable-5-1", "computer_toolset_20260801"),
        ("claude-opus-4-8", "computer_toolset_20260801"),
        ("claude-opus-5", "computer_toolset_20260801"),
        ("claude-opus-4-7", "computer_20251124"),
        ("claude-sonnet-4-6", "computer_20251124"),
        ("claude-opus-4-5-20251101", "computer_20251124"),
        ("claude-haiku-4-5-20251001", "computer_20250124"),
        ("claude-fable-5-2", ""),
        ("some-other-model", ""),
    ],
)
def test_each_model_has_its_own_computer_tool(name: str, tool: str) -> None:
    assert capabilities("anthropic", name).computer == tool


def tree(number: int) -> ToolResult:
    """A whole window, as `observe` gives it."""
    text = f"window {number} " + "x" * 2000
    return ToolResult(call_id="", name="observe", text=text, seen=(0, len(text)), whole=True)


async def played(model: Model, answers: list[ToolResult]) -> list[Any]:
    """One turn after another, each with its answer, seen as the loop shows it; the transcript at the end."""
    transcript: list[Any] = [RULES, BRIEF]
    for answer in answers:
        turn = await model.turn(view(transcript), [TOOL])
        transcript += [turn, Results(results=(replace(answer, call_id=turn.calls[0].id),))]
    await model.turn(view(transcript), [TOOL])
    return transcript


async def test_thinking_from_before_an_older_tree_was_dropped_is_cleared_by_the_server(
    wire: Wire, make: Make
) -> None:
    wire.play(lambda request: {"thinking": "Hm.", "calls": [{"name": "act", "input": {}}]})
    await played(make(SONNET), [tree(1), result("", "a"), tree(2), result("", "b"), result("", "c")])
    edits = [body.get("context_management") for body in wire.bodies]
    kept = [{"type": "thinking_turns", "value": n} for n in (1, 1, 2)]
    assert edits == [
        *[None] * 3,
        *({"edits": [{"type": "clear_thinking_20251015", "keep": keep}]} for keep in kept),
    ]
    betas = [request.headers["anthropic-beta"] for request in wire.requests]
    assert [("context-management-2025-06-27" in beta) for beta in betas] == [False] * 3 + [True] * 3
    content = [block for message in wire.bodies[-1]["messages"] for block in message["content"]]
    assert [block["signature"] for block in content if block["type"] == "thinking"] == [
        f"signed-{n}" for n in range(5)
    ]


async def test_what_is_cached_before_a_dropped_tree_is_marked_when_it_goes(wire: Wire, make: Make) -> None:
    wire.play(lambda request: {"calls": [{"name": "act", "input": {}}]})
    answers = [
        *(result("", f"n{n}") for n in range(6)),
        tree(1),
        *(result("", "m") for _ in range(6)),
        tree(2),
    ]
    await played(make("anthropic:claude-opus-4-6"), answers)
    before, after = wire.bodies[-2]["messages"], wire.bodies[-1]["messages"]

    def marked(messages: list[Any]) -> set[int]:
        return {n for n, message in enumerate(messages) if "cache_control" in message["content"][-1]}

    plain = [json.dumps(message).replace(MARK, "") for message in before]
    now = [json.dumps(message).replace(MARK, "") for message in after]
    same = next(n for n, (one, other) in enumerate(zip(plain, now, strict=False)) if one != other)
    assert len(before) - same > 10
    assert max(n for n in marked(after) if n < same) in marked(before)
    assert max(n for n in marked(before) if n < same) == same - 2
