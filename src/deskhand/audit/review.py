"""What a reviewer reads: each event of a log in words, as a row of a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from deskhand.audit.store import TaskRow
from deskhand.audit.table import Column, Table, printable, safe

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

_GOOD = {"done", "dispatched"}
_BAD = {"not_supported", "stale_ref", "ambiguous", "not_found", "busy", "denied", "covered"}
_TEXT = 300
"""Characters of a text that a row takes up at most."""


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
        kind = _text(event.get("kind"))
        if kind == "model_call":
            self._turn, self._action = self._turn + 1, 0
        elif kind == "action":
            self._action += 1
        step = str(self._turn) if self._turn else ""
        if kind == "action":
            step = f"{self._turn}.{self._action}"
        elif kind in ("task_started", "desktop_ready", "task_finished"):
            step = ""
        words = _WORDS.get(kind, _other)(event)
        return Row(time=_clock(event.get("ts")), step=step, kind=kind, **words)


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


def describe_step(step: Any) -> str:
    """A step in a few words, such as ``type "hello"``. Its target is told apart: see `describe_target`."""
    if not isinstance(step, dict):
        return _text(step)
    kind = _text(step.get("kind")) or "step"
    for key in ("text", "keys", "app", "url", "option", "do", "selector", "for", "path", "aim"):
        value = step.get(key)
        if value in (None, "", []):
            continue
        if key == "text" or key == "option":
            return f"{kind} “{_text(value)}”"
        if key == "path" and kind == "drag":
            return f"{kind} over {len(value)} points" if isinstance(value, list) else kind
        if isinstance(value, list):
            return f"{kind} {' › '.join(_text(item) for item in value)}"
        return f"{kind} {_text(value)}"
    extras = [
        f"×{step[key]}" for key in ("count", "times") if isinstance(step.get(key), int) and step[key] > 1
    ]
    if kind == "scroll":
        extras += [f"{key} {step[key]}" for key in ("down", "right") if step.get(key)]
    if _text(step.get("button")) not in ("", "left"):
        extras.append(_text(step.get("button")))
    if isinstance(step.get("seconds"), int | float):
        extras.append(f"{step['seconds']}s")
    return " ".join([kind, *extras])


def describe_target(event: dict[str, Any]) -> str:
    """Where an action went: the element as resolved, else as asked."""
    target = event.get("target")
    if isinstance(target, dict):
        role, name = _text(target.get("role")), _text(target.get("name"))
        if role or name:
            return f"{role} “{name}”".strip() if name else role
        if target.get("point"):
            return _point(target["point"])
        if window := _text(target.get("window")) or _text(target.get("app")):
            return window
    step = event.get("step")
    asked = step.get("target") if isinstance(step, dict) else target
    if isinstance(asked, dict) and "x" in asked and "y" in asked:
        return f"{asked['x']}, {asked['y']}"
    if isinstance(asked, list):
        return " | ".join(_text(item) for item in asked)
    return _text(asked)


def _started(event: dict[str, Any]) -> dict[str, Any]:
    return {
        "what": _text(event.get("goal")),
        "target": _text(event.get("computer")),
        "outcome": _text(event.get("model")),
    }


def _ready(event: dict[str, Any]) -> dict[str, Any]:
    size = event.get("size")
    shape = "×".join(str(edge) for edge in size) if isinstance(size, list) else ""
    notes = event.get("notes")
    noted = "; ".join(_text(note) for note in notes) if isinstance(notes, list) else _text(notes)
    return {
        "what": " ".join(part for part in ("desktop ready", shape) if part),
        "target": _text(event.get("computer") or event.get("name")),
        "outcome": " – ".join(
            part for part in (f"isolation: {_text(event.get('isolation'))}", noted) if part
        ),
        "seconds": _number(event.get("seconds")),
        "mood": "dim",
    }


def _observation(event: dict[str, Any]) -> dict[str, Any]:
    source = event.get("source") or event.get("sense") or event.get("observation")
    return {
        "what": " ".join(part for part in ("look", _text(source)) if part),
        "target": _text(event.get("window") or event.get("url") or event.get("app")),
        "seconds": _number(event.get("seconds")),
        "risk": _text(event.get("risk")) or "read",
        "mood": "dim",
    }


def _model_call(event: dict[str, Any]) -> dict[str, Any]:
    usage = event.get("usage") if isinstance(event.get("usage"), dict) else event
    counts = [usage.get(key) for key in ("input_tokens", "output_tokens")] if isinstance(usage, dict) else []
    tokens = [count for count in counts if isinstance(count, int)]
    return {
        "what": f"ask {_text(event.get('model'))}".strip(),
        "target": f"{tokens[0]:,} → {tokens[1]:,} tokens" if len(tokens) == 2 and any(tokens) else "",
        "outcome": _text(event.get("stop") or event.get("stop_reason")),
        "seconds": _number(event.get("seconds")),
        "tokens": sum(tokens) if tokens else None,
        "mood": "dim",
    }


def _action(event: dict[str, Any]) -> dict[str, Any]:
    effect, verdict = _text(event.get("effect")), _verdict(event)
    outcome = " · ".join(part for part in (effect, verdict if verdict != effect else "") if part)
    return {
        "what": describe_step(event.get("step")),
        "target": describe_target(event),
        "outcome": outcome,
        "risk": _text(event.get("risk")),
        "seconds": _number(event.get("seconds")),
        "mood": "bad" if effect in _BAD else "good" if effect in _GOOD else "",
    }


def _verdict(event: dict[str, Any]) -> str:
    settled = event.get("settled")
    return _text(event.get("verdict")) or (_text(settled.get("verdict")) if isinstance(settled, dict) else "")


def _verification(event: dict[str, Any]) -> dict[str, Any]:
    evidence = event.get("evidence")
    checks = [item for item in evidence if isinstance(item, dict)] if isinstance(evidence, list) else []
    held = sum(1 for item in checks if item.get("holds") is True)
    failed = [_text(item.get("check")) for item in checks if item.get("holds") is not True]
    passed = event.get("passed", event.get("verified"))
    verdict = ("verified" if passed else "not verified") if isinstance(passed, bool) else ""
    why = _first(event, "reason", "verdict")
    return {
        "what": f"check {held} of {len(checks)} hold"
        if checks
        else _first(event, "problem", "what") or "check",
        "target": "; ".join(failed),
        "outcome": " · ".join(part for part in (verdict, why) if part),
        "mood": "bad" if passed is False else "good" if passed is True else "",
    }


def _finished(event: dict[str, Any]) -> dict[str, Any]:
    status, reason = _text(event.get("status")), _text(event.get("reason"))
    return {
        "what": _text(event.get("result")),
        "outcome": f"{status} ({reason})" if reason else status,
        "seconds": _number(event.get("seconds")),
        "mood": "good" if status == "success" else "bad",
    }


def _error(event: dict[str, Any]) -> dict[str, Any]:
    what = _first(event, "message", "error", "what", "why")
    return {
        "what": what,
        "target": _first(event, "where", "type"),
        "outcome": _text(event.get("reason")),
        "mood": "bad",
    }


def _consent(event: dict[str, Any]) -> dict[str, Any]:
    allowed = event.get("allowed")
    decision = (
        ("allowed" if allowed else "denied")
        if isinstance(allowed, bool)
        else _first(event, "decision", "answer")
    )
    return {
        "what": _first(event, "what", "question", "message") or describe_step(event.get("step")),
        "target": describe_target(event),
        "outcome": decision + (f" by {by}" if (by := _text(event.get("by"))) else ""),
        "risk": _text(event.get("risk")) or "sensitive",
        "mood": "bad" if decision in ("deny", "denied") else "",
    }


def _other(event: dict[str, Any]) -> dict[str, Any]:
    what = _first(event, "question", "answer", "text", "what", "message", "result", "action", "do")
    return {"what": what, "outcome": _first(event, "by", "effect", "status")}


_WORDS = {
    "task_started": _started,
    "desktop_ready": _ready,
    "observation": _observation,
    "model_call": _model_call,
    "action": _action,
    "consent": _consent,
    "verification": _verification,
    "error": _error,
    "task_finished": _finished,
}


def _first(event: dict[str, Any], *keys: str) -> str:
    return next((text for key in keys if (text := _text(event.get(key)))), "")


def _text(value: Any) -> str:
    return "" if value is None else str(value)[:_TEXT]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _point(value: Any) -> str:
    return ", ".join(str(part) for part in value) if isinstance(value, list) else _text(value)


def _date(ts: str) -> str:
    try:
        return datetime.fromisoformat(ts).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return ""


def _clock(ts: Any) -> str:
    try:
        return datetime.fromisoformat(_text(ts)).astimezone().strftime("%H:%M:%S")
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
        f"{'holds' if item.get('holds') else 'FAILS':10} {safe(_text(item.get('check')))}"
        for item in status.get("evidence") or []
    ]
    usage = status.get("usage") or {}
    spent = [f"{status.get('steps', 0)} turns", f"{_number(status.get('seconds')) or 0:.1f} s"]
    tokens = (usage.get("input_tokens") or 0) + (usage.get("output_tokens") or 0)
    spent += [f"{tokens:,} tokens"] if tokens else []
    cost = usage.get("cost_usd")
    spent += [f"${cost:.3f}"] if cost else ["cost unknown"] if cost is None and tokens else []
    lines.append(f"spent      {', '.join(spent)} · {status.get('model')} on {status.get('computer')}")
    names = {"conversation": "task", "logdir": "log", "recording": "recording", "audit_hash": "hash"}
    lines += [f"{name:10} {safe(_text(status.get(key)))}" for key, name in names.items() if status.get(key)]
    return lines


def _whole(value: Any) -> str:
    return "" if value is None else str(value)
