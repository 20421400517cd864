"""Codex as the child: its app server's JSON lines, its model catalogue, its login."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from deskhand.errors import ModelError, ModelRefused
from deskhand.messages import Image, Json, ToolCall, Turn, Usage
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

_LONG = 7 * 24 * 3600
"""Seconds a call may wait: a person may be asked in the middle of one. The task has a deadline of its own."""

_CATALOGUE_TIMEOUT = 15.0
_BARE: Json = {
    "tool_mode": "direct",
    "shell_type": "disabled",
    "apply_patch_tool_type": None,
    "supports_search_tool": False,
    "multi_agent_version": None,
    "experimental_supported_tools": [],
    "truncation_policy": {"mode": "tokens", "limit": 60_000},
}
"""What is changed for every model in the catalogue: only our tools, offered directly, their answers whole."""

_OFF = (
    "apps", "browser_use", "browser_use_external", "code_mode", "code_mode_host", "computer_use",
    "daemon_auto_start", "goals", "hooks", "image_generation", "in_app_browser", "memories", "multi_agent",
    "plugins", "remote_plugin", "shell_snapshot", "shell_tool", "skill_search", "sleep_tool", "tool_suggest",
    "unbounded_connection_retries", "unified_exec", "view_image", "workspace_dependencies",
)  # fmt: skip
_REFUSALS = ("cyberPolicy", "bioPolicy", "misalignmentPolicyViolation")
_INITIALIZE, _THREAD, _FIRST_TURN = 1, 2, 3


class Codex:
    """The `Dialect` of ``codex app-server``. ``model`` is one of its own names, "" for its default."""

    def __init__(self, program: str, model: str, overrides: Mapping[str, Mapping[str, Any]] | None) -> None:
        self.name = f"codex:{model}" if model else "codex"
        self.login: Path | None = None
        self.login_copy: Path | None = None
        self.login_before = b""
        self.send: Callable[[Json], None]
        self._program, self._model, self._overrides = program, model, overrides
        self._forget()

    def _forget(self) -> None:
        self._home: Home
        self._system, self._running, self._thread = "", self._model, ""
        self._unsaid: list[list[Json]] = []
        self._number = _FIRST_TURN
        self._text: list[str] = []
        self._calls: list[ToolCall] = []

    # --- before it starts ----------------------------------------------------------------------------------------

    def prepare(self, home: Home) -> None:
        self._forget()
        kept = home.environ.get("CODEX_HOME")
        source = (Path(kept) if kept else Path.home() / ".codex") / "auth.json"
        copy = _config(home) / "auth.json"
        copy.parent.mkdir(mode=0o700)
        if not _elsewhere(home) and copy_login(source, copy):
            self.login, self.login_copy, self.login_before = source, copy, copy.read_bytes()
        elif key := home.environ.get("OPENAI_API_KEY"):
            fd = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "w") as file:
                json.dump({"auth_mode": "apikey", "OPENAI_API_KEY": key}, file)
        else:
            raise ModelError("codex has no login here: run `codex login` once, or set OPENAI_API_KEY")
        self._write_catalogue(home)

    def _write_catalogue(self, home: Home) -> None:
        """The program's own catalogue of models, without the tools that it would give them."""
        asked = [self._program, "debug", "models"]
        env = self.environment(home)
        try:
            done = subprocess.run(
                asked, env=env, cwd=home.path, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_CATALOGUE_TIMEOUT, check=True,
            )  # fmt: skip
            catalogue = json.loads(done.stdout)
            models = [{**model, **_BARE} for model in catalogue["models"]]
        except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"codex does not tell its models ({error}); a newer or older one may") from None
        _catalogue(home).write_text(json.dumps({**catalogue, "models": models}))

    def command(self, home: Home, system: str) -> list[str]:
        settings: Json = {
            "analytics.enabled": False,
            "check_for_update_on_startup": False,
            "include_permissions_instructions": False,
            "mcp_servers." + NAME + ".args": list(home.bridge[1:]),
            "mcp_servers." + NAME + ".command": home.bridge[0],
            "mcp_servers." + NAME + ".default_tools_approval_mode": "approve",
            "mcp_servers." + NAME + ".required": True,
            "mcp_servers." + NAME + ".startup_timeout_sec": 60,
            "mcp_servers." + NAME + ".supports_parallel_tool_calls": True,
            "mcp_servers." + NAME + ".tool_timeout_sec": _LONG,
            "model_catalog_json": str(_catalogue(home)),
            "skills.bundled.enabled": False,
            "skills.include_instructions": False,
            "web_search": "disabled",
            **{f"features.{name}": False for name in _OFF},
        }
        if _elsewhere(home):
            settings |= {
                "model_provider": NAME,
                f"model_providers.{NAME}.name": NAME,
                f"model_providers.{NAME}.base_url": home.environ["OPENAI_BASE_URL"],
                f"model_providers.{NAME}.env_key": "OPENAI_API_KEY",
                f"model_providers.{NAME}.wire_api": "responses",
            }
        # JSON's strings, lists of strings, numbers and booleans are TOML's, too.
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={json.dumps(value)}")]
        return [self._program, "app-server", *options]

    def environment(self, home: Home) -> dict[str, str]:
        key = {"OPENAI_API_KEY": home.environ["OPENAI_API_KEY"]} if _elsewhere(home) else {}
        return {**base_environment(home), "CODEX_HOME": str(_config(home)), **key}

    # --- talking -------------------------------------------------------------------------------------------------

    def begin(self, home: Home, system: str) -> None:
        self._home, self._system = home, system
        client = {"name": "deskhand", "title": "deskhand", "version": "1"}
        params = {"clientInfo": client, "capabilities": {"experimentalApi": True}}
        self.send({"id": _INITIALIZE, "method": "initialize", "params": params})

    def say(self, text: str, images: Sequence[Image]) -> None:
        words: list[Json] = [{"type": "text", "text": text}]
        for image in images:
            data = base64.b64encode(image.data).decode()
            words.append({"type": "image", "url": f"data:{image.media_type};base64,{data}"})
        self._unsaid.append(words)
        self._say_on()

    def _say_on(self) -> None:
        while self._thread and self._unsaid:
            params = {"threadId": self._thread, "input": self._unsaid.pop(0)}
            self.send({"id": self._number, "method": "turn/start", "params": params})
            self._number += 1

    def read(self, line: Json) -> Sequence[Event]:
        if "method" not in line:
            return self._replied(line)
        if "id" in line:  # it wants something of a person's that its tools are not there for
            self.send({"id": line["id"], "error": {"code": -32601, "message": "not available here"}})
            return ()
        params = line.get("params") or {}
        match line["method"]:
            case "rawResponseItem/completed":
                return self._item(params["item"])
            case "rawResponse/completed":
                return [self._turn(params.get("usage") or {})]
            case "turn/completed":
                turn = params["turn"]
                return [Failed(_error(turn.get("error")))] if turn.get("status") == "failed" else [Idle()]
        return ()

    def _replied(self, line: Json) -> Sequence[Event]:
        if "error" in line:
            return [Failed(ModelError(f"codex: {str(line['error'].get('message'))[:500]}"))]
        if line.get("id") == _INITIALIZE:
            self.send({"method": "initialized"})
            params: Json = {
                "approvalPolicy": "never",
                "baseInstructions": self._system,
                "cwd": str(self._home.path),
                "environments": [],
                "ephemeral": True,
                "experimentalRawEvents": True,
                "sandbox": "read-only",
            }
            if self._model:
                params["model"] = self._model
            self.send({"id": _THREAD, "method": "thread/start", "params": params})
        elif line.get("id") == _THREAD:
            self._thread = line["result"]["thread"]["id"]
            self._running = str(line["result"].get("model") or self._model)
            self._say_on()
        return ()

    def _item(self, item: Json) -> Sequence[Event]:
        match item.get("type"):
            case "message" if item.get("role") == "assistant":
                self._text += [str(part.get("text", "")) for part in item.get("content") or ()]
            case "function_call":
                self._calls.append(_call(item))
            case "function_call_output":
                output = item.get("output")
                if isinstance(output, list):
                    output = "\n".join(str(part.get("text", "")) for part in output)
                return [Answered(str(item.get("call_id")), str(output))]
        return ()

    def _turn(self, usage: Json) -> Turn:
        text, calls = "\n".join(self._text), tuple(self._calls)
        self._text, self._calls = [], []
        read = int(usage.get("cachedInputTokens") or 0)
        total, output = int(usage.get("inputTokens") or 0), int(usage.get("outputTokens") or 0)
        cost = cost_usd(
            self._running,
            capabilities("openai", self._running, self._overrides),
            input_tokens=total,
            output_tokens=output,
            cached_tokens=read,
            written_tokens=int(usage.get("cacheWriteInputTokens") or 0),
        )
        return Turn(
            text=text,
            calls=calls,
            usage=Usage(input_tokens=total, output_tokens=output, cached_tokens=read, cost_usd=cost),
            stop="calls" if calls else "end",
            model=self._running,
        )


def _config(home: Home) -> Path:
    return home.path / "codex"


def _catalogue(home: Home) -> Path:
    return _config(home) / "models.json"


def _elsewhere(home: Home) -> bool:
    """Whether another server was chosen: it has its own key, and the login is none of its business."""
    return bool(home.environ.get("OPENAI_BASE_URL")) and bool(home.environ.get("OPENAI_API_KEY"))


def _call(item: Json) -> ToolCall:
    ident, name = str(item.get("call_id")), str(item.get("name")).removeprefix(f"mcp__{NAME}__")
    raw = str(item.get("arguments") or "{}")
    with suppress(ValueError):
        arguments = json.loads(raw)
        if isinstance(arguments, dict):
            return ToolCall(id=ident, name=name, arguments=arguments)
    return ToolCall(id=ident, name=name, invalid=raw)


def _error(error: Any) -> ModelError:
    error = error if isinstance(error, dict) else {}
    info = error.get("codexErrorInfo")
    words = f"codex: {str(error.get('message') or 'it failed')[:500]}"
    return ModelRefused(words) if str(info) in _REFUSALS else ModelError(words)
