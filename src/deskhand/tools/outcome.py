"""What performing a step came to, before the screen's verdict is joined to it."""

from __future__ import annotations

from dataclasses import dataclass

from deskhand.errors import Effect
from deskhand.messages import Route, Settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """``final``: the effect was observed (read back, or the window is there) and the screen cannot overrule it."""

    effect: Effect
    route: Route = "none"
    message: str = ""
    value: str | None = None
    final: bool = False


def judge(outcome: Outcome, settled: Settled | None) -> Effect:
    """The effect to report: what was observed if anything was, else what the screen says.

    A change after an act that was sent counts as its effect; the absence of one is reported as that, not as failure.
    """
    if outcome.final or settled is None or outcome.effect not in ("done", "dispatched", "effect_unknown"):
        return outcome.effect
    if settled.verdict == "no_change":
        return "no_change"
    return "done" if outcome.effect == "dispatched" else outcome.effect
