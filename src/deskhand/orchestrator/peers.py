"""The two ways to a worker: a process of our own, or one that keeps a desktop for us and listens on a socket."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from deskhand.desktop.sweep import sweep
from deskhand.errors import ComputerLost, DesktopError
from deskhand.orchestrator.brief import line
from deskhand.orchestrator.control import NotRunning, connect
from deskhand.orchestrator.order import Order

ENDING = 1.5
"""Seconds that a worker may take to end after its status, and after a cancel to give one."""


class Peer(Protocol):
    """The other end of a task."""

    @property
    def read_fd(self) -> int: ...

    def send(self, data: bytes) -> None: ...

    def end(self, *, reported: bool, goes_on: bool) -> None:
        """Leave. Unless it ``goes_on`` (in the background, or keeping its desktop) no process of it is left; a worker
        that ``reported`` is given a moment to end by itself."""
        ...


class ProcessPeer:
    """A worker process that we started, and the pipe to it."""

    def __init__(self, order: Order) -> None:
        self._log = order.directory / "worker.log"
        self._lock = threading.Lock()
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            self._process = subprocess.Popen(
                order.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                env=_environment(order.command),
            )
        finally:
            os.close(log)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._down, self._up = self._process.stdin, self._process.stdout
        self.send(line(order.brief if order.elsewhere is None else order.elsewhere.first_line(order.brief)))

    @property
    def read_fd(self) -> int:
        return self._up.fileno()

    def send(self, data: bytes) -> None:
        with self._lock, suppress(BrokenPipeError, ValueError):
            self._down.write(data)
            self._down.flush()

    def end(self, *, reported: bool, goes_on: bool) -> None:
        with suppress(BrokenPipeError):
            self._down.close()
        if goes_on:
            threading.Thread(target=self._process.wait, name="deskhand-reaper", daemon=True).start()
        else:
            self._reap(ENDING if reported else 0.0)
        self._up.close()

    def _reap(self, patience: float) -> None:
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            kill_group(self._process.pid)
            self._process.wait()
        _clear_up()
        with suppress(OSError):
            if self._log.stat().st_size == 0:
                self._log.unlink()


class SocketPeer:
    """A worker that keeps a desktop, and a connection to its control socket."""

    def __init__(self, directory: Path, order: Order) -> None:
        """Take the desktop over. `NotRunning` when nobody keeps it any more, `ComputerLost` when it is in use."""
        self._lock = threading.Lock()
        self._socket = connect(directory)
        try:
            self.send(
                json.dumps({"command": "take", "brief": order.brief.model_dump(mode="json")}).encode() + b"\n"
            )
            reply = json.loads(self._first_line() or b"{}")
            if not reply:
                raise NotRunning(f"{directory.name} ended while it was asked")
            if not reply.get("ok"):
                raise ComputerLost(f"{directory.name}: {reply.get('error')}")
        except BaseException:
            self._socket.close()
            raise
        self._pid = int(reply["pid"])
        self._socket.settimeout(None)

    def _first_line(self) -> bytes:
        """The reply, read byte by byte: what follows it belongs to whoever reads the frames."""
        data = b""
        while not data.endswith(b"\n") and (byte := self._socket.recv(1)):
            data += byte
        return data

    @property
    def read_fd(self) -> int:
        return self._socket.fileno()

    def send(self, data: bytes) -> None:
        with self._lock, suppress(OSError):
            self._socket.sendall(data)

    def end(self, *, reported: bool, goes_on: bool) -> None:
        self._socket.close()
        if not goes_on and not reported:
            kill_group(self._pid)


def open_peer(order: Order) -> Peer:
    """The worker for this order: the one that keeps its desktop when there is one, else a new process.

    A follow-up task needs the very desktop: `NotRunning` or `ComputerLost` when it cannot be had.
    """
    if order.kept_by is not None:
        try:
            return SocketPeer(order.kept_by, order)
        except NotRunning:
            if order.brief.answer is None:
                raise
    return ProcessPeer(order)


def kill_group(pid: int) -> None:
    """SIGKILL a process group; what it started dies with it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _clear_up() -> None:
    """Remove now, not at the next start, what a worker could not remove itself: it was killed, or at some limit."""
    with suppress(OSError, DesktopError):
        sweep()


def _environment(command: tuple[str, ...]) -> dict[str, str]:
    """The caller's environment; this package's own place comes first when its own interpreter is the worker's."""
    environment = dict(os.environ)
    if command[1:2] == ("-P",):
        place = str(Path(__file__).parents[2])
        known = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{place}{os.pathsep}{known}" if known else place
    return environment
