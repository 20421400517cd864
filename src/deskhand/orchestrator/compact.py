"""A conversation that has become too long for its model is replaced by a summary, which is marked as unverified."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from deskhand.errors import ContextTooLong
from deskhand.messages import Entry, Model, Results, ToolSpec, Transcript, Turn, Words
from deskhand.orchestrator.context import brief_end, view
from deskhand.prompts import render

CROWDED: Final = 0.75
"""The share of a model's window from which on the conversation is summarised."""

KEEP_TURNS, KEEP_TURNS_WHEN_REFUSED = 4, 2
"""The newest turns that stay as they are."""

CHARACTERS_A_TOKEN, TOKENS_A_PICTURE = 4, 1500
"""Rough figures for what no provider has counted yet."""

LISTED: Final = 6000
"""Characters of the summary that is made without a model, from the child's own words and calls."""


def crowded(transcript: Transcript, model: Model) -> bool:
    """Whether the next request would fill most of the model's window; never for a model that does not tell it."""
    window: int | None = getattr(getattr(model, "capabilities", None), "window", None)
    if window is None:
        return False
    newest = next((n for n in reversed(range(len(transcript))) if _counted(transcript[n])), None)
    if newest is None:
        return _tokens(view(transcript)) > CROWDED * window
    if any(isinstance(entry, Words) and entry.replaces for entry in transcript[newest:]):
        return False  # what was counted then has just been replaced
    turn = transcript[newest]
    assert isinstance(turn, Turn)
    known = turn.usage.input_tokens + turn.usage.output_tokens
    return known + _tokens(transcript[newest + 1 :]) > CROWDED * window


async def summary_turn(transcript: Transcript, model: Model, tools: Sequence[ToolSpec]) -> Turn | None:
    """The model's own summary of its work so far, in words; None when even the question is too long for it."""
    try:
        # The tools are those of every turn: a cached beginning holds for this request, too.
        return await model.turn([*view(transcript), Words(role="user", text=render("summarise"))], tools)
    except ContextTooLong:
        return None


def summary_entry(transcript: Transcript, words: str, *, keep: int = KEEP_TURNS) -> Words | None:
    """The summary as an entry: it stands for all between the brief and the ``keep`` newest turns.

    ``words`` empty: it lists what the child said and called. None when there is nothing that it could stand for.
    """
    opening = brief_end(transcript)
    turns = [n for n, entry in enumerate(transcript) if isinstance(entry, Turn)]
    if len(turns) <= keep:
        return None
    replaced = transcript[opening : turns[-keep]]
    said = words.strip() or _listed(replaced)
    return Words(role="user", text=render("summary", words=said), replaces=len(replaced))


def _counted(entry: Entry) -> bool:
    return isinstance(entry, Turn) and entry.usage.input_tokens > 0


def _tokens(entries: Sequence[Entry]) -> int:
    characters = pictures = 0
    for entry in entries:
        if isinstance(entry, Results):
            characters += sum(len(result.text) for result in entry.results)
            pictures += sum(len(result.images) for result in entry.results)
        elif isinstance(entry, Turn):
            characters += len(entry.text) + sum(len(json.dumps(call.arguments)) for call in entry.calls)
        else:
            characters += len(entry.text)
            pictures += len(entry.images)
    return characters // CHARACTERS_A_TOKEN + pictures * TOKENS_A_PICTURE


def _listed(entries: Sequence[Entry]) -> str:
    lines = []
    for entry in entries:
        if isinstance(entry, Words) and entry.replaces:
            lines.append(entry.text)
        elif isinstance(entry, Turn):
            calls = "; ".join(f"{call.name} {json.dumps(call.arguments)[:150]}" for call in entry.calls)
            lines.append(" → ".join(part for part in (entry.text[:200], calls) if part))
    return "\n".join(f"- {line}" for line in lines)[-LISTED:]
