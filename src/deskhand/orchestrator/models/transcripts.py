"""What all providers need of a transcript: text that can be encoded, calls that are all answered."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from deskhand.messages import Entry, Image, Json, Results, ToolCall, ToolResult, Transcript, Turn, Words

_SURROGATE = re.compile("[\ud800-\udfff]")

NOT_RUN = "Not executed."
"""What the model is told about a call that nothing answered (the task was cut off and resumed)."""


def clean(value: Any) -> Any:
    """The same JSON value with each lone surrogate, which no server accepts, as U+FFFD."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if not value.isascii() else value
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def system_text(transcript: Transcript) -> str:
    """All system words, in their order."""
    return "\n\n".join(
        clean(entry.text)
        for entry in transcript
        if isinstance(entry, Words) and entry.role == "system" and entry.text
    )


def conversation(transcript: Transcript) -> Iterator[Entry]:
    """The entries that are not system words, each turn with calls followed by one answer to every one of its calls."""
    open_calls: tuple[ToolCall, ...] = ()
    for entry in transcript:
        if isinstance(entry, Results):
            if open_calls:
                yield _answers(open_calls, entry.results)
            open_calls = ()
            continue
        if isinstance(entry, Words) and entry.role == "system":
            continue
        if open_calls:
            yield _answers(open_calls, ())
            open_calls = ()
        yield entry
        if isinstance(entry, Turn):
            open_calls = entry.calls
    if open_calls:
        yield _answers(open_calls, ())


def _answers(calls: tuple[ToolCall, ...], results: tuple[ToolResult, ...]) -> Results:
    given = {result.call_id: result for result in results}
    missing = (ToolResult(call_id=call.id, name=call.name, text=NOT_RUN, is_error=True) for call in calls)
    return Results(results=tuple(given.get(other.call_id, other) for other in missing))


def own_content(turn: Turn, api: str, model: str) -> list[Json] | None:
    """The provider's own content of a turn, if this very model of this API wrote it; else None: rebuild it."""
    raw = turn.raw
    if isinstance(raw, dict) and raw.get("api") == api and raw.get("model") == model:
        content = raw.get("content")
        return content if isinstance(content, list) else None
    return None


def keep_content(api: str, model: str, content: list[Json]) -> Json:
    """What `own_content` finds again; JSON-ready, so that it survives a transcript file."""
    return {"api": api, "model": model, "content": content}


def image_label(image: Image) -> str:
    """How a picture is introduced, so that steps can name it."""
    return f"[image {image.id}, {image.width}x{image.height}]" if image.id else ""


def unseen(image: Image) -> str:
    """What stands for a picture that the model cannot see."""
    name = f"image {image.id}" if image.id else "image"
    return f"[{name}, {image.width}x{image.height}, was left out: this model cannot see images]"


def parse_arguments(text: Any) -> tuple[Json, str]:
    """Arguments as (object, ""), or ({}, the raw text) when they are not a JSON object. Nothing at all means {}."""
    if isinstance(text, dict):
        return text, ""
    if text is None or (isinstance(text, str) and not text.strip()):
        return {}, ""
    if not isinstance(text, str):
        return {}, json.dumps(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}, text
    return (value, "") if isinstance(value, dict) else ({}, text)


def cache_key(system: str) -> str:
    """The same for every request of one task and its like: requests with it share a cached prefix."""
    return "deskhand-" + hashlib.sha256(system.encode()).hexdigest()[:24]
