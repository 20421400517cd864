"""The JSON schema of a batch as a model is shown it: one flat step object, small in tokens, without references.

A union of two dozen objects costs thousands of tokens and some providers refuse it. So the step is one object with all
fields, generated from `tools.actions` (which remains the only definition and still validates every step by its kind),
and the kinds with their fields are a table in the tool's description.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from deskhand.messages import Json
from deskhand.tools.actions import STEP_TYPES
from deskhand.tools.step import MAX_STEPS, StepBase

_TARGET: Json = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
        {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}, "image": {"type": "string"}},
            "required": ["x", "y"],
        },
    ]
}
_DROPPED = ("title", "default", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum")
_BOUNDS = ("exclusiveMinimum", "exclusiveMaximum")


@cache
def step_schema() -> Json:
    """The flat schema of one step: every field of every kind, ``kind`` required."""
    merged: dict[str, Json] = {"kind": {"type": "string", "enum": list(STEP_TYPES)}}
    for model in STEP_TYPES.values():
        for name, shape in _fields(model).items():
            merged[name] = _merge(merged[name], shape) if name in merged else shape
    common = [name for name in _fields(StepBase) if name in merged]
    ordered = [name for name in merged if name not in common] + common
    return {"type": "object", "properties": {name: merged[name] for name in ordered}, "required": ["kind"]}


def act_schema() -> Json:
    """The schema of ``act``'s arguments."""
    return {
        "type": "object",
        "properties": {
            "steps": {"type": "array", "minItems": 1, "maxItems": MAX_STEPS, "items": step_schema()},
            "on_no_change": {
                "type": "string",
                "enum": ["auto", "never", "always"],
                "description": "stop when a step changes nothing; auto: only after click, key, invoke",
            },
        },
        "required": ["steps"],
        "additionalProperties": False,
    }


def kinds_table() -> str:
    """One line per kind: its own fields (``?`` marks optional ones) and what it does."""
    lines = []
    for kind, model in STEP_TYPES.items():
        fields = [
            (field.alias or name) + ("" if field.is_required() else "?")
            for name, field in model.model_fields.items()
            if name != "kind" and name not in StepBase.model_fields
        ]
        lines.append(f"- {kind}({', '.join(fields)}): {' '.join((model.__doc__ or '').split())}")
    return "\n".join(lines)


def _fields(model: type[StepBase]) -> dict[str, Json]:
    whole = model.model_json_schema(by_alias=True)
    definitions = whole.get("$defs", {})
    return {
        name: _compact(shape, definitions) for name, shape in whole["properties"].items() if name != "kind"
    }


def _compact(shape: Any, definitions: Json) -> Json:
    """The shape with references put in, and without what costs tokens and tells a model nothing."""
    if "$ref" in shape:
        shape = definitions[shape["$ref"].rsplit("/", 1)[-1]] | {
            k: v for k, v in shape.items() if k != "$ref"
        }
    kept = {key: value for key, value in shape.items() if key not in _DROPPED + _BOUNDS}
    description = {"description": kept["description"]} if "description" in kept else {}
    if "anyOf" in kept:
        options = [_compact(option, definitions) for option in kept["anyOf"] if option.get("type") != "null"]
        if len(options) == 1:
            return options[0] | description
        if any(option.get("type") == "object" for option in options):
            return _TARGET | description
        return {"anyOf": options} | description
    if "items" in kept:
        kept["items"] = _compact(kept["items"], definitions)
        kept["items"].pop("description", None)
    return kept


def _merge(one: Json, other: Json) -> Json:
    """One field that two kinds have: the union of what they take; the first description stands."""
    described = {"description": one.get("description") or other.get("description")}
    described = {key: value for key, value in described.items() if value}
    bare = [{k: v for k, v in shape.items() if k != "description"} for shape in (one, other)]
    if bare[0] == bare[1]:
        return bare[0] | described
    if all("enum" in shape for shape in bare):
        return {"type": "string", "enum": list(dict.fromkeys(bare[0]["enum"] + bare[1]["enum"]))} | described
    if all(shape.get("type") == "array" for shape in bare):
        return {"type": "array", "items": _widest(bare[0]["items"], bare[1]["items"])} | described
    options = [option for shape in bare for option in shape.get("anyOf", [shape])]
    unique = [option for index, option in enumerate(options) if option not in options[:index]]
    return {"anyOf": unique} | described


def _widest(one: Json, other: Json) -> Json:
    return one if "anyOf" in one else other
