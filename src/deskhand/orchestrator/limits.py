"""What a task may use up, checked before each model call."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from deskhand.errors import StopTask
from deskhand.messages import Usage
from deskhand.terms import Limits

WARN_AT = 0.75
"""The share of a limit at which the child is told, once for each limit."""


@dataclass(slots=True)
class Meter:
    """Counts a task's turns, tokens, cost and time against its `Limits`.

    ``deadline`` is a CLOCK_MONOTONIC second; `pause` and `resume` let it stand still while a person is asked.
    """

    limits: Limits
    deadline: float
    timeout: float
    clock: Callable[[], float] = time.monotonic
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    warned: set[str] = field(default_factory=set)
    _last: Usage = field(default_factory=Usage)
    _paused_at: float | None = None
    _pauses: int = 0

    def remaining(self) -> float:
        """Seconds left; while paused, those that were left then."""
        return self.deadline - (self.clock() if self._paused_at is None else self._paused_at)

    @property
    def paused(self) -> bool:
        return self._paused_at is not None

    def pause(self) -> None:
        """Let the clock stand still, until as many `resume` have come as `pause`."""
        if self._paused_at is None:
            self._paused_at = self.clock()
        self._pauses += 1

    def resume(self) -> None:
        self._pauses = max(0, self._pauses - 1)
        if self._pauses == 0 and self._paused_at is not None:
            self.deadline += self.clock() - self._paused_at
            self._paused_at = None

    def add(self, usage: Usage) -> None:
        """One model turn of the child."""
        self.steps += 1
        self._last = usage
        self.count(usage)

    def count(self, usage: Usage) -> None:
        """A call that is no turn of the child's: a second look, a summary."""
        self.usage = self.usage + usage

    def check(self) -> None:
        """StopTask when a limit is reached."""
        limits, usage = self.limits, self.usage
        if self.remaining() <= 0:
            raise StopTask("deadline", f"the time of {self.timeout:g} s was used up")
        if limits.steps is not None and self.steps >= limits.steps:
            raise StopTask("max_steps", f"the limit of {limits.steps} model turns was reached")
        if limits.tokens is not None and _tokens(usage) >= limits.tokens:
            raise StopTask("max_tokens", f"the limit of {limits.tokens} tokens was reached")
        if limits.cost is not None and usage.cost_usd is not None and usage.cost_usd >= limits.cost:
            raise StopTask("max_cost", f"the limit of ${limits.cost:g} was reached")

    def last_turn(self) -> bool:
        """Whether the next turn is the last that the limits allow: then only ``finish`` is offered.

        By turns that is known; by tokens and cost the next turn is taken to need what the last one did.
        """
        limits, usage, last = self.limits, self.usage, self._last
        if self.steps == 0:
            return False
        by_turns = limits.steps is not None and self.steps >= limits.steps - 1
        by_tokens = limits.tokens is not None and _tokens(usage) + _tokens(last) >= limits.tokens
        by_cost = (
            limits.cost is not None
            and usage.cost_usd is not None
            and last.cost_usd is not None
            and usage.cost_usd + last.cost_usd >= limits.cost
        )
        return by_turns or by_tokens or by_cost

    def warning(self) -> str:
        """One line for the child when three quarters of a limit are gone, once for each limit; else empty."""
        limits, usage = self.limits, self.usage
        shares = {"time": 1 - self.remaining() / self.timeout}
        if limits.steps:
            shares["turns"] = self.steps / limits.steps
        if limits.tokens:
            shares["tokens"] = _tokens(usage) / limits.tokens
        if limits.cost and usage.cost_usd is not None:
            shares["budget"] = usage.cost_usd / limits.cost
        near = {name: share for name, share in shares.items() if share >= WARN_AT and name not in self.warned}
        self.warned |= near.keys()
        if not near:
            return ""
        used = " and ".join(f"{share:.0%} of your {name}" for name, share in near.items())
        return f"Used: {used}. Come to an end, or finish with what you have."


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
