"""OpenAI Chat Completions, as any compatible server speaks it: entries to the wire and back."""

from __future__ import annotations

import json
import logging
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from deskhand.errors import ContextTooLong
from deskhand.messages import Image, Json, Results, Stop, ToolCall, ToolSpec, Transcript, Turn, Usage, Words
from deskhand.orchestrator.models.capabilities import Capabilities
from deskhand.orchestrator.models.images import Pictures
from deskhand.orchestrator.models.prices import cost_usd
from deskhand.orchestrator.models.streams import ChatStream
from deskhand.orchestrator.models.textcalls import find_calls
from deskhand.orchestrator.models.transcripts import (
    clean,
    conversation,
    image_label,
    keep_content,
    own_content,
    parse_arguments,
    system_text,
    unseen,
)
from deskhand.orchestrator.models.transport import MalformedReply, Remaining, StatusError, Transport

logger = logging.getLogger(__name__)

_API = "openai-chat"
_STOPS: dict[str, Stop] = {
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "content_filter": "refusal",
}
# What a message of the model may carry back to the server. Several servers want their reasoning back.
_REPLAYED = ("role", "content", "tool_calls", "reasoning_content", "reasoning", "reasoning_details")
_MAY_MEAN_NO_STREAM = frozenset({400, 422, 501})
_MAY_MEAN_NO_VISION = frozenset({400, 404, 415, 422, 500, 501})


