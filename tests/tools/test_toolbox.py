"""The child's tools: what is offered, and that every mistake of a model is answered with what would be right."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deskhand.messages import ToolCall, ToolResult
from deskhand.terms import Policy
from deskhand.tools.arguments import Ask, Finish
from deskhand.tools.toolbox import Toolbox, all_specs, parse_arguments
from fake_desk import Element, World, open_fake_desk


def world() -> World:
    def save(world: World) -> None:
        world.windows[0].children.append(Element("status", "Saved"))

    return World(
        [
            Element(
                "window",
                "Editor",
                [Element("textbox", "Text", value=""), Element("button", "Save", on_invoke=save)],
            )
        ]
    )


async def call(
    name: str, arguments: Any = None, *, policy: Policy | None = None, on: World | None = None
) -> ToolResult:
    box = Toolbox(open_fake_desk(on or world()), policy)
    return await box.call(ToolCall(id="c1", name=name, arguments=arguments or {}))


def test_the_tools_are_few_and_their_definitions_small() -> None:
    specs = all_specs()
    assert [spec.name for spec in specs] == ["observe", "act", "find", "wait_for", "finish", "ask"]
    for spec in specs:
        assert spec.schema["type"] == "object"
        assert spec.schema["additionalProperties"] is False
    size = len(json.dumps([(spec.name, spec.description, spec.schema) for spec in specs], ensure_ascii=False))
    assert size / 4 < 2700, "tokens of all tool definitions"


async def test_an_act_says_what_it_did_and_what_changed() -> None:
    box = Toolbox(open_fake_desk(world()))
    await box.call(ToolCall(id="c0", name="observe"))
    steps = [
        {"kind": "fill", "target": "textbox", "text": "hi"},
        {"kind": "click", "target": "button[name='Save']"},
    ]
    result = await box.call(ToolCall(id="c1", name="act", arguments={"steps": steps}))
    assert not result.is_error
    assert '1. fill textbox "Text" [e2] hi: done' in result.text
    assert "by pointer" not in result.text
    assert '+ status "Saved"' in result.text
    assert '~ textbox "Text"' not in result.text  # the step's own line has said what it holds
    assert result.batch is not None
    assert result.observation is not None
    assert result.observation.roots
    given = await box.call(
        ToolCall(id="c2", name="act", arguments={"steps": [{"kind": "fill", "target": "e2", "text": "ho"}]})
    )
    assert given.text.startswith('1. fill textbox "Text" ho: done')  # the ref was the child's own word


@pytest.mark.parametrize(
    "steps", ['[{"kind":"click","target":"button"}]', {"kind": "click", "target": "button"}]
)
async def test_steps_written_as_text_or_without_their_list_are_understood(steps: Any) -> None:
    result = await call("act", {"steps": steps})
    assert not result.is_error


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("click", {}, ("'click' does not exist", "observe, act")),
        ("act", {}, ("'steps' is missing",)),
        ("act", {"steps": "click it"}, ("list of step objects",)),
        ("act", {"steps": [{"kind": "click"}]}, ("step 1 (click)", "'target' is missing")),
        ("act", {"steps": [], "on_no_change": "maybe"}, ("on_no_change",)),
        ("observe", {"screenshoot": True}, ("'screenshoot'", "'screenshot'")),
        ("observe", {"region": [1, 2]}, ("'region'",)),
        ("find", {"selector": "buton"}, ("selector",)),
        ("wait_for", {"selector": "button", "state": "gone"}, ("'state'", "absent")),
        ("finish", {"status": "success"}, ("'result' is missing",)),
        ("finish", {"result": "x", "status": "done"}, ("'status'", "success")),
        ("ask", {}, ("'question' is missing",)),
    ],
)
async def test_a_wrong_call_is_answered_with_what_would_be_right(
    name: str, arguments: Any, words: tuple[str, ...]
) -> None:
    result = await call(name, arguments)
    assert result.is_error
    for word in words:
        assert word in result.text


async def test_arguments_that_are_not_json_are_an_error_that_says_so() -> None:
    result = await Toolbox(open_fake_desk(world())).call(ToolCall(id="c1", name="act", invalid='{"steps": ['))
    assert result.is_error
    assert "not a JSON object" in result.text


async def test_a_child_that_may_only_look_cannot_act() -> None:
    policy = Policy(tools=("observe", "find"))
    box = Toolbox(open_fake_desk(world()), policy)
    assert [spec.name for spec in box.specs()] == ["observe", "find", "finish", "ask"]
    result = await call("act", {"steps": [{"kind": "click", "target": "button"}]}, policy=policy)
    assert result.is_error
    assert "not allowed" in result.text


async def test_looking_back_at_clicks_before_there_were_any_says_so() -> None:
    result = await call("observe", {"clicks": 2})
    assert (result.text, result.images) == ("no pixels were clicked yet", ())


async def test_find_lists_places_and_never_picks() -> None:
    result = await call("find", {"selector": "*", "limit": 2})
    assert result.text.splitlines()[0] == '- window "Editor" [e1]'
    assert '- textbox "Text" [e2]: "" (in window "Editor")' in result.text
    assert "1 more of 3" in result.text


async def test_waiting_for_what_does_not_come_is_an_error_result() -> None:
    result = await call("wait_for", {"selector": "dialog", "timeout": 0.05})
    assert result.is_error
    assert "not there after 0.05 s" in result.text


async def test_a_step_that_could_not_be_done_makes_the_result_an_error() -> None:
    result = await call(
        "act", {"steps": [{"kind": "click", "target": "button[name='Quit']", "timeout": 0.05}]}
    )
    assert result.is_error
    assert result.batch is not None
    assert result.batch.steps[0].effect == "not_found"


def test_finish_and_ask_are_read_by_the_loop() -> None:
    done = parse_arguments(
        Finish, ToolCall(id="c", name="finish", arguments={"result": "408", "reason": None})
    )
    assert (done.status, done.evidence, done.reason) == ("success", [], None)
    asked = parse_arguments(
        Ask, ToolCall(id="c", name="ask", arguments={"question": "Which?", "options": ["a"]})
    )
    assert asked.options == ["a"]
