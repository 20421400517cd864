"""Anthropic Messages: entries to the wire and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from deskhand.messages import (
    Entry,
    Image,
    Json,
    Results,
    Stop,
    ToolCall,
    ToolSpec,
    Transcript,
    Turn,
    Usage,
    Words,
)
from deskhand.orchestrator.context import is_tree
from deskhand.orchestrator.models.cachemarks import CacheMarks
from deskhand.orchestrator.models.capabilities import Capabilities
from deskhand.orchestrator.models.images import Pictures
from deskhand.orchestrator.models.native import COMPUTER, LOOK, Answer, is_native, native_run
from deskhand.orchestrator.models.prices import cost_usd
from deskhand.orchestrator.models.streams import MessagesStream
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
_EDITS_BETA = "context-management-2025-06-27"
_TOOLSET = "computer_toolset_20260801"
_COMPUTER_BETAS = {
    "computer_20251124": "computer-use-2025-11-24",
    "computer_20250124": "computer-use-2025-01-24",
}
_DISPLAY = (1280, 800)
"""What an older computer tool is told of the display while no picture has shown its size."""
_APART = "Not executed: put all computer actions of a turn together."
_CUT_OFF = "(cut off by the output limit)"


class AnthropicModel:
    """A Claude model through the Messages API (``ANTHROPIC_API_KEY``, ``ANTHROPIC_BASE_URL``)."""

    def __init__(self, name: str, known: Capabilities, remaining: Remaining) -> None:
        import anthropic

        self.name = f"anthropic:{name}"
        self.capabilities = known
        self._model = name
        self._cached = CacheMarks()
        self._transport = Transport(
            anthropic,
            lambda: anthropic.AsyncAnthropic(max_retries=0),
            provider="anthropic",
            key="ANTHROPIC_API_KEY",
            remaining=remaining,
            silence=known.silence,
        )

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        pictures = Pictures(transcript, self.capabilities)
        offered = bool(self.capabilities.computer) and {"act", "observe"} <= {tool.name for tool in tools}
        body = self._request(transcript, tools, pictures, offered=offered)
        betas = [_BOUND_THINKING_BETA] if self.capabilities.bound_thinking else []
        betas += [_EDITS_BETA] if "context_management" in body else []
        betas += (
            beta for tool in body.get("tools", ()) if (beta := _COMPUTER_BETAS.get(tool.get("type", "")))
        )
        return await self._transport.post(
            "/v1/messages",
            body,
            lambda reply: self._read(reply, pictures, offered=offered),
            headers={"anthropic-beta": ",".join(betas)} if betas else {},
            stream=MessagesStream if self.capabilities.stream else None,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    # --- entries to the wire -------------------------------------------------------------------------------------

    def _request(
        self, transcript: Transcript, tools: Sequence[ToolSpec], pictures: Pictures, *, offered: bool
    ) -> Json:
        known = self.capabilities
        body: Json = {"model": self._model, "max_tokens": known.max_output or 16_000}
        first = self._cached.empty
        messages = self._messages(transcript, pictures)
        if system := system_text(transcript):
            body["system"] = [{"type": "text", "text": system}]
            if first:  # from then on the marks are needed further down
                body["system"][0]["cache_control"] = _MARK
        listed = [_function(tool) for tool in tools]
        if offered or any(is_native(block) for message in messages for block in message["content"]):
            # Also when it is not on offer any more: what the history uses has to be declared.
            listed.insert(0, self._computer(pictures))
        if listed:
            body["tools"] = listed
        if known.thinking == "adaptive":
            body["thinking"] = {"type": "adaptive"}
            if known.bound_thinking:
                # Older pictures and trees leave the transcript, which unbinds the thinking that came after them: the
                # server lets go of it in the same place each time, and of a block that is bound all the same.
                body["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
                if edit := _clear_outdated_thinking(transcript):
                    body["context_management"] = {"edits": [edit]}
        body["messages"] = messages
        return body

    def _computer(self, pictures: Pictures) -> Json:
        """The vendor's computer tool in the version that this model knows."""
        version = self.capabilities.computer
        if version == _TOOLSET:
            return {"type": version, "configs": {"cursor_position": {"enabled": False}}}
        width, height = pictures.display or _DISPLAY
        tool: Json = {
            "type": version,
            "name": COMPUTER,
            "display_width_px": width,
            "display_height_px": height,
        }
        return {**tool, "enable_zoom": True} if version == "computer_20251124" else tool

    def _messages(self, transcript: Transcript, pictures: Pictures) -> list[Json]:
        messages: list[Json] = []
        turn = Turn()
        fleeting: list[int] = []
        for entry in conversation(transcript):
            if isinstance(entry, Turn):
                turn, role, content = entry, "assistant", self._assistant(entry)
            elif isinstance(entry, Results):
                role, content = "user", self._answers(turn, entry, pictures)
            else:
                role, content = "user", self._words(entry.text, entry.images, pictures)
            if not content:
                continue
            if messages and messages[-1]["role"] == role:
                messages[-1]["content"] += content
            else:
                messages.append({"role": role, "content": content})
            fleeting += [len(messages) - 1] * _will_be_shortened(entry)
        cleared = sum(isinstance(entry, Turn) and entry.outdated for entry in transcript)
        cleared *= self.capabilities.bound_thinking
        for index in self._cached.marks(messages, fleeting, cleared):
            content = messages[index]["content"]
            content[-1] = {**content[-1], "cache_control": _MARK}
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

    def _answers(self, turn: Turn, results: Results, pictures: Pictures) -> list[Json]:
        """One block for each call that the model wrote: its own calls, and its native actions taken apart again."""
        given = {result.call_id: result for result in results.results}
        blocks = [block for block in self._assistant(turn) if block.get("type") == "tool_use"]
        native, run = native_run(blocks)
        answered = iter(native.answers(given) if native is not None else ())
        answers: list[Json] = []
        for block in blocks:
            if block["id"] in run:
                answer = next(answered)
            elif is_native(block):
                answer = Answer(text=_APART, is_error=True)
            else:
                result = given[block["id"]]
                answer = Answer(text=result.text, images=result.images, is_error=result.is_error)
            answers.append(self._answer(block, answer, pictures))
        return answers

    def _answer(self, block: Json, answer: Answer, pictures: Pictures) -> Json:
        content = self._words(answer.text, answer.images, pictures)
        sent: Json = {"type": "tool_result", "tool_use_id": block["id"], "content": content}
        if "toolset_name" in block:
            sent["toolset_name"] = block["toolset_name"]
        if answer.is_error:
            sent["is_error"] = True
        return sent

    def _words(self, text: str, images: Sequence[Image], pictures: Pictures) -> list[Json]:
        content: list[Json] = [{"type": "text", "text": clean(text)}] if text.strip() else []
        for image in images:
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

    def _read(self, reply: Json, pictures: Pictures, *, offered: bool) -> Turn:
        content = reply.get("content")
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            raise MalformedReply("anthropic: the reply has no content")
        text = "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text")
        stop = _STOPS.get(str(reply.get("stop_reason")), "end")
        cut_off = content[-1] if stop == "length" and content else {}
        calls = _calls(content, pictures, offered=offered, cut_off=cut_off)
        model = str(reply.get("model") or self._model)
        return Turn(
            text=text,
            calls=tuple(calls),
            usage=self._usage(reply.get("usage"), model, pictures.count),
            stop="calls" if calls and stop == "end" else stop,
            model=model,
            raw=keep_content(_API, self._model, [_replayable(block) for block in clean(content)]),
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


def _clear_outdated_thinking(transcript: Transcript) -> Json | None:
    """The edit that keeps only the thinking since the transcript was last shortened; None while it never was."""
    turns = [entry for entry in transcript if isinstance(entry, Turn)]
    if not any(turn.outdated for turn in turns):
        return None
    since = sum(not turn.outdated for turn in turns)
    return {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": max(1, since)}}


def _function(tool: ToolSpec) -> Json:
    return {"name": tool.name, "description": clean(tool.description), "input_schema": clean(tool.schema)}


def _calls(content: Sequence[Json], pictures: Pictures, *, offered: bool, cut_off: Json) -> list[ToolCall]:
    blocks = [block for block in content if block.get("type") == "tool_use"]
    native, run = native_run(blocks)
    calls: list[ToolCall] = []
    for block in blocks:
        if native is not None and block.get("id") in run:
            made, native = native.calls(pictures, offered=offered), None
        else:
            made = [] if is_native(block) else [_call(block, pictures)]
        calls += made
    if cut_off.get("type") == "tool_use":
        spoilt = run if cut_off.get("id") in run else {cut_off.get("id")}
        calls = [
            replace(call, invalid=_CUT_OFF) if call.id.removesuffix(LOOK) in spoilt else call
            for call in calls
        ]
    return calls


def _replayable(block: Json) -> Json:
    """A block as it may go back: the input of a call has to be an object, also when a limit cut it off."""
    if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
        return {**block, "input": {}}
    return block


def _call(block: Json, pictures: Pictures) -> ToolCall:
    arguments, invalid = parse_arguments(block.get("input"))
    return ToolCall(
        id=str(block.get("id", "")),
        name=str(block.get("name", "")),
        arguments=pictures.to_image(arguments),
        invalid=invalid,
    )


def _will_be_shortened(entry: Entry) -> bool:
    """Whether this holds something of the screen, which is to go when it is old."""
    if isinstance(entry, Results):
        return any(result.images or result.seen != (0, 0) for result in entry.results)
    return isinstance(entry, Words) and bool(entry.images or is_tree(entry))
