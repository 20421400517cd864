"""Events and steps of a log in words."""

from __future__ import annotations

from typing import Any

_GOOD = {"done", "dispatched"}
_BAD = {"not_supported", "stale_ref", "ambiguous", "not_found", "busy", "denied", "covered"}
_TEXT = 300
"""Characters of a text that a row takes up at most."""


def words_of(event: dict[str, Any]) -> dict[str, Any]:
    """What a row says of an event, by the names of `deskhand.audit.review.Row`'s fields: ``what``, ``target``…"""
    return _WORDS.get(text(event.get("kind")), _other)(event)


def describe_step(step: Any) -> str:
    """A step in a few words, such as ``type "hello"``. Its target is told apart: see `describe_target`."""
    if not isinstance(step, dict):
        return text(step)
    kind = text(step.get("kind")) or "step"
    for key in ("text", "keys", "app", "url", "option", "do", "selector", "for", "path", "aim"):
        value = step.get(key)
        if value in (None, "", []):
            continue
        if key == "text" or key == "option":
            return f"{kind} “{text(value)}”"
        if key == "path" and kind == "drag":
            return f"{kind} over {len(value)} points" if isinstance(value, list) else kind
        if isinstance(value, list):
            return f"{kind} {' › '.join(text(item) for item in value)}"
        return f"{kind} {text(value)}"
    extras = [
        f"×{step[key]}" for key in ("count", "times") if isinstance(step.get(key), int) and step[key] > 1
    ]
    if kind == "scroll":
        extras += [f"{key} {step[key]}" for key in ("down", "right") if step.get(key)]
    if text(step.get("button")) not in ("", "left"):
        extras.append(text(step.get("button")))
    if isinstance(step.get("seconds"), int | float):
        extras.append(f"{step['seconds']}s")
    return " ".join([kind, *extras])


def describe_target(event: dict[str, Any]) -> str:
    """Where an action went: the element as resolved, else as asked."""
    target = event.get("target")
    if isinstance(target, dict):
        role, name = text(target.get("role")), text(target.get("name"))
        if role or name:
            return f"{role} “{name}”".strip() if name else role
        if target.get("point"):
            return _point(target["point"])
        if window := text(target.get("window")) or text(target.get("app")):
            return window
    step = event.get("step")
    asked = step.get("target") if isinstance(step, dict) else target
    if isinstance(asked, dict) and "x" in asked and "y" in asked:
        return f"{asked['x']}, {asked['y']}"
    if isinstance(asked, list):
        return " | ".join(text(item) for item in asked)
    return text(asked)


def _started(event: dict[str, Any]) -> dict[str, Any]:
    return {
        "what": text(event.get("goal")),
        "target": text(event.get("computer")),
        "outcome": text(event.get("model")),
    }


def _ready(event: dict[str, Any]) -> dict[str, Any]:
    size = event.get("size")
    shape = "×".join(str(edge) for edge in size) if isinstance(size, list) else ""
    notes = event.get("notes")
    noted = "; ".join(text(note) for note in notes) if isinstance(notes, list) else text(notes)
    return {
        "what": " ".join(part for part in ("desktop ready", shape) if part),
        "target": text(event.get("computer") or event.get("name")),
        "outcome": " – ".join(part for part in (f"isolation: {text(event.get('isolation'))}", noted) if part),
        "seconds": number(event.get("seconds")),
        "mood": "dim",
    }


def _observation(event: dict[str, Any]) -> dict[str, Any]:
    source = event.get("source") or event.get("sense") or event.get("observation")
    return {
        "what": " ".join(part for part in ("look", text(source)) if part),
        "target": text(event.get("window") or event.get("url") or event.get("app")),
        "seconds": number(event.get("seconds")),
        "risk": text(event.get("risk")) or "read",
        "mood": "dim",
    }


def _model_call(event: dict[str, Any]) -> dict[str, Any]:
    usage = event.get("usage") if isinstance(event.get("usage"), dict) else event
    counts = [usage.get(key) for key in ("input_tokens", "output_tokens")] if isinstance(usage, dict) else []
    tokens = [count for count in counts if isinstance(count, int)]
    return {
        "what": f"ask {text(event.get('model'))}".strip(),
        "target": f"{tokens[0]:,} → {tokens[1]:,} tokens" if len(tokens) == 2 and any(tokens) else "",
        "outcome": text(event.get("stop") or event.get("stop_reason")),
        "seconds": number(event.get("seconds")),
        "tokens": sum(tokens) if tokens else None,
        "mood": "dim",
    }


def _action(event: dict[str, Any]) -> dict[str, Any]:
    effect, verdict = text(event.get("effect")), _verdict(event)
    outcome = " · ".join(part for part in (effect, verdict if verdict != effect else "") if part)
    return {
        "what": describe_step(event.get("step")),
        "target": describe_target(event),
        "outcome": outcome,
        "risk": text(event.get("risk")),
        "seconds": number(event.get("seconds")),
        "mood": "bad" if effect in _BAD else "good" if effect in _GOOD else "",
    }


def _verdict(event: dict[str, Any]) -> str:
    settled = event.get("settled")
    return text(event.get("verdict")) or (text(settled.get("verdict")) if isinstance(settled, dict) else "")


def _verification(event: dict[str, Any]) -> dict[str, Any]:
    evidence = event.get("evidence")
    checks = [item for item in evidence if isinstance(item, dict)] if isinstance(evidence, list) else []
    held = sum(1 for item in checks if item.get("holds") is True)
    failed = [text(item.get("check")) for item in checks if item.get("holds") is not True]
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
    status, reason = text(event.get("status")), text(event.get("reason"))
    return {
        "what": text(event.get("result")),
        "outcome": f"{status} ({reason})" if reason else status,
        "seconds": number(event.get("seconds")),
        "mood": {"success": "good", "clarification_needed": "", "cancelled": ""}.get(status, "bad"),
    }


def _error(event: dict[str, Any]) -> dict[str, Any]:
    what = _first(event, "message", "error", "what", "why")
    return {
        "what": what,
        "target": _first(event, "where", "type"),
        "outcome": text(event.get("reason")),
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
        "outcome": decision + (f" by {by}" if (by := text(event.get("by"))) else ""),
        "risk": text(event.get("risk")) or "sensitive",
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
    return next((words for key in keys if (words := text(event.get(key)))), "")


def text(value: Any) -> str:
    """The value as a string of bounded length; empty for None."""
    return "" if value is None else str(value)[:_TEXT]


def number(value: Any) -> float | None:
    """The value when it is a number, else None."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _point(value: Any) -> str:
    return ", ".join(str(part) for part in value) if isinstance(value, list) else text(value)
