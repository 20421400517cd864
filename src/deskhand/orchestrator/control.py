"""``tasks/<conversation>/control.sock``: how another process stops a task or asks how it is."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.errors import DeskhandError
from deskhand.messages import Json

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "control.sock"

LIMIT = 64 * 2**20
"""Bytes of the longest line: the frames of a resumed task come this way, too."""


class NotRunning(DeskhandError):
    """No worker listens for this conversation."""


@contextmanager
def _address(directory: Path) -> Iterator[str]:
    """A short address of the socket: unix addresses end at 108 bytes, data directories need not."""
    fd = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{NAME}"
    finally:
        os.close(fd)


def connect(directory: Path, *, timeout: float = 5.0) -> socket.socket:
    """A connection to the task's worker; `NotRunning` when there is none."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    sock.settimeout(timeout)
    try:
        with _address(directory) as address:
            sock.connect(address)
    except OSError as error:
        sock.close()
        raise NotRunning(f"{directory.name} is not running") from error
    return sock


def send(directory: Path, command: Json, *, timeout: float = 5.0) -> Json:
    """Send one command (``{"command": "stop" | "status"}``) and return the answer; `NotRunning` when nobody listens."""
    with connect(directory, timeout=timeout) as sock:
        try:
            sock.sendall(json.dumps(command).encode() + b"\n")
            with sock.makefile("rb") as stream:
                answer = stream.readline()
        except ConnectionError:  # it ended just now
            answer = b""
    if not answer:
        raise NotRunning(f"{directory.name} ended while it was asked")
    reply: Json = json.loads(answer)
    return reply


Take = Callable[[Json, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class ControlServer:
    """Listens beside the log. ``answer`` gets a command and returns the reply.

    ``watched`` is told of each connection that comes (1) to stay while somebody watches, and of its end (-1). A
    connection whose ``take`` was answered with ok is handed to ``take``, and is its pipe from then on.
    """

    def __init__(
        self,
        directory: Path,
        answer: Callable[[Json], Json],
        take: Take,
        watched: Callable[[int], None] = lambda more: None,
    ) -> None:
        self._directory, self._answer, self._take, self._watched = directory, answer, take, watched
        self._server: asyncio.Server | None = None
        self._watching: set[asyncio.StreamWriter] = set()
        self._waiting: set[asyncio.StreamWriter] = set()
        self._resting = False

    async def start(self) -> None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        with suppress(FileNotFoundError):
            (self._directory / NAME).unlink()
        previous = os.umask(0o177)
        try:
            with _address(self._directory) as address:
                sock.bind(address)
        finally:
            os.umask(previous)
        self._server = await asyncio.start_unix_server(self._serve, sock=sock, limit=LIMIT)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(5):
                command = json.loads(await reader.readline())
            if isinstance(command, dict) and command.get("command") in ("wait", "watch"):
                await self._stay(reader, writer, watches=command["command"] == "watch")
                return
            async with asyncio.timeout(5):
                reply = self._answer(command) if isinstance(command, dict) else {"error": "not a JSON object"}
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
            if isinstance(command, dict) and command.get("command") == "take" and reply.get("ok"):
                await self._take(command, reader, writer)
        except (TimeoutError, ValueError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _stay(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, watches: bool
    ) -> None:
        """Keep a connection that only waits: until the other end leaves, or this task is left for another one."""
        if self._resting and not watches:
            return
        staying = self._watching if watches else self._waiting
        staying.add(writer)
        if watches:
            self._watched(1)
        try:
            await reader.read()
        finally:
            staying.discard(writer)
            if watches:
                self._watched(-1)

    def rest(self, resting: bool) -> None:
        """Whether the task has ended and only its desktop is kept: nobody waits for its end any more then."""
        self._resting = resting
        for writer in self._waiting if resting else ():
            writer.close()

    def close(self) -> None:
        """Listen no more, and let go of who waits here."""
        if self._server is not None:
            self._server.close()
        for writer in self._watching | self._waiting:
            writer.close()
        with suppress(FileNotFoundError):
            (self._directory / NAME).unlink()