class OpenAIChatModel:
    """A model behind any server that speaks Chat Completions (``OPENAI_BASE_URL``, ``OPENAI_API_KEY``)."""

    def __init__(self, name: str, known: Capabilities, remaining: Remaining) -> None:
        import openai

        self.name = f"openai-chat:{name}"
        self.capabilities = known
        self._model = name
        self._calls_natively = self._streams = False
        self._transport = Transport(
            openai,
            lambda: openai.AsyncOpenAI(max_retries=0, api_key=_key()),
            provider="openai-chat",
            key="OPENAI_API_KEY",
            remaining=remaining,
            silence=known.silence,
        )

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        try:
            return await self._ask(transcript, tools)
        except StatusError as error:
            refused = error
        # Servers word it in many ways that they cannot do something; what all do is accept the same without it.
        for change, says in self._less(transcript, refused):
            able, self.capabilities = self.capabilities, replace(self.capabilities, **change)
            try:
                turn = await self._ask(transcript, tools)
            except StatusError:
                self.capabilities = able
            except BaseException:
                self.capabilities = able
                raise
            else:
                logger.warning("%s %s (%s)", self.name, says, refused)
                return turn
        raise refused

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    def _less(self, transcript: Transcript, refused: StatusError) -> Iterator[tuple[dict[str, Any], str]]:
        """What to try without, one after the other, after a refusal that may mean that the server has not got it."""
        if refused.begun or isinstance(refused, ContextTooLong):
            return
        may_be_plain = (
            self.capabilities.stream and not self._streams and refused.status in _MAY_MEAN_NO_STREAM
        )
        may_be_blind = Pictures(transcript, self.capabilities).count and refused.status in _MAY_MEAN_NO_VISION
        if may_be_plain:
            yield {"stream": False}, "does not stream; its replies come in one piece"
        if may_be_blind:
            yield {"vision": False}, "takes no pictures; it goes on with text alone"
        if may_be_plain and may_be_blind:
            yield {"stream": False, "vision": False}, "takes no pictures and does not stream"

    async def _ask(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        pictures = Pictures(transcript, self.capabilities)
        body, streamed = self._request(transcript, tools, pictures), self.capabilities.stream
        if streamed:
            body["stream_options"] = {"include_usage": True}
        turn = await self._transport.post(
            "/chat/completions",
            body,
            lambda reply: self._read(reply, tools, pictures),
            stream=ChatStream if streamed else None,
        )
        self._streams |= streamed
        return turn

    # --- entries to the wire -------------------------------------------------------------------------------------

    def _request(self, transcript: Transcript, tools: Sequence[ToolSpec], pictures: Pictures) -> Json:
        body: Json = {"model": self._model, "messages": self._messages(transcript, pictures)}
        if tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": clean(tool.description),
                        "parameters": clean(tool.schema),
                    },
                }
                for tool in tools
            ]
        if self.capabilities.max_output is not None:
            body["max_tokens"] = self.capabilities.max_output
        return body

    def _messages(self, transcript: Transcript, pictures: Pictures) -> list[Json]:
        messages: list[Json] = []
        if system := system_text(transcript):
            messages.append({"role": "system", "content": system})
        for entry in conversation(transcript):
            if isinstance(entry, Turn):
                messages += self._assistant(entry)
            elif isinstance(entry, Words):
                self._add_user(messages, entry.text, entry.images, pictures)
            else:
                self._add_results(messages, entry, pictures)
        return messages

    def _assistant(self, turn: Turn) -> list[Json]:
        own = own_content(turn, _API, self._model)
        if own is not None:
            return own
        if not turn.text and not turn.calls:
            return []
        message: Json = {"role": "assistant", "content": clean(turn.text) or None}
        if turn.calls:
            message["tool_calls"] = [
                _tool_call(call.id, call.name, json.dumps(clean(call.arguments))) for call in turn.calls
            ]
        return [message]

    def _add_results(self, messages: list[Json], results: Results, pictures: Pictures) -> None:
        # A tool message holds text alone, and all of them have to follow the calls directly: the pictures come after.
        images: list[Image] = []
        for result in results.results:
            text = clean(result.text) or ("failed" if result.is_error else "done")
            messages.append({"role": "tool", "tool_call_id": result.call_id, "content": text})
            images += result.images
        if images:
            self._add_user(messages, "", images, pictures)

    def _add_user(self, messages: list[Json], text: str, images: Sequence[Image], pictures: Pictures) -> None:
        parts: list[Json] = [{"type": "text", "text": clean(text)}] if text else []
        for image in images:
            parts += self._image(image, pictures)
        if messages and messages[-1]["role"] == "user":
            parts = [*_parts(messages.pop()["content"]), *parts]
        if all(part["type"] == "text" for part in parts):
            # Plain text as a string: the one form that every server takes.
            messages.append({"role": "user", "content": "\n\n".join(part["text"] for part in parts)})
        else:
            messages.append({"role": "user", "content": parts})

    def _image(self, image: Image, pictures: Pictures) -> list[Json]:
        if not self.capabilities.vision:
            return [{"type": "text", "text": unseen(image)}]
        url: Json = {"url": pictures.encode(image).url}
        if self.capabilities.image_detail:
            url["detail"] = self.capabilities.image_detail
        label: list[Json] = [{"type": "text", "text": text}] if (text := image_label(image)) else []
        return [*label, {"type": "image_url", "image_url": url}]

    # --- the wire to a turn --------------------------------------------------------------------------------------

    def _read(self, reply: Json, tools: Sequence[ToolSpec], pictures: Pictures) -> Turn:
        choices = reply.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise MalformedReply("openai-chat: the reply has no message")
        text = _text(message.get("content"))
        calls = self._native_calls(message, pictures)
        if not calls and not self._calls_natively:
            text, found = find_calls(text, {tool.name for tool in tools})
            calls = [
                ToolCall(id=_new_id(), name=name, arguments=pictures.to_image(arguments))
                for name, arguments in found
            ]
        if not self.capabilities.parallel_calls:
            calls = calls[:1]
        stop = _STOPS.get(str(choice.get("finish_reason")), "end")
        if message.get("refusal"):
            text, stop = text or _text(message["refusal"]), "refusal"
        model = str(reply.get("model") or self._model)
        return Turn(
            text=text,
            calls=tuple(calls),
            usage=self._usage(reply.get("usage"), model, pictures.count),
            stop="calls" if calls and stop == "end" else stop,
            model=model,
            raw=keep_content(_API, self._model, self._kept(message, text, calls)),
        )

    def _native_calls(self, message: Json, pictures: Pictures) -> list[ToolCall]:
        calls: list[ToolCall] = []
        taken: set[str] = set()
        listed = message.get("tool_calls")
        for item in listed if isinstance(listed, list) else []:
            function = item.get("function") if isinstance(item, dict) else None
            if not isinstance(function, dict):
                continue
            arguments, invalid = parse_arguments(function.get("arguments"))
            name, id_ = str(function.get("name") or ""), str(item.get("id") or "")
            if not id_ or id_ in taken:  # some servers give none, or one for all
                id_ = _new_id()
            taken.add(id_)
            calls.append(ToolCall(id=id_, name=name, arguments=pictures.to_image(arguments), invalid=invalid))
        self._calls_natively |= bool(calls)
        return calls

    def _kept(self, message: Json, text: str, calls: Sequence[ToolCall]) -> list[Json]:
        """The message as it goes back: the server's own, but with the ids we answer to and arguments that parse."""
        kept = {key: clean(message[key]) for key in _REPLAYED if message.get(key) is not None}
        kept["role"] = "assistant"
        kept["content"] = clean(text) or None
        kept.pop("tool_calls", None)
        if calls:
            sent = {_id(item): item["function"] for item in message.get("tool_calls") or [] if _id(item)}
            kept["tool_calls"] = [
                _tool_call(call.id, call.name, "{}" if call.invalid else _arguments(sent.get(call.id), call))
                for call in calls
            ]
        return [kept] if calls or text else []

    def _usage(self, usage: Any, model: str, images: int) -> Usage:
        counts = usage if isinstance(usage, dict) else {}
        details = counts.get("prompt_tokens_details")
        cached = int(details.get("cached_tokens") or 0) if isinstance(details, dict) else 0
        total, output = int(counts.get("prompt_tokens") or 0), int(counts.get("completion_tokens") or 0)
        cost = cost_usd(
            model,
            self.capabilities,
            input_tokens=total,
            output_tokens=output,
            cached_tokens=cached,
            api_url=self._transport.base_url,
        )
        return Usage(
            input_tokens=total, output_tokens=output, cached_tokens=cached, images=images, cost_usd=cost
        )


def _key() -> str | None:
    """None lets the SDK look for the key itself. A server of one's own often wants none, but the SDK insists on one."""
    return None if os.environ.get("OPENAI_API_KEY") or not os.environ.get("OPENAI_BASE_URL") else "none"


def _tool_call(id_: str, name: str, arguments: str) -> Json:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def _id(item: Any) -> str:
    return (
        str(item.get("id") or "") if isinstance(item, dict) and isinstance(item.get("function"), dict) else ""
    )


def _arguments(function: Json | None, call: ToolCall) -> str:
    text = function.get("arguments") if function else None
    return clean(text) if isinstance(text, str) and text.strip() else json.dumps(clean(call.arguments))


def _new_id() -> str:
    return f"call_{uuid.uuid4().hex[:16]}"


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _parts(content: Any) -> list[Json]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]
