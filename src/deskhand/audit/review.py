"""What a reviewer reads: each event of a log in words, as a row of a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from deskhand.audit.store import TaskRow
from deskhand.audit.table import Column, Table, printable, safe
from deskhand.audit.words import number, text, words_of

AUDIT_COLUMNS = (
    Column(heading="Time", width=8),
    Column(heading="Step", width=5, right=True),
    Column(heading="Kind", width=13),
    Column(heading="What", width=16, share=3),
    Column(heading="Target", width=12, share=2),
    Column(heading="Effect/Verdict", width=16, share=2),
    Column(heading="Risk", width=9),
)
LIVE_COLUMNS = (
    Column(heading="Step", width=5, right=True),
    Column(heading="What", width=16, share=3),
    Column(heading="Where", width=12, share=2),
    Column(heading="Verdict", width=16, share=1),
    Column(heading="Time", width=7, right=True),
    Column(heading="Tokens", width=7, right=True),
)

LIST_COLUMNS = (
    Column(heading="Conversation", width=32),
    Column(heading="State", width=20),
    Column(heading="Started", width=16),
    Column(heading="Seconds", width=7, right=True),
    Column(heading="Model", width=16, share=1),
    Column(heading="Goal", width=20, share=3),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One event in words. ``step`` is ``turn.action``; ``mood`` is ``good``, ``bad``, ``dim`` or empty."""

    time: str
    step: str
    kind: str
    what: str
    target: str = ""
    outcome: str = ""
    risk: str = ""
    seconds: float | None = None
    tokens: int | None = None
    mood: str = ""


class Reviewer:
    """Turns the events of one log, in their order, into rows: it counts turns and the actions in them."""

    def __init__(self) -> None:
        self._turn = 0
        self._action = 0

    def row(self, event: dict[str, Any]) -> Row:
        """The row of the next event. Any event has one, whatever it holds and whatever version wrote it."""
        kind = text(event.get("kind"))
        if kind == "model_call":
            self._turn, self._action = self._turn + 1, 0
        elif kind == "action":
            self._action += 1
        step = str(self._turn) if self._turn else ""
        if kind == "action":
            step = f"{self._turn}.{self._action}"
        elif kind in ("task_started", "desktop_ready", "task_finished"):
            step = ""
        return Row(time=_clock(event.get("ts")), step=step, kind=kind, **words_of(event))


def audit_line(table: Table, row: Row) -> str:
    """A row of `AUDIT_COLUMNS`."""
    colour = _colour(row)
    risk = {"sensitive": "magenta", "write": "", "read": "dim"}.get(row.risk, "")
    return table.row(
        [row.time, row.step, row.kind, row.what, row.target, row.outcome, row.risk],
        ["dim", "dim", "cyan", "", "", colour, risk],
    )


def live_line(table: Table, row: Row) -> str:
    """A row of `LIVE_COLUMNS`."""
    seconds = "" if row.seconds is None else f"{row.seconds:.1f}s"
    tokens = "" if row.tokens is None else f"{row.tokens:,}"
    return table.row(
        [row.step, row.what, row.target, row.outcome, seconds, tokens],
        ["dim", "", "", _colour(row), "dim", "dim"],
    )


def list_line(table: Table, row: TaskRow) -> str:
    """A row of `LIST_COLUMNS`."""
    state = row.status or row.state
    colour = {"success": "green", "running": "cyan"}.get(
        state, "yellow" if row.state == "finished" else "red"
    )
    seconds = "" if row.seconds is None else f"{row.seconds:.1f}"
    return table.row(
        [row.conversation, state, _date(row.started), seconds, row.model, row.goal],
        ["", colour, "dim", "dim", "dim", ""],
    )


def _date(ts: str) -> str:
    try:
        return datetime.fromisoformat(ts).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return ""


def _clock(ts: Any) -> str:
    try:
        return datetime.fromisoformat(text(ts)).astimezone().strftime("%H:%M:%S")
    except ValueError:
        return ""


def _colour(row: Row) -> str:
    return {"good": "green", "bad": "red", "dim": "dim"}.get(row.mood, "")


def describe_status(status: Mapping[str, Any]) -> list[str]:
    """A task's status dict as lines for a person."""
    reason = f" ({status['reason']})" if status.get("reason") else ""
    lines = [f"{status['status']}{reason}  {printable(_whole(status.get('result')))}"]
    if (data := status.get("data")) is not None:
        lines.append(f"data       {printable(json.dumps(data, ensure_ascii=False))}")
    lines += [
        f"{'holds' if item.get('holds') else 'FAILS':10} {safe(text(item.get('check')))}"
        for item in status.get("evidence") or []
    ]
    usage = status.get("usage") or {}
    spent = [f"{status.get('steps', 0)} turns", f"{number(status.get('seconds')) or 0:.1f} s"]
    tokens = (usage.get("input_tokens") or 0) + (usage.get("output_tokens") or 0)
    spent += [f"{tokens:,} tokens"] if tokens else []
    cost = usage.get("cost_usd")
    spent += [f"${cost:.3f}"] if cost else ["cost unknown"] if cost is None and tokens else []
    lines.append(f"spent      {', '.join(spent)} · {status.get('model')} on {status.get('computer')}")
    names = {"conversation": "task", "logdir": "log", "recording": "recording", "audit_hash": "hash"}
    lines += [f"{name:10} {safe(text(status.get(key)))}" for key, name in names.items() if status.get(key)]
    return lines


def _whole(value: Any) -> str:
    return "" if value is None else str(value)
