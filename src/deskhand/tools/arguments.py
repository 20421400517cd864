"""The arguments of the child's tools besides ``act``, as pydantic models; their schemas come from here."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from deskhand.messages import Json
from deskhand.tools.actions import OnNoChange
from deskhand.tools.step import Words

Pixels: TypeAlias = Annotated[int, Field(ge=-32768, le=32767)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=100_000)


class Observe(_Arguments):
    """What to look at, and how closely."""

    query: Words | None = Field(None, description="only elements whose name or value has these words")
    role: Words | None = Field(None, description="only elements of this role, such as button")
    window: Words | None = Field(None, description="part of a window's title; default: the active window")
    url: Words | None = Field(None, description="read this web page instead, without touching the open tabs")
    screenshot: bool = Field(False, description="add a picture")
    region: Annotated[list[Pixels], Field(min_length=4, max_length=4)] | None = Field(
        None, description="picture of [x, y, width, height] in screen pixels, enlarged to be read"
    )
    monitor: int | None = Field(
        None, ge=1, le=32, description="picture of this monitor, from 1, left to right"
    )
    limit: int | None = Field(None, ge=1, le=2000, description="at most so many elements")
    offset: int = Field(0, ge=0, description="leave out so many elements first")
    detail: bool = Field(False, description="with descriptions, rectangles, actions, addresses")
    clicks: int = Field(
        0, ge=0, le=8, description="instead: a picture of where your last clicks on pixels hit"
    )
    text: bool = Field(False, description="read text that is only pixels: pictures, canvases, PDFs")


class Act(_Arguments):
    """A batch of steps; `tools.plan` validates them by kind."""

    steps: Any
    on_no_change: OnNoChange = "auto"


class Find(_Arguments):
    """What to search for."""

    selector: Words
    limit: int = Field(20, ge=1, le=50)


class WaitFor(_Arguments):
    """What to wait for."""

    selector: Words = Field(description="selector, or 'change' for any change on the screen")
    state: Literal["present", "absent"] = "present"
    timeout: float = Field(10, gt=0, le=120, description="seconds")


class Finish(_Arguments):
    """The end of the task."""

    result: Words = Field(description="for the caller: every fact that was asked for, in your own words")
    status: Literal["success", "failure"] = "success"
    reason: Literal["infeasible", "gave_up"] | None = Field(None, description="why it failed")
    evidence: Annotated[list[Words], Field(max_length=20)] = Field(
        default_factory=list,
        description="selectors that match, verbatim quotes of visible text, or absent:SELECTOR for what must be gone",
    )
    data: Any = Field(None, description="the typed output, when one was asked for")


class Ask(_Arguments):
    """A question to the caller."""

    question: Words
    options: Annotated[list[Words], Field(max_length=20)] = Field(default_factory=list)
    clause: str | None = Field(None, description="the words of the goal that are unclear")
    reason: Literal["question", "not_understood"] = "question"


def schema_of(model: type[_Arguments]) -> Json:
    """The model's JSON schema without titles, defaults and nulls."""
    whole = model.model_json_schema()
    properties = {name: _plain(shape) for name, shape in whole["properties"].items()}
    schema: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    if whole.get("required"):
        schema["required"] = whole["required"]
    return schema


_KEPT = ("type", "enum", "description", "items", "anyOf")


def _plain(shape: Json) -> Json:
    kept: Json = {key: value for key, value in shape.items() if key in _KEPT}
    if "anyOf" in kept:
        options = [_plain(each) for each in kept.pop("anyOf") if each.get("type") != "null"]
        only: Json = options[0] if len(options) == 1 else {"anyOf": options}
        kept = only | kept
    if "items" in kept:
        kept["items"] = _plain(kept["items"])
    return kept
