"""What launched programs say on their standard output, as much of its end as tells why one could not go on."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from typing import Final

from deskhand.desktop.base import Ended

KEPT: Final = 4096
"""Bytes kept of each program's output: it may go on talking for days."""

_REMEMBERED: Final = 16
_DRAINED: Final = 0.2
"""Seconds to wait for the rest of an ended program's output: what it left running may hold the pipe open."""


class Outputs:
    """Reads what programs say, each in a thread of its own that ends with the program. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._programs: dict[int, tuple[subprocess.Popen[bytes], _Tail]] = {}

    def start(self, start: Callable[[int], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """Start a program by a function that is given the descriptor to write to."""
        reader, writer = os.pipe2(os.O_CLOEXEC)
        try:
            process = start(writer)
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        tail = _Tail(reader)
        with self._lock:
            self._programs[process.pid] = process, tail
            while len(self._programs) > _REMEMBERED:
                self._programs.pop(next(iter(self._programs)))
        return process

    def ended(self, pid: int) -> Ended | None:
        """How a program ended; None while it runs, or when it was not started here."""
        with self._lock:
            found = self._programs.get(pid)
        if found is None:
            return None
        process, tail = found
        status = process.poll()
        return None if status is None else Ended(status=status, last_line=tail.last_line())


class _Tail:
    """The end of what comes through a pipe."""

    def __init__(self, reader: int) -> None:
        self._kept = b""
        self._thread = threading.Thread(
            target=self._read, args=(reader,), name="deskhand-output", daemon=True
        )
        self._thread.start()

    def _read(self, reader: int) -> None:
        with open(reader, "rb", buffering=0) as pipe:
            while data := pipe.read(KEPT):
                self._kept = (self._kept + data)[-KEPT:]

    def last_line(self) -> str:
        self._thread.join(_DRAINED)
        lines = [line.strip() for line in self._kept.decode("utf-8", "replace").splitlines()]
        return next((line for line in reversed(lines) if line), "")
