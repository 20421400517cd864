"""Shorthand for tests of the desk."""

from __future__ import annotations

from typing import Any

from deskhand.messages import BatchReport
from deskhand.tools.wording import batch_text


def effects(report: BatchReport) -> list[str]:
    """The steps' effects; all must be as expected or the assertion shows the whole report."""
    return [step.effect for step in report.steps]


def all_done(report: BatchReport, *also: str) -> BatchReport:
    """The report, after checking that every step was done (or ended as one of ``also``)."""
    assert not report.not_run, batch_text(report)
    assert all(step.effect in ("done", *also) for step in report.steps), batch_text(report)
    return report


def steps(*each: Any) -> list[Any]:
    """Shorthand: ``("click", target)`` and ``("fill", target, text)`` tuples, or whole step objects."""
    made: list[Any] = []
    for step in each:
        if isinstance(step, dict):
            made.append(step)
        elif step[0] in ("fill", "type") and len(step) == 3:
            made.append({"kind": step[0], "target": step[1], "text": step[2]})
        else:
            made.append({"kind": step[0], "target": step[1]})
    return made
