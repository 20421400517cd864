"""Claude Code as the child: its options, its stream of JSON lines, its login."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deskhand.errors import ModelError, ModelRefused
from deskhand.messages import Image, Json, Stop, ToolCall, Turn, Usage
from deskhand.orchestrator.models.capabilities import capabilities
from deskhand.orchestrator.models.dialect import (
    Answered,
    Event,
    Failed,
    Home,
    Idle,
    base_environment,
    copy_login,
)
from deskhand.orchestrator.models.prices import cost_usd
from deskhand.orchestrator.models.toolserver import NAME

_PREFIX = f"mcp__{NAME}__"
_KEYS = ("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY")
_STOPS: dict[str, Stop] = {"tool_use": "calls", "max_tokens": "length", "refusal": "refusal"}
_LONG = str(7 * 24 * 3600 * 1000)
"""Milliseconds a call may wait: a person may be asked in the middle of one. The task has a deadline of its own."""

_SWITCHES = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "4",
    "ENABLE_TOOL_SEARCH": "false",
    "MAX_MCP_OUTPUT_TOKENS": "200000",
    "MCP_TIMEOUT": "60000",
    "MCP_TOOL_TIMEOUT": _LONG,
    "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT": "0",
}


class ClaudeCode:
    """The `Dialect` of ``claude -p``. ``model`` is one of its own names (``opus``), "" for its default."""

    def __init__(self, program: str, model: str, overrides: Mapping[str, Mapping[str, Any]] | None) -> None:
        self.name = f"claude-code:{model}" if model else "claude-code"
        self.login: Path | None = None
        self.login_copy: Path | None = None
        self.login_before = b""
        self.send: Callable[[Json], None]
        self._program, self._model, self._overrides = program, model, overrides
        self._message: Json = {}
        self._content: list[Json] = []

    def prepare(self, home: Home) -> None:
        kept = home.environ.get("CLAUDE_CONFIG_DIR")
        source = (Path(kept) if kept else Path.home() / ".claude") / ".credentials.json"
        copy = home.path / ".claude" / ".credentials.json"
        if not self._elsewhere(home) and copy_login(source, copy):
            self.login, self.login_copy, self.login_before = source, copy, copy.read_bytes()
        elif not any(home.environ.get(key) for key in _KEYS):
            raise ModelError(
                "claude-code has no login here: run `claude` once and log in, or set ANTHROPIC_API_KEY"
            )

    def _elsewhere(self, home: Home) -> bool:
        """Whether another server was chosen: it has its own key, and the login is none of its business."""
        return bool(home.environ.get("ANTHROPIC_BASE_URL")) and any(home.environ.get(key) for key in _KEYS)

    def command(self, home: Home, system: str) -> list[str]:
        server = {"command": home.bridge[0], "args": list(home.bridge[1:])}
        model = ["--model", self._model] if self._model else []
        return [
            self._program, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
            "--include-partial-messages", "--no-session-persistence", "--setting-sources", "", "--tools", "",
            "--disable-slash-commands", "--strict-mcp-config",
            "--mcp-config", json.dumps({"mcpServers": {NAME: server}}), "--allowedTools", f"{_PREFIX}*",
            "--system-prompt", system, *model,
        ]  # fmt: skip

    def environment(self, home: Home) -> dict[str, str]:
        # With a key in its environment the program would not use the login.
        names = () if self.login is not None else (*_KEYS, "ANTHROPIC_BASE_URL")
        given = {name: value for name in names if (value := home.environ.get(name))}
        return {**base_environment(home), **_SWITCHES, **given}

    def begin(self, home: Home, system: str) -> None:
        """Nothing: the command has it all."""

    def say(self, text: str, images: Sequence[Image]) -> None:
        content: list[Json] = [{"type": "text", "text": text}]
        for image in images:
            data = base64.b64encode(image.data).decode()
            source = {"type": "base64", "media_type": image.media_type, "data": data}
            content.append({"type": "image", "source": source})
        self.send({"type": "user", "message": {"role": "user", "content": content}})

    def read(self, line: Json) -> Sequence[Event]:
        match line.get("type"):
            case "assistant" if line["message"].get("model") != "<synthetic>":
                self._content += line["message"].get("content") or []
            case "stream_event":
                return self._streamed(line["event"])
            case "user":
                return _answers(line["message"].get("content"))
            case "result" if line.get("is_error"):
                said = line.get("result") or "; ".join(map(str, line.get("errors") or ())) or "it failed"
                return [Failed(ModelError(f"claude-code: {str(said)[:500]}"))]
            case "result":
                return [Idle()]
        return ()

    def _streamed(self, event: Json) -> Sequence[Event]:
        match event.get("type"):
            case "message_start":
                self._message, self._content = dict(event["message"]), []
            case "message_delta":
                usage = {**(self._message.get("usage") or {}), **(event.get("usage") or {})}
                stop = (event.get("delta") or {}).get("stop_reason")
                self._message |= {"usage": usage, "stop_reason": stop}
            case "message_stop":
                return [self._turn()]
        return ()

    def _turn(self) -> Event:
        message, content = self._message, self._content
        text = "\n".join(block["text"] for block in content if block.get("type") == "text")
        calls = tuple(
            ToolCall(
                id=block["id"], name=block["name"].removeprefix(_PREFIX), arguments=block.get("input") or {}
            )
            for block in content
            if block.get("type") == "tool_use"
        )
        stop = str(message.get("stop_reason"))
        if stop == "refusal":
            return Failed(ModelRefused(text or "the model declined to go on"))
        model = str(message.get("model") or "")
        return Turn(
            text=text,
            calls=calls,
            usage=self._usage(model, message.get("usage") or {}),
            stop="calls" if calls else _STOPS.get(stop, "end"),
            model=model,
        )

    def _usage(self, model: str, usage: Json) -> Usage:
        read = int(usage.get("cache_read_input_tokens") or 0)
        written = int(usage.get("cache_creation_input_tokens") or 0)
        total = int(usage.get("input_tokens") or 0) + read + written
        output = int(usage.get("output_tokens") or 0)
        cost = cost_usd(
            model,
            capabilities("anthropic", model, self._overrides),
            input_tokens=total,
            output_tokens=output,
            cached_tokens=read,
            written_tokens=written,
        )
        return Usage(input_tokens=total, output_tokens=output, cached_tokens=read, cost_usd=cost)


def _answers(content: Any) -> list[Event]:
    """The answers to calls in a message that the program wrote for its model."""
    found: list[Event] = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result":
            words = block.get("content")
            if isinstance(words, list):
                words = "\n".join(str(part.get("text", "")) for part in words if isinstance(part, dict))
            found.append(Answered(str(block.get("tool_use_id")), str(words)))
    return found
