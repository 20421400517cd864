"""Asking a helper process (see `desktop.portable_helper`): one question at a time, each with a deadline."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

from deskhand.errors import DeskhandError, DesktopError, MissingPart, StopTask, TargetError

START_DEADLINE: Final = 15.0
"""Seconds that a helper may take to load what it needs."""
ANSWER_DEADLINE: Final = 5.0
_END: Final = 0.3


class Helper:
    """One helper process. ``env`` is its whole environment. MissingPart or DesktopError when it cannot be had."""

    def __init__(self, role: str, env: Mapping[str, str]) -> None:
        self._role = role
        self._lock = threading.Lock()
        self._closed = False
        self._answers: queue.SimpleQueue[tuple[dict[str, Any], bytes] | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "deskhand.desktop.portable_helper", role],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            start_new_session=os.name == "posix",
        )
        self._reader = threading.Thread(target=self._read, name=f"deskhand-{role}", daemon=True)
        self._reader.start()
        try:
            self._next(START_DEADLINE)
        except BaseException:
            self.close()
            raise

    def ask(self, do: str, *, deadline: float = ANSWER_DEADLINE, **arguments: Any) -> Any:
        """What it answers. StopTask, TargetError or DesktopError by what it says; DesktopError when it says nothing."""
        return self.ask_bytes(do, deadline=deadline, **arguments)[0]

    def ask_bytes(self, do: str, *, deadline: float = ANSWER_DEADLINE, **arguments: Any) -> tuple[Any, bytes]:
        """What it answers, and the bytes that follow."""
        with self._lock:
            if self._closed:
                raise DesktopError(f"the {self._role} of this desktop are closed")
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(json.dumps({"do": do, "with": arguments}).encode() + b"\n")
                self._process.stdin.flush()
            except OSError:
                raise self._lost() from None
            return self._next(deadline)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def close(self) -> None:
        """Let it let go of what it holds and end; ends it after 0.3 s. Idempotent."""
        if self._closed:
            return
        self._closed = True
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
        except OSError:
            pass  # it went first
        try:
            self._process.wait(_END)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        self._reader.join(_END)
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                said = json.loads(line)
                data = self._process.stdout.read(said.get("bytes", 0))
                self._answers.put((said, data))
        except ValueError:
            pass  # closed under us, or not our helper's words: either way nothing more comes
        self._answers.put(None)

    def _next(self, deadline: float) -> tuple[Any, bytes]:
        try:
            answer = self._answers.get(timeout=deadline)
        except queue.Empty:
            self._kill()
            raise DesktopError(f"the {self._role} of this desktop did not answer in {deadline:g} s") from None
        if answer is None:
            self._answers.put(None)  # nothing more will ever come
            raise self._lost()
        said, data = answer
        if "error" in said:
            raise _error(said["error"], said["message"], self._role)
        return said.get("value"), data

    def _kill(self) -> None:
        """End it and what it started."""
        if os.name != "posix":
            self._process.kill()
        elif self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def _lost(self) -> DesktopError:
        return DesktopError(f"the process that holds the {self._role} of this desktop is gone")


def _error(kind: str, message: str, role: str) -> DeskhandError:
    if kind == "stopped":
        return StopTask("stopped_by_person", message)
    if kind == "not_supported":
        return TargetError("not_supported", message)
    if kind == "missing":
        return missing_portable(message)
    return DesktopError(f"the {role} of this desktop failed: {message}")


def missing_portable(name: str) -> MissingPart:
    """The error for a library of the extra ``portable`` that is not here."""
    what = "pyautogui pyperclip" if sys.platform == "linux" else "'deskhand[portable]'"
    why = "the portable desktop's pointer, keyboard and clipboard: the extra portable"
    return MissingPart(name, why, f"{sys.executable} -m pip install {what}")
