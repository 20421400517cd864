"""One task in the worker: from its brief to its status, and on again when somebody answers."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from deskhand.audit.log import AuditLog
from deskhand.audit.store import TaskStore
from deskhand.config import load_settings
from deskhand.errors import DesktopError, MissingPart, ModelError, Reason, StopTask
from deskhand.messages import Image, Json, StepReport
from deskhand.orchestrator.assess import Assessor, scene_of
from deskhand.orchestrator.brief import Brief, ClockFrame, EventFrame, StatusFrame
from deskhand.orchestrator.briefing import surroundings
from deskhand.orchestrator.children import child_class
from deskhand.orchestrator.consent import Gate
from deskhand.orchestrator.ending import CLOSING, FINISHING, RESUMABLE, last_look, reason_of, unfinished
from deskhand.orchestrator.filming import Filming
from deskhand.orchestrator.hooks import HookName, run_hook
from deskhand.orchestrator.limits import Meter
from deskhand.orchestrator.link import Link
from deskhand.orchestrator.loop import Child
from deskhand.orchestrator.people import People
from deskhand.orchestrator.record import Record, load_transcript, write_private
from deskhand.orchestrator.result import Outcome, Receipt, make_status
from deskhand.orchestrator.thinkers import Thinkers
from deskhand.orchestrator.verify import schema_problem
from deskhand.orchestrator.witness import Scene, Witness
from deskhand.terms import Policy, Private
from deskhand.tools.desk import Desk
from deskhand.tools.toolbox import Toolbox
from deskhand.tools.workspace import Gate as AskBefore
from deskhand.tools.workspace import OnStep

WATCH = 0.5
"""Seconds between two looks at whether the display is still there, while nothing else would notice."""

MOVED = "(Resumed on a fresh desktop.)"


class DeskHolder(Protocol):
    """Who keeps the desktop: the process. The first call opens it, later ones hand the same one over."""

    async def desk_for(self, brief: Brief, gate: AskBefore, on_step: OnStep) -> tuple[Desk, bool]: ...


class Work:
    """One conversation: its log, its child, its way from brief to status, perhaps several times."""

    def __init__(self, brief: Brief, holder: DeskHolder, keep: float = 0.0) -> None:
        self.brief, self._holder, self.settings = brief, holder, load_settings()
        self.keep = brief.computer.keep if isinstance(brief.computer, Private) else keep
        """Seconds that the desktop outlives a task; a task on a kept one leaves it kept for as long again."""
        self.directory = TaskStore(Path(brief.home)).path(brief.conversation)
        self.link = Link(on_cancel=self.cancelled, on_gone=self.left, on_ask=self.asked)
        self.meter = Meter(brief.limits, brief.deadline, brief.timeout)
        self.model_name = brief.model_name or brief.model
        self.computer = brief.computer if isinstance(brief.computer, str) else "private"
        self.desk: Desk | None = None
        self.gate: Gate
        self.stopped: tuple[Reason, str] | None = None
        self.over = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._thinkers = Thinkers(self.link, self.settings, lambda: self.meter.remaining())
        self._child: Child | None = None
        self._running: asyncio.Task[Outcome] | None = None
        self._outcome: Outcome | None = None
        self._moved = False
        self._witness = Witness(self.scene)
        again = brief.answer is not None
        self.record = Record(
            AuditLog.create(
                self.directory,
                brief.conversation,
                on_event=self.event,
                resume=again,
                secrets=brief.secrets,
                audit_text=brief.policy.audit_text,
                started=brief.started,
            )
        )
        self._filming = Filming(self.directory, self.record)
        self.people = People(self, self.link, self.record.log, self._witness)
        if not again:
            stored = brief.model_dump_json(exclude={"secrets": True, "started": True, "deadline": True})
            write_private(
                self.directory / "brief.json", json.dumps(self.record.log.scrub_json(json.loads(stored)))
            )

    # --- being stopped -------------------------------------------------------------------------------------------

    def cancelled(self, by: str) -> None:
        self.stop("stopped_by_person" if by == "person" else "stopped_by_caller", "the task was stopped")

    def left(self) -> None:
        """The other end closed: that ends the task, unless it was started to run on its own."""
        if not self.brief.background:
            self.stop("stopped_by_caller", "the caller went away")

    def stop(self, reason: Reason, why: str) -> None:
        """End what runs; the first reason counts. Without effect once it is over."""
        if self.stopped is None and not self.over.is_set():
            self.stopped = (reason, why)
            if self._running is not None:
                self._running.cancel()

    @property
    def running(self) -> bool:
        return not self.over.is_set()

    def facts(self) -> Json:
        """What the control socket tells of this task."""
        return {
            "state": "waiting" if self.over.is_set() else "running",
            "steps": self.meter.steps,
            "remaining": round(self.meter.remaining(), 1),
            "model": self.model_name,
            "computer": self.computer,
            "held": self.people.hold.state,
            "asking": [{"id": number, **payload} for number, payload in self.link.asking.items()],
            "display": dict(self.desk.desktop.client_env) if self.desk is not None else None,
        }

    # --- from brief to status ------------------------------------------------------------------------------------

    def continue_with(self, brief: Brief) -> None:
        """Take up an ended task with the answer that ``brief`` carries."""
        self.brief, self.stopped = brief, None
        self.meter = Meter(brief.limits, brief.deadline, brief.timeout)
        self.over.clear()

    async def run(self) -> None:
        """Do the task as far as its next end, and report it."""
        self.write_start()
        self._running = asyncio.create_task(self.child())
        if self.stopped is not None:
            self._running.cancel()
        watcher = asyncio.create_task(self.watch_deadline())
        try:
            self._outcome = await self.outcome(self._running)
            if self._child is not None:
                self.model_name = self._child.model.name
            await self.report(self._outcome)
            if self._outcome.reason not in RESUMABLE:
                await self._thinkers.close()  # a program of its own must not think on
        finally:
            self.over.set()
            watcher.cancel()

    def lease(self) -> float:
        """Seconds that the desktop is kept from now on: for an answer, or for a follow-up task."""
        if self.stopped is not None or self._outcome is None or self.desk is None:
            return 0.0
        if self._outcome.reason in RESUMABLE:
            return self.brief.limits.human_wait
        return self.keep if self._outcome.reason != "desktop_error" else 0.0

    async def close(self) -> None:
        """End the model and the log."""
        await self._thinkers.close()
        self.record.close()

    def event(self, event: Json) -> None:
        """Send an audit event up, from whichever thread wrote it."""
        self._loop.call_soon_threadsafe(self.link.send, EventFrame(event=event))

    def asked(self, payload: Json) -> None:
        self.hook("question", question=payload.get("question"), kind=payload.get("kind"))

    def hook(self, name: HookName, **facts: Any) -> None:
        """Run the user's command for this moment."""
        known = {
            "conversation": self.brief.conversation,
            "logdir": str(self.directory),
            "goal": self.brief.goal,
        }
        run_hook(self.settings.hooks, name, self.record.log.scrub_json({**known, **facts}))

    def write_start(self) -> None:
        brief = self.brief
        self.record.log.write(
            "task_started",
            goal=brief.goal,
            answer=brief.answer,
            context=brief.context or None,
            inputs=brief.inputs or None,
            secrets=sorted(brief.secrets) or None,
            expect=list(brief.expect) or None,
            model=self.model_name,
            computer=self.computer,
            timeout=brief.timeout,
            limits=brief.limits,
            policy=brief.policy.model_dump(exclude_defaults=True) or None,
            **self._filming.plan(brief.record),
        )
        self.hook("start", model=self.model_name, computer=self.computer)

    async def child(self) -> Outcome:
        """Open or take over the desktop, wake the model, and let the child work."""
        brief = self.brief
        pending = self.gate.pending if self._child is not None else ""
        gate = self.gate = Gate(brief, self.link, self.record.log, self.meter, self.people.send_clock)
        if pending and brief.answer is not None:
            gate.settle(pending, brief.answer)

        async def on_step(report: StepReport, before: Image | None, after: Image | None) -> None:
            await asyncio.to_thread(self.record.action, report, before, after)

        witness = self._witness
        start = time.monotonic()
        async with asyncio.timeout(max(0.0, self.meter.remaining())):
            self.desk, fresh = await self._holder.desk_for(
                brief, self.people.hold.gate(witness.gate(gate)), witness.on_step(on_step)
            )
        if witness.first is None:
            witness.first = await self.scene()
        self._moved = fresh and brief.answer is not None
        display = asyncio.create_task(self.watch_display(self.desk))
        try:
            ready = time.monotonic() - start
            await self._filming.begin(self.desk)
            if fresh:
                self.tell_desktop(self.desk, ready)
            child = await self.make_child(self.desk)
            await self._filming.rolling()
            return await (child.run() if brief.answer is None else child.resume(brief.answer, fresh=fresh))
        finally:
            display.cancel()

    async def make_child(self, desk: Desk) -> Child:
        """The child of this conversation: a new one, the one that asked, or one that remembers by its transcript."""
        brief = self.brief
        model = await self._thinkers.for_child(brief)
        self.model_name = model.name
        transcript = self._child.transcript if self._child is not None else None
        if transcript is None and brief.answer is not None:
            transcript = load_transcript(self.directory)
        self._child = child_class(brief.model)(
            brief,
            model=model,
            hand=desk,
            tools=Toolbox(desk, Policy(**brief.policy.model_dump(exclude={"confirm"}))),
            meter=self.meter,
            record=self.record,
            ask=self.people.ask,
            agree=self.gate.agree,
            check_output=self.check_output if brief.output is not None else None,
            transcript=transcript,
            surroundings=surroundings(brief, desk.desktop),
            check=self.assessor(desk).check,
        )
        return self._child

    async def scene(self) -> Scene:
        """What is on the desktop now."""
        return Scene() if self.desk is None else await scene_of(self.desk, glimpse=True)

    def assessor(self, desk: Desk) -> Assessor:
        """Who checks the child's claims."""
        return Assessor(
            self.brief,
            desk,
            witness=self._witness,
            meter=self.meter,
            record=self.record,
            open_model=self._thinkers.for_second_look(self.brief),
            check_output=self.check_output if self.brief.output is not None else None,
        )

    def tell_desktop(self, desk: Desk, seconds: float) -> None:
        backend = desk.desktop
        self.record.log.write(
            "desktop_ready",
            computer=backend.name,
            size=list(backend.screen.size),
            isolation=backend.isolation,
            notes=list(backend.notes) or None,
            seconds=round(seconds, 3),
        )

    async def outcome(self, running: asyncio.Task[Outcome]) -> Outcome:
        """Every way the child can end, as an outcome."""
        try:
            return await running
        except asyncio.CancelledError:
            reason, why = self.stopped or ("stopped_by_caller", "the worker was ended")
            return unfinished(reason, why, self.record)
        except StopTask as stop:
            return unfinished(stop.reason, stop.result, self.record)
        except TimeoutError:
            return unfinished("deadline", f"the time of {self.brief.timeout:g} s was used up", self.record)
        except Exception as error:
            if self.meter.remaining() <= 0:
                return unfinished(
                    "deadline", f"the time of {self.brief.timeout:g} s was used up", self.record
                )
            self.record.error(error, "task")
            if self.desk is not None and not isinstance(error, ModelError) and not self.desk.desktop.alive():
                return unfinished("desktop_error", "the display was lost", self.record)
            known = isinstance(error, DesktopError | MissingPart | ModelError)
            return unfinished(
                reason_of(error), str(error) if known else f"{type(error).__name__}: {error}", self.record
            )

    # --- what only the other side can answer ---------------------------------------------------------------------

    async def check_output(self, data: Any) -> str:
        assert self.brief.output is not None
        if wrong := schema_problem(self.brief.output, data):
            return wrong
        return str(await self.link.ask("output", {"data": data})) if self.brief.checks_output else ""

    # --- watching ------------------------------------------------------------------------------------------------

    async def watch_deadline(self) -> None:
        """Stop at the deadline, which moves while a person is asked."""
        while (left := self.meter.remaining()) > 0:
            if await self._ended(min(left, 1.0)):
                return
        self.stop("deadline", f"the time of {self.brief.timeout:g} s was used up")

    async def watch_display(self, desk: Desk) -> None:
        """Stop when the display is gone, also while only the model is at work."""
        while await asyncio.to_thread(desk.desktop.alive):
            if await self._ended(WATCH):
                return
        self.stop("desktop_error", "the display was lost")

    async def _ended(self, within: float) -> bool:
        """Whether the task is over, waiting for that so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self.over.wait()
        return self.over.is_set()

    # --- the end -------------------------------------------------------------------------------------------------

    async def report(self, outcome: Outcome) -> None:
        """The last picture, the end of the recording, the last line of the log, the status: in this order."""
        window = max(2 * CLOSING, min(self.meter.remaining(), FINISHING))
        closed_by = time.monotonic() + window
        self.link.send(ClockFrame(left=window, closing=True))
        final = await last_look(self.desk, self.record, self.directory)
        filmed = await self._filming.end(closed_by - CLOSING / 2 - time.monotonic())
        receipt = Receipt(
            conversation=self.brief.conversation,
            logdir=self.directory,
            model=self.model_name,
            computer=self.computer,
            steps=self.meter.steps,
            seconds=time.monotonic() - self.brief.started,
            usage=self.meter.usage,
            recording=self._filming.path,
            final_image=final,
        )
        if self._moved:
            outcome = replace(outcome, result=f"{outcome.result} {MOVED}")
        status = make_status(outcome, receipt)
        fields = {key: value for key, value in status.items() if key not in _NOT_LOGGED}
        event = self.record.log.write("task_finished", **fields, **filmed)
        status["audit_hash"] = event["hash"]
        scrubbed = self.record.log.scrub_json(status)
        write_private(self.directory / "result.json", json.dumps(scrubbed, indent=1))
        if outcome.reason in RESUMABLE and outcome.reason != "nobody_answered":
            self.hook("question", question=outcome.result, kind=outcome.reason)  # there was nobody to ask
        self.hook("end", **scrubbed)
        self.over.set()  # from here on, a caller that leaves takes nothing with it
        # In line behind the events, which other threads may have put there.
        frame = StatusFrame(status=scrubbed, lease=self.lease())
        self._loop.call_soon_threadsafe(self.link.send, frame)
        await asyncio.sleep(0)  # lets what was put in line be sent
        await self.link.flush(0.5)


_NOT_LOGGED = {"conversation", "agent_id", "logdir", "audit_hash"}
