"""Noticing that the child goes in circles: the same calls on the same screen, to the same effect."""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import Sequence
from typing import Final

from deskhand.errors import StopTask
from deskhand.messages import Json, Node, Observation, Results, Settled, ToolResult, Turn

WINDOW: Final = 12
NUDGE_AT: Final = 3
STOP_AT: Final = 5
"""Repetitions among the last WINDOW turns at which the child is told, and at which the task ends."""

NUDGE: Final = "You have done this {count} times, with the same outcome. Try another way, or finish honestly."

_TIMES: Final = re.compile(r"\b\d+(\.\d+)? m?s\b")
"""How long something took: it differs each time and means nothing."""


class Repetition:
    """Remembers what was done and what came of it."""

    def __init__(self) -> None:
        self._recent: deque[str] = deque(maxlen=WINDOW)

    def note(self, turn: Turn, results: Results) -> str:
        """A nudge for the child, empty when there is no need; StopTask ``stalled`` when nudging did not help."""
        done = [(call.name, call.arguments, call.invalid) for call in turn.calls]
        came = [_outcome(result) for result in results.results]
        key = hashlib.sha256(json.dumps([done, came], sort_keys=True, default=str).encode()).hexdigest()
        self._recent.append(key)
        count = self._recent.count(key)
        if count >= STOP_AT:
            raise StopTask("stalled", f"the same action was repeated {count} times without any effect")
        return NUDGE.format(count=count) if count >= NUDGE_AT else ""


def _outcome(result: ToolResult) -> Json:
    """What came of a call as far as it tells progress from a circle: the effects, and the screen after them."""
    if result.observation is None:
        return {"said": _TIMES.sub("", result.text), "error": result.is_error}
    steps = result.batch.steps if result.batch is not None else ()
    return {
        "error": result.is_error,
        "effects": [(step.effect, step.value, _changed(step.settled)) for step in steps],
        "screen": _screen(result.observation),
        "pictures": [image.sha256 for image in result.images],
    }


def _changed(settled: Settled | None) -> object:
    """Which part of the screen changed, and how much: where no tree tells, that is what scrolling differs by."""
    if settled is None or settled.verdict == "no_change":
        return None
    return round(settled.changed, 5), [(r.x, r.y, r.width, r.height) for r in settled.regions]


def _screen(observation: Observation) -> Json:
    windows = [(window.title, window.active) for window in observation.windows]
    return {"windows": windows, "url": observation.url, "trees": _trees(observation.roots)}


def _trees(roots: Sequence[Node]) -> str:
    """A digest of all elements: what they are called, what they hold, the state they are in and where they are."""
    digest = hashlib.sha256()
    left = list(roots)
    while left:
        node = left.pop()
        what = (node.role, node.name, node.value, sorted(node.states), node.rect, node.url)
        digest.update(repr(what).encode("utf-8", "replace"))
        left += node.children
    return digest.hexdigest()
