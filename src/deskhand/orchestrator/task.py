"""The caller's side of the wall: start a worker, follow it, and return what it hands over."""

from __future__ import annotations

import asyncio
import logging
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from deskhand.config import data_home
from deskhand.errors import Reason
from deskhand.messages import Json, Limits, Model, Policy, Private
from deskhand.orchestrator.brief import (
    UP,
    CancelFrame,
    ClockFrame,
    EventFrame,
    QuestionFrame,
    StatusFrame,
    TaskStatus,
    line,
)
from deskhand.orchestrator.collect import collect
from deskhand.orchestrator.order import Order, prepare
from deskhand.orchestrator.result import from_log, running_status

GRACE = 0.3
"""Seconds past the deadline in which a worker must at least say that it is closing."""

ENDING = 1.5
"""Seconds that a worker may take to end after its status, and after a cancel to give one."""

_logger = logging.getLogger(__name__)


class Cancel:
    """Ends a running task from any thread or signal handler."""

    def __init__(self) -> None:
        self.by: Literal["caller", "person"] | None = None
        self.read_end, self._write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def set(self, by: Literal["caller", "person"] = "caller") -> None:
        self.by = self.by or by
        with suppress(OSError):
            os.write(self._write_end, b"x")

    def close(self) -> None:
        os.close(self.read_end)
        os.close(self._write_end)


class Worker:
    """A worker process and the pipe to it."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.deadline: float | None = order.brief.deadline
        self.closing = False
        self.status: TaskStatus | None = None
        self.running = False
        self._cancelled_at: float | None = None
        self._send_lock = threading.Lock()
        self._tail = b""
        log = os.open(
            order.directory / "worker.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
        )
        try:
            self.process = subprocess.Popen(
                order.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                env=_worker_environment(order),
            )
        finally:
            os.close(log)
        self._send(line(order.brief))

    # --- following -----------------------------------------------------------------------------------------------

    def follow(self, cancel: Cancel | None) -> None:
        """Read frames until the status, the worker's death, or a deadline that it did not keep.

        With ``background`` in the brief, until it has started.
        """
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if cancel is not None:
                selector.register(cancel.read_end, selectors.EVENT_READ)
            while self.status is None and not (self.order.brief.background and self.running):
                wait = self._patience()
                if wait <= 0:
                    return
                for key, _ in selector.select(min(wait, 60.0)):
                    if cancel is not None and key.fd == cancel.read_end:
                        selector.unregister(cancel.read_end)
                        self.cancel(cancel.by or "caller")
                    elif not self._read():
                        return

    def _patience(self) -> float:
        """Seconds until this worker counts as hung."""
        ends = []
        if self.deadline is not None:
            ends.append(self.deadline + (0.0 if self.closing else GRACE))
        if self._cancelled_at is not None:
            ends.append(self._cancelled_at + ENDING)
        return min(ends) - time.monotonic() if ends else 60.0

    def _read(self) -> bool:
        """Take what is in the pipe; False when the worker closed it."""
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 20)
        *lines, self._tail = (self._tail + data).split(b"\n")
        for text in lines:
            with suppress(ValidationError):
                self._take(UP.validate_json(text))
        return bool(data)

    def _take(self, frame: EventFrame | QuestionFrame | ClockFrame | StatusFrame) -> None:
        match frame:
            case EventFrame():
                self.running = True
                if self.order.callbacks.on_event is not None:
                    try:
                        self.order.callbacks.on_event(frame.event)
                    except Exception:  # a listener's fault is not the task's
                        _logger.exception("on_event failed")
            case ClockFrame():
                self.deadline, self.closing = frame.deadline, frame.closing or self.closing
            case QuestionFrame():
                threading.Thread(
                    target=self._answer, args=(frame,), name="deskhand-answer", daemon=True
                ).start()
            case StatusFrame():
                self.status = frame.status  # type: ignore[assignment]

    def _answer(self, question: QuestionFrame) -> None:
        self._send(line(self.order.callbacks.answer(question)))

    def cancel(self, by: Literal["caller", "person"]) -> None:
        if self._cancelled_at is None:
            self._cancelled_at = time.monotonic()
            self._send(line(CancelFrame(by=by)))

    def _send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        with self._send_lock, suppress(BrokenPipeError, ValueError):
            self.process.stdin.write(data)
            self.process.stdin.flush()

    # --- ending --------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Let the worker end, or end it: no process of the task is left when this returns."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        if self.order.brief.background and self.running and self.status is None:
            threading.Thread(target=self.process.wait, name="deskhand-reaper", daemon=True).start()
        else:
            self._reap()
        self.process.stdout.close()

    def _reap(self) -> None:
        try:
            self.process.wait(ENDING if self.status is not None else 0.0)
        except subprocess.TimeoutExpired:
            kill_group(self.process.pid)
            self.process.wait()
        log = self.order.directory / "worker.log"
        with suppress(OSError):
            if log.stat().st_size == 0:
                log.unlink()

    def composed(self) -> TaskStatus:
        """The status of a worker that gave none, from its log."""
        order, now = self.order, time.monotonic()
        seconds = now - order.brief.started
        reason: Reason
        if self._cancelled_at is not None:
            reason, why = "stopped_by_caller", "the task was stopped and its worker did not answer any more"
        elif self.deadline is not None and now >= self.deadline:
            reason, why = (
                "deadline",
                f"the time of {order.brief.timeout:g} s was used up and the worker did not answer",
            )
        else:
            reason, why = "computer_lost", "the worker process died"
        return from_log(order.directory, order.brief.conversation, reason, why, seconds)


def kill_group(pid: int) -> None:
    """SIGKILL a process group; what it started dies with it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _worker_environment(order: Order) -> dict[str, str]:
    """The caller's environment; this package's own place comes first when its own interpreter is the worker's."""
    environment = dict(os.environ)
    if order.command[1:2] == ("-P",):
        place = str(Path(__file__).parents[2])
        known = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{place}{os.pathsep}{known}" if known else place
    return environment


