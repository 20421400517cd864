"""A command-line agent as a `Model`: its own loop, held at each of its calls until ours has answered it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from deskhand.desktop.directory import DesktopDirectory
from deskhand.desktop.leash import MARK, end_marked
from deskhand.desktop.processes import kill_group, leashed, tail
from deskhand.errors import ModelError
from deskhand.messages import Image, Json, Results, ToolCall, ToolResult, ToolSpec, Transcript, Turn, Words
from deskhand.orchestrator.models.dialect import Answered, Dialect, Failed, Home, Idle
from deskhand.orchestrator.models.toolserver import LINE_LIMIT, ToolServer
from deskhand.orchestrator.models.transcripts import system_text

ENDING = 1.0
"""Seconds that a killed program may take to be gone."""

ONLY_FINISH = "This is your last turn: only `finish` is of use now."
HISTORY = "You take up work that you had begun before. This is what was said and done until now:"
_BRIDGE = Path(__file__).parents[1] / "agent_bridge.py"


@dataclass(slots=True)
class _Asked:
    """A call that the program has made to our tools, and its answer."""

    ident: str
    name: str
    arguments: Json
    answer: asyncio.Future[ToolResult] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Agent:
    """One conversation with an agent's program, which is started at the first turn and lives until `aclose`.

    ``turn`` hands over what is new in the transcript (answers to waiting calls, words) and waits until the program's
    model has taken its next turn. Between two turns, each call is awaited with `reached` and answered with `answered`.
    The program only ever waits for us: while we do nothing, it makes no model call.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.name = dialect.name
        self._directory: DesktopDirectory | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._server: ToolServer | None = None
        self._reading: asyncio.Task[None] | None = None
        self._log = ""
        self._forget()

    def _forget(self) -> None:
        self._news: asyncio.Queue[Turn | Idle | Failed] = asyncio.Queue()
        self._stirred = asyncio.Event()
        self._asked: list[_Asked] = []
        self._early: dict[str, ToolResult] = {}
        self._own: dict[str, str] = {}
        self._done: set[str] = set()
        self._turn: Turn | None = None
        self._said = 0
        self._ended = False
        self._all_tools = 0

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        """The program's next turn. ModelError when it cannot go on."""
        only_finish = 0 < len(tools) < self._all_tools
        if self._process is None:
            images = await self._start(transcript, tools)
        else:
            images = self._hand_over(transcript, only_finish)
        turn = await self._next()
        if turn.model:
            self.name = f"{self._dialect.name.partition(':')[0]}:{turn.model}"
        self._turn = replace(turn, usage=replace(turn.usage, images=images))
        return self._turn

    # --- our side of a call --------------------------------------------------------------------------------------

    async def reached(self, call: ToolCall) -> str | None:
        """Wait until the program asks for this call. What it answered itself when it will not ask, else None."""
        while True:
            if (own := self._own.get(call.id)) is not None:
                self._done.add(call.id)
                return own
            for asked in self._asked:
                if asked.ident == call.id:
                    return None
                if not asked.ident and (asked.name, asked.arguments) == (call.name, call.arguments):
                    asked.ident = call.id
                    return None
            if self._ended:
                raise ModelError(f"{self.name} ended in the middle of a call{self._last_words()}")
            self._stirred.clear()
            await self._stirred.wait()

    def answered(self, result: ToolResult) -> None:
        """Give the program its answer, unless it is the last of its turn: that one goes out with the next turn."""
        calls = self._turn.calls if self._turn is not None else ()
        if calls and calls[-1].id != result.call_id:
            self._give(result)

    def _give(self, result: ToolResult) -> None:
        self._done.add(result.call_id)
        for asked in self._asked:
            if asked.ident == result.call_id and not asked.answer.done():
                asked.answer.set_result(result)
                return
        self._early[result.call_id] = result

    async def _call(self, ident: str, name: str, arguments: Json) -> ToolResult:
        """The program's side: wait for the answer."""
        if ident in self._early:
            return self._early.pop(ident)
        asked = _Asked(ident, name, arguments)
        self._asked.append(asked)
        self._stirred.set()
        try:
            return await asked.answer
        finally:
            self._asked.remove(asked)

    # --- what crosses --------------------------------------------------------------------------------------------

    def _hand_over(self, transcript: Transcript, only_finish: bool) -> int:
        """Give the program what is new since its last turn; the number of pictures in it."""
        results: list[ToolResult] = []
        notes: list[str] = [ONLY_FINISH] if only_finish else []
        images: list[Image] = []
        for entry in _since_last_turn(transcript):
            if isinstance(entry, Results):
                results += [result for result in entry.results if result.call_id not in self._done]
            elif isinstance(entry, Words):
                notes.append(entry.text)
                images += entry.images
        sent = len(images) + sum(len(result.images) for result in results)
        if not results:
            self._say("\n\n".join(notes) or "Go on.", images)
            return sent
        last = results.pop()
        for result in results:
            self._give(result)
        text = "\n\n".join(part for part in (last.text, *notes) if part)
        self._give(replace(last, text=text, images=(*last.images, *images)))
        return sent

    def _say(self, text: str, images: Sequence[Image]) -> None:
        self._said += 1
        self._dialect.say(text, images)

    async def _next(self) -> Turn:
        while True:
            match await self._news.get():
                case Turn() as turn:
                    return turn
                case Failed(error):
                    raise error
                case Idle():
                    self._said -= 1
                    if self._said <= 0:
                        raise ModelError(f"{self.name} ended its turn without a word")

    # --- the program ---------------------------------------------------------------------------------------------

    async def _start(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> int:
        """Start the program and say all that was said until now; the number of pictures in it."""
        self._forget()
        self._all_tools = len(tools)
        self._directory = directory = await asyncio.to_thread(DesktopDirectory.create)
        self._server = ToolServer(directory.join("tools.sock"), tools, self._call)
        await self._server.start()
        bridge = (sys.executable, "-I", "-S", str(_BRIDGE), self._server.path)
        home = Home(path=Path(directory.make("home")), bridge=bridge, environ=dict(os.environ))
        await asyncio.to_thread(self._dialect.prepare, home)
        system = system_text(transcript)
        await self._spawn(directory, home, system)
        self._dialect.begin(home, system)
        text, images = _opening(transcript)
        self._say(text, images)
        return len(images)

    async def _spawn(self, directory: DesktopDirectory, home: Home, system: str) -> None:
        self._log = directory.join("agent.log")
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # The kernel's leash follows the thread that forks: this is the main one, which lives as long as we do.
            self._process = await asyncio.create_subprocess_exec(
                *leashed(),
                *self._dialect.command(home, system),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**self._dialect.environment(home), MARK: directory.path},
                cwd=home.path,
                start_new_session=True,
                limit=LINE_LIMIT,
            )
        finally:
            os.close(log)
        self._dialect.send = self._send
        self._reading = asyncio.create_task(self._read(self._process))

    def _send(self, line: Json) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        if not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(line).encode() + b"\n")

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while text := await process.stdout.readline():
                try:
                    line = json.loads(text)
                except ValueError:
                    continue
                for event in self._dialect.read(line) if isinstance(line, dict) else ():
                    self._take(event)
        except Exception as error:
            self._take(Failed(ModelError(f"{self.name} said something that is not understood: {error}")))
        finally:
            self._ended = True
            self._stirred.set()
            self._take(Failed(ModelError(f"{self.name} ended{self._last_words()}")))

    def _take(self, event: Turn | Idle | Failed | Answered) -> None:
        if not isinstance(event, Answered):
            self._news.put_nowait(event)
        elif event.call_id not in self._done:
            self._own[event.call_id] = event.text
            self._stirred.set()

    def _last_words(self) -> str:
        words = tail(self._log) if self._log else ""
        return f": {words}" if words else ""

    async def aclose(self) -> None:
        """End the program and all that it started, and remove what it wrote. A renewed login goes back to the user."""
        process, self._process = self._process, None
        directory, self._directory = self._directory, None
        if process is not None:
            if process.returncode is None:
                kill_group(process.pid)
            with suppress(TimeoutError):
                async with asyncio.timeout(ENDING):
                    await process.wait()
        if self._reading is not None:
            self._reading.cancel()
        if self._server is not None:
            await self._server.aclose()
        self._reading = self._server = None
        if directory is not None:
            await asyncio.to_thread(self._clear, directory)

    def _clear(self, directory: DesktopDirectory) -> None:
        end_marked(directory.path, timeout=ENDING)
        with suppress(OSError):
            return_login(self._dialect.login, self._dialect.login_copy, self._dialect.login_before)
        directory.remove()


