"""A child on a desk without a display: the product's own loop, tools, limits and log around whatever model it gets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deskhand.audit.log import AuditLog
from deskhand.errors import ModelError, StopTask
from deskhand.messages import Json, Model
from deskhand.orchestrator.brief import Brief
from deskhand.orchestrator.ending import reason_of
from deskhand.orchestrator.limits import Meter
from deskhand.orchestrator.loop import Child
from deskhand.orchestrator.record import Record
from deskhand.orchestrator.result import Outcome
from deskhand.terms import Limits, Policy
from deskhand.tools.desk import Desk
from deskhand.tools.toolbox import Toolbox


@contextmanager
def child_on(
    desk: Desk,
    model: Model,
    directory: Path,
    *,
    goal: str = "Do it",
    limits: Limits | None = None,
    seconds: float = 60,
    agrees: bool = True,
    **brief: Any,
) -> Iterator[Child]:
    """A child with ``seconds`` of time. Nobody answers its questions; ``agrees`` answers a provider's safety checks."""
    now = time.monotonic()
    asked = Brief(
        goal=goal,
        conversation="stage",
        home=str(directory),
        model="scripted",
        timeout=seconds,
        started=now,
        deadline=now + seconds,
        **brief,
    )

    async def ask(question: str) -> str | None:
        return None

    async def agree(concern: str) -> bool:
        return agrees

    with AuditLog.create(directory, "stage") as log:
        record = Record(log)
        yield Child(
            asked,
            model=model,
            hand=desk,
            tools=Toolbox(desk, Policy()),
            meter=Meter(limits or Limits(), asked.deadline, seconds),
            record=record,
            ask=ask,
            agree=agree,
            check_output=None,
        )
        record.close()


async def outcome_of(child: Child) -> Outcome:
    """How it ends, errors included, as a task would report it."""
    try:
        return await child.run()
    except StopTask as stop:
        return Outcome(reason=stop.reason, result=stop.result)
    except ModelError as error:
        reason = reason_of(error) if child.meter.remaining() > 0 else "deadline"
        return Outcome(reason=reason, result=str(error))


def act(*steps: Json) -> Json:
    return {"name": "act", "input": {"steps": list(steps)}}


def finish(**claim: Any) -> Json:
    return {"name": "finish", "input": {"result": "done", **claim}}
