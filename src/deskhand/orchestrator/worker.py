"""The other side of the wall: one task, from its brief to its status, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from deskhand.audit.log import AuditLog
from deskhand.audit.store import TaskStore
from deskhand.config import load_settings
from deskhand.desktop.processes import become_subreaper
from deskhand.errors import DesktopError, MissingPart, ModelError, ModelRefused, Reason, StopTask
from deskhand.messages import Image, Json, Model, Policy, StepReport, ToolSpec, Transcript, Turn
from deskhand.orchestrator.brief import Brief, ClockFrame, EventFrame, StatusFrame
from deskhand.orchestrator.codec import entry_to_json, tools_to_json, turn_from_json
from deskhand.orchestrator.consent import Gate
from deskhand.orchestrator.control import ControlServer
from deskhand.orchestrator.limits import Meter
from deskhand.orchestrator.link import FRAME_LIMIT, CallerGone, Link
from deskhand.orchestrator.loop import Child
from deskhand.orchestrator.models import make_model
from deskhand.orchestrator.record import Record, write_private
from deskhand.orchestrator.result import Outcome, Receipt, last_steps, make_status
from deskhand.orchestrator.verify import schema_problem
from deskhand.tools.desk import Desk, open_desktop
from deskhand.tools.toolbox import Toolbox

CLOSING = 0.5
"""Seconds that the last picture and the recording's end may take together."""

WATCH = 0.5
"""Seconds between two looks at whether the display is still there, while nothing else would notice."""


class CallerModel:
    """The caller's own `Model`, asked over the pipe."""

    def __init__(self, link: Link, name: str) -> None:
        self.name, self._link = name, link

    async def turn(self, transcript: Transcript, tools: list[ToolSpec] | Any) -> Turn:
        payload = {
            "transcript": [entry_to_json(entry) for entry in transcript],
            "tools": tools_to_json(tools),
        }
        try:
            return turn_from_json(await self._link.ask("model", payload))
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"the caller's model gave something that is not a turn: {error}") from error


