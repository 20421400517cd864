"""A model that says what it was told to say: for the tests of this package and of those who use it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from deskhand.errors import ModelError
from deskhand.messages import Json, ToolCall, ToolSpec, Transcript, Turn, Usage

Reply: TypeAlias = Turn | Json
Player: TypeAlias = Callable[[Transcript, Sequence[ToolSpec]], Reply | Awaitable[Reply]]


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    input: dict[str, Any] = {}
    id: str = ""
    invalid: str = ""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = ""
    calls: list[_Call] = []
    stop: Literal["calls", "end", "length", "refusal"] | None = None
    usage: dict[str, int | float | None] = {}


_REPLIES: TypeAdapter[list[_Reply]] = TypeAdapter(list[_Reply])


class ScriptedModel:
    """Plays turns in order, or asks a function for each.

    ``turns`` holds `Turn` objects or dicts, ``{"text": …, "calls": [{"name": …, "input": {…}}], "stop": …}``, or is a
    function of the transcript and the tools that returns one (it may be a coroutine function). ``seen`` keeps what each
    turn was given. When the turns are used up, `ModelError` is raised.
    """

    def __init__(self, turns: Iterable[Reply] | Player, *, name: str = "scripted") -> None:
        self.name = name
        self.seen: list[tuple[Transcript, tuple[ToolSpec, ...]]] = []
        self._player: Player = turns if callable(turns) else _player([_reply(turn) for turn in turns])

    @classmethod
    def from_file(cls, path: str | Path) -> ScriptedModel:
        """The turns of a JSON file: a list of replies. ValueError says what is wrong with it."""
        try:
            replies = _REPLIES.validate_json(Path(path).read_bytes())
        except (OSError, ValidationError) as error:
            raise ValueError(f"model: the script {str(path)!r} cannot be played: {error}") from error
        return cls([_turn(reply) for reply in replies], name=f"scripted:{path}")

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        self.seen.append((tuple(transcript), tuple(tools)))
        reply = self._player(transcript, tools)
        turn = _reply(await reply if inspect.isawaitable(reply) else reply)
        number = len(self.seen)
        calls = tuple(
            call if call.id else replace(call, id=f"call_{number}_{n}")
            for n, call in enumerate(turn.calls, 1)
        )
        stop = "calls" if calls and turn.stop == "end" else turn.stop
        return replace(turn, calls=calls, stop=stop, model=turn.model or self.name)


def _player(turns: Sequence[Turn]) -> Player:
    left = iter(turns)

    def play(transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        for turn in left:
            return turn
        raise ModelError(f"the script is used up: it had {len(turns)} turns")

    return play


def _reply(reply: Reply) -> Turn:
    if isinstance(reply, Turn):
        return reply
    try:
        return _turn(_Reply.model_validate(reply))
    except ValidationError as error:
        raise ValueError(f"not a scripted turn: {json.dumps(reply, default=repr)}: {error}") from error


def _turn(reply: _Reply) -> Turn:
    calls = tuple(ToolCall(id=c.id, name=c.name, arguments=c.input, invalid=c.invalid) for c in reply.calls)
    return Turn(
        text=reply.text,
        calls=calls,
        usage=Usage(**reply.usage),  # type: ignore[arg-type]
        stop=reply.stop or ("calls" if calls else "end"),
    )
