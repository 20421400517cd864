"""The vendors' own computer tools: read as batches of our steps, answered action by action."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from child_stage import child_on, finish, outcome_of
from deskhand.desktop.keys import parse_keys
from deskhand.messages import (
    BatchReport,
    Image,
    Point,
    Results,
    StepReport,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    Words,
)
from deskhand.orchestrator.models.native import chord
from deskhand.tools.plan import parse_steps
from fake_desk import Element, World, open_fake_desk
from model_helpers import BRIEF, RULES, TOOL, Make, images_in, picture
from wire import Wire

CLAUDE = "anthropic:claude-sonnet-5-5"
GPT = "openai:gpt-5.6-sol"
TOOLS = [TOOL, ToolSpec(name="observe", description="Looks.", schema={"type": "object"})]
SCREEN = replace(picture(640, 400, name="i1"), scale=(2.0, 2.0))
SEEN = Words(role="user", text="Do it", images=(SCREEN,))


def member(name: str, **given: Any) -> dict[str, Any]:
    return {"name": name, "toolset": "computer", "input": given}


def ran(turn: Turn, messages: list[str], *, failed: bool = False, look: Image | None = None) -> Results:
    """Results of a batch that ran so far and of the looks around it."""
    results = []
    for call in turn.calls:
        if call.name == "act":
            steps = tuple(
                StepReport(index=n, step={}, effect="done", message=message)
                for n, message in enumerate(messages, 1)
            )
            results.append(
                ToolResult(
                    call_id=call.id,
                    name="act",
                    text="report",
                    is_error=failed,
                    batch=BatchReport(steps=steps),
                )
            )
        else:
            images = (look or picture(640, 400, name="i2"),)
            results.append(ToolResult(call_id=call.id, name="observe", text="seen", images=images))
    return Results(results=tuple(results))


async def test_the_toolset_is_declared_before_the_function_tools(wire: Wire, make: Make) -> None:
    wire.play([{"text": "ok"}] * 4)
    await make(CLAUDE).turn([RULES, BRIEF], TOOLS)
    await make(GPT).turn([RULES, BRIEF], TOOLS)
    await make("anthropic:claude-opus-4-6").turn([RULES, SEEN], TOOLS)
    await make("anthropic:claude-haiku-4-5").turn([RULES, BRIEF], TOOLS)
    declared = [body["tools"][0] for body in wire.bodies]
    size = {"display_width_px": 640, "display_height_px": 400}
    assert declared == [
        {"type": "computer_toolset_20260801", "configs": {"cursor_position": {"enabled": False}}},
        {"type": "computer"},
        {"type": "computer_20251124", "name": "computer", **size, "enable_zoom": True},
        {"type": "computer_20250124", "name": "computer", "display_width_px": 1280, "display_height_px": 800},
    ]
    assert all([tool["name"] for tool in body["tools"][1:]] == ["act", "observe"] for body in wire.bodies)
    assert [request.headers.get("anthropic-beta") for request in wire.requests] == [
        "thinking-binding-controls-2026-08-01",
        None,
        "computer-use-2025-11-24",
        "computer-use-2025-01-24",
    ]


@pytest.mark.parametrize("spec", [CLAUDE, GPT])
async def test_who_may_not_act_is_not_offered_the_computer(wire: Wire, make: Make, spec: str) -> None:
    wire.play([{"text": "ok"}] * 2)
    await make(spec).turn([RULES, BRIEF], TOOLS[1:])
    off = SimpleNamespace(model=None, models={spec: {"computer": ""}})
    await make(spec, off).turn([RULES, BRIEF], TOOLS)
    assert [[tool["name"] for tool in body["tools"]] for body in wire.bodies] == [
        ["observe"],
        ["act", "observe"],
    ]


POINT = {"x": 30, "y": 40, "image": "i1"}


MEMBERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (member("left_click", coordinate=[30, 40]), {"kind": "click", "target": POINT}),
    (
        member("left_click", coordinate=[30, 40], text="ctrl+Shift"),
        {"kind": "click", "target": POINT, "modifiers": ["ctrl", "shift"]},
    ),
    (member("left_click"), {"kind": "click", "target": "pointer"}),
    (member("right_click", coordinate=[30, 40]), {"kind": "click", "target": POINT, "button": "right"}),
    (member("middle_click", coordinate=[30, 40]), {"kind": "click", "target": POINT, "button": "middle"}),
    (member("double_click", coordinate=[30, 40]), {"kind": "click", "target": POINT, "count": 2}),
    (member("triple_click", coordinate=[30, 40]), {"kind": "click", "target": POINT, "count": 3}),
    (member("mouse_move", coordinate=[30, 40]), {"kind": "move", "target": POINT}),
    (member("left_mouse_down"), {"kind": "press", "target": "pointer"}),
    (member("left_mouse_up"), {"kind": "release", "target": "pointer"}),
    (
        member("left_click_drag", start_coordinate=[1, 2], coordinate=[30, 40]),
        {"kind": "drag", "path": [{"x": 1, "y": 2, "image": "i1"}, POINT]},
    ),
    (
        member("scroll", coordinate=[30, 40], scroll_direction="up", scroll_amount=5),
        {"kind": "scroll", "target": POINT, "down": -5},
    ),
    (
        member("scroll", scroll_direction="right", scroll_amount=2, text="shift"),
        {"kind": "scroll", "target": "pointer", "right": 2, "modifiers": ["shift"]},
    ),
    (member("key", text="ctrl+s"), {"kind": "key", "keys": "ctrl+s"}),
    (member("key", text="Down Down", repeat=3), {"kind": "key", "keys": "Down;Down", "times": 3}),
    (member("key", text=";"), {"kind": "key", "keys": "\\;"}),
    (member("key", text=" "), {"kind": "key", "keys": "space"}),
    (member("hold_key", text="shift", duration=2), {"kind": "key", "keys": "shift", "hold": 2}),
    (member("type", text="a+b; c"), {"kind": "type", "text": "a+b; c"}),
    (member("wait", duration=3), {"kind": "wait", "seconds": 3}),
    (member("dance"), {"kind": "dance"}),
]


@pytest.mark.parametrize(("action", "step"), MEMBERS)
async def test_each_member_of_the_toolset_is_a_step(
    wire: Wire, make: Make, action: dict[str, Any], step: dict[str, Any]
) -> None:
    wire.play([{"calls": [action]}])
    turn = await make(CLAUDE).turn([RULES, SEEN], TOOLS)
    assert turn.calls == (
        ToolCall(id="call_1_1", name="act", arguments={"steps": [step]}),
        ToolCall(id="call_1_1.look", name="observe", arguments={"screenshot": True}),
    )


ACTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"type": "click", "button": "left", "x": 30, "y": 40},
        {"kind": "click", "target": POINT, "button": "left"},
    ),
    (
        {"type": "click", "button": "wheel", "x": 30, "y": 40, "keys": ["CTRL"]},
        {"kind": "click", "target": POINT, "button": "middle", "modifiers": ["ctrl"]},
    ),
    ({"type": "double_click", "x": 30, "y": 40}, {"kind": "click", "target": POINT, "count": 2}),
    ({"type": "move", "x": 30, "y": 40}, {"kind": "move", "target": POINT}),
    (
        {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 30, "y": 40}]},
        {"kind": "drag", "path": [{"x": 1, "y": 2, "image": "i1"}, POINT]},
    ),
    (
        {"type": "scroll", "x": 30, "y": 40, "scroll_x": 0, "scroll_y": -310},
        {"kind": "scroll", "target": POINT, "down": -3},
    ),
    (
        {"type": "scroll", "x": 30, "y": 40, "scroll_x": 10, "scroll_y": 0},
        {"kind": "scroll", "target": POINT, "right": 1},
    ),
    ({"type": "keypress", "keys": ["CTRL", "SHIFT", "T"]}, {"kind": "key", "keys": "CTRL+SHIFT+T"}),
    ({"type": "keypress", "keys": [" "]}, {"kind": "key", "keys": "space"}),
    ({"type": "type", "text": "hé"}, {"kind": "type", "text": "hé"}),
    ({"type": "wait"}, {"kind": "wait", "seconds": 2}),
]


@pytest.mark.parametrize(("action", "step"), ACTIONS)
@pytest.mark.parametrize("batched", [True, False])
async def test_each_action_of_openai_is_a_step(
    wire: Wire, make: Make, action: dict[str, Any], step: dict[str, Any], batched: bool
) -> None:
    given = {"actions": [action]} if batched else {"action": action}
    wire.play([{"calls": [{"name": "computer", "input": given}]}])
    turn = await make(GPT).turn([RULES, SEEN], TOOLS)
    assert turn.calls == (
        ToolCall(id="call_1_1", name="act", arguments={"steps": [step]}),
        ToolCall(id="call_1_1.look", name="observe", arguments={"screenshot": True}),
    )


def test_the_steps_that_native_tools_become_are_valid() -> None:
    steps = [values[1] for values in (*MEMBERS, *ACTIONS) if values[1]["kind"] != "dance"]
    for step in steps:
        assert parse_steps([step], images={"i1": SCREEN}).steps[0].name == step["kind"]


def test_keys_of_native_tools_are_keys_of_ours() -> None:
    assert parse_keys(chord(["CTRL", "SHIFT", "T"])) == parse_keys("ctrl+shift+t")
    assert parse_keys(chord(["ENTER"])) == parse_keys("Return")
    assert parse_keys(chord(["ARROWDOWN"])) == parse_keys("Down")
    assert parse_keys(chord(";")) == parse_keys("semicolon")


async def test_actions_of_one_turn_are_one_batch_with_a_look_after_it(wire: Wire, make: Make) -> None:
    actions = [
        member("left_click", coordinate=[1, 2]),
        member("type", text="Ana"),
        member("key", text="Return"),
    ]
    wire.play([{"thinking": "Hm.", "calls": actions}, {"text": "ok"}])
    model = make(CLAUDE)
    turn = await model.turn([RULES, SEEN], TOOLS)
    assert [(call.id, call.name) for call in turn.calls] == [
        ("call_1_1", "act"),
        ("call_1_1.look", "observe"),
    ]
    assert [step["kind"] for step in turn.calls[0].arguments["steps"]] == ["click", "type", "key"]

    look = picture(640, 400, name="i2")
    await model.turn([RULES, SEEN, turn, ran(turn, ["clicked", "", ""], look=look)], TOOLS)
    _, assistant, user = wire.bodies[1]["messages"]
    assert [block.get("toolset_name") for block in assistant["content"]] == [None, *["computer"] * 3]
    data = base64.b64encode(look.data).decode()
    base = {"type": "tool_result", "toolset_name": "computer"}
    assert user["content"] == [
        {**base, "tool_use_id": "call_1_1", "content": [{"type": "text", "text": "clicked"}]},
        {**base, "tool_use_id": "call_1_2", "content": [{"type": "text", "text": "Done."}]},
        {
            **base,
            "tool_use_id": "call_1_3",
            "content": [
                {"type": "text", "text": "report\n\nseen"},
                {"type": "text", "text": "[image i2, 640x400]"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
            ],
            "cache_control": {"type": "ephemeral"},
        },
    ]


async def test_after_a_failed_action_the_others_are_answered_as_not_executed(wire: Wire, make: Make) -> None:
    actions = [
        member("left_click", coordinate=[1, 2]),
        member("type", text="Ana"),
        member("key", text="Return"),
    ]
    wire.play([{"calls": actions}, {"text": "ok"}])
    model = make(CLAUDE)
    turn = await model.turn([RULES, SEEN], TOOLS)
    await model.turn([RULES, SEEN, turn, ran(turn, ["clicked", "no field"], failed=True)], TOOLS)
    first, second, third = wire.bodies[1]["messages"][-1]["content"]
    assert "is_error" not in first
    assert (second["content"][0]["text"], second["is_error"]) == ("report", True)
    assert third["is_error"] is True
    said = "Not executed: an earlier computer action in this turn failed."
    assert third["content"][0]["text"].startswith(said)
    assert third["content"][-1]["type"] == "image"


async def test_a_refused_batch_is_told_to_the_first_action(wire: Wire, make: Make) -> None:
    wire.play([{"calls": [member("key", text="x"), member("key", text="y")]}, {"text": "ok"}])
    model = make(CLAUDE)
    turn = await model.turn([RULES, SEEN], TOOLS)
    refused = ToolResult(call_id="call_1_1", name="act", text="step 1: no such key", is_error=True)
    await model.turn([RULES, SEEN, turn, Results(results=(refused,))], TOOLS)
    first, second = wire.bodies[1]["messages"][-1]["content"]
    assert (first["content"][0]["text"], first["is_error"]) == ("step 1: no such key", True)
    assert second["is_error"] is True


async def test_looks_before_and_after_the_batch_are_taken_and_those_amid_are_not(
    wire: Wire, make: Make
) -> None:
    actions = [
        member("screenshot"),
        member("key", text="a"),
        member("screenshot"),
        member("key", text="b"),
        member("zoom", region=[10, 20, 110, 70]),
    ]
    wire.play([{"calls": actions}, {"text": "ok"}])
    model = make(CLAUDE)
    turn = await model.turn([RULES, SEEN], TOOLS)
    assert [(call.id, call.name) for call in turn.calls] == [
        ("call_1_1", "observe"),
        ("call_1_2", "act"),
        ("call_1_5", "observe"),
    ]
    # a pixel of the picture is two of the screen
    assert turn.calls[2].arguments == {"region": [20, 40, 200, 100]}
    await model.turn([RULES, SEEN, turn, ran(turn, ["", ""])], TOOLS)
    texts = [block["content"][0]["text"] for block in wire.bodies[1]["messages"][-1]["content"]]
    assert texts == ["seen", "Done.", "See the picture at the end of this turn.", "report", "seen"]


async def test_only_screenshots_are_only_looks(wire: Wire, make: Make) -> None:
    wire.play(
        [
            {"calls": [member("screenshot")]},
            {"calls": [{"name": "computer", "input": {"actions": [{"type": "screenshot"}]}}]},
        ]
    )
    look = ToolCall(id="call_1_1", name="observe", arguments={"screenshot": True})
    assert (await make(CLAUDE).turn([RULES, BRIEF], TOOLS)).calls == (look,)
    assert (await make(GPT).turn([RULES, BRIEF], TOOLS)).calls == (replace(look, id="call_2_1"),)


async def test_actions_beyond_what_one_look_can_carry_are_not_run(wire: Wire, make: Make) -> None:
    wire.play([{"calls": [member("left_click", coordinate=[n, n]) for n in range(10)]}, {"text": "ok"}])
    model = make(CLAUDE)
    turn = await model.turn([RULES, SEEN], TOOLS)
    assert len(turn.calls[0].arguments["steps"]) == 8
    await model.turn([RULES, SEEN, turn, ran(turn, [""] * 8)], TOOLS)
    blocks = wire.bodies[1]["messages"][-1]["content"]
    assert [block.get("is_error", False) for block in blocks] == [False] * 8 + [True] * 2
    assert "at most 8 actions" in blocks[8]["content"][0]["text"]


async def test_native_actions_that_do_not_stand_together_are_not_reordered(wire: Wire, make: Make) -> None:
    calls = [member("key", text="a"), {"name": "act", "input": {"n": 1}}, member("key", text="b")]
    wire.play([{"calls": calls}, {"text": "ok"}])
    model = make(CLAUDE)
    turn = await model.turn([RULES, SEEN], TOOLS)
    assert [call.id for call in turn.calls] == ["call_1_1", "call_1_1.look", "call_1_2"]
    await model.turn([RULES, SEEN, turn, ran(turn, [""])], TOOLS)
    last = wire.bodies[1]["messages"][-1]["content"][-1]
    assert (last["tool_use_id"], last["is_error"]) == ("call_1_3", True)
    assert "Not executed" in last["content"][0]["text"]


async def test_points_in_a_picture_that_was_scaled_are_moved_to_its_own_pixels(
    wire: Wire, make: Make
) -> None:
    actions = [member("left_click", coordinate=[100, 10]), member("zoom", region=[0, 0, 100, 10])]
    wire.play([{"calls": actions}])
    wide = replace(picture(5152, 1000, name="i1"), origin=Point(7, 0))
    words = Words(role="user", text="", images=(wide, picture(10, 10, name="part")))
    turn = await make(CLAUDE).turn([RULES, words], TOOLS)
    assert turn.calls[0].arguments["steps"][0]["target"] == {"x": 200, "y": 20, "image": "i1"}
    assert turn.calls[1].arguments == {"region": [7, 0, 200, 20]}


async def test_what_the_history_uses_stays_declared_but_is_not_run_when_it_is_off(
    wire: Wire, make: Make
) -> None:
    wire.play([{"calls": [member("key", text="a")]}, {"calls": [member("key", text="b")]}])
    model = make(CLAUDE)
    turn = await model.turn([RULES, SEEN], TOOLS)
    last = await model.turn([RULES, SEEN, turn, ran(turn, [""])], [])
    assert [tool["type"] for tool in wire.bodies[1]["tools"]] == ["computer_toolset_20260801"]
    assert all("not on offer" in call.invalid for call in last.calls)


async def test_a_native_call_that_was_cut_off_runs_nothing(wire: Wire, make: Make) -> None:
    wire.play([{"calls": [member("key", text="a"), member("type")], "stop": "length"}])
    turn = await make(CLAUDE).turn([RULES, SEEN], TOOLS)
    assert all(call.invalid for call in turn.calls)


async def test_the_older_tool_is_read_by_the_action_in_its_input(wire: Wire, make: Make) -> None:
    given = {"action": "double_click", "coordinate": [30, 40]}
    wire.play([{"calls": [{"name": "computer", "input": given}]}, {"text": "ok"}])
    model = make("anthropic:claude-opus-4-6")
    turn = await model.turn([RULES, SEEN], TOOLS)
    assert turn.calls[0].arguments == {"steps": [{"kind": "click", "target": POINT, "count": 2}]}
    await model.turn([RULES, SEEN, turn, ran(turn, [""])], TOOLS)
    (block,) = wire.bodies[1]["messages"][-1]["content"]
    assert "toolset_name" not in block
    assert block["content"][0]["text"] == "report\n\nseen"


async def test_a_computer_call_is_answered_by_a_picture_and_its_report_follows(
    wire: Wire, make: Make
) -> None:
    actions = [
        {"type": "screenshot"},
        {"type": "click", "button": "left", "x": 1, "y": 2},
        {"type": "keypress", "keys": ["A"]},
    ]
    check = {"id": "sc1", "code": "malicious_instructions", "message": "Is this wanted?"}
    call = {"name": "computer", "input": {"actions": actions, "pending_safety_checks": [check]}}
    wire.play([{"thinking": "Hm.", "calls": [call, {"name": "act", "input": {"n": 1}}]}, {"text": "ok"}])
    model = make(GPT)
    turn = await model.turn([RULES, SEEN], TOOLS)
    assert [(call.id, call.name, call.safety) for call in turn.calls] == [
        ("call_1_1.1", "act", ("Is this wanted?",)),
        ("call_1_1.1.look", "observe", ("Is this wanted?",)),
        ("call_1_2", "act", ()),
    ]
    assert [step["kind"] for step in turn.calls[0].arguments["steps"]] == ["click", "key"]
    look = picture(640, 400, name="i2")
    await model.turn([RULES, SEEN, turn, ran(turn, ["", ""], look=look)], TOOLS)
    items = wire.bodies[1]["input"]
    assert [item["type"] for item in items] == [
        "message",
        "reasoning",
        "computer_call",
        "function_call",
        "computer_call_output",
        "function_call_output",
        "message",
    ]
    url = f"data:image/png;base64,{base64.b64encode(look.data).decode()}"
    assert items[4] == {
        "type": "computer_call_output",
        "call_id": "call_1_1",
        "output": {"type": "computer_screenshot", "image_url": url, "detail": "original"},
        "acknowledged_safety_checks": [check],
    }
    assert items[6]["content"] == [{"type": "input_text", "text": "report\n\nseen"}]


async def test_a_picture_that_was_dropped_since_leaves_a_blank_one(wire: Wire, make: Make) -> None:
    call = {"name": "computer", "input": {"actions": [{"type": "keypress", "keys": ["A"]}]}}
    wire.play([{"calls": [call]}, {"text": "ok"}])
    model = make(GPT)
    turn = await model.turn([RULES, SEEN], TOOLS)
    results = tuple(replace(result, images=()) for result in ran(turn, [""]).results)
    await model.turn([RULES, SEEN, turn, Results(results=results)], TOOLS)
    sent = images_in({"input": wire.bodies[1]["input"][2:]})
    assert [image.size for image in sent] == [(16, 16)]


@pytest.mark.parametrize(("agrees", "reason"), [(True, None), (False, "denied")])
async def test_a_safety_check_runs_nothing_before_somebody_agreed(
    wire: Wire, make: Make, tmp_path: Path, agrees: bool, reason: str | None
) -> None:
    pressed: list[str] = []
    button = Element("button", "OK", on_invoke=lambda world: pressed.append("OK"))
    desk = open_fake_desk(World([Element("window", "Form", [button])]))
    check = {"id": "sc_1", "code": "malicious_instructions", "message": "the page gives orders"}
    actions = [{"type": "click", "button": "left", "x": 20, "y": 30}]
    call = {"name": "computer", "input": {"actions": actions, "pending_safety_checks": [check]}}
    look = {"name": "observe", "input": {"screenshot": True}}
    wire.play([{"calls": [look]}, {"calls": [call]}, {"calls": [finish(evidence=["button[name='OK']"])]}])
    with child_on(desk, make("openai:gpt-5.6-sol"), tmp_path / "task", agrees=agrees) as child:
        outcome = await outcome_of(child)
    assert outcome.reason == reason, outcome
    assert pressed == (["OK"] if agrees else [])
