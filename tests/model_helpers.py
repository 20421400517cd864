"""Transcripts, tools and pictures for the tests of the models."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import PIL.Image
import pytest

from deskhand.messages import Image, Model, ToolResult, ToolSpec, Words

Make: TypeAlias = Callable[..., Model]

BOTH_WAYS = ("streamed", "whole")
"""As ``REPLIES`` of a module: its tests run once with replies as events and once with replies in one piece."""

MOSTLY_STREAMED = ("streamed", pytest.param("whole", marks=pytest.mark.long))
"""The same where it makes a difference for few of them: in one piece with the long tests only."""

RULES = Words(role="system", text="You are a hand.")
BRIEF = Words(role="user", text="Do it")
TOOL = ToolSpec(
    name="act", description="Acts.", schema={"type": "object", "properties": {"n": {"type": "integer"}}}
)


def picture(width: int, height: int, *, name: str = "", noise: bool = False) -> Image:
    """A PNG of this size."""
    drawn = PIL.Image.effect_noise((width, height), 90) if noise else PIL.Image.new("RGB", (width, height))
    out = io.BytesIO()
    drawn.convert("RGB").save(out, "PNG")
    return Image(data=out.getvalue(), width=width, height=height, id=name)


def result(call_id: str, text: str, *images: Image, is_error: bool = False) -> ToolResult:
    """The answer to a call of `TOOL`."""
    return ToolResult(call_id=call_id, name=TOOL.name, text=text, images=images, is_error=is_error)


def images_in(body: dict[str, Any]) -> list[PIL.Image.Image]:
    """All pictures of a request, decoded."""
    found = re.findall(r'"(?:data:image/\w+;base64,)?((?:iVBOR|/9j/)[A-Za-z0-9+/=]+)"', json.dumps(body))
    return [PIL.Image.open(io.BytesIO(base64.b64decode(data))) for data in found]
