"""How many desktops fit this machine, by what it says of itself while they run."""

from __future__ import annotations

import os
import time
from pathlib import Path

FIRST_GUESS = 400 << 20
"""Bytes that a desktop with an app takes before one has been measured: a calculator takes 250 MiB, Chromium 450."""

RESERVE = 0.1
"""Share of the machine's memory that is left to others."""

BUSY = 60.0
"""Per cent of the last ten seconds in which some process waited for a core (pressure stall information of Linux, PSI):
above that one more desktop makes all of them slower."""

PER_CORE = 8
"""Desktops for each core at most, however idle they seem: tasks that wait for a model still paint now and then."""

PACE = 1.0
"""Seconds between two starts beyond one a core, so that what a start costs is seen before the next one."""


class Capacity:
    """Says whether one more task may start. ``bound``: a number chosen by the user, which then is all that counts."""

    def __init__(self, bound: int | None = None, *, proc: Path = Path("/proc")) -> None:
        self._chosen, self._proc = bound, proc
        self._cores = len(os.sched_getaffinity(0))
        self.bound = bound or PER_CORE * self._cores
        """Tasks at once at most."""
        self.unit = 0
        """Bytes that one task took, the most seen."""
        self._last_start = 0.0

    def admits(self, running: int) -> bool:
        """Whether there is room for one more beside so many."""
        if running >= self.bound:
            return False
        if self._chosen is not None or running < 1:
            return True
        free, total = self._memory()
        if free - (self.unit or FIRST_GUESS) < RESERVE * total:
            return False
        if running < self._cores:
            return True
        return time.monotonic() - self._last_start >= PACE and self._pressure() < BUSY

    def started(self) -> None:
        """Note that a task starts now."""
        self._last_start = time.monotonic()

    def measure(self) -> None:
        """Look what the tasks that run now take: all below this process, shared pages counted in parts (PSS)."""
        below = _children_of(os.getpid(), self._proc)
        workers = [pid for pid in below if _children_of(pid, self._proc)]
        if workers:
            taken = sum(_tree(pid, self._proc) for pid in workers)
            self.unit = max(self.unit, taken // len(workers))

    def _memory(self) -> tuple[int, int]:
        """Bytes available and in all."""
        found = {}
        for line in (self._proc / "meminfo").read_text().splitlines():
            name, _, rest = line.partition(":")
            found[name] = int(rest.split()[0]) << 10
        return found["MemAvailable"], found["MemTotal"]

    def _pressure(self) -> float:
        try:
            some = (self._proc / "pressure" / "cpu").read_text().split()
            return float(some[1].removeprefix("avg10="))
        except (OSError, IndexError, ValueError):
            return 100.0 * os.getloadavg()[0] / (2 * self._cores)  # no PSI in this kernel


def _tree(pid: int, proc: Path) -> int:
    return _pss(pid, proc) + sum(_tree(child, proc) for child in _children_of(pid, proc))


def _children_of(pid: int, proc: Path) -> list[int]:
    found: list[int] = []
    try:
        for task in (proc / str(pid) / "task").iterdir():
            found += map(int, (task / "children").read_text().split())
    except OSError:
        return found
    return found


def _pss(pid: int, proc: Path) -> int:
    try:
        for line in (proc / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass
    return 0
