"""The worker's end of the pipe: frames up, answers down, and what happens when the other end goes away."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from deskhand.errors import DeskhandError, StopTask
from deskhand.messages import Json
from deskhand.orchestrator.brief import DOWN, AnswerFrame, CancelFrame, QuestionFrame, line

FRAME_LIMIT = 64 * 2**20
"""Bytes of the longest line accepted: a transcript with a few pictures on its way to the caller's own model."""

QuestionKind = Literal["confirm", "question", "model", "output"]


class CallerGone(DeskhandError):
    """Nobody is at the other end who could answer."""


class Link:
    """The connection to whoever follows this task at the moment: the caller, or one who resumed it.

    ``on_cancel(by)`` is called when the other end asks to stop, ``on_gone()`` when it closed,
    ``on_ask(payload)`` when a person is asked. Frames to nobody are dropped: the log has everything.
    """

    def __init__(
        self,
        *,
        on_cancel: Callable[[str], None],
        on_gone: Callable[[], None],
        on_ask: Callable[[Json], None] = lambda payload: None,
    ) -> None:
        self._on_cancel, self._on_gone, self._on_ask = on_cancel, on_gone, on_ask
        self._writer: asyncio.StreamWriter | None = None
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[AnswerFrame]] = {}
        self.asking: dict[int, Json] = {}
        """What a person is asked now, by number: whoever watches can answer, too."""
        self.watchers = 0

    @property
    def attached(self) -> bool:
        return self._writer is not None

    async def follow(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one other end until it closes."""
        self._writer = writer
        try:
            while text := await reader.readline():
                self._take(text)
        except (ConnectionError, ValueError):
            pass
        finally:
            if self._writer is writer:
                self._writer = None
                for number, future in self._waiting.items():
                    if not future.done() and not (number in self.asking and self.watchers):
                        future.set_exception(CallerGone("the caller went away"))
                self._on_gone()

    def _take(self, text: bytes) -> None:
        try:
            frame = DOWN.validate_json(text)
        except ValidationError:
            return
        if isinstance(frame, CancelFrame):
            self._on_cancel(frame.by)
        elif (future := self._waiting.get(frame.id)) is not None and not future.done():
            future.set_result(frame)

    def send(self, frame: BaseModel) -> None:
        """Put a frame on its way without waiting: a caller that does not read cannot hold the task up."""
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(line(frame))

    async def ask_person(self, kind: Literal["confirm", "question"], payload: Json, *, caller: bool) -> Any:
        """Ask the caller, when there is one who ``caller`` says can answer, and whoever watches: the first answer
        counts. `CallerGone` when there is nobody."""
        if not self.watchers and not (caller and self.attached):
            raise CallerGone("nobody is there to answer")
        number = next(self._ids)
        self.asking[number] = payload
        self._on_ask(payload)
        try:
            return await self._ask(number, kind, payload, send=caller)
        finally:
            del self.asking[number]

    async def ask(self, kind: QuestionKind, payload: Json) -> Any:
        """Ask the other end; `CallerGone` when nobody is there, StopTask when its callback failed."""
        if self._writer is None:
            raise CallerGone("nobody follows this task")
        return await self._ask(next(self._ids), kind, payload, send=True)

    def answer(self, number: int, value: Any) -> bool:
        """Take an answer from somewhere else than the pipe; False when nothing waits for it."""
        future = self._waiting.get(number)
        if number not in self.asking or future is None or future.done():
            return False
        future.set_result(AnswerFrame(id=number, value=value))
        return True

    async def _ask(self, number: int, kind: QuestionKind, payload: Json, *, send: bool) -> Any:
        future: asyncio.Future[AnswerFrame] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            if send:
                self.send(QuestionFrame(id=number, kind=kind, payload=payload))
            answer = await future
        finally:
            del self._waiting[number]
        if answer.error is not None:
            reason: Literal["model_error", "gave_up"] = "model_error" if kind == "model" else "gave_up"
            raise StopTask(reason, f"the caller's {kind} callback failed: {answer.error}")
        return answer.value

    async def flush(self, timeout: float) -> None:
        """Wait until what was sent is in the pipe, at most ``timeout`` seconds."""
        if self._writer is not None:
            try:
                async with asyncio.timeout(timeout):
                    self._writer.transport.set_write_buffer_limits(high=0)
                    await self._writer.drain()
            except (TimeoutError, ConnectionError):
                pass
