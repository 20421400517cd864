"""How long to wait after which kind of act: what the user set, what is built in, and what was learned."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from deskhand.config import KindSettings, SettleSettings
from deskhand.messages import Settled

RESIDUAL = 1.2
"""Seconds that new motion has to go round in one place before it is named and no longer waited for."""

_BUILT_IN = {
    # Toolkits show a tooltip half a second after the pointer has come to rest, and that is what one hovers for.
    "move": KindSettings(react=0.75),
}
_FLOOR = 3.0  # seconds: twice what it takes to tell endless motion (`RESIDUAL`) and to settle then
_FACTOR = 3.0
_ENOUGH = 5  # samples
_KEPT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds. ``quiet`` is stillness, ``react`` what an app has to begin to react.

    ``max_wait`` is the cap. ``patience`` may be shorter: at that age of an act, motion that goes on is no longer waited
    for, but an app at work is.
    """

    quiet: float
    react: float
    max_wait: float
    patience: float


class Timings:
    """The timing of each kind of act.

    Learning only ever shortens the patience with motion that does not end, and lengthens it again: time-outs are
    learned from as well. What the user has set is never overridden, and the quiet time is never learned: it bridges
    the pauses within an app's reaction, which the time it took says nothing about.
    """

    def __init__(self, settings: SettleSettings) -> None:
        self._settings = settings
        self._samples: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_KEPT))

    def of(self, kind: str) -> Timing:
        """For the next act of this kind."""
        max_wait = self._value(kind, "max_wait")
        return Timing(
            quiet=self._value(kind, "quiet"),
            react=self._value(kind, "react"),
            max_wait=max_wait,
            patience=max_wait if self._pinned(kind) else min(max_wait, self._learned(kind)),
        )

    def learn(self, kind: str, settled: Settled) -> None:
        """An act of this kind came to this."""
        if settled.verdict != "no_change":
            self._samples[kind].append(settled.waited)

    def _value(self, kind: str, name: str) -> float:
        """The user's for this kind, the user's for all, the built-in for this kind, the default: in this order."""
        own = getattr(self._settings.kinds.get(kind), name, None)
        if own is None and name not in self._settings.model_fields_set:
            own = getattr(_BUILT_IN.get(kind), name, None)
        return float(getattr(self._settings, name) if own is None else own)

    def _pinned(self, kind: str) -> bool:
        own = self._settings.kinds.get(kind)
        return "max_wait" in self._settings.model_fields_set or (own is not None and own.max_wait is not None)

    def _learned(self, kind: str) -> float:
        samples = sorted(self._samples[kind])
        if len(samples) < _ENOUGH:
            return float("inf")
        return max(_FLOOR, _FACTOR * samples[min(len(samples) - 1, int(len(samples) * 0.95))])
