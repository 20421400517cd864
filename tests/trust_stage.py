"""A stage for tasks on one real desktop: a scripted child at work behind the product's own gate, witness and checks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.audit.log import AuditLog
from deskhand.audit.read import read_events
from deskhand.errors import StopTask
from deskhand.messages import Image, Json, Model, StepReport
from deskhand.observers.node import text_of, walk
from deskhand.orchestrator.assess import Assessor, scene_of
from deskhand.orchestrator.brief import Brief, PolicyBrief
from deskhand.orchestrator.consent import Gate
from deskhand.orchestrator.limits import Meter
from deskhand.orchestrator.link import Link
from deskhand.orchestrator.loop import Child
from deskhand.orchestrator.models.scripted import ScriptedModel
from deskhand.orchestrator.record import Record
from deskhand.orchestrator.result import Outcome
from deskhand.orchestrator.witness import Scene, Witness
from deskhand.terms import Limits, Policy
from deskhand.tools.arguments import Finish
from deskhand.tools.desk import Desk, open_desktop
from deskhand.tools.toolbox import Toolbox

SECONDS = 60.0
"""Of wall clock that a task on the stage may take."""

UNSURE: Json = {
    "calls": [{"name": "verdict", "input": {"verdict": "cannot_tell", "why": "it cannot be seen from here"}}]
}


@dataclass(frozen=True)
class Told:
    """How a task ended, what its log says, and all that was on the screen then."""

    outcome: Outcome
    events: Sequence[Json]
    stubborn: Sequence[str] = ()
    screen: str = ""

    @property
    def succeeded(self) -> bool:
        return self.outcome.reason is None

    def consents(self) -> list[Json]:
        return [event for event in self.events if event["kind"] == "consent"]

    def effects(self) -> list[str]:
        return [str(event["effect"]) for event in self.events if event["kind"] == "action"]

    def words(self) -> str:
        """All that is needed to see what went wrong."""
        steps = [
            f"{event['step']} -> {event['effect']} {event.get('note') or ''}"
            for event in self.events
            if event["kind"] == "action"
        ]
        checks = [str(event.get("problem")) for event in self.events if event["kind"] == "verification"]
        return "\n".join([f"{self.outcome.reason}: {self.outcome.result}", *steps, *checks, *self.stubborn])


class Stage:
    """One desktop that tasks on pages are played on, one after the other. Tasks on other apps want one of their own."""

    def __init__(self, desk: Desk, directory: Path) -> None:
        self.desk, self._directory = desk, directory
        self._tasks = 0

    @property
    def home(self) -> Path:
        """The home of the desktop's applications, as a path outside."""
        return Path(self.desk.desktop.home)  # type: ignore[attr-defined]

    def page(self, name: str, html: str) -> str:
        """Put a page into the desktop's home; its address there."""
        (self.home / name).write_text(f"<!doctype html><meta charset=utf-8>{html}", "utf-8")
        return f"file:///home/desk/{name}"

    async def play(
        self,
        goal: str,
        batches: Sequence[Sequence[Json]],
        finish: Json | None = None,
        *,
        everything: bool = False,
        confirm: str | None = None,
        **brief: Any,
    ) -> Told:
        """Let a scripted child carry out the batches and claim success, again when it is not believed.

        Its judge can never tell. With ``everything`` the child then claims success by each thing that is on the screen
        in turn, and whatever is believed is named in ``stubborn``.
        """
        self._tasks += 1
        directory = self._directory / f"task-{self._tasks}"
        claim = finish or {"result": "Done.", "evidence": []}
        turns: list[Json] = [{"calls": [{"name": "act", "input": {"steps": list(each)}}]} for each in batches]
        turns += [{"calls": [{"name": "finish", "input": claim}]}] * 2
        now = time.monotonic()
        asked = Brief(
            goal=goal,
            conversation="stage",
            home=str(directory),
            model="scripted",
            timeout=SECONDS,
            started=now,
            deadline=now + SECONDS,
            policy=PolicyBrief(confirm=confirm, **brief.pop("policy", {})),  # type: ignore[arg-type]
            **brief,
        )
        with AuditLog.create(directory, "stage", secrets=asked.secrets) as log:
            child, assessor = self._child(asked, ScriptedModel(turns), log)
            outcome = await self._outcome(child)
            stubborn = await self._believed(assessor, claim) if everything else ()
            child.record.close()
        screen = " ".join(text_of(root) for root in (await scene_of(self.desk)).roots)
        await self.clear()
        return Told(outcome, list(read_events(directory / "audit.jsonl")), stubborn, screen)

    def _child(self, brief: Brief, model: Model, log: AuditLog) -> tuple[Child, Assessor]:
        meter, record = Meter(Limits(), brief.deadline, brief.timeout), Record(log)
        nobody = Link(on_cancel=lambda by: None, on_gone=lambda: None)
        gate = Gate(brief, nobody, log, meter, lambda: None)

        async def look() -> Scene:
            return await scene_of(self.desk, glimpse=True)

        async def on_step(report: StepReport, before: Image | None, after: Image | None) -> None:
            await asyncio.to_thread(record.action, report, None, None)

        async def judge() -> Model:
            return ScriptedModel([UNSURE])

        async def ask(question: str) -> str | None:
            return None

        witness = Witness(look)
        work = self.desk.workspace
        work.gate, work.on_step, work.secrets = witness.gate(gate), witness.on_step(on_step), brief.secrets
        assessor = Assessor(
            brief,
            self.desk,
            witness=witness,
            meter=meter,
            record=record,
            open_model=judge,
            check_output=None,
        )
        child = Child(
            brief,
            model=model,
            hand=self.desk,
            tools=Toolbox(self.desk, Policy()),
            meter=meter,
            record=record,
            ask=ask,
            agree=gate.agree,
            check_output=None,
            check=assessor.check,
        )
        return child, assessor

    async def _outcome(self, child: Child) -> Outcome:
        try:
            return await child.run()
        except StopTask as stop:
            return Outcome(reason=stop.reason, result=stop.result)

    async def _believed(self, assessor: Assessor, claim: Json) -> list[str]:
        """What is on the screen and would be believed as the one piece of evidence."""
        scene = await scene_of(self.desk)
        believed = []
        for piece in dict.fromkeys(_everything(scene)):
            found = await assessor.check(Finish(result=str(claim["result"]), evidence=[piece]))
            if found.passed:
                believed.append(piece)
        return believed

    async def clear(self) -> None:
        """Leave nothing of the task: windows are closed, and the browser keeps running on an empty page."""
        work = self.desk.workspace
        work.gate = work.on_step = None
        browser = work.browser
        if browser is not None and browser.running:
            await self.desk.act([{"kind": "navigate", "url": "about:blank"}])
        for window in await self.desk.windows():
            if browser is None or not browser.owns(window):
                await self.desk.act([{"kind": "window", "do": "close", "title": window.title}])
        self.desk._looks.clear()  # the next task must not know what this one saw


def _everything(scene: Scene) -> Iterator[str]:
    for node in walk(scene.roots):
        if node.name and "\n" not in node.name:
            yield node.name
            yield f"{node.role}[name={_quoted(node.name)}]"
            for state in ("checked", "pressed", "selected"):
                if state in node.states:
                    yield f"{node.role}[name={_quoted(node.name)}][{state}]"
        if node.value:
            yield f'"{node.value}"'
            yield f"{node.role}[name={_quoted(node.name)}][value={_quoted(node.value)}]"
    yield from scene.titles


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@asynccontextmanager
async def open_stage(directory: Path) -> AsyncIterator[Stage]:
    """A stage on a desktop of its own."""
    async with open_desktop() as desk:
        yield Stage(desk, directory)
