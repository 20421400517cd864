"""The three wire formats of `wire`: a scripted reply as each provider would write it, whole and as events."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

Json: TypeAlias = dict[str, Any]
Events: TypeAlias = list[tuple[str, Json]]


class Asked(Protocol):
    """What an encoder needs to know of the request."""

    @property
    def body(self) -> Json: ...
    @property
    def number(self) -> int: ...


PIECE = 24
"""Characters of each delta of a streamed reply."""

_STOPS = {
    "end": ("end_turn", "stop", None),
    "calls": ("tool_use", "tool_calls", None),
    "length": ("max_tokens", "length", "max_output_tokens"),
    "refusal": ("refusal", "content_filter", "content_filter"),
}


def event_bytes(event: tuple[str, Json]) -> bytes:
    name, data = event
    text = "[DONE]" if name == "done" else json.dumps(data)
    return (f"event: {name}\n" if name not in ("", "done") else "").encode() + f"data: {text}\n\n".encode()


def error_body(path: str, reply: Json) -> Json:
    message, code = reply.get("message", "refused on purpose"), reply.get("code")
    if path.startswith("/v1/messages"):
        return {"type": "error", "error": {"type": code or "api_error", "message": message}}
    return {"error": {"message": message, "type": "error", "code": code, "param": None}}


def _pieces(text: str) -> list[str]:
    return [text[n : n + PIECE] for n in range(0, len(text), PIECE)] or [""]


def _stop(reply: Json) -> tuple[str, str, str | None]:
    return _STOPS[reply.get("stop") or ("calls" if reply.get("calls") else "end")]


def _counts(request: Asked, reply: Json) -> tuple[int, int, int, int]:
    usage = reply.get("usage", {})
    counted = usage.get("input", len(json.dumps(request.body)) // 4)
    output = usage.get("output", len(json.dumps(reply)) // 4)
    return counted, output, usage.get("cached", 0), usage.get("written", 0)


def _call_id(request: Asked, call: Json, number: int) -> str:
    return str(call.get("id", f"call_{request.number + 1}_{number + 1}"))


def _arguments(call: Json) -> str:
    return str(call["arguments"]) if "arguments" in call else json.dumps(call.get("input", {}))


# --- Anthropic Messages ------------------------------------------------------------------------------------------


def _messages(request: Asked, reply: Json) -> tuple[Json, Events]:
    content: list[Json] = []
    if "thinking" in reply:
        content.append(
            {"type": "thinking", "thinking": reply["thinking"], "signature": f"signed-{request.number}"}
        )
    if reply.get("text"):
        content.append({"type": "text", "text": reply["text"], "citations": None})
    for number, call in enumerate(reply.get("calls", [])):
        block: Json = {"type": "tool_use", "id": _call_id(request, call, number), "name": call["name"]}
        block["input"] = call.get("arguments", call.get("input", {}))
        if "toolset" in call:
            block["toolset_name"] = call["toolset"]
        content.append(block)
    counted, output, cached, written = _counts(request, reply)
    whole = {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model"),
        "content": content,
        "stop_reason": _stop(reply)[0],
        "stop_sequence": None,
        "usage": {
            "input_tokens": counted,
            "output_tokens": output,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written,
        },
    }
    return whole, _messages_events(whole)


def _messages_events(whole: Json) -> Events:
    events: Events = [("message_start", {"message": {**whole, "content": [], "stop_reason": None}})]
    for index, block in enumerate(whole["content"]):
        start, deltas = dict(block), []
        if block["type"] == "text":
            start["text"] = ""
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        elif block["type"] == "thinking":
            start["thinking"] = start["signature"] = ""
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            start["input"] = {}
            text = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *_pieces(text)]]
        events += [
            ("content_block_start", {"index": index, "content_block": start}),
            ("ping", {}),
        ]
        events += (("content_block_delta", {"index": index, "delta": delta}) for delta in deltas)
        events.append(("content_block_stop", {"index": index}))
    ending = {"delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None}, "usage": whole["usage"]}
    events += [("message_delta", ending), ("message_stop", {})]
    return [(name, {"type": name, **data}) for name, data in events]


# --- OpenAI Chat Completions -------------------------------------------------------------------------------------


def _chat(request: Asked, reply: Json) -> tuple[Json, Events]:
    message: Json = {"role": "assistant", "content": reply.get("text")}
    if "thinking" in reply:
        message["reasoning_content"] = reply["thinking"]
    calls = [
        {
            "id": _call_id(request, call, number),
            "type": "function",
            "function": {"name": call["name"], "arguments": _arguments(call)},
        }
        for number, call in enumerate(reply.get("calls", []))
    ]
    if calls:
        message["tool_calls"] = calls
    counted, output, cached, _ = _counts(request, reply)
    finish = _stop(reply)[1]
    whole = {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion",
        "created": 0,
        "model": request.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": counted + cached,
            "completion_tokens": output,
            "total_tokens": counted + cached + output,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }
    return whole, _chat_events(whole, message, bool(request.body.get("stream_options")))


def _chat_events(whole: Json, message: Json, counted: bool) -> Events:
    """Deltas, then why it ended, then (when asked for) what it took."""
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    for key in ("reasoning_content", "content"):
        deltas += ({key: piece} for piece in _pieces(message.get(key) or "") if piece)
    for index, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        deltas.append({"tool_calls": [{"index": index, **call, "function": {**function, "arguments": ""}}]})
        deltas += (
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in _pieces(function["arguments"])
        )
    finish = whole["choices"][0]["finish_reason"]
    chunk = {**whole, "object": "chat.completion.chunk", "usage": None}
    events: Events = [
        ("", {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas
    ]
    events.append(("", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
    if counted:
        events.append(("", {**chunk, "choices": [], "usage": whole["usage"]}))
    return [*events, ("done", {})]


# --- OpenAI Responses --------------------------------------------------------------------------------------------


def _responses(request: Asked, reply: Json) -> tuple[Json, Events]:
    functions = {tool.get("name") for tool in request.body.get("tools", []) if tool.get("type") == "function"}
    output: list[Json] = []
    if "thinking" in reply:
        summary = [{"type": "summary_text", "text": reply["thinking"]}]
        sealed = f"sealed-{request.number}"
        output.append(
            {
                "id": f"rs_{request.number}",
                "type": "reasoning",
                "summary": summary,
                "encrypted_content": sealed,
            }
        )
    if reply.get("text"):
        part = {"type": "output_text", "text": reply["text"], "annotations": []}
        output.append(
            {
                "id": f"msg_{request.number}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for number, call in enumerate(reply.get("calls", [])):
        item: Json = {"id": f"fc_{request.number}_{number}", "call_id": _call_id(request, call, number)}
        item["status"] = call.get("status", "completed")
        if call["name"] == "computer" and "computer" not in functions:
            item |= {"type": "computer_call", "pending_safety_checks": [], **call.get("input", {})}
        else:
            item |= {"type": "function_call", "name": call["name"], "arguments": _arguments(call)}
            item |= {"namespace": call["namespace"]} if "namespace" in call else {}
        output.append(item)
    counted, used, cached, written = _counts(request, reply)
    reason = _stop(reply)[2]
    whole = {
        "id": f"resp_{request.number}",
        "object": "response",
        "created_at": 0,
        "model": request.body.get("model"),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": counted + cached,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
            "output_tokens": used,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counted + cached + used,
        },
    }
    return whole, _responses_events(whole)


def _responses_events(whole: Json) -> Events:
    events: Events = [
        ("response.created", {"response": {**whole, "status": "in_progress", "output": [], "usage": None}})
    ]
    for index, item in enumerate(whole["output"]):
        events += [
            ("response.output_item.added", {"output_index": index, "item": item}),
            ("response.output_item.done", {"output_index": index, "item": item}),
        ]
    events.append((f"response.{whole['status']}", {"response": whole}))
    return [(name, {"type": name, "sequence_number": n, **data}) for n, (name, data) in enumerate(events)]


FORMATS: dict[str, Callable[[Asked, Json], tuple[Json, Events]]] = {
    "/messages": _messages,
    "/chat/completions": _chat,
    "/responses": _responses,
}
