"""Waiting for a task that runs in the background, from any process, and reading what it left."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from deskhand.audit.store import TaskStore
from deskhand.orchestrator.brief import TaskStatus
from deskhand.orchestrator.control import NotRunning, connect
from deskhand.orchestrator.result import from_log, running_status


def collect(home: Path, conversation: str, timeout: float) -> TaskStatus:
    """The status of a task: at once when it is over, else after waiting up to ``timeout`` seconds for its end.

    ``running`` when it still runs then. ValueError when there is no such conversation.
    """
    directory = TaskStore(home).find(conversation)
    with suppress(NotRunning):
        if not _wait_for_end(directory, timeout):
            return running_status(directory, directory.name)
    path = directory / "result.json"
    if path.is_file():
        status: TaskStatus = json.loads(path.read_text("utf-8"))
        return status
    return from_log(directory, directory.name, "computer_lost", "the worker process died", 0.0)


def _wait_for_end(directory: Path, left: float) -> bool:
    """Hold a connection to the worker until the task has ended; False when ``left`` seconds have passed first."""
    if left <= 0:
        return False
    with connect(directory) as sock:
        sock.sendall(b'{"command": "wait"}\n')
        sock.settimeout(left)
        try:
            while sock.recv(4096):
                pass
        except TimeoutError:
            return False
        except ConnectionError:
            pass
    return True
