"""The vocabulary and its validation: what is refused, and what the refusal says."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.errors import InvalidStep
from deskhand.messages import Image
from deskhand.tools.actions import STEP_TYPES
from deskhand.tools.plan import parse_steps
from deskhand.tools.schema import act_schema, kinds_table, step_schema

IMAGES = {name: Image(data=b"", width=100, height=80, id=name) for name in ("i1", "i2")}

WHOLE = [
    {"kind": "click", "target": "e3", "button": "right", "count": 2, "modifiers": ["ctrl"]},
    {"kind": "press", "target": "pointer"},
    {"kind": "release"},
    {"kind": "move", "target": {"x": 3, "y": 4}},
    {"kind": "drag", "path": [{"x": 1, "y": 1}, {"x": 9, "y": 9, "image": "i1"}], "modifiers": ["shift"]},
    {"kind": "scroll", "down": 3},
    {"kind": "type", "text": "héllo", "target": "textbox[name='Name']", "enter": True},
    {"kind": "key", "keys": "ctrl+l;t:hello;kp:tab", "times": 2, "hold": 0.2},
    {"kind": "fill", "target": ["textbox[name='E-mail']", "textbox[name='Email']"], "text": ""},
    {"kind": "invoke", "target": "button[name='OK']", "optional": True},
    {"kind": "toggle", "target": "checkbox", "on": True},
    {"kind": "select", "target": "combobox", "option": "Blue"},
    {"kind": "expand", "target": "treeitem[name='x']"},
    {"kind": "focus", "target": "textbox"},
    {"kind": "menu", "path": ["File", "Save As…"]},
    {"kind": "launch", "app": ["xterm", "-e", "true"]},
    {"kind": "window", "do": "resize", "title": "x", "width": 3, "height": 4},
    {"kind": "clipboard"},
    {"kind": "navigate", "url": "https://example.org"},
    {"kind": "tab", "do": "close"},
    {"kind": "upload", "target": "button[name='File']", "files": ["/tmp/a"]},
    {"kind": "dialog", "accept": False},
    {"kind": "wait", "for": "button[name='Save']", "state": "absent", "timeout": 3},
    {"kind": "check", "selector": "heading[name='Done']"},
]


def refusal(*steps: Any, **options: Any) -> str:
    with pytest.raises(InvalidStep) as caught:
        parse_steps(list(steps), **options)
    return str(caught.value)


def test_every_kind_is_accepted_as_documented() -> None:
    for step in WHOLE:
        (parsed,) = parse_steps([step], images=IMAGES).steps
        assert parsed.asked() == step
    assert {step["kind"] for step in WHOLE} == set(STEP_TYPES)


def test_the_schema_shown_to_models_has_the_fields_of_every_kind() -> None:
    fields = set(step_schema()["properties"])
    for model in STEP_TYPES.values():
        assert {field.alias or name for name, field in model.model_fields.items()} <= fields
    text = json.dumps(act_schema())
    assert "$ref" not in text
    assert "$defs" not in text
    assert len(text) / 4 < 1100, "tokens of the schema"
    assert all(f"- {kind}(" in kinds_table() for kind in STEP_TYPES)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"kind": "clik", "target": "e1"}, ("step 1", "'clik'", "click")),
        ({"kind": "double_click", "target": "e1"}, ("click with count=2",)),
        ({"target": "e1"}, ("'kind' is missing", "click")),
        ({"kind": "click"}, ("step 1 (click)", "'target' is missing", "selector")),
        ({"kind": "click", "target": 3}, ("'target'", "not 3", "selector")),
        ({"kind": "click", "target": "e1", "buton": "left"}, ("'buton'", "'button'")),
        ({"kind": "click", "target": "e1", "button": "leftish"}, ("'button'", "'middle'", "'leftish'")),
        ({"kind": "click", "target": "e1", "times": 21}, ("'times'", "20")),
        ({"kind": "scroll"}, ("down or right",)),
        ({"kind": "key", "keys": "contrl+x"}, ("contrl", "control")),
        ({"kind": "click", "target": "button[nme='x']"}, ("character 8", "name")),
        ({"kind": "check", "selector": "button["}, ("check", "selector")),
        ({"kind": "fill", "target": "textbox", "text": "x", "until": "button["}, ("until",)),
        ({"kind": "wait"}, ("seconds",)),
        ({"kind": "window", "do": "move"}, ("x and y",)),
        ({"kind": "navigate"}, ("url",)),
        ({"kind": "drag", "path": ["e1"]}, ("path",)),
        ({"kind": "click", "target": {"x": 100, "y": 5}}, ("outside image i2", "0–99")),
        ({"kind": "click", "target": {"x": 1, "y": 5, "image": "i9"}}, ("'i9'", "i1, i2")),
        ({"kind": "click", "target": {"x": float("nan"), "y": 5}}, ("target",)),
        (7, ("must be an object",)),
    ],
)
def test_a_wrong_step_is_refused_with_what_would_be_right(step: Any, words: tuple[str, ...]) -> None:
    said = refusal(step, images=IMAGES)
    for word in words:
        assert word in said


def test_the_step_that_is_wrong_is_named() -> None:
    assert refusal({"kind": "release"}, {"kind": "click"}).startswith("step 2 (click)")


def test_a_batch_of_selectors_may_have_32_steps_and_not_33() -> None:
    step = {"kind": "click", "target": "button[name='7']"}
    assert len(parse_steps([step] * 32).steps) == 32
    assert "at most 32" in refusal(*[step] * 33)


@pytest.mark.parametrize("target", ["e1", {"x": 1, "y": 1}, ["button[name='x']", "e2"]])
def test_a_batch_that_trusts_one_look_may_have_8_steps_and_not_9(target: Any) -> None:
    step = {"kind": "click", "target": target}
    rest = [{"kind": "key", "keys": "Return"}] * 7
    assert len(parse_steps([*rest, step]).steps) == 8
    assert "at most 8" in refusal(*rest, {"kind": "release"}, step)


def test_a_point_without_any_image_is_refused() -> None:
    assert "no image" in refusal({"kind": "click", "target": {"x": 1, "y": 1}}, images={})


def test_nulls_count_as_absent_fields() -> None:
    (step,) = parse_steps([{"kind": "click", "target": "button", "button": None, "text": None}]).steps
    assert step.asked() == {"kind": "click", "target": "button"}


def test_a_wait_for_change_may_be_said_in_two_ways() -> None:
    one = parse_steps([{"kind": "wait", "for": "change"}])
    assert one == parse_steps([{"kind": "wait", "change": True}])


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(
    anything,
    st.sampled_from([*STEP_TYPES, "x"]),
    st.dictionaries(st.sampled_from(list(step_schema()["properties"])), anything),
)
def test_any_input_is_either_a_plan_or_refused(raw: Any, kind: str, fields: dict[str, Any]) -> None:
    for batch in (raw, [raw], [fields | {"kind": kind}]):
        with contextlib.suppress(InvalidStep):
            assert parse_steps(batch, images=IMAGES).steps
