"""Whether an app is still working although nothing moves: processor time of its process tree, and what signals say."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

BUSY_SHARE = 0.35
"""Share of a core above an app's own idle floor that counts as work. Measured floors of idle apps: 0–5%, up to 13% with
an animation; an app that computes uses a core, or half of one on a crowded machine."""

LOOK = 0.03
"""Seconds between two looks at what holds a verdict: processor time raises no event."""

_RESTING = (
    0.15  # share of a core below which an app that happens to run at a given moment has been given work
)
_WINDOW = 0.08  # seconds over which processor time is told apart from a moment's work
_PAINTS_AFTER = (
    0.1  # seconds from the end of a signalled work (a page has its answer) to its result's being painted
)
_TREE_KEPT = 2.0  # seconds: walking Chromium's process tree takes 3–4 ms, reading a clock 2 µs

Signal = Callable[[], bool]
"""Something that says an app is at work (its page is loading, the pointer is busy). Quick, from any thread.

One that wants to know what belongs to an act has ``act_begins()`` and ``act_ends()``, which are called around it.
"""


@dataclass(slots=True, eq=False)
class Work:
    """What is known of the app's work since an act began."""

    pid: int | None
    idle_share: float
    already: frozenset[int]
    """The signals that said so before the act: they say nothing of it."""
    readings: list[tuple[float, dict[int, float]]] = field(default_factory=list)
    signalled: float = 0.0
    """When a signal last said that something is at work."""


class Thinking:
    """Tells, act by act, whether the app acted on is at work, more than it was before."""

    def __init__(self, signals: Sequence[Signal]) -> None:
        self._signals = tuple(signals)
        self._cpu = CpuMeter()
        self._floor: tuple[int | None, float, dict[int, float], float] = (None, 0.0, {}, 0.0)

    def begin(self, pid: int | None, now: float) -> Work:
        """An act on the app with this process is about to begin."""
        already = frozenset(i for i, signal in enumerate(self._signals) if signal())
        self._tell("act_begins")
        work = Work(pid, self._idle_share(pid, now), already)
        self.note(work, now)
        return work

    def note(self, work: Work, now: float) -> None:
        """Read the processor clock, if the last reading is old enough."""
        if work.pid is not None and (not work.readings or now - work.readings[-1][0] >= LOOK):
            work.readings.append((now, self._cpu.read(work.pid)))

    def busy(self, work: Work, now: float, *, computing: bool = True) -> bool:
        """Whether the app is at work at ``now``. ``computing`` False leaves processor time out."""
        if any(signal() for i, signal in enumerate(self._signals) if i not in work.already):
            work.signalled = now
        if now - work.signalled < _PAINTS_AFTER:
            return True
        if not computing or work.pid is None:
            return False
        if work.idle_share < _RESTING and self._cpu.runnable(work.pid):
            return True  # at it just now, waiting for its turn on a crowded machine, or for its files
        return self._share(work, now) > 1.25 * work.idle_share + BUSY_SHARE

    def end(self, work: Work, now: float) -> None:
        """The verdict on the act is given."""
        self._tell("act_ends")
        if work.pid is not None:
            self._floor = work.pid, now, self._cpu.read(work.pid), self._share(work, now)

    def _share(self, work: Work, now: float) -> float:
        """The share of a core used of late; 0 when that cannot be told yet."""
        earlier = next((each for each in reversed(work.readings) if now - each[0] >= _WINDOW), None)
        if work.pid is None or earlier is None:
            return 0.0
        then, used = earlier
        return _used_between(used, self._cpu.read(work.pid)) / (now - then)

    def _idle_share(self, pid: int | None, now: float) -> float:
        """The share of a core that the app uses without being asked to do anything.

        The lesser of what it used before the last verdict and since: reading its tree keeps it busy, too.
        """
        last_pid, then, used, before = self._floor
        if pid is None or pid != last_pid or now - then < _WINDOW:
            return 0.0
        return min(before, _used_between(used, self._cpu.read(pid)) / (now - then))

    def _tell(self, what: str) -> None:
        for signal in self._signals:
            if (told := getattr(signal, what, None)) is not None:
                told()


class CpuMeter:
    """Processor seconds of a process and all below it, read through their CPU clocks.

    The time that their main threads waited for a processor counts as used: on a crowded machine an app that computes
    gets a fraction of a core, but wants a whole one.
    """

    def __init__(self) -> None:
        self._trees: dict[int, tuple[float, tuple[int, ...]]] = {}

    def read(self, pid: int) -> dict[int, float]:
        """Processor seconds wanted so far, by process of the tree. Empty when the process is gone or another user's."""
        used: dict[int, float] = {}
        for member in self._tree(pid):
            with contextlib.suppress(OSError):
                # The kernel's per-process clock id (see clock_getcpuclockid): (~pid << 3) | CPUCLOCK_SCHED
                used[member] = time.clock_gettime((~member << 3) | 2) + _queued(member)
        return used

    def runnable(self, pid: int) -> bool:
        """Whether the main thread of one of these processes runs, or waits for a processor or a disk, just now."""
        return any(_state(member) in (b"R", b"D") for member in self._tree(pid))

    def _tree(self, pid: int) -> tuple[int, ...]:
        now = time.monotonic()
        walked, tree = self._trees.get(pid, (0.0, ()))
        if now - walked > _TREE_KEPT or not tree:
            tree = (pid, *_descendants(pid))
            self._trees = {pid: (now, tree)}
        return tree


def _used_between(before: dict[int, float], after: dict[int, float]) -> float:
    """Processor seconds between two readings, by the processes that are in both."""
    return sum(after[pid] - used for pid, used in before.items() if pid in after)


def _state(pid: int) -> bytes:
    """The state of a process's main thread, as in proc(5); empty when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1]
    except OSError:
        return b""


def _queued(pid: int) -> float:
    """Seconds that a process's main thread has waited for a processor; 0 where the kernel does not count it."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
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
