"""What became of steps, in the child's words: one line a step, few tokens, no false certainty."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from deskhand.messages import BatchReport, Json, Settled, StepReport, Target
from deskhand.observers.node import quote

_ROUTES: Final = {"pointer": "by pointer", "keyboard": "by keyboard"}
"""How it was done, where not by the element's own action or by the page's."""
_SAID: Final = "do target path keys text option title url to app for selector".split()
_LONG: Final = 1.0
"""Seconds of waiting from which on it is told that the screen came to rest: a child takes that for granted."""
_NO_CHANGE: Final = "no visible change; the control may already have been in that state"


def step_line(report: StepReport) -> str:
    """``2. click button "Save" [e7]: done by pointer; settled in 2.4 s``. Quotes the screen: untrusted."""
    aimed = ""
    if report.target is not None:
        # The ref that was given needs no repeating, but what it is called does.
        known = report.target.name and report.step.get("target") == report.target.ref
        aimed = target_words(replace(report.target, ref="") if known else report.target)
    head = f"{report.index}. {step_words(report.step, aimed)}"
    parts = [_effect(report)]
    if report.message:
        parts.append(report.message)
    if report.value is not None:
        parts.append(f"value {quote(report.value, 400)}")
    if report.target is not None and report.target.note:
        parts.append(report.target.note)
    if verdict := verdict_words(report.settled, shown=report.effect == "no_change"):
        parts.append(verdict)
    return f"{head}: {'; '.join(parts)}"


def step_words(step: Json, aimed: str = "") -> str:
    """A step as asked for, in a few words: its kind and what it names, secrets as their placeholders.

    ``aimed``: what its target was found to be, said in its place.
    """
    kind = str(step.get("kind", "?"))
    said = [kind]
    for field in _SAID:
        value = step.get(field)
        if value is None or value == []:
            continue
        if field == "target" and aimed:
            said.append(aimed)
        else:
            said.append(_aim_words(value) if field in ("target", "path") else _brief(value))
    numbers = [field for field in ("down", "right", "seconds", "index") if step.get(field) is not None]
    said.extend(f"{field} {step[field]}" for field in numbers)
    return " ".join(said)


def target_words(target: Target) -> str:
    """``button "Save" [e7]``, or the screen point."""
    if target.role:
        name = f" {quote(target.name, 80)}" if target.name else ""
        return f"{target.role}{name}" + (f" [{target.ref}]" if target.ref else "")
    return f"({target.point.x}, {target.point.y})" if target.point is not None else ""


def verdict_words(settled: Settled | None, *, shown: bool = False) -> str:
    """How the screen came to rest. ``shown``: that nothing changed has been said already."""
    if settled is None:
        return ""
    waited = f"{settled.waited:.1f} s"
    if settled.verdict == "no_change":
        said = "" if shown else "the screen did not change"
    elif settled.verdict == "still_changing":
        said = f"still changing after {waited}"
    else:
        said = f"settled in {waited}" if settled.waited >= _LONG or settled.verdict != "settled" else ""
        if settled.verdict == "settled_except" and settled.moving:
            kinds = ", ".join(dict.fromkeys(kind for _, kind in settled.moving))
            said += f" except {kinds}"
    if settled.thinking:
        said = f"{said}; the app is still busy" if said else "the app is still busy"
    if settled.note:
        said = f"{said}; {settled.note}" if said else settled.note
    return said


def batch_text(report: BatchReport) -> str:
    """All steps, then what was not run and why, then what the child sees now."""
    lines = [step_line(each) for each in report.steps]
    if report.stopped:
        lines.append(f"Stopped: {report.stopped}")
    if report.after is not None and (after := _unsaid(report.after.text, report.steps)):
        lines.append(after)
    return "\n".join(lines)


def _unsaid(after: str, steps: Sequence[StepReport]) -> str:
    """What changed, without the lines that say of a step's target only what the step's own line says already."""
    said = [beginning for step in steps if (beginning := _outcome(step))]
    if not said:
        return after
    return "\n".join(line for line in after.split("\n") if not any(each.fullmatch(line) for each in said))


def _outcome(step: StepReport) -> re.Pattern[str] | None:
    """The line of a difference that tells no more than a step that was read back: what its target holds, or is, now."""
    target, text = step.target, step.step.get("text") or step.step.get("option")
    if step.effect != "done" or target is None or not target.ref:
        return None
    head = rf"~ {re.escape(target_words(target))}(?: focused)?"
    kind = step.step["kind"]
    if kind in ("fill", "select") and isinstance(text, str) and _brief(text) == text:
        return re.compile(
            rf"{head}: {re.escape(quote(text, 400))}(?: \(was (?:\"[^()]*\"|no value|not focused)\))?"
        )
    if kind == "toggle":
        return re.compile(
            rf"{head}(?: checked| pressed| selected)? \(was (?:not )?(?:checked|pressed|selected)\)"
        )
    return None


def _effect(report: StepReport) -> str:
    route = _ROUTES.get(report.route, "")
    match report.effect:
        case "no_change":
            return _NO_CHANGE
        case "dispatched":
            return f"sent {route}".strip() + ", effect not confirmed"
        case "effect_unknown":
            return f"sent {route}".strip() + ", effect unknown: look before going on"
        case "done":
            return f"done {route}".strip()
        case other:
            return other


def _aim_words(value: object) -> str:
    if isinstance(value, dict):
        return f"({value.get('x')}, {value.get('y')})"
    if isinstance(value, list):
        return " > ".join(_aim_words(each) for each in value)
    return _brief(value)


def _brief(value: object) -> str:
    text = (
        value
        if isinstance(value, str)
        else " ".join(map(str, value))
        if isinstance(value, list)
        else str(value)
    )
    return text if len(text) <= 80 and text.isprintable() else quote(text, 80)