class Work:
    """One task in progress."""

    def __init__(self, brief: Brief, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.brief, self.settings = brief, load_settings()
        self.directory = TaskStore(Path(brief.home)).path(brief.conversation)
        self.link = Link(on_cancel=self.cancelled, on_gone=self.left)
        self._ends = (reader, writer)
        self._loop = asyncio.get_running_loop()
        self.meter = Meter(brief.limits, brief.deadline, brief.timeout)
        self.stopped: tuple[Reason, str] | None = None
        self.desk: Desk | None = None
        self.gate: Gate
        self.model_name = brief.model_name or brief.model
        self.computer = brief.computer if isinstance(brief.computer, str) else "private"
        self.recording: str | None = None
        self._child: asyncio.Task[Outcome] | None = None
        self._over = asyncio.Event()

    # --- being stopped -------------------------------------------------------------------------------------------

    def cancelled(self, by: str) -> None:
        self.stop("stopped_by_person" if by == "person" else "stopped_by_caller", "the task was stopped")

    def left(self) -> None:
        """The other end closed: that ends the task, unless it was started to run on its own."""
        if not self.brief.background:
            self.stop("stopped_by_caller", "the caller went away")

    def stop(self, reason: Reason, why: str) -> None:
        """End the task; the first reason counts."""
        if self.stopped is None:
            self.stopped = (reason, why)
            if self._child is not None:
                self._child.cancel()

    def command(self, command: Json) -> Json:
        """Answer one line of the control socket."""
        match command.get("command"):
            case "stop":
                self.cancelled("person")
                return {"ok": True}
            case "status":
                return {
                    "ok": True,
                    "steps": self.meter.steps,
                    "remaining": round(self.meter.remaining(), 1),
                    "model": self.model_name,
                    "computer": self.computer,
                }
            case other:
                return {"ok": False, "error": f"unknown command {other!r}; known are stop and status"}

    # --- the task ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Do the task and report it. Everything it made is gone when this returns."""
        following = asyncio.create_task(self.link.follow(*self._ends))
        log = AuditLog.create(
            self.directory,
            self.brief.conversation,
            on_event=self.event,
            secrets=self.brief.secrets,
            audit_text=self.brief.policy.audit_text,
            started=self.brief.started,
        )
        record = Record(log)
        control = ControlServer(self.directory, self.command)
        try:
            await control.start()
            self.write_start(log)
            async with self.desktop(record) as ready:
                outcome = await self.settle_outcome(record, ready)
                await self.report(outcome, record)
        finally:
            control.close()
            record.close()
            await asyncio.sleep(0)  # lets what was put in line be sent
            await self.link.flush(0.5)
            following.cancel()

    def event(self, event: Json) -> None:
        """Send an audit event up, from whichever thread wrote it."""
        self._loop.call_soon_threadsafe(self.link.send, EventFrame(event=event))

    def write_start(self, log: AuditLog) -> None:
        brief = self.brief
        log.write(
            "task_started",
            goal=brief.goal,
            context=brief.context or None,
            inputs=brief.inputs or None,
            secrets=sorted(brief.secrets) or None,
            expect=list(brief.expect) or None,
            model=self.model_name,
            computer=self.computer,
            timeout=brief.timeout,
            limits=brief.limits,
            policy=brief.policy.model_dump(exclude_defaults=True) or None,
        )

    @asynccontextmanager
    async def desktop(self, record: Record) -> AsyncIterator[BaseException | None]:
        """The desktop for the length of the task: yields None when it is there, else why it is not."""
        gate = self.gate = Gate(self.brief, self.link, record.log, self.meter, self.send_clock)

        async def on_step(report: StepReport, before: Image | None, after: Image | None) -> None:
            await asyncio.to_thread(record.action, report, before, after)

        opening = open_desktop(
            self.brief.computer,
            settings=self.settings,
            gate=gate,
            on_step=on_step,
            secrets=self.brief.secrets,
        )
        start = time.monotonic()
        entering = asyncio.ensure_future(opening.__aenter__())
        self._child = entering  # type: ignore[assignment]
        try:
            if self.stopped is not None:
                entering.cancel()
            async with asyncio.timeout(max(0.0, self.meter.remaining())):
                self.desk = await entering
        except (Exception, asyncio.CancelledError) as error:
            yield error
            return
        finally:
            self._child = None
        try:
            backend = self.desk.desktop
            record.log.write(
                "desktop_ready",
                computer=backend.name,
                size=list(backend.screen.size),
                isolation=backend.isolation,
                notes=list(backend.notes) or None,
                seconds=round(time.monotonic() - start, 3),
            )
            yield None
        finally:
            with suppress(Exception):
                async with asyncio.timeout(1.5):
                    await opening.__aexit__(None, None, None)

    async def settle_outcome(self, record: Record, not_ready: BaseException | None) -> Outcome:
        """Run the child and turn every way it can end into an outcome."""
        watchers: list[asyncio.Task[None]] = []
        try:
            if not_ready is not None:
                raise not_ready
            self._child = asyncio.create_task(self.child(record))
            if self.stopped is not None:
                self._child.cancel()
            watchers = [asyncio.create_task(self.watch_deadline()), asyncio.create_task(self.watch_display())]
            return await self._child
        except asyncio.CancelledError:
            reason, why = self.stopped or ("stopped_by_caller", "the worker was ended")
            return self.unfinished(reason, why, record)
        except StopTask as stop:
            return self.unfinished(stop.reason, stop.result, record)
        except TimeoutError:
            return self.unfinished("deadline", f"the time of {self.brief.timeout:g} s was used up", record)
        except Exception as error:
            record.error(error, "task")
            reason = _reason_of(error)
            if self.desk is not None and not isinstance(error, ModelError) and not self.desk.desktop.alive():
                return self.unfinished("desktop_error", "the display was lost", record)
            known = isinstance(error, DesktopError | MissingPart | ModelError)
            return self.unfinished(
                reason, str(error) if known else f"{type(error).__name__}: {error}", record
            )
        finally:
            for watcher in watchers:
                watcher.cancel()

    async def child(self, record: Record) -> Outcome:
        assert self.desk is not None
        desk, brief = self.desk, self.brief
        model: Model
        if brief.model == "caller":
            model = CallerModel(self.link, brief.model_name)
        else:
            model = await asyncio.to_thread(
                make_model, brief.model, self.settings, timeout=self.meter.remaining
            )
        self.model_name = model.name
        if brief.record:
            path = brief.record if isinstance(brief.record, str) else str(self.directory / "recording.mp4")
            await desk.record(path)
            self.recording = path
        policy = Policy(**brief.policy.model_dump(exclude={"confirm"}))
        child = Child(
            brief,
            model=model,
            hand=desk,
            tools=Toolbox(desk, policy),
            meter=self.meter,
            record=record,
            ask=self.ask,
            agree=self.gate.agree,
            check_output=self.check_output if brief.output is not None else None,
        )
        try:
            return await child.run()
        finally:
            if close := getattr(model, "aclose", None):
                with suppress(Exception):
                    await close()

    async def ask(self, question: str) -> str | None:
        """Put a question to the caller's side; None when nobody is there to answer."""
        if not self.brief.answers:
            return None
        self.meter.pause()
        self.send_clock()
        try:
            async with asyncio.timeout(self.brief.limits.human_wait):
                reply = await self.link.ask("question", {"kind": "question", "question": question})
        except TimeoutError:
            raise StopTask("nobody_answered", question) from None
        except CallerGone:
            return None
        finally:
            self.meter.resume()
            self.send_clock()
        return None if reply in (None, "", False) else str(reply)

    async def check_output(self, data: Any) -> str:
        assert self.brief.output is not None
        if wrong := schema_problem(self.brief.output, data):
            return wrong
        return str(await self.link.ask("output", {"data": data})) if self.brief.checks_output else ""

    def send_clock(self) -> None:
        paused = self.meter.paused
        self.link.send(ClockFrame(deadline=None if paused else self.meter.deadline))

    # --- watching ------------------------------------------------------------------------------------------------

    async def watch_deadline(self) -> None:
        """Stop at the deadline, which moves while a person is asked."""
        while (left := self.meter.remaining()) > 0:
            await self._pause(min(left, 1.0))
        self.stop("deadline", f"the time of {self.brief.timeout:g} s was used up")

    async def watch_display(self) -> None:
        """Stop when the display is gone, also while only the model is at work."""
        assert self.desk is not None
        while await asyncio.to_thread(self.desk.desktop.alive):
            await self._pause(WATCH)
        self.stop("desktop_error", "the display was lost")

    async def _pause(self, seconds: float) -> None:
        """Wait so long, or until the task is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._over.wait()

    # --- the end -------------------------------------------------------------------------------------------------

    def unfinished(self, reason: Reason | None, why: str, record: Record) -> Outcome:
        if reason in ("question", "consent", "not_understood", "nobody_answered"):
            return Outcome(reason=reason, result=why)
        words = last_steps(record.actions)
        return Outcome(reason=reason, result=f"{why}. The last steps were: {words}" if words else why)

    async def report(self, outcome: Outcome, record: Record) -> None:
        """The last picture, the end of the recording, the last line of the log, the status: in this order."""
        self.link.send(ClockFrame(deadline=time.monotonic() + 2 * CLOSING, closing=True))
        final = await self.last_look(record)
        receipt = Receipt(
            conversation=self.brief.conversation,
            logdir=self.directory,
            model=self.model_name,
            computer=self.computer,
            steps=self.meter.steps,
            seconds=time.monotonic() - self.brief.started,
            usage=self.meter.usage,
            recording=self.recording,
            final_image=final,
        )
        status = make_status(outcome, receipt)
        event = record.log.write("task_finished", **{k: v for k, v in status.items() if k not in _NOT_LOGGED})
        status["audit_hash"] = event["hash"]
        scrubbed = record.log.scrub_json(status)
        write_private(self.directory / "result.json", json.dumps(scrubbed, indent=1))
        # In line behind the events, which other threads may have put there.
        self._loop.call_soon_threadsafe(self.link.send, StatusFrame(status=scrubbed))

    async def last_look(self, record: Record) -> str | None:
        """Keep the last picture and finish the recording, as far as they can be had in time."""
        if self.desk is None:
            return None
        final: str | None = None
        with suppress(Exception):
            async with asyncio.timeout(CLOSING):
                digest = record.store(await self.desk.screenshot())
                final = str(self.directory / "images" / f"{digest}.png")
        if self.recording is not None:
            try:
                async with asyncio.timeout(2 * CLOSING):
                    await self.desk.stop_recording()
            except Exception as error:
                record.error(error, "recording")
        if self.recording is not None and not Path(self.recording).is_file():
            self.recording = None
        return final


_NOT_LOGGED = {"conversation", "agent_id", "logdir", "audit_hash"}


def _reason_of(error: Exception) -> Reason:
    """The one table of how our errors end a task; what is not ours ends it as a fault of the desktop's side."""
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    return "desktop_error"


_REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (ModelRefused, "model_refused"),
    (ModelError, "model_error"),
    (CallerGone, "stopped_by_caller"),
)


async def serve(down: int, up: int) -> None:
    """Read the brief, do the task."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=FRAME_LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(down, "rb", 0))
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(up, "wb", 0)
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    text = await reader.readline()
    if not text:
        return
    work = Work(Brief.model_validate_json(text), reader, writer)
    loop.add_signal_handler(signal.SIGTERM, work.cancelled, "caller")
    await work.run()


def main() -> None:
    """Entry of ``python -m deskhand.orchestrator.worker``: the pipe is on standard input and output."""
    down, up = os.dup(0), os.dup(1)
    with open(os.devnull) as null:
        os.dup2(null.fileno(), 0)
    os.dup2(2, 1)  # whatever prints must not reach the protocol
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    become_subreaper()
    code = 1
    try:
        asyncio_run(serve(down, up))
        code = 0
    except Exception:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)  # a thread stuck in a system call must not keep the process


def asyncio_run(main_coroutine: Any) -> None:
    """Like ``asyncio.run`` but without waiting for threads that are stuck in a call."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(main_coroutine)


if __name__ == "__main__":
    main()
