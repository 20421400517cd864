"""However a task ends: a status in time, a log that verifies, and nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deskhand import acomputer_task, computer_task
from deskhand.audit.store import TaskStore
from deskhand.audit.verify import verify_log
from deskhand.messages import ToolSpec, Transcript, Turn
from deskhand.orchestrator.control import send
from process_tree import Process, descendants, left_alive
from watching import Script, Watch

LAUNCH = {"calls": [{"name": "act", "input": {"steps": [{"kind": "launch", "app": "mousepad"}]}}]}
LOOK = {"calls": [{"name": "observe", "input": {}}]}
DONE = {
    "calls": [
        {"name": "finish", "input": {"result": "an editor is open", "evidence": ["menuitem[name='Edit']"]}}
    ]
}
GIVE_UP = {
    "calls": [{"name": "finish", "input": {"status": "failure", "reason": "gave_up", "result": "no way"}}]
}


def log_is_intact(status: dict[str, Any] | Any) -> None:
    found = verify_log(Path(status["logdir"]) / "audit.jsonl", status["audit_hash"])
    assert found.intact, found
    assert found.found_expected


def nothing_is_left(watch: Watch, within: float = 0.0) -> None:
    assert watch.seen, "the task's processes were never seen"
    assert left_alive(watch.seen, within) == []


class Sleeper:
    """A model that never answers."""

    name = "sleeper"

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        await asyncio.Event().wait()
        raise AssertionError


class Broken:
    """A model that raises."""

    name = "broken"

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        raise RuntimeError("a bug of the caller's")


def test_after_success_nothing_is_left(scripted: Script, watch: Watch) -> None:
    status = computer_task("open an editor", 60, scripted([LAUNCH, DONE]), on_event=watch)
    assert (status["status"], status["verified"]) == ("success", True), status
    nothing_is_left(watch)
    log_is_intact(status)
    assert watch.kinds()[0] == "task_started"
    assert watch.kinds()[-1] == "task_finished"
    assert status["audit_hash"] == watch.events[-1]["hash"]
    assert json.loads((Path(status["logdir"]) / "result.json").read_text()) == status


def test_after_a_failure_nothing_is_left(scripted: Script, watch: Watch) -> None:
    status = computer_task("open an editor", 60, scripted([LAUNCH, GIVE_UP]), on_event=watch)
    assert (status["status"], status["reason"]) == ("failure", "gave_up"), status
    nothing_is_left(watch)
    log_is_intact(status)


def test_a_model_that_hangs_costs_no_more_than_the_timeout(watch: Watch) -> None:
    start = time.monotonic()
    status = computer_task("wait", 3, Sleeper(), on_event=watch)
    assert time.monotonic() - start < 4
    assert (status["status"], status["reason"]) == ("timeout", "deadline")
    nothing_is_left(watch)
    log_is_intact(status)


def test_an_error_in_the_callers_model_is_a_status(watch: Watch) -> None:
    status = computer_task("go", 30, Broken(), on_event=watch)
    assert (status["status"], status["reason"]) == ("failure", "model_error"), status
    assert "a bug of the caller's" in status["result"]
    nothing_is_left(watch)
    log_is_intact(status)


def test_a_script_that_ends_early_is_a_model_error(scripted: Script, watch: Watch) -> None:
    status = computer_task("open an editor", 60, scripted([LAUNCH]), on_event=watch)
    assert (status["status"], status["reason"]) == ("failure", "model_error"), status
    nothing_is_left(watch)
    log_is_intact(status)


def test_a_hanging_app_costs_no_more_than_the_timeout(scripted: Script, watch: Watch) -> None:
    def freeze(event: dict[str, Any]) -> None:
        os.kill(watch.find("mousepad").pid, signal.SIGSTOP)

    watch.when["action"] = freeze
    typing = {"steps": [{"kind": "fill", "target": "textbox", "text": "hello"}]}
    turns = [LAUNCH, *[{"calls": [{"name": "act", "input": typing}]}, LOOK] * 20]
    start = time.monotonic()
    status = computer_task("write", 6, scripted(turns), on_event=watch)
    assert time.monotonic() - start < 7
    assert status["status"] in ("timeout", "failure")
    nothing_is_left(watch)
    log_is_intact(status)


def test_a_stopped_worker_costs_no_more_than_the_timeout(scripted: Script, watch: Watch) -> None:
    def freeze(event: dict[str, Any]) -> None:
        os.kill(watch.find("deskhand.orchestrator.worker").pid, signal.SIGSTOP)

    watch.when["action"] = freeze
    start = time.monotonic()
    status = computer_task("write", 5, scripted([LAUNCH, LOOK, DONE]), on_event=watch)
    assert time.monotonic() - start < 6
    assert (status["status"], status["reason"]) == ("timeout", "deadline")
    assert "launch" in status["result"]
    nothing_is_left(watch, within=2)
    log_is_intact(status)


def test_a_killed_display_is_told_within_three_seconds(watch: Watch) -> None:
    killed: list[float] = []

    def kill(event: dict[str, Any]) -> None:
        os.kill(watch.find("Xvfb").pid, signal.SIGKILL)
        killed.append(time.monotonic())

    watch.when["observation"] = kill
    status = computer_task("wait", 60, Sleeper(), on_event=watch)
    assert time.monotonic() - killed[0] < 3
    assert (status["status"], status["reason"]) == ("failure", "desktop_error"), status
    nothing_is_left(watch)
    log_is_intact(status)


def test_a_killed_worker_is_told_within_three_seconds(watch: Watch) -> None:
    killed: list[float] = []

    def kill(event: dict[str, Any]) -> None:
        os.kill(watch.find("deskhand.orchestrator.worker").pid, signal.SIGKILL)
        killed.append(time.monotonic())

    watch.when["observation"] = kill
    status = computer_task("wait", 60, Sleeper(), on_event=watch)
    assert time.monotonic() - killed[0] < 3
    assert (status["status"], status["reason"]) == ("failure", "computer_lost"), status
    nothing_is_left(watch, within=2)
    log_is_intact(status)


async def test_cancelling_the_awaitable_ends_the_task(watch: Watch) -> None:
    running = asyncio.Event()
    loop = asyncio.get_running_loop()
    watch.when["observation"] = lambda event: loop.call_soon_threadsafe(running.set) and None
    task = asyncio.create_task(acomputer_task("wait", 60, Sleeper(), on_event=watch))
    await asyncio.wait_for(running.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    nothing_is_left(watch)
    assert watch.events[-1]["kind"] == "task_finished"
    assert watch.events[-1]["reason"] == "stopped_by_caller"


def test_stop_over_the_control_socket_ends_the_task(watch: Watch, deskhand_home: Path) -> None:
    def stop(event: dict[str, Any]) -> None:
        directory = TaskStore(deskhand_home).path(event["conversation"])
        threading.Thread(target=send, args=(directory, {"command": "stop"})).start()

    watch.when["observation"] = stop
    status = computer_task("wait", 60, Sleeper(), on_event=watch)
    assert (status["status"], status["reason"]) == ("cancelled", "stopped_by_person")
    nothing_is_left(watch)
    log_is_intact(status)


CALLER = """
import sys
from deskhand import computer_task
computer_task("wait", 60, sys.argv[1], on_event=lambda event: print(event["kind"], flush=True))
"""

WAITING = [
    LAUNCH,
    {"calls": [{"name": "wait_for", "input": {"selector": "button[name='never']", "timeout": 50}}]},
]


@pytest.mark.parametrize("victims", ["caller", "worker", "both"])
def test_a_kill_leaves_nothing_and_the_next_start_cleans_up(
    victims: str, scripted: Script, tmp_path: Path, deskhand_home: Path
) -> None:
    temporary = tempfile.mkdtemp(prefix="dh-")  # short: unix sockets lie in it
    environment = {**os.environ, "TMPDIR": temporary}
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, scripted(WAITING)], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert caller.stdout is not None
        for line in caller.stdout:
            if line.strip() == "action":
                break
        seen = descendants(caller.pid)
        worker = next(process for process in seen if "deskhand.orchestrator.worker" in process.command)
        doomed = {"caller": [caller.pid], "worker": [worker.pid], "both": [caller.pid, worker.pid]}[victims]
        for pid in doomed:
            os.kill(pid, signal.SIGKILL)
        assert left_alive(seen, 2) == []
        caller.wait(10)
    finally:
        caller.kill()
        caller.wait()
        if caller.stdout is not None:
            caller.stdout.close()
    (directory,) = (deskhand_home / "tasks").iterdir()
    assert verify_log(directory / "audit.jsonl").intact

    subprocess.run(
        [sys.executable, "-c", CALLER, scripted([GIVE_UP])],
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment,
    )
    shared = Path(temporary, f"deskhand-{os.getuid()}")  # of all desktops of this user; holds their lock
    assert sorted(Path(temporary).rglob("*")) == [shared, shared / ".lock"]
    shutil.rmtree(temporary)


def test_ctrl_c_in_a_script_ends_the_task_and_interrupts(scripted: Script, deskhand_home: Path) -> None:
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, scripted(WAITING)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert caller.stdout is not None
    for line in caller.stdout:
        if line.strip() == "action":
            break
    seen: set[Process] = descendants(caller.pid)
    os.kill(caller.pid, signal.SIGINT)
    _, errors = caller.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors
    assert left_alive(seen, 2) == []
    (directory,) = (deskhand_home / "tasks").iterdir()
    assert json.loads((directory / "result.json").read_text())["status"] == "cancelled"
