"""Streamed replies put together: server-sent events to the JSON object that the same request gives in one piece."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Protocol

from deskhand.messages import Json

DONE = "[DONE]"
"""The data of an event that ends a stream of Chat Completions."""


class Assembler(Protocol):
    """Takes the events of one reply. ``complete`` once nothing more can come, ``usable`` once nothing more has to."""

    complete: bool
    usable: bool

    def add(self, event: Json) -> None:
        """Raises KeyError, TypeError, ValueError, IndexError or AttributeError for what the format does not allow."""

    def whole(self) -> Json:
        """The reply as it would have come in one piece."""


async def event_data(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """The data of each server-sent event, delimited as in the HTML standard; other fields and comments are left out."""
    data: list[str] = []
    async for line in lines:
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
    if data:
        yield "\n".join(data)


class MessagesStream:
    """Anthropic Messages: blocks that grow by deltas."""

    def __init__(self) -> None:
        self.complete = self.usable = False
        self._message: Json = {}
        self._blocks: dict[int, Json] = {}
        self._inputs: dict[int, str] = {}

    def add(self, event: Json) -> None:
        match event.get("type"):
            case "message_start":
                self._message = dict(event["message"])
            case "content_block_start":
                self._blocks[event["index"]] = dict(event["content_block"])
            case "content_block_delta":
                self._grow(event["index"], dict(event["delta"]))
            case "message_delta":
                usage = {key: count for key, count in (event.get("usage") or {}).items() if count is not None}
                self._message |= event["delta"]
                self._message["usage"] = {**(self._message.get("usage") or {}), **usage}
            case "message_stop":
                self.complete = self.usable = bool(self._message)

    def whole(self) -> Json:
        content = []
        for index, block in sorted(self._blocks.items()):
            if text := self._inputs.get(index):
                block = {**block, "input": _parsed(text)}
            content.append(block)
        return {**self._message, "content": content}

    def _grow(self, index: int, delta: Json) -> None:
        block, kind = self._blocks[index], delta.pop("type")
        if kind == "input_json_delta":
            self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        else:  # text, thinking, its signature, and what may come to be
            for key, more in delta.items():
                block[key] = block[key] + more if isinstance(block.get(key), str) else more


class ChatStream:
    """Chat Completions: one message that grows by deltas. Usage may come after the last of them, or never."""

    def __init__(self) -> None:
        self.complete = self.usable = False
        self._whole: Json = {}
        self._message: Json = {"role": "assistant", "content": None}
        self._calls: list[Json] = []
        self._indices: list[Any] = []
        self._finish: str | None = None

    def add(self, event: Json) -> None:
        self._whole |= {key: event[key] for key in ("id", "model", "usage") if event.get(key)}
        for choice in event.get("choices") or []:
            if choice.get("index") not in (None, 0):
                continue
            if choice.get("message"):  # some servers close with the whole of it
                self._message |= choice["message"]
            self._grow(choice.get("delta") or {})
            if choice.get("finish_reason"):
                self._finish, self.usable = choice["finish_reason"], True

    def whole(self) -> Json:
        message = {**self._message, "tool_calls": self._calls} if self._calls else self._message
        return {
            **self._whole,
            "choices": [{"index": 0, "message": message, "finish_reason": self._finish}],
        }

    def _grow(self, delta: Json) -> None:
        for key, more in delta.items():
            have = self._message.get(key)
            if key == "tool_calls":
                for part in more or []:
                    self._grow_call(part)
            elif key == "role" or more is None:
                continue
            elif isinstance(have, str) and isinstance(more, str):
                self._message[key] = have + more
            elif isinstance(have, list) and isinstance(more, list):
                self._message[key] = _merged(have, more)
            else:
                self._message[key] = more

    def _grow_call(self, part: Json) -> None:
        """Calls are told apart by index; by a new id where a server gives all the same index, or none."""
        index, id_ = part.get("index"), part.get("id")
        at = next((n for n in reversed(range(len(self._calls))) if self._indices[n] == index), None)
        if at is None or (id_ and self._calls[at]["id"] and id_ != self._calls[at]["id"]):
            at = len(self._calls)
            self._calls.append(
                {"id": id_ or "", "type": "function", "function": {"name": "", "arguments": ""}}
            )
            self._indices.append(index)
        call, function = self._calls[at], part.get("function") or {}
        call["id"] = call["id"] or id_ or ""
        call["function"]["name"] = call["function"]["name"] or function.get("name") or ""
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # some servers send an object where text has to be
            arguments = json.dumps(arguments)
        call["function"]["arguments"] += arguments or ""


class ResponsesStream:
    """OpenAI Responses: the last event holds the whole response; its items have come before, one by one."""

    def __init__(self) -> None:
        self.complete = self.usable = False
        self._response: Json = {}
        self._items: dict[int, Json] = {}

    def add(self, event: Json) -> None:
        match event.get("type"):
            case "response.output_item.done":
                self._items[event["output_index"]] = event["item"]
            case "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled":
                self._response = dict(event["response"])
                self.complete = self.usable = True

    def whole(self) -> Json:
        if not self._response.get("output") and self._items:  # not every server repeats them
            return {**self._response, "output": [item for _, item in sorted(self._items.items())]}
        return self._response


def _parsed(text: str) -> Any:
    """Arguments of a call; the text itself when a reply was cut off inside of them."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _merged(have: list[Any], more: list[Any]) -> list[Any]:
    """Two lists of parts as one: a part with the index of an earlier one carries its text on."""
    merged = list(have)
    for part in more:
        index = part.get("index") if isinstance(part, dict) else None
        at = next(
            (n for n, old in enumerate(merged) if index is not None and old.get("index") == index), None
        )
        if at is None:
            merged.append(part)
        else:
            texts = {key: merged[at].get(key, "") + part[key] for key in ("text", "summary") if part.get(key)}
            merged[at] = {**merged[at], **{k: v for k, v in part.items() if v is not None}, **texts}
    return merged
