"""A second context that sees the goal, the steps and the screen, and not what the child claims."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from deskhand.errors import ModelError
from deskhand.messages import Image, Json, Model, ToolSpec, Turn, Words
from deskhand.observers.node import quote, walk
from deskhand.orchestrator.untrusted import envelope
from deskhand.orchestrator.witness import Act
from deskhand.prompts import render
from deskhand.tools.wording import step_words

Verdict = Literal["satisfied", "not", "cannot_tell"]

TOOL: Final = ToolSpec(
    name="verdict",
    description="Say whether the goal is reached.",
    schema={
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": ["satisfied", "not", "cannot_tell"]},
            "why": {"type": "string", "description": "one sentence: what shows it, or what is missing"},
        },
        "required": ["verdict", "why"],
        "additionalProperties": False,
    },
)

_QUOTES: Final = 15
"""Lines of earlier screens that a judge is shown."""

_STEPS: Final = 60
"""Last steps that a judge is shown."""

_SAID: Final = re.compile(r"\b(not[ _]satisfied|cannot[ _]tell|satisfied|not)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a judge said. ``turn`` is its turn, None when it could not be asked."""

    verdict: Verdict
    why: str
    turn: Turn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that a judge sees: ``quotes`` are lines of earlier screens that have to do with what was entered."""

    goal: str
    inputs: tuple[tuple[str, str], ...]
    actions: Sequence[Json]
    screen: str
    quotes: Sequence[str] = ()
    images: tuple[Image, ...] = ()


Judge = Callable[[Case], Awaitable[Judgement]]


async def judge(model: Model, case: Case) -> Judgement:
    """Ask ``model`` in a context of its own. A model that fails, or says something else, cannot tell."""
    steps = [f"{place}. {_step(action)}" for place, action in enumerate(case.actions, 1)][-_STEPS:]
    text = render(
        "judged",
        goal=case.goal,
        inputs="".join(f"- {label}: {value}\n" for label, value in case.inputs),
        steps=envelope("\n".join(steps) or "none"),
        quotes=envelope("\n".join(case.quotes) or "nothing of use"),
        screen=envelope(case.screen),
    )
    transcript = [
        Words(role="system", text=render("judge")),
        Words(role="user", text=text, images=case.images),
    ]
    try:
        turn = await model.turn(transcript, [TOOL])
    except ModelError as error:
        return Judgement(verdict="cannot_tell", why=f"the second look failed: {error}")
    verdict, why = _read(turn)
    return Judgement(verdict=verdict, why=why, turn=turn)


def _step(action: Json) -> str:
    """One step as it was carried out: on what (by its name, not by a ref), with what text, and what came of it."""
    target = action.get("target") or {}
    name = str(target.get("name", ""))
    aimed = f"{target.get('role', '')} {quote(name, 80)}".strip() if target else ""
    note = str(action.get("note") or "")
    came = f"{action.get('effect', '?')}{f' ({note[:200]})' if note else ''}"
    return f"{step_words(action.get('step') or {}, aimed)}: {came}"


def quotes_of(acts: Sequence[Act], result: str) -> list[str]:
    """The lines of earlier screens that hold what was entered, or a figure of the result, before it was entered."""
    facts = set(re.findall(r"\d[\d.,]*\d|\d", result))
    facts |= {text for act in acts if len(text := str(act.step.get("text") or "")) > 1 and len(text) < 200}
    lines: dict[str, None] = {}
    for act in acts:
        for node in walk(act.before.roots if act.before is not None else ()):
            said = " ".join(part for part in (node.name, node.value) if part)
            if node.role in ("textbox", "searchbox") or not said or len(said) > 300:
                continue
            if any(fact in said for fact in facts):
                place = f" in {quote(node.window, 60)}" if node.window else ""
                lines[f"{node.role} {quote(said, 200)}{place}"] = None
    return list(lines)[:_QUOTES]


def _read(turn: Turn) -> tuple[Verdict, str]:
    given: Json = next((call.arguments for call in turn.calls if call.name == TOOL.name), {})
    if not given:
        try:
            loaded = json.loads(turn.text)
            given = loaded if isinstance(loaded, dict) else {}
        except ValueError:
            pass
    verdict = str(given.get("verdict", "")).strip().lower().replace(" ", "_")
    if verdict in ("satisfied", "not", "cannot_tell"):
        return cast(Verdict, verdict), str(given.get("why", ""))[:500]
    # A model without tools may answer in words; only words that mean one thing count.
    said = {word.lower().replace("_", " ") for word in _SAID.findall(turn.text)}
    if said == {"satisfied"}:
        return "satisfied", turn.text[:500]
    if said and said <= {"not satisfied", "not"}:
        return "not", turn.text[:500]
    return "cannot_tell", turn.text[:500]
