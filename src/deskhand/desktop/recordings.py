"""The recordings that were started by hand: which are running, where their files are, and how one is ended."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from deskhand.errors import DesktopError

_STOP_DEADLINE = 15.0
"""Seconds in which a recording that is told to end has to be finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingRow:
    """One recording. ``seconds`` since it began, or that it lasted; ``bytes`` None when its file is gone.

    ``state``: ``running``, ``finished``, or ``dead`` (its recorder is gone without having finished it; what was
    written plays all the same).
    """

    name: str
    state: Literal["running", "finished", "dead"]
    computer: str
    file: str
    started: str
    seconds: float | None
    bytes: int | None


class Recordings:
    """Small files below ``<home>/recordings``, one a recording: who records holds the lock of its own.

    Files are 0600, the directory 0700.
    """

    def __init__(self, home: Path) -> None:
        self.directory = home / "recordings"

    @contextmanager
    def running(self, computer: str, file: Path) -> Iterator[str]:
        """Tell that this process records ``computer`` into ``file`` for the length of the block; gives its name."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        started = datetime.now(UTC)
        name, descriptor = self._create(started)
        facts = {
            "computer": computer,
            "file": str(file),
            "started": started.isoformat(timespec="seconds"),
            "pid": os.getpid(),
        }
        try:
            _write(descriptor, facts)
            yield name
            seconds = (datetime.now(UTC) - started).total_seconds()
            _write(descriptor, {**facts, "seconds": round(seconds, 1)})
        finally:
            os.close(descriptor)

    def list(self) -> list[RecordingRow]:
        """All of them, newest first."""
        if not self.directory.is_dir():
            return []
        paths = sorted(self.directory.glob("*.json"), reverse=True)
        return [row for path in paths if (row := _row(path)) is not None]

    def find(self, name: str | None, *, running: bool = False) -> RecordingRow:
        """The recording of a name, or of a beginning or end of it; without a name the only one, or the newest.

        DesktopError when there is none, or more than one that it could be.
        """
        rows = [row for row in self.list() if row.state == "running" or not running]
        kind = "running recording" if running else "recording"
        if name is not None:
            rows = [row for row in rows if row.name.startswith(name) or row.name.endswith(name)]
            rows = [row for row in rows if row.name == name] or rows
        elif not running:
            rows = rows[:1]
        if len(rows) == 1:
            return rows[0]
        if rows:
            raise DesktopError(f"which one? {', '.join(row.name for row in rows[:5])}")
        raise DesktopError(f"there is no {kind}" + (f" called {name}" if name is not None else ""))

    def stop(self, name: str | None) -> RecordingRow:
        """End a running recording and wait until its file is finished. DesktopError when that is not possible."""
        row = self.find(name, running=True)
        path = self.directory / f"{row.name}.json"
        pid = _facts(path).get("pid")
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid if isinstance(pid, int) else 0)
            try:
                if _is_held(path):  # so this is the process that records, and not another one with its number
                    signal.pidfd_send_signal(descriptor, signal.SIGINT)
                    waiting = select.poll()
                    waiting.register(descriptor, select.POLLIN)
                    if not waiting.poll(_STOP_DEADLINE * 1000):
                        raise DesktopError(f"the recorder of {row.name} (process {pid}) does not end")
            finally:
                os.close(descriptor)
        return _row(path) or row

    def _create(self, started: datetime) -> tuple[str, int]:
        for number in range(1, 1000):
            name = f"{started:%Y%m%d-%H%M%S}-{number}"
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with suppress(FileExistsError):
                descriptor = os.open(self.directory / f"{name}.json", flags, 0o600)
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                return name, descriptor
        raise DesktopError("a thousand recordings were started in this second")


def _write(descriptor: int, facts: dict[str, object]) -> None:
    data = json.dumps(facts).encode() + b"\n"
    os.pwrite(descriptor, data, 0)
    os.ftruncate(descriptor, len(data))


def _row(path: Path) -> RecordingRow | None:
    held = _is_held(path)  # asked first: one that ends meanwhile has written how long it lasted
    facts = _facts(path)
    if not isinstance(facts.get("file"), str):
        return None
    seconds = facts.get("seconds")
    lasted = float(seconds) if isinstance(seconds, int | float) else None
    if held and lasted is None:
        with suppress(ValueError):
            began = datetime.fromisoformat(str(facts.get("started")))
            lasted = round((datetime.now(UTC) - began).total_seconds(), 1)
    file = str(facts["file"])
    size = None
    with suppress(OSError):
        size = os.stat(file).st_size
    return RecordingRow(
        name=path.stem,
        state="running" if held else "dead" if seconds is None else "finished",
        computer=str(facts.get("computer")),
        file=file,
        started=str(facts.get("started")),
        seconds=lasted,
        bytes=size,
    )


def _facts(path: Path) -> dict[str, object]:
    with suppress(OSError, ValueError):
        facts = json.loads(path.read_bytes())
        if isinstance(facts, dict):
            return facts
    return {}


def _is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
