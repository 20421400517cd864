from __future__ import annotations

import asyncio
import base64
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from deskhand import mcp_server
from deskhand.audit.log import AuditLog
from deskhand.audit.store import TaskStore
from deskhand.terms import Limits, Policy, Private
from test_cli import STATUS

Mode = Literal["legacy", "auto"]
ERAS: tuple[Mode, ...] = ("legacy", "auto")

EVENTS = (
    {"kind": "task_started", "goal": "do it"},
    {"kind": "model_call", "model": "embedded"},
    {
        "kind": "action",
        "step": {"kind": "click"},
        "target": {"role": "button", "name": "Save"},
        "effect": "done",
    },
    {"kind": "observation"},
    {"kind": "task_finished", "status": "success"},
)


class Double:
    """A task that goes as it is told: it emits events from another thread, as the real one does, and returns."""

    def __init__(self) -> None:
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self.started, self.cancelled, self.ended = asyncio.Event(), False, False
        self.hangs = False
        self.status: dict[str, Any] = dict(STATUS)
        self.asks: Any = None
        self.answers: list[Any] = []

    async def __call__(self, *args: Any, **named: Any) -> dict[str, Any]:
        self.calls.append((args, named))
        for event in EVENTS:
            await asyncio.to_thread(named["on_event"], event)
        self.started.set()
        if self.asks is not None:
            await self.asks(named["policy"].confirm)
        try:
            while self.hangs:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            await asyncio.to_thread(str)  # the real one waits for its worker's end here
            self.ended = True
            raise
        return self.status


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Double:
    double = Double()
    monkeypatch.setattr(mcp_server, "acomputer_task", double)
    return double


@asynccontextmanager
async def connected(mode: Mode) -> AsyncIterator[Client]:
    async with Client(mcp_server.build_server(), mode=mode) as client:
        yield client


@pytest.mark.parametrize("mode", ERAS)
async def test_a_host_sees_one_tool_that_is_cheap_and_marked_as_acting(mode: Mode) -> None:
    async with connected(mode) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["computer_task"]
    tool = tools[0]
    shown = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    assert math.ceil(len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()) / 4) <= 700
    assert tool.annotations is not None
    assert tool.annotations.destructive_hint is True
    assert tool.output_schema is not None
    assert set(tool.output_schema["properties"]) == set(STATUS)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_gives_progress_for_each_step_and_a_structured_result(
    mode: Mode, double: Double
) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total, message))

    async with connected(mode) as client:
        result = await client.call_tool("computer_task", {"goal": "do it"}, progress_callback=progress)
    assert not result.is_error
    assert result.structured_content == STATUS
    assert json.loads(result.content[0].text) == STATUS  # type: ignore[union-attr]
    assert [done for done, _, _ in seen] == [1, 2, 3]
    assert [message for _, _, message in seen] == [
        "task started: do it",
        "model call: 1  ask embedded",
        "1.1  click → button “Save”: done",
    ]


async def test_arguments_reach_the_task(double: Double) -> None:
    arguments = {
        "goal": "buy",
        "timeout": 60,
        "model": "embedded",
        "context": "in Bern",
        "inputs": {"Name": "Ana"},
        "expect": ["button"],
        "output": {"type": "object"},
        "profile": "work",
        "network": "none",
        "max_steps": 7,
        "record": True,
        "background": True,
        "resume": None,
    }
    async with connected("auto") as client:
        await client.call_tool("computer_task", arguments)
    args, named = double.calls[0]
    assert args == ("buy", 60, "embedded")
    del named["on_event"]
    assert named == {
        "context": "in Bern",
        "inputs": {"Name": "Ana"},
        "expect": ("button",),
        "output": {"type": "object"},
        "computer": Private(profile="work", network="none"),
        "limits": Limits(steps=7),
        "policy": Policy(),
        "record": True,
        "background": True,
        "resume": None,
    }


