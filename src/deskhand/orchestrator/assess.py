"""A task's verification put together: its witness on the desk, the rules, and the judge where there is one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from deskhand.errors import DeskhandError, TargetError
from deskhand.messages import Image, Model
from deskhand.orchestrator.brief import Brief
from deskhand.orchestrator.judge import Case, Judgement, judge, quotes_of
from deskhand.orchestrator.limits import Meter
from deskhand.orchestrator.named import Claim
from deskhand.orchestrator.record import Record
from deskhand.orchestrator.signs import contradictions
from deskhand.orchestrator.verify import CheckOutput, Verification, verify
from deskhand.orchestrator.weigh import doubts
from deskhand.orchestrator.witness import Scene, Witness
from deskhand.tools.arguments import Finish
from deskhand.tools.desk import Desk
from deskhand.tools.evidence import absent_selector, holds, matches

LASTING: Final = 1.0
"""Seconds after the last act that its effect must have lasted."""

LASTING_ON_A_PAGE: Final = 1.8
"""The same where a server may have a say in it: what it refuses springs back when its answer is there."""

PATIENCE: Final = 4.0
"""Seconds that a screen which says it is still at work is given to come to an end."""

JUDGED: Final = ("anthropic", "openai", "openai-chat", "claude-code", "codex")
"""Providers whose models can be asked for a second look; of the others the rules alone decide."""

OpenModel = Callable[[], Awaitable[Model]]


async def scene_of(desk: Desk, *, glimpse: bool = False) -> Scene:
    """What is on the screen now. An app that cannot be read leaves an empty scene, which proves nothing.

    A ``glimpse`` reads the trees only when something was painted since they were read last.
    """
    work = desk.workspace
    try:
        roots = tuple(await (work.glimpse() if glimpse else work.senses.roots()))
        windows = await desk.windows()
    except TargetError:
        return Scene()
    app = next((window.app for window in windows if window.active), "")
    return Scene(roots=roots, titles=tuple(window.title for window in windows), app=app)


class Recollection:
    """An `Eyewitness` who also remembers what was there between the steps of a batch."""

    def __init__(self, desk: Desk, witness: Witness) -> None:
        self._desk, self._witness = desk, witness

    async def holds(self, evidence: str) -> bool:
        if await self._desk.holds(evidence):
            return True
        gone = absent_selector(evidence)
        if gone is None:
            return False
        scene = await scene_of(self._desk)
        before = [act.before.roots for act in self._witness.acts if act.before is not None]
        return holds(evidence, scene.roots, scene.titles) and any(matches(gone, roots) for roots in before)

    async def matches(self, selector: str) -> bool:
        return await self._desk.matches(selector)


class Assessor:
    """Checks a child's claim of success on the desk that its `Witness` watched."""

    def __init__(
        self,
        brief: Brief,
        desk: Desk,
        *,
        witness: Witness,
        meter: Meter,
        record: Record,
        open_model: OpenModel | None,
        check_output: CheckOutput | None,
    ) -> None:
        self._brief, self._desk, self._witness = brief, desk, witness
        self._meter, self._record = meter, record
        self._open_model, self._check_output = open_model, check_output
        self._result = ""
        self._since: list[Scene] = []

    async def check(self, claim: Finish) -> Verification:
        """The verdict on one claim."""
        mode = self._brief.policy.verify
        if mode != "off":
            await self._let_last()
        self._result = claim.result
        return await verify(
            Recollection(self._desk, self._witness),
            evidence=claim.evidence,
            expect=self._brief.expect,
            data=claim.data,
            check_output=self._check_output,
            checks=mode != "off",
            doubts=self._doubts,
            judge=self._judge if mode == "auto" and self._open_model is not None else None,
        )

    async def _let_last(self) -> None:
        """Wait until what the last act did has lasted for a while, and what is still at work has ended."""
        self._since = [Scene(roots=roots) for roots in self._desk.looks_since(self._witness.last_act)]
        start = time.monotonic()
        settling = self._desk.workspace.settling
        while self._witness.acts and (left := self._meter.remaining()) > 1:
            scene = await scene_of(self._desk)
            self._since.append(scene)
            now = time.monotonic()
            lasting = LASTING_ON_A_PAGE if any(root.source == "page" for root in scene.roots) else LASTING
            rest = lasting - (now - self._witness.last_act)
            if rest <= 0 and (now - start > PATIENCE or not self._at_work(scene)):
                self._since.pop()  # it is the one that counts, and will be looked at anew
                return
            await asyncio.to_thread(settling.wait_painted, min(left, max(0.05, rest), LASTING))

    def _at_work(self, now: Scene) -> bool:
        browser = self._desk.workspace.browser
        if browser is not None and browser.running and browser.work():
            return True
        befores = self._witness.befores()
        if not befores:
            return False
        signs = contradictions(befores[0].roots, now.roots, self._brief.goal)
        return any("still at work" in sign or sign.endswith("is busy") for sign in signs)

    async def _doubts(self, evidence: Sequence[str]) -> Sequence[str]:
        goal = self._brief.goal if self._brief.answer is None else f"{self._brief.goal} {self._brief.answer}"
        claim = Claim(
            goal=goal,
            inputs=tuple(self._brief.inputs.items()),
            result=self._result,
            evidence=tuple(evidence),
        )
        now = await scene_of(self._desk)
        return await asyncio.to_thread(doubts, claim, self._witness, now, self._since)

    async def _judge(self) -> Judgement:
        """A second look by a model that knows nothing of the child. Its cost counts; it is no step of the child's."""
        seen = await self._desk.observe(screenshot=True)
        images: tuple[Image, ...] = (seen.image,) if seen.image is not None else ()
        case = Case(
            goal=self._brief.goal,
            inputs=tuple(self._brief.inputs.items()),
            actions=self._record.actions,
            screen=self._record.log.scrub(seen.text),
            quotes=[self._record.log.scrub(line) for line in quotes_of(self._witness.acts, self._result)],
            images=images,
        )
        start = time.monotonic()
        try:
            async with self._opened() as model:
                said = await judge(model, case)
                if said.turn is not None:
                    self._meter.usage = self._meter.usage + said.turn.usage
                    self._record.model_call(
                        f"{model.name} (verification)", said.turn, time.monotonic() - start
                    )
        except DeskhandError as error:
            return Judgement(verdict="cannot_tell", why=f"the second look failed: {error}")
        return said

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Model]:
        assert self._open_model is not None
        model = await self._open_model()
        try:
            yield model
        finally:
            close = getattr(model, "aclose", None)
            if close is not None:
                await close()
