"""What another user of the same machine can reach of a desktop and of a task's log: nothing."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.audit.log import AuditLog
from deskhand.audit.store import TaskStore
from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.sweep import socket_path
from desktop_world import directory_of, processes_of

NOBODY = 65534

PROBE = """
import json, os, socket, sys

def opens(path):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
        return True
    except OSError:
        return False

def answer(address, request):
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(5)
            s.connect(address)
            s.sendall(request)
            return s.recv(1).hex()
    except OSError:
        return ""

asked = json.loads(sys.argv[1])
hello = bytes([0x6C, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])  # X11: byte order, protocol 11.0, no authorization
print(json.dumps({
    "user": os.getuid(),
    "opened": [path for path in asked["files"] if opens(path)],
    "display": [answer(path, hello) for path in (asked["display"], "\\0" + asked["display"])],
    "buses": [answer(path, b"\\0AUTH EXTERNAL\\r\\n") for path in asked["buses"]],
    "read": [pid for pid in asked["pids"] if opens(f"/proc/{pid}/environ") or opens(f"/proc/{pid}/mem")],
}))
"""


def _as_another_user(**asked: Any) -> dict[str, Any]:
    """What a program of another user finds. It runs on the system's Python, which that user can read."""
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    done = subprocess.run(
        [
            *([] if os.geteuid() == 0 else ["sudo", "-n"]),
            *become,
            "/usr/bin/python3",
            "-I",
            "-c",
            PROBE,
            json.dumps(asked),
        ],
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def data() -> Iterator[Path]:
    """A data directory that lies where everybody can come."""
    with tempfile.TemporaryDirectory(prefix="dh-", dir="/var/tmp") as place:
        os.chmod(place, 0o755)
        yield Path(place, "data")


async def test_another_user_reaches_no_display_bus_process_or_log(desktop: X11Desktop, data: Path) -> None:
    name, task = TaskStore(data).new()
    with AuditLog.create(task, name) as log:
        log.write("task_started", goal="a secret plan")
    directory = Path(directory_of(desktop))
    sockets = [path for path in directory.rglob("*") if path.is_socket()]
    assert len(sockets) >= 2
    files = [directory, *directory.rglob("*"), data, task, *task.rglob("*")]
    found = _as_another_user(
        files=[str(path) for path in files],
        display=socket_path(int(desktop.display.removeprefix(":"))),
        buses=[str(path) for path in sockets],
        pids=processes_of(desktop),
    )
    assert found["user"] == NOBODY
    assert found["opened"] == []
    # 00 is the server's "no" (X11 protocol, connection setup); the abstract socket may not be there at all
    assert found["display"][0] == "00"
    assert found["display"][1] in ("00", "")
    assert set(found["buses"]) == {""}
    assert found["read"] == []