@pytest.mark.parametrize(
    ("question", "reply", "answer"),
    [
        ({"kind": "consent", "question": "Press Pay?"}, ("accept", {"allow": True}), True),
        ({"kind": "consent", "question": "Press Pay?"}, ("accept", {"allow": False}), False),
        ({"kind": "consent", "question": "Press Pay?"}, ("decline", None), False),
        (
            {"kind": "question", "question": "Which one?"},
            ("accept", {"answer": "the blue one"}),
            "the blue one",
        ),
        ({"kind": "question", "question": "Which one?"}, ("cancel", None), ""),
    ],
)
async def test_the_hosts_user_is_asked_where_the_host_can_do_that(
    double: Double, question: dict[str, Any], reply: tuple[Any, Any], answer: bool | str
) -> None:
    asked: list[str] = []

    async def person(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=reply[0], content=reply[1])

    async def ask(confirm: Any) -> None:
        double.answers.append(await confirm(question))

    double.asks = ask
    server = mcp_server.build_server()
    async with Client(server, mode="legacy", elicitation_callback=person) as client:
        await client.call_tool("computer_task", {"goal": "do it"})
    assert (asked, double.answers) == ([question["question"]], [answer])


@pytest.mark.parametrize("mode", ERAS)
async def test_nobody_is_there_to_ask_where_the_host_cannot(mode: Mode, double: Double) -> None:
    async with connected(mode) as client:
        await client.call_tool("computer_task", {"goal": "do it"})
    assert double.calls[0][1]["policy"].confirm is None


@pytest.mark.parametrize("status", ["failure", "timeout", "clarification_needed", "cancelled", "running"])
async def test_every_status_is_a_normal_result(double: Double, status: str) -> None:
    double.status = {**STATUS, "status": status, "verified": None}
    async with connected("auto") as client:
        result = await client.call_tool("computer_task", {"goal": "do it"})
    assert not result.is_error
    assert result.structured_content is not None
    assert result.structured_content["status"] == status


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "goal"),
        ({"goal": "  "}, "goal"),
        ({"goal": "x", "timeout": 0}, "timeout must be"),
        ({"goal": "x", "timeout": "soon"}, "timeout"),
        ({"goal": "x", "max_steps": 0}, "limits.steps"),
        ({"goal": "x", "expect": ["button[["]}, "expect"),
        ({"goal": "x", "model": "telepathy:1"}, "telepathy"),
        ({"goal": "x", "computer": "display::9", "profile": "p"}, "profile"),
        ({"goal": "x", "network": "some"}, "network"),
        ({"resume": "../../etc/passwd"}, "not the name of a conversation"),
        ({"resume": "nobody"}, "no conversation is called"),
    ],
)
async def test_only_invalid_arguments_are_errors_and_name_the_argument(
    arguments: dict[str, Any], said: str, deskhand_home: Path
) -> None:
    async with connected("auto") as client:
        result = await client.call_tool("computer_task", arguments)
    assert result.is_error
    assert said in result.content[0].text  # type: ignore[union-attr]
    assert not list(deskhand_home.glob("tasks/*"))


@pytest.mark.parametrize("mode", ERAS)
async def test_cancelling_the_call_ends_the_task_and_waits_for_its_end(mode: Mode, double: Double) -> None:
    double.hangs = True
    async with connected(mode) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "computer_task", {"goal": "do it"})
            await double.started.wait()
            group.cancel_scope.cancel()
        await client.list_tools()  # the server goes on
    assert double.cancelled
    assert double.ended


@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_that_times_out_at_the_host_ends_the_task(mode: Mode, double: Double) -> None:
    double.hangs = True
    async with connected(mode) as client:
        with pytest.raises(MCPError):
            await client.call_tool("computer_task", {"goal": "do it"}, read_timeout_seconds=0.3)
    assert double.ended


async def test_logs_and_their_images_are_resources(deskhand_home: Path) -> None:
    name, directory = TaskStore(deskhand_home).new()
    with AuditLog.create(directory, name) as log:
        digest = log.store_image(b"\x89PNG picture")
        log.write("task_started", goal="say “hi”")
    async with connected("auto") as client:
        templates = (await client.list_resource_templates()).resource_templates
        text = (await client.read_resource(f"audit://{name}")).contents[0]
        picture = (await client.read_resource(f"audit://{name}/images/{digest}")).contents[0]
    assert [template.uri_template for template in templates] == [
        "audit://{conversation}",
        "audit://{conversation}/images/{digest}",
    ]
    assert text.text == (directory / "audit.jsonl").read_text()  # type: ignore[union-attr]
    assert base64.b64decode(picture.blob) == b"\x89PNG picture"  # type: ignore[union-attr]
    assert picture.mime_type == "image/png"


