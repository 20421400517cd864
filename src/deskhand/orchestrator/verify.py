"""Success is checked, not claimed: evidence, ``expect`` and ``output`` against the live desktop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from deskhand.errors import Reason
from deskhand.messages import Json
from deskhand.orchestrator.brief import Evidence

CheckOutput = Callable[[Any], Awaitable[str]]


class Eyewitness(Protocol):
    """Whoever can look at the desktop now: `holds` is for evidence, `matches` for any selector at all."""

    async def holds(self, evidence: str) -> bool: ...

    async def matches(self, selector: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the checks found. ``problem`` is empty when nothing speaks against success."""

    evidence: tuple[Evidence, ...] = ()
    reason: Reason | None = None
    problem: str = ""

    @property
    def passed(self) -> bool:
        return self.reason is None


async def verify(
    witness: Eyewitness,
    *,
    evidence: Sequence[str],
    expect: Sequence[str],
    data: Any,
    check_output: CheckOutput | None,
    checks: bool,
) -> Verification:
    """Check a claim of success.

    ``expect`` and the typed output are always checked; the child's ``evidence`` unless ``checks`` is off. Without any
    evidence there is nothing that could have been false, so the claim does not pass.
    """
    found: list[Evidence] = [{"check": item, "holds": await witness.matches(item)} for item in expect]
    if missed := [item["check"] for item in found if not item["holds"]]:
        return Verification(
            evidence=tuple(found),
            reason="expectation_failed",
            problem=f"the caller expects these at the end, and they do not hold: {'; '.join(missed)}",
        )
    if check_output is not None and (wrong := await check_output(data)):
        return Verification(
            evidence=tuple(found),
            reason="invalid_output",
            problem=f"`data` does not have the wanted form: {wrong}",
        )
    if not checks:
        return Verification(evidence=tuple(found))
    named = [item for item in evidence if item.strip()]
    found += [{"check": item, "holds": await witness.holds(item)} for item in named]
    if missed := [item["check"] for item in found if not item["holds"]]:
        return Verification(
            evidence=tuple(found),
            reason="unverified",
            problem=f"this evidence does not hold on the desktop now: {'; '.join(missed)}",
        )
    if not found:
        return Verification(reason="unverified", problem="no evidence was named that could be checked")
    return Verification(evidence=tuple(found))


def schema_problem(schema: Json, data: Any) -> str:
    """What is wrong with ``data`` by a JSON schema; empty when nothing is."""
    from jsonschema import Draft202012Validator

    errors = sorted(Draft202012Validator(schema).iter_errors(data), key=lambda error: list(error.path))
    return "; ".join(
        f"{'.'.join(map(str, error.path)) or 'data'}: {error.message[:200]}" for error in errors[:3]
    )
