"""The process that reads text: started when there is something to read, kept while it is used, ended with the desk."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from deskhand.errors import ToolError
from deskhand.messages import Rect
from deskhand.observers.lines import Phrase

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IDLE: Final = 180.0
"""Seconds without a picture after which the process ends: its models take 400 MB."""

GRACE: Final = 30.0
"""Seconds that an answer may be late: loading the models takes one, on a machine with other work ten."""

_ENVIRONMENT: Final = ("PATH", "HOME", "LANG", "PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")
"""What the process is told of ours. No keys and no display."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a picture says. ``unread`` parts were left for the next time."""

    phrases: tuple[Phrase, ...] = ()
    unread: int = 0


class TextProcess:
    """Reads one picture at a time. Calls may come from any task; they wait for each other."""

    def __init__(self, model: str = "") -> None:
        self._model = model
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()
        self._closed = False
        self._idle: asyncio.TimerHandle | None = None

    async def read(
        self, key: str, pixels: NDArray[np.uint32], *, seconds: float, only: Rect | None = None
    ) -> Reading:
        """The phrases of a picture (BGRX). One seen before under the same ``key`` is read where it changed.

        Reading stops after ``seconds``. ToolError when the parts are missing or the process fails.
        """
        height, width = pixels.shape
        asked = {
            "key": key,
            "width": width,
            "height": height,
            "seconds": seconds,
            "model": self._model,
            "only": None if only is None else (only.x, only.y, only.width, only.height),
        }
        data = json.dumps(asked).encode() + b"\n" + pixels.tobytes()
        answer = await asyncio.to_thread(self._exchange, data, seconds + GRACE)
        self._rest_later()
        if "error" in answer:
            raise ToolError(f"text cannot be read here: {answer['error']}")
        phrases = tuple(
            Phrase(id=each[0], text=each[1], rect=Rect(*each[2:6]), sure=each[6])
            for each in answer["phrases"]
        )
        return Reading(phrases=phrases, unread=answer["unread"])

    async def aclose(self) -> None:
        """End the process, at once. Idempotent."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        await asyncio.to_thread(self._end)

    # --- inside -----------------------------------------------------------------------------------------------

    def _exchange(self, data: bytes, timeout: float) -> dict[str, Any]:
        """Send a picture and wait for what it says. An answer that does not come ends the process."""
        with self._turn:
            if self._closed:
                return {"error": "the desk is closed"}
            process = self._process
            if process is None or process.poll() is not None:
                self._end()
                process = self._process = _start()
            assert process.stdin is not None
            assert process.stdout is not None
            line = b""
            with contextlib.suppress(OSError, ValueError):  # it has ended, or was ended
                process.stdin.write(data)
                process.stdin.flush()
                line = _line(process.stdout.fileno(), time.monotonic() + timeout)
            if not line:
                self._end()
                return {"error": "the process that reads it ended or did not answer"}
            answer: dict[str, Any] = json.loads(line)
            if answer["last"]:
                self._end()
            return answer

    def _rest_later(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE, self._rest)

    def _rest(self) -> None:
        if self._turn.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._turn.release()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()  # it holds nothing that would have to be put away
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _start() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    # onnxruntime's wheels report their use to Microsoft, and keep a number for the machine in the user's cache
    environment["ORT_DISABLE_TELEMETRY"] = "1"
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "deskhand.observers.text_worker"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def _line(source: int, deadline: float) -> bytes:
    """One line; empty when the source ends or the deadline passes first."""
    read = b""
    while not read.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([source], [], [], left)[0]:
            return b""
        part = os.read(source, 1 << 16)
        if not part:
            return b""
        read += part
    return read
