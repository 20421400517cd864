"""Running a planned batch: each step resolved, permitted, done and settled before the next; stopped by policy."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any, Final

from deskhand.desktop.base import Frame
from deskhand.errors import TargetError, ToolError
from deskhand.messages import BatchReport, Image, Json, Settled, StepReport
from deskhand.observers.selector import parse_selector
from deskhand.tools.actions import Check, Click, Clipboard, Launch, Step, Wait, Window
from deskhand.tools.glance import refuse_changed
from deskhand.tools.hands import consequence
from deskhand.tools.outcome import Outcome, judge
from deskhand.tools.perform import perform
from deskhand.tools.pictures import Pictures
from deskhand.tools.plan import Plan
from deskhand.tools.search import search
from deskhand.tools.step import MAX_REPEATS
from deskhand.tools.targets import Aim, failed, refuse_blocked, resolve
from deskhand.tools.wording import step_words
from deskhand.tools.workspace import FOLLOWS, Workspace, in_thread

_STOPS_WITHOUT_EFFECT: Final = ("click", "key", "invoke")
"""Kinds after which ``on_no_change="auto"`` stops: what follows them usually presumes that they did something."""

PRESSED_FIRST: Final = 0.35
"""Seconds: GTK 4 shows an element that is activated as pressed and carries it out a quarter of a second later."""

STILL: Final = 0.12
"""Seconds after which an act that has painted nothing will probably not: the time in which a reaction is waited for is
longer, and reading then costs no time of its own."""

HIDDEN: Final = "(hidden)"
"""Stands for what was typed into a password field."""


class Batch:
    """One batch on one workspace. `run` never raises for what a step could not do: the report says it."""

    def __init__(self, workspace: Workspace, plan: Plan, pictures: Pictures) -> None:
        self._work, self._plan, self._pictures = workspace, plan, pictures
        self._reports: list[StepReport] = []
        self._unchanged_since: float | None = None
        """When the last step had been carried out, if nothing has changed since."""

    async def run(self) -> BatchReport:
        """Run the steps in order until one fails or the policy stops; then look at what changed."""
        stopped = ""
        for index, step in enumerate(self._plan.steps, 1):
            report = await self._step(index, step)
            self._reports.append(report)
            stopped = self._why_stop(report, last=index == len(self._plan.steps))
            if stopped:
                break
        after = await self._work.senses.look_again(ahead=await self._has_read())
        if after.image is not None:
            self._work.remember(after.image, after.roots)
        return BatchReport(
            steps=tuple(self._reports),
            not_run=len(self._plan.steps) - len(self._reports),
            stopped=stopped,
            after=after,
        )

    def _why_stop(self, report: StepReport, *, last: bool) -> str:
        """Why the batch ends after this step, and how to go on; empty when it goes on."""
        policy = self._plan.on_no_change
        if failed(report.effect):
            why = f"step {report.index} could not be done ({report.effect})"
        elif report.effect == "effect_unknown" and not last:
            why = f"the effect of step {report.index} is unknown"
        elif report.effect == "no_change" and not last and policy != "never":
            if policy == "auto" and report.step["kind"] not in _STOPS_WITHOUT_EFFECT:
                return ""
            why = f"step {report.index} changed nothing"
        else:
            return ""
        rest = len(self._plan.steps) - report.index
        if not rest:
            return why
        following = step_words(self._plan.steps[report.index].asked())
        return f"{why}; {rest} not run, next would be: {following}. Go on from what is on the screen now."

    async def _step(self, index: int, step: Step) -> StepReport:
        """One step, repeated as it asks."""
        started = time.monotonic()
        before = self._pictures.grab()
        times = step.times or (MAX_REPEATS if step.until else 1)
        report = StepReport(index=index, step=step.asked(), effect="skipped", message="", risk=step.risk)
        done = 0
        for _ in range(times):
            if step.until is not None and await self._holds(step.until):
                break
            report = await self._once(index, step)
            done += 1
            if failed(report.effect) or report.effect == "skipped":
                break
        report = replace(report, seconds=time.monotonic() - started)
        report = await self._with_repeats(report, step, done)
        await self._tell(report, before)
        return report

    async def _with_repeats(self, report: StepReport, step: Step, done: int) -> StepReport:
        if step.until is None:
            return report if done < 2 else replace(report, message=_joined(report.message, f"{done} times"))
        if not done:
            return replace(report, message=f"{step.until} holds already")
        if failed(report.effect):
            return report
        if await self._holds(step.until):
            return replace(
                report, effect="done", message=_joined(report.message, f"after {done} times {step.until}")
            )
        why = f"{step.until} does not hold after {done} times"
        return replace(report, effect="not_found", message=_joined(report.message, why))

    async def _once(self, index: int, step: Step) -> StepReport:
        self._unchanged_since = None
        aim: Aim | None = None
        settled: Settled | None = None
        try:
            aim = await self._aim(index, step)
            if (refusal := await self._refusal(step, aim)) is not None:
                raise TargetError("denied", refusal)
            outcome, settled = await self._act(step, aim)
            if isinstance(step, Click) and aim is not None and aim.node is None and settled is not None:
                after = await consequence(self._work, settled)
                outcome = replace(outcome, message=_joined(outcome.message, after))
                self._work.clicks.say(outcome.message)
        except TargetError as error:
            skipped = step.optional and error.effect == "not_found" and aim is None
            outcome = Outcome(effect="skipped" if skipped else error.effect, message=str(error))
        except ToolError as error:  # what only running it can tell: a missing secret, an address that fails
            outcome = Outcome(effect="not_supported", message=str(error))
        return StepReport(
            index=index,
            step=_recorded(step, aim),
            effect=judge(outcome, settled),
            message=outcome.message,
            target=aim.target if aim is not None else None,
            route=outcome.route,
            settled=settled,
            value=outcome.value,
            risk=step.risk,
        )

    async def _aim(self, index: int, step: Step) -> Aim | None:
        """The step's (first) target. An optional step does not wait for its target."""
        if not step.aims:
            return None
        timeout = step.timeout if step.timeout is not None else (0.0 if step.optional else None)
        aim = await resolve(self._work, step.aims[0], timeout=timeout, first=index == 1)
        if not isinstance(step, Window):
            await refuse_blocked(self._work, aim)
            await refuse_changed(self._work, step.aims[0])
        return aim

    async def _refusal(self, step: Step, aim: Aim | None) -> str | None:
        if self._work.gate is None:
            return None
        target, node = (aim.target, aim.node) if aim is not None else (None, None)
        return await self._work.gate(step.asked(), target, node)

    async def _act(self, step: Step, aim: Aim | None) -> tuple[Outcome, Settled | None]:
        """Perform between the settle engine's two looks. The second is taken even when the step failed half-way."""
        reads = isinstance(step, (Wait, Check)) or (isinstance(step, Clipboard) and step.text is None)
        if reads or (step.settle == "none" and not isinstance(step, Launch)):
            return await self._perform(step, aim), None
        settling = self._work.settling
        baseline = await in_thread(settling.before, step.name)
        outcome = await self._perform(step, aim)
        return outcome, await self._verdict(baseline, outcome)

    async def _perform(self, step: Step, aim: Aim | None) -> Outcome:
        try:
            return await perform(self._work, step, aim)
        finally:
            self._work.acted = time.monotonic()

    async def _verdict(self, baseline: Any, outcome: Outcome) -> Settled:
        """How the screen came to rest. While it is waited whether anything happens at all, everything is read."""
        settling = self._work.settling
        acted = self._work.acted
        # Not `in_thread`: the engine only looks, so a cancelled batch need not wait for its verdict.
        least = PRESSED_FIRST if outcome.route == "element" else 0.0
        judging = asyncio.ensure_future(asyncio.to_thread(settling.after, baseline, least))
        try:
            if outcome.route in ("pointer", "keyboard"):
                await asyncio.wait({judging}, timeout=STILL)
                if not judging.done() and not await in_thread(settling.painted_since, acted):
                    await self._work.senses.read_ahead()
            settled = await judging
        finally:
            judging.cancel()
        self._unchanged_since = acted if settled.verdict == "no_change" else None
        return settled

    async def _has_read(self) -> bool:
        """Whether all was read since the last act had been carried out, and nothing was painted since that.

        A page is read anew, as it may have changed where it is not on the screen.
        """
        recent = self._work.senses.recent()
        if recent is None or self._unchanged_since is None or recent[0] < self._unchanged_since:
            return False
        if any(root.source == "page" for root in recent[1]):
            return False
        return not await in_thread(self._work.settling.painted_since, recent[0] - FOLLOWS)

    async def _holds(self, selector: str) -> bool:
        return bool((await search(self._work.senses, parse_selector(selector)))[0])

    async def _tell(self, report: StepReport, before: Frame | None) -> None:
        """Hand the report and its pictures to whoever keeps the record."""
        if self._work.on_step is None:
            return
        images: tuple[Image | None, Image | None] = (None, None)
        if before is not None:
            images = await self._pictures.encode(before), await self._pictures.encode(self._pictures.grab())
        await self._work.on_step(report, *images)


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _recorded(step: Step, aim: Aim | None) -> Json:
    """The step as it is reported and logged: what goes into a password field is nowhere."""
    asked = step.asked()
    if "text" in asked and aim is not None and aim.node is not None and "password" in aim.node.states:
        asked["text"] = HIDDEN
    return asked
