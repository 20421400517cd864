"""Real tasks through the command line and through an MCP server, ended in every way that people and hosts end them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from deskhand.audit.films import films_of
from deskhand.audit.store import TaskStore
from deskhand.audit.verify import verify_log
from deskhand.desktop.recording import duration_of, poster_of
from process_tree import Process, descendants, left_alive
from test_mcp import served
from watching import Script

LAUNCH = {
    "text": "An editor.",
    "calls": [{"name": "act", "input": {"steps": [{"kind": "launch", "app": "mousepad"}]}}],
}
WAIT = {"calls": [{"name": "wait_for", "input": {"selector": "button[name='never']", "timeout": 50}}]}
DONE = {
    "calls": [
        {"name": "finish", "input": {"result": "an editor is open", "evidence": ["menuitem[name='Edit']"]}}
    ]
}
COMPUTER = [sys.executable, "-m", "deskhand.cli"]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMPUTER, *words], capture_output=True, text=True, timeout=90, check=False)


@contextmanager
def acting(*words: str) -> Iterator[tuple[subprocess.Popen[str], set[Process]]]:
    """A task on the command line that has done its first step, and the processes that exist because of it."""
    with subprocess.Popen(
        [*COMPUTER, "task", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if "launch mousepad" in line:
                    break
            seen = descendants(process.pid)
            assert seen
            yield process, seen
        finally:
            process.kill()


def test_a_task_on_the_command_line_gives_one_object_and_a_log_that_verifies(scripted: Script) -> None:
    done = run("task", "open an editor", "--model", scripted([LAUNCH, DONE]), "--json", "--record")
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert (status["status"], status["verified"], status["steps"]) == ("success", True, 2)
    assert "launch mousepad" in done.stderr
    name = status["conversation"]
    assert run("audit-log", name, "--verify", status["audit_hash"]).returncode == 0
    assert "launch mousepad" in run("audit-log", name).stdout
    assert "An editor." in run("transcript", name).stdout
    assert json.loads(run("list", "--json").stdout)[0]["status"] == "success"
    names = subprocess.run([*COMPUTER, "export", name], stdout=subprocess.PIPE, check=True).stdout
    assert b"recording.mp4" in names
    (film,) = films_of(Path(status["logdir"]) / "audit.jsonl")
    assert (str(film.path), Path(poster_of(str(film.path))).is_file()) == (status["recording"], True)
    launch = next(event for event in film.events if event["kind"] == "action")
    assert film.began < launch["t"] - launch["seconds"]
    checked = max(event["t"] for event in film.events if event["kind"] == "verification")
    assert film.began + (duration_of(str(film.path)) or 0.0) > checked


def test_a_literal_goal_is_done_without_a_key_and_told_in_plain_lines() -> None:
    done = run("task", "In gnome-calculator compute 12 × 34 and tell me the result", "--timeout", "60")
    assert done.returncode == 0, done.stdout + done.stderr
    assert any("408" in line and line.startswith("success") for line in done.stdout.splitlines())
    assert "launch gnome-calculator" in done.stdout


@pytest.mark.parametrize(
    ("number", "reason"), [(signal.SIGINT, "stopped_by_person"), (signal.SIGTERM, "stopped_by_caller")]
)
def test_a_signal_ends_the_task_in_an_orderly_way(
    scripted: Script, number: signal.Signals, reason: str, deskhand_home: Path
) -> None:
    with acting("wait", "--model", scripted([LAUNCH, WAIT]), "--json") as (process, seen):
        process.send_signal(number)
        out, _ = process.communicate(timeout=10)
    assert process.returncode == 130
    status = json.loads(out)
    assert (status["status"], status["reason"]) == ("cancelled", reason)
    assert left_alive(seen, 0) == []
    assert verify_log(Path(status["logdir"]) / "audit.jsonl", status["audit_hash"]).ok


def test_ctrl_c_reaches_the_task_through_a_terminal(scripted: Script, deskhand_home: Path) -> None:
    import pty

    command = [*COMPUTER, "task", "wait", "--model", scripted([LAUNCH, WAIT])]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, command, {**os.environ, "TERM": "xterm", "COLUMNS": "120"})
    shown = b""
    while b"mousepad" not in shown:
        shown += os.read(terminal, 65536)
    seen = descendants(pid)
    os.write(terminal, b"\x03")
    while b"cancelled (stopped_by_person)" not in shown:
        shown += os.read(terminal, 65536)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    os.close(terminal)
    assert b"Verdict" in shown
    assert b"\x1b[" in shown
    assert left_alive(seen, 0) == []


def test_a_background_task_is_stopped_and_collected_from_elsewhere(scripted: Script) -> None:
    started = run("task", "wait", "--model", scripted([LAUNCH, WAIT]), "--background", "--json")
    assert started.returncode == 0, started.stderr
    name = json.loads(started.stdout)["conversation"]
    assert json.loads(started.stdout)["status"] == "running"
    assert json.loads(run("list", "--json").stdout)[0]["state"] == "running"
    assert run("stop", name).stdout == f"stopped {name}\n"
    collected = run("task", "--resume", name, "--json")
    assert collected.returncode == 130
    assert json.loads(collected.stdout)["reason"] == "stopped_by_person"
    assert json.loads(run("list", "--json").stdout)[0]["state"] == "finished"
    assert run("stop", name).returncode == 1


def _host() -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "deskhand.cli", "mcp"], env=dict(os.environ)
    )


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_host_runs_a_task_with_progress_and_a_structured_result(
    mode: Literal["legacy", "auto"], scripted: Script
) -> None:
    seen: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append(message or "")

    arguments = {"goal": "open an editor", "timeout": 60, "model": scripted([LAUNCH, DONE])}
    async with Client(_host(), mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["computer_task"]
        result = await client.call_tool("computer_task", arguments, progress_callback=progress)
        status = result.structured_content
        assert status is not None
        assert (status["status"], status["verified"]) == ("success", True), status
        log = (await client.read_resource(f"audit://{status['conversation']}")).contents[0]
        picture = Path(status["final_image"]).stem
        image = (await client.read_resource(f"audit://{status['conversation']}/images/{picture}")).contents[0]
    assert status["audit_hash"] in log.text  # type: ignore[union-attr]
    assert image.blob  # type: ignore[union-attr]
    assert any("launch mousepad" in message for message in seen)
    assert seen[0].startswith("task started")
    assert [block.type for block in result.content] == ["text"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_host_runs_a_task_over_http(mode: Literal["legacy", "auto"], scripted: Script) -> None:
    seen: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append(message or "")

    arguments = {"goal": "open an editor", "timeout": 60, "model": scripted([LAUNCH, DONE])}
    async with (
        served("127.0.0.1:0") as (url, token),
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        result = await client.call_tool("computer_task", arguments, progress_callback=progress)
    assert result.structured_content is not None
    assert result.structured_content["status"] == "success", result
    assert any("launch mousepad" in message for message in seen)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_host_that_cancels_the_call_ends_the_task(
    mode: Literal["legacy", "auto"], scripted: Script, deskhand_home: Path
) -> None:
    before = descendants(os.getpid())
    acted = anyio.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        if "launch" in (message or ""):
            acted.set()

    async def call(client: Client) -> None:
        arguments = {"goal": "wait", "model": scripted([LAUNCH, WAIT])}
        await client.call_tool("computer_task", arguments, progress_callback=progress)

    async with Client(_host(), mode=mode) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(call, client)
            await acted.wait()
            host = descendants(os.getpid()) - before
            task = {process for process in host if "cli mcp" not in process.command}
            assert task
            group.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(left_alive, task, 3) == []
        assert (await client.list_tools()).tools
    (row,) = TaskStore(deskhand_home).list()
    assert (row.state, row.reason) == ("finished", "stopped_by_caller")


@pytest.mark.parametrize("end", ["closes", "dies"])
def test_a_host_that_goes_away_takes_its_task_along(end: str, scripted: Script, deskhand_home: Path) -> None:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "hand", "version": "1"},
    }
    call = {"name": "computer_task", "arguments": {"goal": "wait", "model": scripted([LAUNCH, WAIT])}}
    messages = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {**call, "_meta": {"progressToken": 1}}},
    ]
    with subprocess.Popen(
        [*COMPUTER, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        for line in server.stdout:
            if "launch mousepad" in line:
                break
        seen = descendants(server.pid)
        assert seen
        if end == "dies":
            server.kill()
        else:
            server.stdin.close()
        server.wait(10)
        assert left_alive(seen, 2) == []
