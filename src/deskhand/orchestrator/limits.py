"""What a task may use up, checked before each model call."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from deskhand.errors import StopTask
from deskhand.messages import Limits, Usage

WARN_AT = 0.75
"""The share of a limit at which the child is told, once."""


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
    warned: bool = False
    _paused_at: float | None = None

    def remaining(self) -> float:
        """Seconds left; while paused, those that were left then."""
        return self.deadline - (self.clock() if self._paused_at is None else self._paused_at)

    @property
    def paused(self) -> bool:
        return self._paused_at is not None

    def pause(self) -> None:
        if self._paused_at is None:
            self._paused_at = self.clock()

    def resume(self) -> None:
        if self._paused_at is not None:
            self.deadline += self.clock() - self._paused_at
            self._paused_at = None

    def add(self, usage: Usage) -> None:
        """One model turn of the child."""
        self.steps += 1
        self.usage = self.usage + usage

    def check(self) -> None:
        """StopTask when a limit is reached."""
        limits, usage = self.limits, self.usage
        if self.remaining() <= 0:
            raise StopTask("deadline", f"the time of {self.timeout:g} s was used up")
        if limits.steps is not None and self.steps >= limits.steps:
            raise StopTask("max_steps", f"the limit of {limits.steps} model turns was reached")
        if limits.tokens is not None and usage.input_tokens + usage.output_tokens >= limits.tokens:
            raise StopTask("max_tokens", f"the limit of {limits.tokens} tokens was reached")
        if limits.cost is not None and usage.cost_usd is not None and usage.cost_usd >= limits.cost:
            raise StopTask("max_cost", f"the limit of ${limits.cost:g} was reached")

    def last_turn(self) -> bool:
        """Whether the next turn is the last that the limits allow: then only ``finish`` is offered."""
        return self.limits.steps is not None and self.steps == self.limits.steps - 1 > 0

    def warning(self) -> str:
        """One line for the child when three quarters of a limit are gone, the first time; else empty."""
        if self.warned:
            return ""
        limits, usage = self.limits, self.usage
        shares = {"time": 1 - self.remaining() / self.timeout}
        if limits.steps:
            shares["turns"] = self.steps / limits.steps
        if limits.tokens:
            shares["tokens"] = (usage.input_tokens + usage.output_tokens) / limits.tokens
        if limits.cost and usage.cost_usd is not None:
            shares["budget"] = usage.cost_usd / limits.cost
        name, share = max(shares.items(), key=lambda item: item[1])
        if share < WARN_AT:
            return ""
        self.warned = True
        return f"{share:.0%} of your {name} is used. Come to an end, or finish with what you have."
