"""The errors, by audience.

DeskhandError
├── MissingPart            an extra or an OS package is absent: says what brings it
├── DesktopError           the desktop cannot be had or broke      → failure / desktop_error
│   └── ComputerLost       the worker or the named computer died   → failure / computer_lost
├── ModelError             the provider failed                     → failure / model_error
│   ├── ModelRefused       the provider declined to go on          → failure / model_refused
│   └── ContextTooLong     the conversation does not fit its window (it is shortened, once, before this ends a task)
├── ToolError              told to the child as a failed result; the task goes on
│   ├── InvalidStep        a step, key name or selector that cannot mean anything
│   └── TargetError        the target is not there, or not what it was (carries the effect)
└── StopTask               ends the task with a status and a reason

Bad arguments of public functions raise ValueError or TypeError naming the argument, before anything starts.
"""

from __future__ import annotations

from typing import Literal

Effect = Literal[
    "done",
    "dispatched",
    "effect_unknown",
    "no_change",
    "not_supported",
    "stale_ref",
    "ambiguous",
    "not_found",
    "busy",
    "denied",
    "covered",
    "skipped",
]

Status = Literal["success", "failure", "clarification_needed", "timeout", "cancelled", "running"]

Reason = Literal[
    "gave_up",
    "infeasible",
    "max_steps",
    "max_tokens",
    "max_cost",
    "stalled",
    "denied",
    "unverified",
    "expectation_failed",
    "invalid_output",
    "question",
    "consent",
    "not_understood",
    "model_error",
    "model_refused",
    "desktop_error",
    "computer_lost",
    "deadline",
    "nobody_answered",
    "stopped_by_person",
    "stopped_by_caller",
]

_STATUS_OF: dict[str, Status] = {
    "deadline": "timeout",
    "stopped_by_person": "cancelled",
    "stopped_by_caller": "cancelled",
    "question": "clarification_needed",
    "consent": "clarification_needed",
    "not_understood": "clarification_needed",
    "nobody_answered": "clarification_needed",
}


def status_of(reason: Reason | None) -> Status:
    """The status that goes with a reason: ``success`` for None, ``failure`` for all that are not listed."""
    return "success" if reason is None else _STATUS_OF.get(reason, "failure")


class DeskhandError(Exception):
    """Base of everything this package raises on its own account."""


class MissingPart(DeskhandError):
    """Something that has to be installed is not.

    ``part`` names it, ``command`` is the exact line that brings it.
    """

    def __init__(self, part: str, why: str, command: str) -> None:
        super().__init__(f"{part} is missing ({why}). Install it with: {command}")
        self.part, self.why, self.command = part, why, command


class DesktopError(DeskhandError):
    """The desktop could not be had, or broke while in use."""


class ComputerLost(DesktopError):
    """The process or the machine that held the desktop is gone."""


class ModelError(DeskhandError):
    """The provider did not give a usable turn. ``retryable`` says whether the same request may work later."""

    def __init__(self, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retryable, self.retry_after = retryable, retry_after


class ModelRefused(ModelError):
    """The provider declined to continue this task."""


class ContextTooLong(ModelError):
    """The conversation is longer than the model can take."""


class ToolError(DeskhandError):
    """Told to the child as the result of its call. The task goes on."""


class InvalidStep(ToolError):
    """A step, key name, selector or argument that cannot mean anything. Says what would."""


class TargetError(ToolError):
    """The target of a step cannot be acted on; nothing was done.

    ``effect`` is one of ``stale_ref``, ``ambiguous``, ``not_found``, ``not_supported``, ``covered``, ``busy``.
    """

    def __init__(self, effect: Effect, message: str) -> None:
        super().__init__(message)
        self.effect: Effect = effect


class StopTask(DeskhandError):
    """Ends the task: ``reason`` decides the status (see `status_of`), ``result`` is what the caller reads."""

    def __init__(self, reason: Reason | None, result: str) -> None:
        super().__init__(result)
        self.reason, self.result = reason, result
