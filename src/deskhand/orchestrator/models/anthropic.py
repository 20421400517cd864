"""Anthropic Messages: entries to the wire and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deskhand.messages import (
    Image,
    Json,
    Results,
    Stop,
    ToolCall,
    ToolResult,
    ToolSpec,
    Transcript,
    Turn,
    Usage,
    Words,
)
from deskhand.orchestrator.models.capabilities import Capabilities
from deskhand.orchestrator.models.images import Pictures
from deskhand.orchestrator.models.prices import cost_usd
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
from deskhand.orchestrator.models.transport import MalformedReply, Remaining, Transport

_API = "anthropic"
_STOPS: dict[str, Stop] = {
    "tool_use": "calls",
    "end_turn": "end",
    "stop_sequence": "end",
    "pause_turn": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_MARK: Json = {"type": "ephemeral"}
_BOUND_THINKING_BETA = "thinking-binding-controls-2026-08-01"


class AnthropicModel:
    """A Claude model through the Messages API (``ANTHROPIC_API_KEY``, ``ANTHROPIC_BASE_URL``)."""

    def __init__(self, name: str, known: Capabilities, remaining: Remaining) -> None:
        import anthropic

        self.name = f"anthropic:{name}"
        self.capabilities = known
        self._model = name
        self._transport = Transport(
            anthropic,
            lambda: anthropic.AsyncAnthropic(max_retries=0),
            provider="anthropic",
            key="ANTHROPIC_API_KEY",
            remaining=remaining,
        )

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        pictures = Pictures(transcript, self.capabilities)
        body = self._request(transcript, tools, pictures)
        headers = {"anthropic-beta": _BOUND_THINKING_BETA} if self.capabilities.bound_thinking else {}
        return await self._transport.post(
            "/v1/messages", body, lambda reply: self._read(reply, pictures), headers=headers
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    # --- entries to the wire -------------------------------------------------------------------------------------

    def _request(self, transcript: Transcript, tools: Sequence[ToolSpec], pictures: Pictures) -> Json:
        known = self.capabilities
        body: Json = {"model": self._model, "max_tokens": known.max_output or 16_000}
        if system := system_text(transcript):
            body["system"] = [{"type": "text", "text": system, "cache_control": _MARK}]
        if tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": clean(tool.description),
                    "input_schema": clean(tool.schema),
                }
                for tool in tools
            ]
        if known.thinking == "adaptive":
            body["thinking"] = {"type": "adaptive"}
            if known.bound_thinking:
                # Older pictures and trees leave the transcript, which unbinds the thinking that came after them.
                body["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
        body["messages"] = self._messages(transcript, pictures)
        return body

    def _messages(self, transcript: Transcript, pictures: Pictures) -> list[Json]:
        messages: list[Json] = []
        for entry in conversation(transcript):
            if isinstance(entry, Turn):
                role, content = "assistant", self._assistant(entry)
            elif isinstance(entry, Results):
                role, content = "user", [self._result(result, pictures) for result in entry.results]
            else:
                role, content = "user", self._words(entry, pictures)
            if not content:
                continue
            if messages and messages[-1]["role"] == role:
                messages[-1]["content"] += content
            else:
                messages.append({"role": role, "content": content})
        _mark_cache(messages)
        return messages

    def _assistant(self, turn: Turn) -> list[Json]:
        own = own_content(turn, _API, self._model)
        if own is not None:
            return list(own)
        content: list[Json] = [{"type": "text", "text": clean(turn.text)}] if turn.text.strip() else []
        content += (
            {"type": "tool_use", "id": call.id, "name": call.name, "input": clean(call.arguments)}
            for call in turn.calls
        )
        return content

    def _result(self, result: ToolResult, pictures: Pictures) -> Json:
        content = self._words(Words(role="user", text=result.text, images=result.images), pictures)
        block: Json = {"type": "tool_result", "tool_use_id": result.call_id, "content": content}
        if result.is_error:
            block["is_error"] = True
        return block

    def _words(self, words: Words, pictures: Pictures) -> list[Json]:
        content: list[Json] = [{"type": "text", "text": clean(words.text)}] if words.text.strip() else []
        for image in words.images:
            content += self._image(image, pictures)
        return content

    def _image(self, image: Image, pictures: Pictures) -> list[Json]:
        if not self.capabilities.vision:
            return [{"type": "text", "text": unseen(image)}]
        sent = pictures.encode(image)
        source = {"type": "base64", "media_type": sent.media_type, "data": sent.base64}
        label: list[Json] = [{"type": "text", "text": text}] if (text := image_label(image)) else []
        return [*label, {"type": "image", "source": source}]

    # --- the wire to a turn --------------------------------------------------------------------------------------

    def _read(self, reply: Json, pictures: Pictures) -> Turn:
        content = reply.get("content")
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            raise MalformedReply("anthropic: the reply has no content")
        text = "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text")
        stop = _STOPS.get(str(reply.get("stop_reason")), "end")
        calls = [_call(block, pictures) for block in content if block.get("type") == "tool_use"]
        if stop == "length" and calls and content[-1].get("type") == "tool_use":
            last = calls[-1]
            calls[-1] = ToolCall(
                id=last.id, name=last.name, invalid=f"{last.arguments} (cut off by the output limit)"
            )
        model = str(reply.get("model") or self._model)
        return Turn(
            text=text,
            calls=tuple(calls),
            usage=self._usage(reply.get("usage"), model, pictures.count),
            stop="calls" if calls and stop == "end" else stop,
            model=model,
            raw=keep_content(_API, self._model, clean(content)),
        )

    def _usage(self, usage: Any, model: str, images: int) -> Usage:
        counts = usage if isinstance(usage, dict) else {}
        fresh, read, written, output = (
            int(counts.get(key) or 0)
            for key in (
                "input_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
                "output_tokens",
            )
        )
        # The wire counts what is neither read from nor written to the cache; `Usage` counts all of the input.
        total = fresh + read + written
        cost = cost_usd(
            model,
            self.capabilities,
            input_tokens=total,
            output_tokens=output,
            cached_tokens=read,
            written_tokens=written,
        )
        return Usage(
            input_tokens=total, output_tokens=output, cached_tokens=read, images=images, cost_usd=cost
        )


def _call(block: Json, pictures: Pictures) -> ToolCall:
    arguments, invalid = parse_arguments(block.get("input"))
    return ToolCall(
        id=str(block.get("id", "")),
        name=str(block.get("name", "")),
        arguments=pictures.to_image(arguments),
        invalid=invalid,
    )


def _mark_cache(messages: list[Json]) -> None:
    """Mark the brief and the two newest user messages: with the mark on the system words, the four allowed."""
    users = [index for index, message in enumerate(messages) if message["role"] == "user"]
    for index in {*users[:1], *users[-2:]}:
        content = messages[index]["content"]
        content[-1] = {**content[-1], "cache_control": _MARK}
