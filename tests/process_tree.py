"""Which processes a task started, and which of them still live: read from /proc, identified by pid and start time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    pid: int
    started: int

    @property
    def alive(self) -> bool:
        """Whether this very process (not a later one of the same number) still runs; a zombie does not."""
        found = _stat(self.pid)
        return found is not None and found[1] == self.started and found[2] != "Z"

    @property
    def command(self) -> str:
        try:
            return (
                Path(f"/proc/{self.pid}/cmdline")
                .read_bytes()
                .replace(b"\0", b" ")
                .decode(errors="replace")
                .strip()
            )
        except OSError:
            return ""


def _stat(pid: int) -> tuple[int, int, str] | None:
    """(parent, start time, state) of a process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return int(fields[1]), int(fields[19]), fields[0]


def descendants(pid: int) -> set[Process]:
    """All processes below ``pid``, itself excluded."""
    children: dict[int, list[Process]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal() and (found := _stat(int(entry))) is not None:
            children.setdefault(found[0], []).append(Process(int(entry), found[1]))
    below: set[Process] = set()
    queue = [pid]
    while queue:
        for child in children.get(queue.pop(), ()):
            below.add(child)
            queue.append(child.pid)
    return below


def left_alive(processes: Iterable[Process], within: float) -> list[str]:
    """The commands of those that still live after at most ``within`` seconds; empty as soon as all are gone."""
    waiting = set(processes)
    end = time.monotonic() + within
    while (waiting := {process for process in waiting if process.alive}) and time.monotonic() < end:
        time.sleep(0.02)
    return [f"{process.pid} {process.command}" for process in waiting]
