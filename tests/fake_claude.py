"""A tiny stand-in for the program `claude`: plays scripted turns, speaks its stream of JSON lines and MCP as a client.

``python fake_claude.py SCRIPT KEEP -p …``: the script is a list of turns ``{"text": …, "calls": [{"name", "input"}]}``;
what it was given (arguments, environment, words, answers) is appended to the file KEEP, one JSON line each.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def out(line: Json) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Tools:
    """The client's side of the MCP server that the options name."""

    def __init__(self, config: Json) -> None:
        server = config["mcpServers"]["desk"]
        command = [server["command"], *server["args"]]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._ids = itertools.count(1)
        client = {"name": "fake", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.ask("initialize", params)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: Json) -> Json:
        number = next(self._ids)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message: Json = json.loads(line)
            if message.get("id") == number:
                return dict(message.get("result") or message)
        raise SystemExit("the tool server ended")


def play(turn: Json, number: int, tools: Tools, keep: Any) -> bool:
    """One turn: as events, then its calls one after the other. Whether the model goes on."""
    usage = {"input_tokens": 100, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 0}
    message = {"id": f"m{number}", "model": "claude-opus-4-8", "usage": {**usage, "output_tokens": 1}}
    content: list[Json] = [{"type": "text", "text": turn["text"]}] if "text" in turn else []
    calls = [
        {"type": "tool_use", "id": f"c{number}_{n}", "name": f"mcp__desk__{c['name']}", "input": c["input"]}
        for n, c in enumerate(turn.get("calls", []))
    ]
    out({"type": "stream_event", "event": {"type": "message_start", "message": message}})
    for block in content + calls:
        out({"type": "assistant", "message": {**message, "content": [block]}})
    delta = {"stop_reason": "tool_use" if calls else turn.get("stop", "end_turn")}
    out(
        {
            "type": "stream_event",
            "event": {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 50}},
        }
    )
    out({"type": "stream_event", "event": {"type": "message_stop"}})
    for call in calls:
        if call["name"].endswith("refused_by_the_program"):
            result: Json = {"content": [{"type": "text", "text": "No such tool"}]}
        else:
            params = {
                "name": call["name"].removeprefix("mcp__desk__"),
                "arguments": call["input"],
                "_meta": {"claudecode/toolUseId": call["id"]},
            }
            result = tools.ask("tools/call", params)
        keep({"answer": result["content"]})
        block = {"type": "tool_result", "tool_use_id": call["id"], "content": result["content"]}
        out({"type": "user", "message": {"role": "user", "content": [block]}})
    return bool(calls)


def main() -> None:
    script, kept, arguments = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], sys.argv[3:]

    def keep(line: Json) -> None:
        with open(kept, "a") as file:
            file.write(json.dumps(line) + "\n")

    login = Path(os.environ["HOME"], ".claude", ".credentials.json")
    tools = Tools(json.loads(arguments[arguments.index("--mcp-config") + 1]))
    listed = tools.ask("tools/list", {})["tools"]
    keep({"arguments": arguments, "environ": dict(os.environ), "login": login.read_text(), "tools": listed})
    number = 0
    for line in sys.stdin:
        keep({"words": json.loads(line)["message"]["content"]})
        goes_on = True
        while goes_on:
            turn = script[number] if number < len(script) else {"fail": "the script is used up"}
            number += 1
            if "renew" in turn:
                login.write_text(turn["renew"])
            if "die" in turn:
                sys.stderr.write(turn["die"])
                raise SystemExit(3)
            if "fail" in turn:
                out({"type": "result", "is_error": True, "result": turn["fail"]})
                break
            goes_on = play(turn, number, tools, keep)
        else:
            out({"type": "result", "is_error": False, "result": ""})


if __name__ == "__main__":
    main()
