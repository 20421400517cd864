"""A deterministic planner for goals that are said literally: a `Model` without a network or a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deskhand.messages import ToolCall, ToolSpec, Transcript, Turn, Words
from deskhand.orchestrator.models.embedded.engine import decide

__all__ = ["EmbeddedModel"]


class EmbeddedModel:
    """Does what a goal says word by word, and asks about what it does not understand.

    The goal and the inputs are those of the brief (`Words.goal`), unless given here. It keeps nothing between turns:
    where it is stands in the transcript.
    """

    name = "embedded"

    def __init__(self, goal: str | None = None, inputs: Mapping[str, str] | None = None) -> None:
        self._goal, self._inputs = goal, dict(inputs or {})

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        """The next turn: one call of ``observe``, ``act``, ``ask`` or ``finish``."""
        brief = next((entry for entry in transcript if isinstance(entry, Words) and entry.goal), None)
        goal = self._goal if self._goal is not None else brief.goal if brief else ""
        inputs = self._inputs or (dict(brief.inputs) if brief else {})
        call, memory = decide(transcript, goal, inputs)
        return Turn(
            text=call.words,
            calls=(ToolCall(id=f"p{memory.turns}", name=call.tool, arguments=call.arguments),),
            stop="calls",
            model=self.name,
            raw=memory.dump(),
        )
