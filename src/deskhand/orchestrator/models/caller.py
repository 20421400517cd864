"""The caller's own `Model`, asked over the pipe."""

from __future__ import annotations

from collections.abc import Sequence

from deskhand.errors import ModelError
from deskhand.messages import ToolSpec, Transcript, Turn
from deskhand.orchestrator.codec import entry_to_json, tools_to_json, turn_from_json
from deskhand.orchestrator.link import Link


class CallerModel:
    """A `Model` whose turns are taken on the caller's side of the wall."""

    def __init__(self, link: Link, name: str) -> None:
        self.name, self._link = name, link

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        payload = {
            "transcript": [entry_to_json(entry) for entry in transcript],
            "tools": tools_to_json(tools),
        }
        try:
            return turn_from_json(await self._link.ask("model", payload))
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"the caller's model gave something that is not a turn: {error}") from error
