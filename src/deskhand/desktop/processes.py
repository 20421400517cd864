"""Processes of a desktop: started with a leash, found wherever they went, ended within a bound."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from deskhand.desktop.leash import MARK, children, end_marked, kill, marked, watch
from deskhand.desktop.parts import require
from deskhand.errors import DesktopError

T = TypeVar("T")

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h

_spawner: tuple[int, ThreadPoolExecutor] | None = None
_spawner_lock = threading.Lock()


def _on_spawner(work: Callable[[], T]) -> T:
    """Run ``work`` on the one thread of this process that starts children.

    PR_SET_PDEATHSIG follows the *thread* that forked, not the process: a child started from a pool's thread would be
    killed when the pool lets go of that thread. This one lives as long as the process.
    """
    global _spawner
    with _spawner_lock:
        if _spawner is None or _spawner[0] != os.getpid():
            _spawner = os.getpid(), ThreadPoolExecutor(1, thread_name_prefix="deskhand-spawner")
        executor = _spawner[1]
    return executor.submit(work).result()


def leashed() -> list[str]:
    """The words before a command that make the kernel kill it when this process dies. MissingPart without setpriv."""
    # The shell is for the moment between the fork and setpriv's request: when we died in it, our death is no news any
    # more, but the parent is another one by then.
    alive = 'test "$PPID" = "$0" && exec "$@"'
    return [require("setpriv"), "--pdeathsig", "KILL", "/bin/sh", "-c", alive, str(os.getpid())]


def spawn(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    log: str | None = None,
    out: int | None = None,
    pass_fds: Sequence[int] = (),
    cwd: str = "/",
    outlives_us: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a program that cannot outlive this process (unless ``outlives_us``), in a session and group of its own.

    ``env`` is all the environment it gets. Its output goes to the file ``log``, to the descriptor ``out``, or nowhere.
    The kernel kills it when we die: ``setpriv --pdeathsig`` sets that between fork and exec, without code of ours in
    the forked child.
    MissingPart without ``setpriv``; OSError when the fork fails.
    """
    command = [*argv] if outlives_us else [*leashed(), *argv]
    opened = None if log is None else os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    said = next((fd for fd in (opened, out) if fd is not None), subprocess.DEVNULL)
    try:
        return _on_spawner(
            lambda: subprocess.Popen(
                command,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                pass_fds=tuple(pass_fds),
                cwd=cwd,
                start_new_session=True,
            )
        )
    finally:
        if opened is not None:
            os.close(opened)


def become_subreaper() -> None:
    """Adopt orphaned descendants, so that what forks away from its group can still be found. For a worker process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def kill_group(pid: int, number: int = signal.SIGKILL) -> None:
    """Signal the whole group of ``pid``, started by `spawn` and not yet waited for."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def end(processes: Iterable[subprocess.Popen[bytes]], *, timeout: float = 1.0) -> list[int]:
    """Kill these and their groups and wait, all together, up to ``timeout`` seconds. The pids that are still there."""
    running = [process for process in processes if process.poll() is None]
    for process in running:
        kill_group(process.pid)
    deadline = time.monotonic() + timeout
    return [process.pid for process in running if not _gone(process, deadline)]


def _gone(process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Wait on a pidfd: the blocking wait of subprocess polls with sleeps when it has a timeout."""
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return process.poll() is not None
    try:
        select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
    finally:
        os.close(fd)
    return process.poll() is not None


def descendants(pid: int) -> list[int]:
    """All processes below ``pid``, parents before children."""
    found = children(pid)
    for child in found:
        found.extend(children(child))
    return found


def tail(log: str, lines: int = 3) -> str:
    """The last words of a program that failed, for an error message."""
    try:
        with open(log, encoding="utf-8", errors="replace") as file:
            return " / ".join(line.strip() for line in file.readlines()[-lines:] if line.strip())[-500:]
    except OSError:
        return ""


class Household:
    """All that was started for one desktop, so that all of it ends with the desktop.

    Thread-safe. Once closed it starts nothing more: a start that was still under way when the desktop was given up
    cannot leave a process behind.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._closed = False
        self._leash = -1

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        log: str | None = None,
        out: int | None = None,
        pass_fds: Sequence[int] = (),
        cwd: str = "/",
    ) -> subprocess.Popen[bytes]:
        """`spawn`, marked as this desktop's own. DesktopError when closed or when it cannot start."""
        with self._lock:
            self.check_open()
            self._processes = [process for process in self._processes if process.poll() is None]
            try:
                process = spawn(
                    argv, env={**env, MARK: self.directory}, log=log, out=out, pass_fds=pass_fds, cwd=cwd
                )
            except OSError as error:
                raise DesktopError(f"cannot start {argv[0]}: {error}") from error
            self._processes.append(process)
            return process

    def check_open(self) -> None:
        """DesktopError when the desktop is closed."""
        if self._closed:
            raise DesktopError("the desktop is closed")

    def leash(self) -> None:
        """End apps that are not boxed, and what they forked away, even when this process is killed.

        The kernel's own leash (`spawn`) holds direct children only; a box holds all that is in it.
        """
        reader, self._leash = os.pipe2(os.O_CLOEXEC)
        script = os.path.join(os.path.dirname(__file__), "leash.py")
        try:
            with self._lock:
                argv = [sys.executable, "-I", "-S", script, str(reader), self.directory]
                process = spawn(argv, env={MARK: self.directory}, pass_fds=(reader,), outlives_us=True)
                self._processes.append(process)
        finally:
            os.close(reader)

    def close(self, *, timeout: float = 0.8) -> list[int]:
        """End everything, strays included. The pids that are still there after ``timeout`` seconds."""
        with self._lock:
            self._closed = True
            deadline = time.monotonic() + timeout
            everything = watch(marked(self.directory))
            end(self._processes, timeout=timeout)
            self._processes = []
            # What was in a box dies a moment after its box, and what lost its parent may have written over its mark:
            # neither would be found any more
            kill(everything, deadline)
            if self._leash >= 0:
                os.close(self._leash)
                self._leash = -1
            return end_marked(self.directory, timeout=max(0.1, deadline - time.monotonic()))
