"""The caller's own functions, run on the caller's side of the wall when the worker asks."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from deskhand.messages import Json, Model
from deskhand.orchestrator.brief import AnswerFrame, QuestionFrame
from deskhand.orchestrator.codec import entry_from_json, entry_to_json, tools_from_json


class LoopThread:
    """An event loop of our own in a thread, for a caller that has none: one for the whole task, so that a model may
    keep its connections."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="deskhand-model", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
            if tasks := asyncio.all_tasks(self._loop):
                for task in tasks:
                    task.cancel()
                self._loop.run_until_complete(asyncio.wait(tasks, timeout=1))
        finally:
            self._loop.close()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def close(self) -> None:
        """Cancel what still runs and end the thread."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=1)


@dataclass(slots=True, kw_only=True)
class Callbacks:
    """What the caller gave: ``confirm`` (a dict in, bool or text out), a `Model`, a pydantic class for the output.

    ``loop`` is the caller's running event loop, when there is one; async callbacks then run there.
    """

    on_event: Callable[[Json], object] | None = None
    confirm: Callable[..., Any] | None = None
    model: Model | None = None
    output: Any = None
    loop: asyncio.AbstractEventLoop | None = None
    _own: LoopThread | None = None

    def answer(self, question: QuestionFrame) -> AnswerFrame:
        """The answer to a worker's question, errors included. Blocks as long as the callback does."""
        try:
            value = self._answer(question.kind, question.payload)
        except Exception as error:  # whatever the caller's code raises belongs into the task's result
            return AnswerFrame(id=question.id, error=f"{type(error).__name__}: {error}")
        return AnswerFrame(id=question.id, value=value)

    def _answer(self, kind: str, payload: Json) -> Any:
        match kind:
            case "confirm" | "question":
                assert self.confirm is not None
                return self._finish(self.confirm(payload))
            case "model":
                assert self.model is not None
                transcript = [entry_from_json(entry) for entry in payload["transcript"]]
                turn = self._finish(self.model.turn(transcript, tools_from_json(payload["tools"])))
                return entry_to_json(turn)
            case "output":
                try:
                    self.output.model_validate(payload["data"])
                except ValidationError as error:
                    return str(error)
                return ""
        raise ValueError(f"unknown question {kind!r}")

    def _finish(self, value: Any) -> Any:
        """The value itself, or what its coroutine returns."""
        if not inspect.iscoroutine(value):
            return value
        if self.loop is not None:
            return asyncio.run_coroutine_threadsafe(value, self.loop).result()
        self._own = self._own or LoopThread()
        return self._own.run(value)

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
            self._own = None
