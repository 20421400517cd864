"""Where the results of a batch land: one whole line each, written at once, and the logs beside them."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from deskhand.orchestrator.brief import TaskStatus

FILE_NAME = "results.jsonl"


class Results:
    """The directory of a batch: ``results.jsonl``, and ``logs/CONVERSATION/`` with what a task's directory holds.

    One batch at a time works on it. Thread-safe.
    """

    def __init__(self, directory: Path) -> None:
        """ValueError when another batch works on the directory, or it cannot be used."""
        self.directory = directory
        self._lock = threading.Lock()
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(
                directory / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise ValueError(f"{directory}: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise ValueError(f"{directory}: another batch is at work on it") from None
        self.found = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        """The results so far by id. A last line that a kill cut short is taken away: its task is done again."""
        with open(self._file, "rb", closefd=False) as file:
            data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            os.truncate(self._file, whole)
        found: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1):
            try:
                result = json.loads(line)
                found[result["id"]] = result
            except (ValueError, TypeError, KeyError):
                self.close()
                raise ValueError(f"{self.directory / FILE_NAME}, line {number}: not a result") from None
        return found

    def add(self, result: dict[str, Any]) -> dict[str, Any]:
        """Keep a result and its task's log; gives it back with the paths where they are now."""
        status = dict(result)
        source = status.get("logdir")
        if source and Path(source).is_dir():
            kept = self.directory / "logs" / status["conversation"]
            copy_log(Path(source), kept)
            for name in ("recording", "final_image"):
                path = status.get(name)
                if path and Path(path).is_relative_to(source):
                    status[name] = str(kept / Path(path).relative_to(source))
            status["logdir"] = str(kept)
        line = json.dumps(status).encode() + b"\n"
        with self._lock:
            self.found[status["id"]] = status
            written = os.write(self._file, line)
            if written != len(
                line
            ):  # a full disk: take the half line back, so that the file holds whole ones
                os.truncate(self._file, os.fstat(self._file).st_size - written)
                raise OSError(f"{self.directory / FILE_NAME}: the disk is full")
            os.fsync(self._file)
        return status

    def close(self) -> None:
        """Let another batch use the directory."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def copy_log(source: Path, target: Path) -> None:
    """What a task's directory holds, as links to the same files where the file system can do that."""
    for directory, _, names in os.walk(source):
        place = target / Path(directory).relative_to(source)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in names:
            path, copy = Path(directory, name), place / name
            if path.is_socket() or copy.exists():
                continue
            try:
                os.link(path, copy)
            except OSError:
                with suppress(FileNotFoundError):
                    shutil.copy2(path, copy)


def result_of(line_id: str, number: int, attempts: int, status: TaskStatus) -> dict[str, Any]:
    """A task's status as a line of the results."""
    return {"id": line_id, "line": number, "attempts": attempts, **status}
