"""Following a task from the caller's side: frames in, answers out, and what is done when the other side is silent."""

from __future__ import annotations

import logging
import math
import os
import selectors
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal, cast

from pydantic import ValidationError

from deskhand.errors import Reason
from deskhand.orchestrator.brief import (
    UP,
    CancelFrame,
    ClockFrame,
    EventFrame,
    FilesFrame,
    QuestionFrame,
    StatusFrame,
    TaskStatus,
    line,
)
from deskhand.orchestrator.elsewhere import Mirror
from deskhand.orchestrator.order import Order
from deskhand.orchestrator.peers import ENDING, Peer
from deskhand.orchestrator.result import from_log

GRACE, GRACE_ELSEWHERE = 0.3, 3.0
"""Seconds past the deadline in which a worker, or one on another computer, must at least say that it is closing."""

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


class Follower:
    """One task as its caller sees it. ``status`` is set once the worker has reported."""

    def __init__(self, order: Order, peer: Peer) -> None:
        self.order, self.peer = order, peer
        self.deadline: float | None = order.brief.deadline
        self._due = order.brief.deadline
        self.closing = self.running = False
        self.status: TaskStatus | None = None
        self.kept = False
        self._cancelled_at: float | None = None
        self._tail = b""
        self._mirror = None if order.elsewhere is None else Mirror(order.directory, order.brief)

    @property
    def in_background(self) -> bool:
        """Whether the task goes on without us."""
        return self.order.brief.background and self.running and self.status is None

    def follow(self, cancel: Cancel | None) -> None:
        """Read frames until the status, the worker's death, or a deadline that it did not keep.

        With ``background`` in the brief, until it has started.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self.peer.read_fd, selectors.EVENT_READ)
            if cancel is not None:
                selector.register(cancel.read_end, selectors.EVENT_READ)
            while self.status is None and not self.in_background:
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
            grace = GRACE if self._mirror is None else GRACE_ELSEWHERE
            ends.append(self.deadline + (0.0 if self.closing else grace))
        if self._cancelled_at is not None and not (self._mirror is not None and self.closing):
            ends.append(self._cancelled_at + ENDING)
        return min(ends) - time.monotonic() if ends else 60.0

    def _read(self) -> bool:
        """Take what is in the pipe; False when the worker closed it."""
        try:
            data = os.read(self.peer.read_fd, 1 << 20)
        except ConnectionError:
            return False
        *lines, self._tail = (self._tail + data).split(b"\n")
        for text in lines:
            with suppress(ValidationError):
                self._take(UP.validate_json(text))
        return bool(data)

    def _take(self, frame: EventFrame | QuestionFrame | ClockFrame | FilesFrame | StatusFrame) -> None:
        match frame:
            case EventFrame():
                self.running = True
                if self._mirror is not None:
                    self._mirror.event(frame.event)
                if self.order.callbacks.on_event is not None:
                    try:
                        self.order.callbacks.on_event(frame.event)
                    except Exception:  # a listener's fault is not the task's
                        _logger.exception("on_event failed")
            case ClockFrame():
                self.deadline = None if frame.left is None else time.monotonic() + frame.left
                self.closing = frame.closing or self.closing
                if not self.closing:
                    self._due = math.inf if self.deadline is None else self.deadline
            case QuestionFrame():
                threading.Thread(
                    target=self._answer, args=(frame,), name="deskhand-answer", daemon=True
                ).start()
            case StatusFrame():
                self.status, self.kept = cast(TaskStatus, frame.status), frame.lease > 0
                if self._mirror is not None:
                    self.status = self._mirror.status(self.status)
            case FilesFrame():
                if self._mirror is not None:
                    self._mirror.files(frame.data, last=frame.last)

    def _answer(self, question: QuestionFrame) -> None:
        self.peer.send(line(self.order.callbacks.answer(question)))

    def cancel(self, by: Literal["caller", "person"]) -> None:
        if self._cancelled_at is None:
            self._cancelled_at = time.monotonic()
            self.peer.send(line(CancelFrame(by=by)))

    def close(self) -> None:
        """Let go of what the following needed."""
        if self._mirror is not None:
            self._mirror.close()

    def composed(self) -> TaskStatus:
        """The status of a worker that gave none, from its log."""
        order, now = self.order, time.monotonic()
        reason: Reason
        if self._cancelled_at is not None:
            reason, why = "stopped_by_caller", "the task was stopped and its worker did not answer any more"
        elif self.closing and now < self._due:
            reason, why = "computer_lost", "the task had ended, but its worker did not say how"
        elif self.deadline is not None and now >= self.deadline:
            reason = "deadline"
            why = f"the time of {order.brief.timeout:g} s was used up and the worker did not answer"
        else:
            reason, why = "computer_lost", f"the worker process died{_last_words(order.directory)}"
        seconds = now - order.brief.started
        return from_log(order.directory, order.brief.conversation, reason, why, seconds)


def _last_words(directory: Path) -> str:
    """The last line that a dead worker wrote to its stderr, in brackets; empty when there was none."""
    with suppress(OSError):
        lines = (directory / "worker.log").read_text("utf-8", "replace").split("\n")
        if words := next((line.strip() for line in reversed(lines) if line.strip()), ""):
            return f" ({words[:300]})"
    return ""
