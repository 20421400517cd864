"""A second context that sees the goal, the steps and the screen, and not what the child claims."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from deskhand.errors import ModelError
from deskhand.messages import Image, Json, Model, ToolSpec, Turn, Words
from deskhand.orchestrator.result import in_words
from deskhand.orchestrator.untrusted import envelope
from deskhand.prompts import render

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
    """All that a judge sees."""

    goal: str
    inputs: tuple[tuple[str, str], ...]
    actions: Sequence[Json]
    screen: str
    images: tuple[Image, ...] = ()


Judge = Callable[[Case], Awaitable[Judgement]]


async def judge(model: Model, case: Case) -> Judgement:
    """Ask ``model`` in a context of its own. A model that fails, or says something else, cannot tell."""
    steps = [f"{place}. {in_words(action)}" for place, action in enumerate(case.actions, 1)][-_STEPS:]
    text = render(
        "judged",
        goal=case.goal,
        inputs="".join(f"- {label}: {value}\n" for label, value in case.inputs),
        steps=envelope("\n".join(steps) or "none"),
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
