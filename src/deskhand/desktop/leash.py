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


def children(pid: int) -> list[int]:
    """The direct children of ``pid``."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found.extend(int(child) for child in file.read().split())
    return found


def marked(directory: str) -> list[int]:
    """The processes whose environment carries `MARK` with this directory, wherever they went, and all below them.

    Below them, because a program may write over its environment (Chromium does, to show another name).
    """
    needle = f"{MARK}={directory}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
            if needle in file.read().split(b"\0"):
                found.append(int(entry))
    for pid in found:
        found.extend(child for child in children(pid) if child not in found)
    return found


def end_marked(directory: str, *, timeout: float = 1.0) -> list[int]:
    """Kill what `marked` finds until it finds nothing more. The pids that are left after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while pids := marked(directory):
        if time.monotonic() > deadline:
            return pids
        kill(watch(pids), deadline)
    return []


def watch(pids: list[int]) -> dict[int, int]:
    """A pidfd for each of these that is still there."""
    fds = {}
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            fds[pid] = os.pidfd_open(pid)
    return fds


def kill(fds: dict[int, int], deadline: float) -> None:
    """Kill the processes of `watch` and wait for them until the deadline (monotonic clock); closes the fds."""
    for fd in fds.values():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(fd, signal.SIGKILL)
    for fd in fds.values():
        select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        os.close(fd)
    for pid in (
        fds
    ):  # a subreaper adopts those whose parents died, and has to reap them; the last parent is dead by now
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


if __name__ == "__main__":
    while os.read(int(sys.argv[1]), 1):
        pass
    end_marked(sys.argv[2], timeout=5.0)
