"""How long to wait for an app that may be frozen: for as long as it says anything at all, and a moment longer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

SILENT: Final = 0.25
"""Seconds without a word after which an app counts as frozen: with the time to notice, it costs no more than 0.3."""

AT_MOST: Final = 3.0
"""Seconds that one question may take while others are answered: it may have been lost."""

_TICK: Final = 0.025
_LAG: Final = 0.05
"""The most that counts from one tick to the next: while this process itself stood still, no answer could be read."""


@dataclass(eq=False, slots=True)
class Question:
    """One that is out. ``allowed``: seconds for it alone; None: as long as its app is heard."""

    app: str
    asked: float
    limit: asyncio.Timeout
    allowed: float | None

    def overdue(self, now: float, heard: float) -> bool:
        """Whether it has waited too long by the clock of `Patience`."""
        if self.allowed is not None:
            return now - self.asked >= self.allowed
        return now - max(self.asked, heard) >= SILENT or now - self.asked >= AT_MOST


class Patience:
    """Ends the questions that wait too long, with a TimeoutError. Its clock only runs while this process does."""

    def __init__(self) -> None:
        self._clock = 0.0
        self._ticked = 0.0
        self._questions: set[Question] = set()
        self._heard: dict[str, float] = {}

    def begin(self, app: str, limit: asyncio.Timeout, allowed: float | None = None) -> Question:
        """A question goes out, inside of ``limit`` (a timeout without an end so far)."""
        if not self._questions:
            self._ticked = asyncio.get_running_loop().time()
            self._later()
        question = Question(app, self._clock, limit, allowed)
        self._questions.add(question)
        return question

    def heard(self, app: str) -> None:
        """An answer came."""
        self._heard[app] = self._clock

    def end(self, question: Question) -> None:
        """It is answered, or nobody waits any more."""
        self._questions.discard(question)
        if not self._questions:
            self._heard.clear()

    def _later(self) -> None:
        asyncio.get_running_loop().call_later(_TICK, self._tick)

    def _tick(self) -> None:
        if not self._questions:
            return
        now = asyncio.get_running_loop().time()
        self._clock += min(_LAG, now - self._ticked)
        self._ticked = now
        for question in list(self._questions):
            if question.overdue(self._clock, self._heard.get(question.app, 0.0)):
                self._questions.discard(question)
                question.limit.reschedule(now)
        self._later()