def run_order(order: Order, cancel: Cancel | None = None) -> TaskStatus:
    """Do a prepared task and return its status. Whatever happens here, nothing of the task is left running.

    KeyboardInterrupt cancels the task, waits for its end and is raised again.
    """
    worker = Worker(order)
    try:
        worker.follow(cancel)
    except BaseException:
        worker.cancel("person")
        with suppress(BaseException):
            worker.follow(None)
        raise
    finally:
        worker.end()
        order.callbacks.close()
    if worker.status is not None:
        return worker.status
    if order.brief.background and worker.running:
        return running_status(order.directory, order.brief.conversation)
    return worker.composed()


def computer_task(
    goal: str | None,
    timeout: float = 300,
    model: str | Model | None = None,
    *,
    context: str | None = None,
    inputs: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    expect: Sequence[str] = (),
    output: Any = None,
    computer: str | Private = "private",
    limits: Limits | None = None,
    policy: Policy | None = None,
    record: bool | str | os.PathLike[str] = False,
    background: bool = False,
    resume: str | None = None,
    on_event: Callable[[Json], object] | None = None,
) -> TaskStatus:
    """Have a task done on a desktop of its own, and return one small status dict.

    ``timeout`` is seconds of wall clock, start-up included. ValueError or TypeError name a wrong argument before
    anything starts; everything after that is a status. Needs no event loop and works where one is running.
    """
    if resume is not None:
        return _resume(resume, goal, timeout)
    order = prepare(
        _wanted(goal), timeout, model, context=context, inputs=inputs, secrets=secrets, expect=expect, output=output,
        computer=computer, limits=limits, policy=policy, record=record, background=background, on_event=on_event,
    )  # fmt: skip
    return run_order(order)


async def acomputer_task(
    goal: str | None,
    timeout: float = 300,
    model: str | Model | None = None,
    *,
    context: str | None = None,
    inputs: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    expect: Sequence[str] = (),
    output: Any = None,
    computer: str | Private = "private",
    limits: Limits | None = None,
    policy: Policy | None = None,
    record: bool | str | os.PathLike[str] = False,
    background: bool = False,
    resume: str | None = None,
    on_event: Callable[[Json], object] | None = None,
) -> TaskStatus:
    """`computer_task` for async code: cancelling it ends the task. Async callbacks run on the caller's loop."""
    if resume is not None:
        return await asyncio.to_thread(_resume, resume, goal, timeout)
    order = prepare(
        _wanted(goal), timeout, model, context=context, inputs=inputs, secrets=secrets, expect=expect, output=output,
        computer=computer, limits=limits, policy=policy, record=record, background=background, on_event=on_event,
    )  # fmt: skip
    return await follow_order(order)


async def follow_order(order: Order) -> TaskStatus:
    """`run_order` beside a running event loop."""
    order.callbacks.loop = asyncio.get_running_loop()
    cancel = Cancel()
    running = asyncio.ensure_future(asyncio.to_thread(run_order, order, cancel))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancel.set("caller")
        with suppress(Exception):
            await asyncio.shield(running)
        raise
    finally:
        if running.done():
            cancel.close()


def _wanted(goal: str | None) -> str:
    if goal is None:
        raise TypeError("goal must be a string (it may be None only together with resume=)")
    return goal


def _resume(conversation: str, goal: str | None, timeout: float) -> TaskStatus:
    """Wait for a background task and collect its status; ``running`` when it is not over within ``timeout``."""
    if goal is not None:
        raise ValueError("resume: only collecting (goal=None) is supported for this conversation")
    return collect(data_home(), conversation, timeout)
