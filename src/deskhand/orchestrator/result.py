"""The status dict: made from an outcome, or from the log of a worker that can no longer speak; always bounded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from deskhand.audit.films import film_of, runs_of
from deskhand.audit.read import read_events
from deskhand.errors import Reason, Status, status_of
from deskhand.messages import Json, Usage
from deskhand.orchestrator.brief import Evidence, TaskStatus, UsageDict
from deskhand.orchestrator.codec import usage_to_json

TOKEN_BOUND = 400
"""Tokens of a status dict besides ``data``, where a token is ceil(bytes of compact JSON / 4)."""

_POINTER = " … (cut; the whole is in the log)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the child ended: ``reason`` None is success. ``verified`` None: verification was off or not reached."""

    reason: Reason | None
    result: str
    verified: bool | None = False
    evidence: tuple[Evidence, ...] = ()
    data: Any = None


@dataclass(slots=True, kw_only=True)
class Receipt:
    """What goes into the dict besides the outcome."""

    conversation: str
    logdir: Path
    model: str
    computer: str
    steps: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    recording: str | None = None
    final_image: str | None = None
    audit_hash: str | None = None


def make_status(outcome: Outcome, receipt: Receipt, *, status: Status | None = None) -> TaskStatus:
    """The dict of the contract, within its bound."""
    made: TaskStatus = {
        "status": status or status_of(outcome.reason),
        "reason": outcome.reason,
        "result": outcome.result,
        "verified": outcome.verified,
        "evidence": list(outcome.evidence),
        "data": outcome.data,
        "agent_id": receipt.conversation,
        "conversation": receipt.conversation,
        "logdir": str(receipt.logdir),
        "recording": receipt.recording,
        "final_image": receipt.final_image,
        "audit_hash": receipt.audit_hash,
        "steps": receipt.steps,
        "seconds": round(receipt.seconds, 2),
        "usage": cast(UsageDict, usage_to_json(receipt.usage)),
        "model": receipt.model,
        "computer": receipt.computer,
    }
    return bounded(made)


def tokens(value: object) -> int:
    """The contract's measure: ceil(bytes of compact JSON / 4)."""
    return -(
        -len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")) // 4
    )


def bounded(status: TaskStatus) -> TaskStatus:
    """The same dict with ``evidence`` and ``result`` cut until all but ``data`` fits `TOKEN_BOUND`."""
    cut: TaskStatus = {**status, "evidence": list(status["evidence"])}

    def excess() -> int:
        return (tokens({**cut, "data": None}) - TOKEN_BOUND) * 4

    if excess() > 0:
        cut["evidence"] = [
            {"check": _shorten(item["check"], 60), "holds": item["holds"]} for item in cut["evidence"]
        ]
    keep = len(cut["result"])
    while excess() > 0 and keep > 40:
        keep = max(40, keep - max(8, excess() // 2))
        cut["result"] = status["result"][:keep].rstrip() + _POINTER
    while excess() > 0 and cut["evidence"]:
        cut["evidence"].pop()
    return cut


def _shorten(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def in_words(event: Json) -> str:
    """One action event as a short phrase: what, on what, and what came of it."""
    step, target = event.get("step") or {}, event.get("target") or {}
    what = str(step.get("kind", "?"))
    on = target.get("name") or step.get("target") or step.get("app") or step.get("keys") or ""
    role = target.get("role") or ""
    place = f" {role} {on!r}".replace("  ", " ") if on else ""
    return f"{what}{place}: {event.get('effect', '?')}"


def last_steps(actions: Sequence[Json], count: int = 3) -> str:
    """The last steps of a failed task in words, empty when there were none."""
    return "; ".join(in_words(event) for event in actions[-count:])


def from_log(
    directory: Path, conversation: str, reason: Reason | None, why: str, seconds: float
) -> TaskStatus:
    """The status of a task whose worker can no longer give one, composed from its log. Nothing is appended there.

    A log that says how the task ended is believed, whatever became of the worker after that.
    """
    events = list(_events(directory))
    if reason is not None and events and events[-1].get("kind") == "task_finished":
        return _as_logged(events[-1], directory, conversation)
    receipt = Receipt(conversation=conversation, logdir=directory, model="", computer="", seconds=seconds)
    actions: list[Json] = []
    usage = Usage()
    for event in events:
        receipt.audit_hash = event.get("hash")
        match event.get("kind"):
            case "task_started":
                receipt.model, receipt.computer = str(event.get("model", "")), str(event.get("computer", ""))
            case "model_call":
                receipt.steps += 1
                usage = usage + Usage(**{key: event.get(key, 0) for key in usage_to_json(usage)})
            case "action":
                actions.append(event)
    receipt.usage = usage
    runs = runs_of(events)
    film = film_of(directory, len(runs) - 1, runs[-1]) if runs else None
    receipt.recording = None if film is None else str(film.path)
    words = last_steps(actions)
    result = f"{why}. The last steps were: {words}" if words else f"{why}. No step had been taken."
    return make_status(Outcome(reason=reason, result=result), receipt)


def _as_logged(event: Json, directory: Path, conversation: str) -> TaskStatus:
    """The status that a task's last event holds, with what an event does not say of itself."""
    known = {name: event.get(name) for name in TaskStatus.__annotations__}
    names = {"agent_id": conversation, "conversation": conversation, "logdir": str(directory)}
    return cast(TaskStatus, {**known, **names, "audit_hash": event.get("hash")})


def running_status(directory: Path, conversation: str) -> TaskStatus:
    """The dict of a task that goes on in the background."""
    status = from_log(directory, conversation, None, "the task goes on in the background", 0.0)
    return {
        **status,
        "status": "running",
        "result": "the task goes on; collect it with resume=",
        "verified": None,
    }


def _events(directory: Path) -> Iterable[Json]:
    path = directory / "audit.jsonl"
    return read_events(path) if path.is_file() else ()
