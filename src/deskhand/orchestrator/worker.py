"""The other side of the wall: a process that holds one desktop and does tasks on it, one after the other."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import traceback
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from deskhand.config import load_settings
from deskhand.desktop.processes import become_subreaper
from deskhand.messages import Json
from deskhand.orchestrator.brief import Brief
from deskhand.orchestrator.control import ControlServer
from deskhand.orchestrator.link import FRAME_LIMIT
from deskhand.orchestrator.work import Work
from deskhand.tools.desk import Desk, open_desktop
from deskhand.tools.workspace import Gate, OnStep

TEARDOWN = 1.5
"""Seconds that ending the desktop may take before the process just goes (and all it started with it)."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A kept desktop taken up: the brief, the connection it came by, and who waits for that to end."""

    brief: Brief
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    left: asyncio.Future[None]

    def release(self, _: object) -> None:
        if not self.left.done():
            self.left.set_result(None)


class Host:
    """The worker process: its desktop, the task it is at, and whoever wants it next."""

    def __init__(self) -> None:
        self._undo = AsyncExitStack()
        self._desk: Desk | None = None
        self._secrets: dict[str, str] = {}
        self._work: Work | None = None
        self._next: asyncio.Future[Taken] | None = None

    async def run(self, brief: Brief, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Do the task, and those that follow while the desktop is kept. Everything made is gone when this returns."""
        work = self._work = Work(brief, self)
        following = asyncio.create_task(work.link.follow(reader, writer))
        control = ControlServer(work.directory, self.command, self.take, work.people.watched)
        try:
            await control.start()
            while True:
                await work.run()
                lease = work.lease()
                control.rest(lease > 0)
                taken = await self.wait_for_next(lease)
                control.rest(False)
                if taken is None:
                    return
                if taken.brief.conversation == work.brief.conversation:
                    work.continue_with(taken.brief)
                else:
                    await work.close()
                    control.close()
                    work = self._work = Work(taken.brief, self, work.keep)
                    control = ControlServer(work.directory, self.command, self.take, work.people.watched)
                    await control.start()
                following = asyncio.create_task(work.link.follow(taken.reader, taken.writer))
                following.add_done_callback(taken.release)
        finally:
            control.close()
            with suppress(Exception):
                await work.close()
            with suppress(Exception):
                async with asyncio.timeout(TEARDOWN):
                    await self._undo.aclose()
            following.cancel()

    async def desk_for(self, brief: Brief, gate: Gate, on_step: OnStep) -> tuple[Desk, bool]:
        """The desktop with this task's hooks, and whether it is a fresh one."""
        self._secrets.clear()
        self._secrets.update(brief.secrets)
        if self._desk is None:
            opening = open_desktop(
                brief.computer, settings=load_settings(), gate=gate, on_step=on_step, secrets=self._secrets
            )
            self._desk = await self._undo.enter_async_context(opening)
            return self._desk, True
        self._desk.workspace.gate, self._desk.workspace.on_step = gate, on_step
        return self._desk, False

    # --- the lease -----------------------------------------------------------------------------------------------

    async def wait_for_next(self, seconds: float) -> Taken | None:
        """Keep the desktop for so long; whoever takes it up, or None when it ends, is stopped or breaks."""
        if seconds <= 0 or self._desk is None:
            return None
        end = time.monotonic() + seconds
        self._next = asyncio.get_running_loop().create_future()
        try:
            while (left := end - time.monotonic()) > 0:
                await asyncio.wait({self._next}, timeout=min(left, 1.0))
                if self._next.done():
                    return None if self._next.cancelled() else self._next.result()
                if not await asyncio.to_thread(self._desk.desktop.alive):
                    return None
            return None
        finally:
            self._next = None

    def command(self, command: Json) -> Json:
        """Answer one line of the control socket."""
        work = self._work
        match command.get("command"):
            case "stop":
                if work is not None:
                    work.cancelled("person")
                if self._next is not None:
                    self._next.cancel()
                return {"ok": True}
            case "status":
                return {"ok": True, "pid": os.getpid(), **(work.facts() if work is not None else {})}
            case "pause" | "take_over" | "go_on" | "answer" as name if work is not None and work.running:
                return {"ok": work.people.does(name, command)}
            case "pause" | "take_over" | "go_on" | "answer":
                return {"ok": False, "error": "the task is not running"}
            case "take" if self._next is None or self._next.done():
                return {"ok": False, "error": "busy: a task runs on this desktop"}
            case "take":
                try:
                    Brief.model_validate(command.get("brief"))
                except ValidationError as error:
                    return {"ok": False, "error": str(error)}
                return {"ok": True, "pid": os.getpid()}
            case other:
                return {
                    "ok": False,
                    "error": f"unknown command {other!r}; known are stop, status, pause, take_over, go_on, answer, "
                    "take, wait and watch",
                }

    async def take(self, command: Json, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Go on with the task, or a new one, for whoever is at the other end of this connection."""
        if self._next is None or self._next.done():
            return
        left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._next.set_result(Taken(Brief.model_validate(command["brief"]), reader, writer, left))
        await left

    def terminate(self) -> None:
        """SIGTERM: end the task and the lease."""
        if self._work is not None:
            self._work.cancelled("caller")
        if self._next is not None:
            self._next.cancel()


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
    host = Host()
    loop.add_signal_handler(signal.SIGTERM, host.terminate)
    await host.run(Brief.model_validate_json(text), reader, writer)


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
        run_without_threads(serve(down, up))
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)  # a thread stuck in a system call must not keep the process


def run_without_threads(coroutine: Coroutine[Any, Any, None]) -> None:
    """Like ``asyncio.run`` but without waiting for threads that are stuck in a call."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(coroutine)


if __name__ == "__main__":
    main()
