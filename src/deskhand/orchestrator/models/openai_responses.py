"""OpenAI Responses: entries to the wire and back. Nothing is kept at the provider; reasoning travels encrypted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from deskhand.errors import ModelError, ModelRefused
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
)
from deskhand.orchestrator.models.capabilities import Capabilities
from deskhand.orchestrator.models.images import BLANK, Pictures
from deskhand.orchestrator.models.native import DONE, LATE_LOOK, Answer, openai_turn
from deskhand.orchestrator.models.prices import cost_usd
from deskhand.orchestrator.models.streams import ResponsesStream
from deskhand.orchestrator.models.transcripts import (
    cache_key,
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

_API = "openai"

_INCOMPLETE: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "refusal"}


class OpenAIResponsesModel:
    """An OpenAI model through the Responses API (``OPENAI_API_KEY``, ``OPENAI_BASE_URL``)."""

    def __init__(self, name: str, known: Capabilities, remaining: Remaining) -> None:
        import openai

        self.name = f"openai:{name}"
        self.capabilities = known
        self._model = name
        self._transport = Transport(
            openai,
            lambda: openai.AsyncOpenAI(max_retries=0),
            provider="openai",
            key="OPENAI_API_KEY",
            remaining=remaining,
            silence=known.silence,
        )

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        pictures = Pictures(transcript, self.capabilities)
        offered = bool(self.capabilities.computer) and {"act", "observe"} <= {tool.name for tool in tools}
        body = self._request(transcript, tools, pictures, offered=offered)
        return await self._transport.post(
            "/responses",
            body,
            lambda reply: self._read(reply, pictures, offered=offered),
            stream=ResponsesStream if self.capabilities.stream else None,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    # --- entries to the wire -------------------------------------------------------------------------------------

    def _request(
        self, transcript: Transcript, tools: Sequence[ToolSpec], pictures: Pictures, *, offered: bool
    ) -> Json:
        system = system_text(transcript)
        items = self._items(transcript, pictures)
        body: Json = {
            "model": self._model,
            "input": items,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": cache_key(system),
        }
        if system:
            body["instructions"] = system
        listed = [_function(tool) for tool in tools]
        if offered or any(item.get("type") == "computer_call" for item in items):
            # Also when it is not on offer any more: what the history uses has to be declared.
            listed.insert(0, {"type": self.capabilities.computer or "computer"})
        if listed:
            body["tools"] = listed
        if not self.capabilities.parallel_calls:
            body["parallel_tool_calls"] = False
        if self.capabilities.max_output is not None:
            body["max_output_tokens"] = self.capabilities.max_output
        return body

    def _items(self, transcript: Transcript, pictures: Pictures) -> list[Json]:
        items: list[Json] = []
        turn = Turn()
        for entry in conversation(transcript):
            if isinstance(entry, Turn):
                turn = entry
                items += self._assistant(entry)
            elif isinstance(entry, Results):
                items += self._answers(turn, entry, pictures)
            elif content := self._words(entry.text, entry.images, pictures):
                items.append({"type": "message", "role": "user", "content": content})
        return items

    def _assistant(self, turn: Turn) -> list[Json]:
        own = own_content(turn, _API, self._model)
        if own is not None:
            return own
        items: list[Json] = [{"role": "assistant", "content": clean(turn.text)}] if turn.text else []
        for call in turn.calls:
            arguments = json.dumps(clean(call.arguments))
            items.append(
                {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}
            )
        return items

    def _answers(self, turn: Turn, results: Results, pictures: Pictures) -> list[Json]:
        """One item for each call that the model wrote; what a picture cannot say of its native actions follows them."""
        given = {result.call_id: result for result in results.results}
        written = self._assistant(turn)
        native = openai_turn(written)
        seen = _joined(native.answers(given)) if native is not None else Answer()
        items: list[Json] = []
        for item in written:
            if item.get("type") == "function_call":
                items.append(self._result(given[str(item["call_id"])], pictures))
            elif item.get("type") == "computer_call":
                items.append(_screenshot(item, seen, pictures, self.capabilities))
        if seen.text:
            items.append({"type": "message", "role": "user", "content": self._words(seen.text, (), pictures)})
        return items

    def _result(self, result: ToolResult, pictures: Pictures) -> Json:
        output: Any = clean(result.text) or ("failed" if result.is_error else "done")
        if result.images:
            output = self._words(result.text, result.images, pictures)
        return {"type": "function_call_output", "call_id": result.call_id, "output": output}

    def _words(self, text: str, images: Sequence[Image], pictures: Pictures) -> list[Json]:
        content: list[Json] = [{"type": "input_text", "text": clean(text)}] if text else []
        for image in images:
            content += self._image(image, pictures)
        return content

    def _image(self, image: Image, pictures: Pictures) -> list[Json]:
        if not self.capabilities.vision:
            return [{"type": "input_text", "text": unseen(image)}]
        detail = self.capabilities.image_detail or "high"
        label: list[Json] = [{"type": "input_text", "text": text}] if (text := image_label(image)) else []
        return [*label, {"type": "input_image", "image_url": pictures.encode(image).url, "detail": detail}]

    # --- the wire to a turn --------------------------------------------------------------------------------------

    def _read(self, reply: Json, pictures: Pictures, *, offered: bool) -> Turn:
        _raise_failure(reply)
        output = reply.get("output")
        if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
            raise MalformedReply("openai: the reply has no output")
        parts = [
            part
            for item in output
            if item.get("type") == "message"
            for part in item.get("content") or []
            if isinstance(part, dict)
        ]
        texts = [str(part.get("text") or part.get("refusal") or "") for part in parts]
        calls = tuple(_calls(output, pictures, offered=offered))
        stop: Stop = "calls" if calls else "end"
        if reply.get("status") == "incomplete":
            details = reply.get("incomplete_details")
            stop = _INCOMPLETE.get(str(details.get("reason")) if isinstance(details, dict) else "", "length")
        if any(part.get("type") == "refusal" for part in parts):
            stop = "refusal"
        model = str(reply.get("model") or self._model)
        return Turn(
            text="\n".join(text for text in texts if text),
            calls=calls,
            usage=self._usage(reply.get("usage"), model, pictures.count),
            stop=stop,
            model=model,
            raw=keep_content(_API, self._model, clean(output)),
        )

    def _usage(self, usage: Any, model: str, images: int) -> Usage:
        counts = usage if isinstance(usage, dict) else {}
        details = counts.get("input_tokens_details")
        details = details if isinstance(details, dict) else {}
        total, output = int(counts.get("input_tokens") or 0), int(counts.get("output_tokens") or 0)
        cached = int(details.get("cached_tokens") or 0)
        cost = cost_usd(
            model,
            self.capabilities,
            input_tokens=total,
            output_tokens=output,
            cached_tokens=cached,
            written_tokens=int(details.get("cache_write_tokens") or 0),
        )
        return Usage(
            input_tokens=total, output_tokens=output, cached_tokens=cached, images=images, cost_usd=cost
        )


def _function(tool: ToolSpec) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": clean(tool.description),
        "parameters": clean(tool.schema),
        "strict": False,
    }


def _calls(output: Sequence[Json], pictures: Pictures, *, offered: bool) -> list[ToolCall]:
    """The calls in their order; native actions stand where the first of them stood."""
    native = openai_turn(output)
    calls: list[ToolCall] = []
    for item in output:
        if item.get("type") == "function_call":
            calls.append(_call(item, pictures))
        elif item.get("type") == "computer_call" and native is not None:
            made, native = native.calls(pictures, offered=offered), None
            checks = tuple(_safety(output))
            calls += (replace(call, safety=checks) for call in made)
    return calls


def _safety(items: Sequence[Json]) -> Iterator[str]:
    for item in items:
        for check in item.get("pending_safety_checks") or []:
            if isinstance(check, dict):
                yield str(check.get("message") or check.get("code") or check.get("id"))


def _joined(answers: Sequence[Answer]) -> Answer:
    """All there is to say, once, and the newest picture."""
    texts = dict.fromkeys(answer.text for answer in answers if answer.text not in ("", DONE, LATE_LOOK))
    images = [image for answer in answers for image in answer.images]
    return Answer(text="\n\n".join(texts), images=tuple(images[-1:]))


def _screenshot(call: Json, seen: Answer, pictures: Pictures, known: Capabilities) -> Json:
    """The output of a computer call is a picture and nothing else; one that was dropped since leaves a blank."""
    url = pictures.encode(seen.images[0]).url if seen.images and known.vision else BLANK
    output = {"type": "computer_screenshot", "image_url": url, "detail": known.image_detail or "high"}
    item: Json = {"type": "computer_call_output", "call_id": call.get("call_id"), "output": output}
    if checks := call.get("pending_safety_checks"):
        # The loop has put them to a person: without consent there would be no result to send.
        item["acknowledged_safety_checks"] = checks
    return item


def _raise_failure(reply: Json) -> None:
    """A response may arrive with HTTP 200 and say that it failed."""
    if reply.get("status") not in ("failed", "cancelled"):
        return
    error = reply.get("error")
    code, message = (
        (str(error.get("code")), str(error.get("message"))) if isinstance(error, dict) else ("", "")
    )
    if code in ("invalid_prompt", "content_filter"):
        raise ModelRefused(f"openai: {message or 'the model declined'}")
    raise ModelError(
        f"openai: the response failed: {message or code or 'no reason given'}",
        retryable=code in ("server_error", "rate_limit_exceeded"),
    )


def _call(item: Json, pictures: Pictures) -> ToolCall:
    arguments, invalid = parse_arguments(item.get("arguments"))
    if item.get("status") == "incomplete" and not invalid:
        arguments, invalid = {}, f"{item.get('arguments')} (cut off by the output limit)"
    return ToolCall(
        id=str(item.get("call_id") or item.get("id") or ""),
        name=str(item.get("name") or ""),
        arguments=pictures.to_image(arguments),
        invalid=invalid,
    )
