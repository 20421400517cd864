"""Whether an app is still working although nothing moves: the processor time of its process tree."""

from __future__ import annotations

import contextlib
import os
import time

BUSY_SHARE = 0.35
"""Share of a core above an app's own idle floor that counts as work. Measured floors of idle apps: 0–5%, up to 13% with
an animation; an app that computes uses a core, or half of one on a crowded machine."""

_TREE_KEPT = 2.0  # seconds: walking Chromium's process tree takes 3–4 ms, reading a clock 2 µs


class CpuMeter:
    """Processor seconds that a process and all below it used, or waited for: on a crowded machine an app that has work
    to do may not get a processor for a while, and is not done for that."""

    def __init__(self) -> None:
        self._trees: dict[int, tuple[float, tuple[int, ...]]] = {}

    def read(self, pid: int) -> dict[int, float]:
        """Seconds so far, by process of the tree. Empty when the process is gone or another user's."""
        now = time.monotonic()
        walked, tree = self._trees.get(pid, (0.0, ()))
        if now - walked > _TREE_KEPT or not tree:
            tree = (pid, *_descendants(pid))
            self._trees = {pid: (now, tree)}
        used: dict[int, float] = {}
        for member in tree:
            with contextlib.suppress(OSError):
                # The kernel's per-process clock id (see clock_getcpuclockid): (~pid << 3) | CPUCLOCK_SCHED
                used[member] = time.clock_gettime((~member << 3) | 2) + _waited(member)
        return used


def used_between(before: dict[int, float], after: dict[int, float]) -> float:
    """Processor seconds between two readings, by the processes that are in both."""
    return sum(after[pid] - used for pid, used in before.items() if pid in after)


def _waited(pid: int) -> float:
    """Seconds that a process's main thread was ready to run and did not (proc(5), schedstat); 0 where not told."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _descendants(pid: int) -> list[int]:
    found = _children(pid)
    for child in found:
        found.extend(_children(child))
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found.extend(int(child) for child in file.read().split())
    return found
