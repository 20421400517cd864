"""Noticing that the child goes in circles: the same calls with the same answers."""

from __future__ import annotations

import hashlib
import json
from collections import deque

from deskhand.errors import StopTask
from deskhand.messages import Results, Turn

WINDOW = 12
NUDGE_AT = 3
STOP_AT = 5
"""Repetitions among the last WINDOW turns at which the child is told, and at which the task ends."""

NUDGE = "You have done this {count} times, with the same outcome. Try another way, or finish honestly."


class Repetition:
    """Remembers what was done and what came of it."""

    def __init__(self) -> None:
        self._recent: deque[str] = deque(maxlen=WINDOW)

    def note(self, turn: Turn, results: Results) -> str:
        """A nudge for the child, empty when there is no need; StopTask ``stalled`` when nudging did not help."""
        done = [(call.name, call.arguments) for call in turn.calls]
        came = [result.text for result in results.results]
        key = hashlib.sha256(json.dumps([done, came], sort_keys=True, default=str).encode()).hexdigest()
        self._recent.append(key)
        count = self._recent.count(key)
        if count >= STOP_AT:
            raise StopTask("stalled", f"the same action was repeated {count} times without any effect")
        return NUDGE.format(count=count) if count >= NUDGE_AT else ""
