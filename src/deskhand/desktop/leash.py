"""Finding and ending the processes of a desktop by their mark; as a program, the leash of apps that are not boxed.

Run as ``python leash.py FD DIRECTORY``: waits until the pipe FD ends, which the death of the process at its other end
brings about however it dies, and then ends what carries the mark. Standard library only: it runs by its path, without
the package.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

MARK = "DESKHAND_DESKTOP"
"""Every process of a desktop carries this variable with the desktop's directory, so that strays can be found."""


def marked(directory: str) -> list[int]:
    """The processes whose environment carries `MARK` with this directory, whatever group or parent they have now."""
    needle = f"{MARK}={directory}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
            if needle in file.read().split(b"\0"):
                found.append(int(entry))
    return found


def end_marked(directory: str, *, timeout: float = 1.0) -> list[int]:
    """Kill what `marked` finds until it finds nothing more. The pids that are left after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while pids := marked(directory):
        if time.monotonic() > deadline:
            return pids
        _kill(pids, deadline)
    return []


def _kill(pids: list[int], deadline: float) -> None:
    dying = {}
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            dying[pid] = os.pidfd_open(pid)
            signal.pidfd_send_signal(dying[pid], signal.SIGKILL)
    for pid, fd in dying.items():
        select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        os.close(fd)
        with contextlib.suppress(ChildProcessError):  # one that a subreaper adopted is ours to reap
            os.waitpid(pid, os.WNOHANG)


if __name__ == "__main__":
    while os.read(int(sys.argv[1]), 1):
        pass
    end_marked(sys.argv[2], timeout=5.0)
