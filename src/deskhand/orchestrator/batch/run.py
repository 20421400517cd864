"""Running a batch: as many tasks at once as fit, each result as it comes, within what may be spent."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskhand.orchestrator.batch.capacity import Capacity
from deskhand.orchestrator.batch.lines import TaskLine, check_lines
from deskhand.orchestrator.batch.results import Results, result_of
from deskhand.orchestrator.brief import TaskStatus
from deskhand.orchestrator.follow import Cancel
from deskhand.orchestrator.task import run_order

LOOK = 0.25
"""Seconds between two looks at whether one more task fits."""

Result = dict[str, Any]


@dataclass(slots=True)
class Tally:
    """How a batch stands: what a progress display shows."""

    total: int
    running: int = 0
    cost: float = 0.0
    began: float = field(default_factory=time.monotonic)
    by_status: dict[str, int] = field(default_factory=dict)
    before: int = 0
    """Results that an earlier run left."""

    @property
    def done(self) -> int:
        return self.before + sum(self.by_status.values())

    def add(self, result: Mapping[str, Any]) -> None:
        """Count a result that came now."""
        self.by_status[result["status"]] = self.by_status.get(result["status"], 0) + 1


class Batch:
    """One run. ``cost`` (USD) and ``seconds`` bound it all: when they are used up nothing more starts.

    What runs then ends within what is left.
    """

    def __init__(
        self,
        lines: Sequence[TaskLine],
        *,
        results: Results | None = None,
        workers: int | None = None,
        cost: float | None = None,
        seconds: float | None = None,
        on_result: Callable[[Result, Tally], object] | None = None,
        on_look: Callable[[Tally], object] | None = None,
    ) -> None:
        for name, value in (("workers", workers), ("cost", cost), ("seconds", seconds)):
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be positive, not {value!r}")
        self.lines, self._results = lines, results
        self.found: dict[str, Result] = {}
        if results is not None:
            self.found = {line.id: results.found[line.id] for line in lines if line.id in results.found}
        self.tally = Tally(total=len(lines), before=len(self.found))
        self.capacity = Capacity(workers)
        self._cost, self._seconds = cost, seconds
        self._on_result, self._on_look = on_result, on_look
        self._cancels: set[Cancel] = set()
        self._stopped = threading.Event()

    def run(self) -> list[Result]:
        """Do what is not done yet; all results in the order of the lines, without those that never started.

        KeyboardInterrupt ends the tasks that run, which leaves them undone, and is raised again.
        """
        waiting = deque(line for line in self.lines if line.id not in self.found)
        running: set[Future[Result | None]] = set()
        with ThreadPoolExecutor(self.capacity.bound, thread_name_prefix="deskhand-batch") as pool:
            try:
                while running or (waiting and not self._used_up()):
                    while waiting and not self._used_up() and self.capacity.admits(len(running)):
                        self.capacity.started()
                        running.add(pool.submit(self._do, waiting.popleft()))
                    done, running = wait(running, LOOK, FIRST_COMPLETED)
                    self.tally.running = len(running)
                    for each in done:
                        self._take(each.result())
                    self.capacity.measure()
                    if self._on_look is not None:
                        self._on_look(self.tally)
            except BaseException:
                self._stopped.set()
                for cancel in tuple(self._cancels):
                    cancel.set("person")
                raise
        return [self.found[line.id] for line in self.lines if line.id in self.found]

    def _used_up(self) -> bool:
        if self._cost is not None and self.tally.cost >= self._cost:
            return True
        return self._seconds is not None and self._left() <= 0

    def _left(self) -> float:
        assert self._seconds is not None
        return self.tally.began + self._seconds - time.monotonic()

    def _take(self, result: Result | None) -> None:
        if result is None:
            return
        self.tally.add(result)
        self.found[result["id"]] = result
        if self._on_result is not None:
            self._on_result(result, self.tally)

    def _do(self, line: TaskLine) -> Result | None:
        """One task, again as often as its line says while it fails. None when the batch was stopped meanwhile."""
        result: Result | None = None
        for attempt in range(1, line.retries + 2):
            if self._stopped.is_set():
                return None
            status = self._attempt(line)
            if self._stopped.is_set():
                return None
            result = result_of(line.id, line.number, attempt, status)
            if status["status"] not in ("failure", "timeout") or self._used_up():
                break
        assert result is not None
        return result if self._results is None else self._results.add(result)

    def _attempt(self, line: TaskLine) -> TaskStatus:
        cancel = Cancel()
        self._cancels.add(cancel)
        try:
            order = line.order(
                timeout=None if self._seconds is None else max(0.1, self._left()),
                cost=None if self._cost is None else max(1e-9, self._cost - self.tally.cost),
            )
            status = run_order(order, cancel)
        finally:
            self._cancels.discard(cancel)
            cancel.close()
        self.tally.cost += status["usage"]["cost_usd"] or 0.0
        return status


def computer_tasks(
    tasks: Iterable[str | Mapping[str, Any]],
    *,
    workers: int | None = None,
    out: str | Path | None = None,
    cost: float | None = None,
    seconds: float | None = None,
    on_result: Callable[[Result], object] | None = None,
) -> list[Result]:
    """Have many tasks done, several at once; their results in the order of ``tasks``.

    A task is a goal, or a dict of a goal and arguments of `computer_task` (``private`` for those of `Private`), with
    ``id`` and ``retries`` besides. ``workers`` at once (default: as many as fit the machine, measured while they run).
    ``out`` is a directory that keeps ``results.jsonl`` and the logs; a later call with it does only what is missing.
    ``cost`` (USD) and ``seconds`` bound the whole: tasks that did not start have no result. ValueError names the task
    that is wrong before any starts.
    """
    lines = check_lines((f"task {number}", task) for number, task in enumerate(tasks, 1))
    results = None if out is None else Results(Path(out))
    try:
        batch = Batch(
            lines,
            results=results,
            workers=workers,
            cost=cost,
            seconds=seconds,
            on_result=None if on_result is None else lambda result, _: on_result(result),
        )
        return batch.run()
    finally:
        if results is not None:
            results.close()
