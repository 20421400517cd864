"""Success is checked, not claimed: evidence, ``expect``, ``output`` on the live desktop; a judge where that is thin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from deskhand.errors import Reason
from deskhand.messages import Json
from deskhand.orchestrator.brief import Evidence
from deskhand.orchestrator.judge import Judgement

CheckOutput = Callable[[Any], Awaitable[str]]
Doubts = Callable[[Sequence[str]], Awaitable[Sequence[str]]]
AskJudge = Callable[[], Awaitable[Judgement]]


class Eyewitness(Protocol):
    """Whoever can look at the desktop now: `holds` is for evidence, `matches` for any selector at all."""

    async def holds(self, evidence: str) -> bool: ...

    async def matches(self, selector: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the checks found. ``problem`` is empty when nothing speaks against success.

    ``doubts`` is what the rules could not make out by themselves, ``judgement`` what the second context said of it.
    ``final``: the child can do nothing about it.
    """

    evidence: tuple[Evidence, ...] = ()
    reason: Reason | None = None
    problem: str = ""
    doubts: tuple[str, ...] = ()
    judgement: Judgement | None = None
    final: bool = False

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
    doubts: Doubts | None = None,
    judge: AskJudge | None = None,
) -> Verification:
    """Check a claim of success.

    ``expect`` and the typed output are always checked; the child's ``evidence`` unless ``checks`` is off. Without any
    evidence there is nothing that could have been false, so the claim does not pass. Evidence that holds and still
    leaves ``doubts`` goes to the ``judge``; where there is none, doubt is not success. What the caller expects and
    finds is beyond doubt.
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
    left = () if expect or doubts is None else tuple(await doubts(named))
    if not left:
        return Verification(evidence=tuple(found))
    return await _judged(tuple(found), left, judge)


async def _judged(
    evidence: tuple[Evidence, ...], doubts: tuple[str, ...], judge: AskJudge | None
) -> Verification:
    words = "; ".join(doubts)
    if judge is None:
        return Verification(evidence=evidence, reason="unverified", problem=words, doubts=doubts)
    said = await judge()
    if said.verdict == "satisfied":
        return Verification(evidence=evidence, doubts=doubts, judgement=said)
    told = (
        "a second look found the goal not reached"
        if said.verdict == "not"
        else "a second look could not tell"
    )
    return Verification(
        evidence=evidence,
        reason="unverified",
        problem=f"{told}: {said.why or 'without a reason'} ({words})",
        doubts=doubts,
        judgement=said,
        final=said.verdict == "cannot_tell",
    )


def schema_problem(schema: Json, data: Any) -> str:
    """What is wrong with ``data`` by a JSON schema; empty when nothing is."""
    from jsonschema import Draft202012Validator

    errors = sorted(Draft202012Validator(schema).iter_errors(data), key=lambda error: list(error.path))
    return "; ".join(
        f"{'.'.join(map(str, error.path)) or 'data'}: {error.message[:200]}" for error in errors[:3]
    )
