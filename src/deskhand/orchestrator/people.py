"""The people around a task: who watches it, holds it, and answers what it asks."""

from __future__ import annotations

import asyncio
from typing import Protocol

from deskhand.audit.log import AuditLog
from deskhand.errors import Reason, StopTask
from deskhand.messages import Json
from deskhand.orchestrator.brief import Brief, ClockFrame
from deskhand.orchestrator.hold import Hold
from deskhand.orchestrator.limits import Meter
from deskhand.orchestrator.link import CallerGone, Link
from deskhand.orchestrator.witness import Witness


class Held(Protocol):
    """The task as it is now: its brief and its clock change when it is taken up again."""

    brief: Brief
    meter: Meter

    def stop(self, reason: Reason, why: str) -> None: ...


class People:
    """What people do to one task. While they are asked, or hold it, its clock stands still."""

    def __init__(self, task: Held, link: Link, log: AuditLog, witness: Witness) -> None:
        self._task, self._link, self._witness = task, link, witness
        self.hold = Hold(lambda: task.meter, log, self.send_clock)

    def watched(self, more: int) -> None:
        """Somebody began (1) or ceased (-1) to watch. A task that is held and left alone ends after a while."""
        self._link.watchers += more
        if self._left_alone():
            wait = self._task.brief.limits.human_wait
            asyncio.get_running_loop().call_later(wait, self._end_if_left_alone)

    def _left_alone(self) -> bool:
        return self._link.watchers == 0 and self.hold.state != "free"

    def _end_if_left_alone(self) -> None:
        if self._left_alone():
            self._task.stop("nobody_answered", "the task was paused, and nobody came back to it")

    def does(self, name: str, command: Json) -> bool:
        """What a person who watches does; False when it has no effect any more."""
        match name:
            case "pause":
                self.hold.pause("watch page")
            case "take_over":
                self.hold.take_over("watch page")
                self._witness.forget_before()
            case "go_on":
                self.hold.go_on("watch page")
            case _:
                return self._link.answer(int(command.get("id", 0)), command.get("value"))
        return True

    async def ask(self, question: str) -> str | None:
        """Put a question to the caller's side, and to who watches; None when nobody is there to answer."""
        brief, meter = self._task.brief, self._task.meter
        if not brief.answers and not self._link.watchers:
            return None
        meter.pause()
        self.send_clock()
        try:
            async with asyncio.timeout(brief.limits.human_wait):
                reply = await self._link.ask_person(
                    "question", {"kind": "question", "question": question}, caller=brief.answers
                )
        except TimeoutError:
            raise StopTask("nobody_answered", question) from None
        except CallerGone:
            return None
        finally:
            meter.resume()
            self.send_clock()
        return None if reply in (None, "", False) else str(reply)

    def send_clock(self) -> None:
        """Tell the caller's side how long the task may still take; it waits for that."""
        meter = self._task.meter
        self._link.send(ClockFrame(left=None if meter.paused else meter.remaining()))
