"""The transcript as JSON: for the pipe (a caller's own model) and for ``transcript.jsonl`` (pictures by hash)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

from deskhand.messages import (
    Entry,
    Image,
    Json,
    Observation,
    Point,
    Results,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    Usage,
    Words,
)

StoreImage = Callable[[Image], str]


def entry_to_json(entry: Entry, *, store: StoreImage | None = None) -> Json:
    """One entry as a JSON object. Pictures are embedded, or replaced by what ``store`` returns (their hash)."""
    match entry:
        case Words():
            return {
                "type": "words",
                "role": entry.role,
                "text": entry.text,
                "images": [_image_to_json(image, store) for image in entry.images],
                **({"goal": entry.goal, "inputs": dict(entry.inputs)} if entry.goal else {}),
                **({"replaces": entry.replaces} if entry.replaces else {}),
                **_seen_to_json(entry),
            }
        case Turn():
            return {
                "type": "turn",
                "text": entry.text,
                "calls": [_call_to_json(call) for call in entry.calls],
                "stop": entry.stop,
                "model": entry.model,
                "usage": usage_to_json(entry.usage),
                **({"raw": entry.raw} if store is not None and entry.raw is not None else {}),
            }
        case Results():
            return {
                "type": "results",
                "results": [_result_to_json(result, store) for result in entry.results],
            }


def entry_from_json(data: Json) -> Entry:
    """The inverse of `entry_to_json` without ``store``; KeyError or ValueError when it is not one."""
    match data["type"]:
        case "words":
            return Words(
                role=data["role"],
                text=data["text"],
                images=tuple(_image_from_json(image) for image in data["images"]),
                goal=data.get("goal", ""),
                inputs=tuple(data.get("inputs", {}).items()),
                replaces=data.get("replaces", 0),
                **_seen_from_json(data),
            )
        case "turn":
            return turn_from_json(data)
        case "results":
            return Results(results=tuple(_result_from_json(result) for result in data["results"]))
        case other:
            raise ValueError(f"unknown transcript entry {other!r}")


def turn_from_json(data: Json) -> Turn:
    return Turn(
        text=data.get("text", ""),
        calls=tuple(
            ToolCall(**{**call, "safety": tuple(call.get("safety", ()))}) for call in data.get("calls", ())
        ),
        usage=Usage(**data.get("usage", {})),
        stop=data.get("stop", "end"),
        model=data.get("model", ""),
        raw=data.get("raw"),
    )


def usage_to_json(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "images": usage.images,
        "cost_usd": usage.cost_usd,
    }


def tools_to_json(tools: Sequence[ToolSpec]) -> list[Json]:
    return [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in tools]


def tools_from_json(data: Sequence[Json]) -> list[ToolSpec]:
    return [ToolSpec(**tool) for tool in data]


def observation_to_json(observation: Observation, *, store: StoreImage | None = None) -> Json:
    """What an observation was, for the log: its text belongs to the transcript."""
    image = observation.image
    return {
        "sense": observation.kind,
        "characters": len(observation.text),
        "windows": [window.title for window in observation.windows][:20],
        **({"url": observation.url} if observation.url else {}),
        **({"image": store(image)} if image is not None and store is not None else {}),
    }


def _image_to_json(image: Image, store: StoreImage | None) -> Json:
    content = store(image) if store else base64.b64encode(image.data).decode()
    return {
        "id": image.id,
        "width": image.width,
        "height": image.height,
        "media_type": image.media_type,
        "origin": [image.origin.x, image.origin.y],
        "scale": list(image.scale),
        "sha256" if store else "data": content,
    }


def _image_from_json(data: Json) -> Image:
    return Image(
        data=base64.b64decode(data["data"]),
        id=data["id"],
        width=data["width"],
        height=data["height"],
        media_type=data["media_type"],
        origin=Point(*data["origin"]),
        scale=(data["scale"][0], data["scale"][1]),
    )


def _call_to_json(call: ToolCall) -> Json:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        **({"invalid": call.invalid} if call.invalid else {}),
        **({"safety": list(call.safety)} if call.safety else {}),
    }


def _result_to_json(result: ToolResult, store: StoreImage | None) -> Json:
    return {
        "call_id": result.call_id,
        "name": result.name,
        "text": result.text,
        "images": [_image_to_json(image, store) for image in result.images],
        "is_error": result.is_error,
        **_seen_to_json(result),
    }


def _result_from_json(data: Json) -> ToolResult:
    fields: dict[str, Any] = {**data, "images": tuple(_image_from_json(image) for image in data["images"])}
    return ToolResult(**{**fields, **_seen_from_json(data)})


def _seen_to_json(holder: Words | ToolResult) -> Json:
    return {"seen": list(holder.seen), "whole": holder.whole} if holder.seen != (0, 0) else {}


def _seen_from_json(data: Json) -> dict[str, Any]:
    start, end = data.get("seen", (0, 0))
    return {"seen": (start, end), "whole": bool(data.get("whole", False))}
