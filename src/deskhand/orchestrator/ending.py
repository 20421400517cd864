"""How a task ends: the table from errors to reasons, and the last picture."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from deskhand.errors import ModelError, ModelRefused, Reason
from deskhand.orchestrator.link import CallerGone
from deskhand.orchestrator.record import Record
from deskhand.orchestrator.result import Outcome, last_steps
from deskhand.tools.desk import Desk

CLOSING = 0.5
"""Seconds that the last picture and the recording's end may take together."""

FINISHING = 4.0
"""Seconds that the end of a task takes at most when it has them: finishing a recording on a crowded machine."""


RESUMABLE: tuple[Reason, ...] = ("question", "consent", "not_understood", "nobody_answered")
"""Ends that wait for a person: the desktop is kept for the answer."""

_REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (ModelRefused, "model_refused"),
    (ModelError, "model_error"),
    (CallerGone, "stopped_by_caller"),
)


def reason_of(error: Exception) -> Reason:
    """The one table of how our errors end a task; what is not ours ends it as a fault of the desktop's side."""
    return next((reason for kind, reason in _REASONS if isinstance(error, kind)), "desktop_error")


def unfinished(reason: Reason | None, why: str, record: Record) -> Outcome:
    """The outcome of a task that did not come to its own end, with its last steps in words."""
    if reason in RESUMABLE:
        return Outcome(reason=reason, result=why)
    words = last_steps(record.actions)
    return Outcome(reason=reason, result=f"{why}. The last steps were: {words}" if words else why)


async def last_look(desk: Desk | None, record: Record, directory: Path) -> str | None:
    """Keep the last picture, if it can be had in time; its path."""
    if desk is None:
        return None
    # Not cancelled when it is late: that would wait for a display that hangs, and the status would not get out
    looking = asyncio.ensure_future(desk.screenshot())
    looking.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait({looking}, timeout=CLOSING)
    with suppress(Exception):
        if looking.done():
            digest = record.store(looking.result())
            return str(directory / "images" / f"{digest}.png")
    return None