def return_login(own: Path | None, copy: Path | None, before: bytes) -> None:
    """Put a login that the program renewed back where it came from, unless the user's own has changed meanwhile.

    Renewing spoils the old one: without this the user would have to log in again.
    """
    if own is None or copy is None or not before:
        return
    now = copy.read_bytes()
    if now == before or own.read_bytes() != before:
        return
    json.loads(now)  # half a file must not replace a whole one
    temporary = own.with_name(f".{own.name}.{os.getpid()}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(now)
    temporary.replace(own)


def _since_last_turn(transcript: Transcript) -> Transcript:
    last = max((n for n, entry in enumerate(transcript) if isinstance(entry, Turn)), default=-1)
    return transcript[last + 1 :]


def _opening(transcript: Transcript) -> tuple[str, tuple[Image, ...]]:
    """The first words to a fresh program: the brief, or the whole history of a conversation that goes on."""
    entries = [entry for entry in transcript if not (isinstance(entry, Words) and entry.role == "system")]
    parts: list[str] = []
    images: tuple[Image, ...] = ()
    for entry in entries:
        match entry:
            case Words():
                parts.append(entry.text)
                images = entry.images or images
            case Turn():
                calls = [f"{call.name}({json.dumps(call.arguments)})" for call in entry.calls]
                parts.append("\n".join(["You:", *([entry.text] if entry.text else []), *calls]))
            case Results():
                parts += [f"Answer to {result.name}: {result.text}" for result in entry.results]
    if any(isinstance(entry, Turn) for entry in entries):
        parts.insert(0, HISTORY)
    return "\n\n".join(parts), images