@pytest.mark.parametrize(
    "uri",
    [
        "audit://nobody",
        "audit://..%2F..%2Fetc",
        "audit://nobody/images/" + "0" * 64,
        "audit://nobody/images/passwd",
    ],
)
async def test_what_is_no_log_cannot_be_read(uri: str) -> None:
    async with connected("auto") as client:
        with pytest.raises(MCPError):
            await client.read_resource(uri)


def _talk(*messages: dict[str, Any], code: str = "") -> tuple[list[dict[str, Any]], str]:
    """Speak to ``computer mcp`` by hand; its answers, each line of stdout parsed, and its stderr."""
    program = f"{code}\nfrom deskhand.cli import main; main(['mcp'])"
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(lines)
        server.stdin.flush()
        wanted = sum("id" in message for message in messages)
        answers = []
        while sum("id" in answer for answer in answers) < wanted:
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        assert server.wait(10) == 0
        answers += [json.loads(line) for line in server.stdout]
        return answers, server.stderr.read()


NOISY = """
import os, subprocess
from deskhand import mcp_server
async def noisy(*args, **named):
    print("printed"); os.write(1, b"written\\n"); subprocess.run(["echo", "child"])
    named["on_event"]({"kind": "action", "step": {"kind": "click"}})
    raise ValueError("goal must be better")
mcp_server.acomputer_task = noisy
"""


def test_nothing_but_protocol_reaches_stdout() -> None:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "hand", "version": "1"},
    }
    answers, said = _talk(
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "computer_task", "arguments": {"goal": "x"}, "_meta": {"progressToken": "p"}},
        },
        code=NOISY,
    )
    assert {answer["jsonrpc"] for answer in answers} == {"2.0"}
    assert [answer.get("method", answer.get("id")) for answer in answers] == [1, "notifications/progress", 2]
    assert "goal must be better" in answers[-1]["result"]["content"][0]["text"]
    for noise in ("printed", "written", "child"):
        assert noise in said


@asynccontextmanager
async def served(*words: str, **environ: str) -> AsyncIterator[tuple[str, str]]:
    """``computer mcp --http …``: its address and the token that it said."""
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "deskhand.cli", "mcp", "--http", *words, env={**os.environ, **environ},
        stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert server.stderr is not None
    assert server.stdout is not None
    try:
        url = re.search(r"http://\S+", (await server.stderr.readline()).decode())
        assert url is not None
        token = environ.get("DESKHAND_MCP_TOKEN") or (await server.stderr.readline()).decode().split()[-1]
        yield url.group(), token
    finally:
        server.terminate()
        async with asyncio.timeout(10):
            out, _ = await server.communicate()
        assert out == b""


@pytest.mark.parametrize("mode", ERAS)
async def test_over_http_the_token_opens_and_nothing_else_does(mode: Mode) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async with served("127.0.0.1:0") as (url, token):
        async with httpx2.AsyncClient() as stranger:
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {token}x"}):
                assert (await stranger.post(url, json={}, headers=headers)).status_code == 401
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as friend,
            Client(streamable_http_client(url, http_client=friend), mode=mode) as client,
        ):
            assert [tool.name for tool in (await client.list_tools()).tools] == ["computer_task"]
            refused = await client.call_tool("computer_task", {"goal": "x", "timeout": 0})
            assert refused.is_error


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("0.0.0.0:8765", "DESKHAND_MCP_TOKEN"),
        ("[::]:1", "DESKHAND_MCP_TOKEN"),
        ("8765", "HOST:PORT"),
        ("h:x", "HOST:PORT"),
    ],
)
def test_it_does_not_listen_wider_than_this_machine_without_a_chosen_token(address: str, said: str) -> None:
    command = [sys.executable, "-m", "deskhand.cli", "mcp", "--http", address]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert refused.returncode == 2
    assert said in refused.stderr
