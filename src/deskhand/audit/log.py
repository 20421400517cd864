"""The audit log's writer: one sealed line an event, on disk before anything else happens."""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from deskhand.audit.chain import VERSION, ZERO, Chain, seal, split_lines
from deskhand.audit.images import ImageStore
from deskhand.audit.scrub import Scrubber
from deskhand.errors import DeskhandError
from deskhand.messages import Point, Rect

FILE_NAME = "audit.jsonl"

KINDS = (
    "task_started",
    "desktop_ready",
    "observation",
    "model_call",
    "action",
    "consent",
    "question",
    "answer",
    "human",
    "verification",
    "error",
    "task_finished",
)

_LOCK_ATTEMPTS, _LOCK_PAUSE = 10, 0.01
_RESERVED = {"v", "seq", "ts", "t", "conversation", "kind", "torn", "prev", "hash"}
_logger = logging.getLogger(__name__)

OnEvent = Callable[[dict[str, Any]], object]


class LogBusy(DeskhandError):
    """Another process is writing this log."""


class LogBroken(DeskhandError):
    """A log that was to be appended to does not end in a line of its own chain."""


class AuditLog:
    """The one writer of a task's log. Thread-safe; holds the log's lock until `close`.

    A line that a dying writer left without its LF is never cut off or rewritten: it stays in the file, gets the LF it
    lacks, and the next event seals it by carrying ``torn`` (its length and SHA-256), so that it cannot be changed
    afterwards either.
    """

    def __init__(
        self,
        directory: Path,
        conversation: str,
        descriptor: int,
        scrubber: Scrubber,
        on_event: OnEvent | None,
    ) -> None:
        self.directory, self.conversation = directory, conversation
        self.path = directory / FILE_NAME
        self.images = ImageStore(directory / "images")
        self._descriptor, self._scrubber, self._on_event = descriptor, scrubber, on_event
        self._lock = threading.RLock()
        self._start = time.monotonic()
        self._seq, self._head, self._torn, self._lf_due = 0, ZERO, b"", False

    @classmethod
    def create(
        cls,
        directory: Path,
        conversation: str,
        *,
        on_event: OnEvent | None = None,
        resume: bool = False,
        secrets: Mapping[str, str] | None = None,
        audit_text: str = "full",
        started: float | None = None,
    ) -> Self:
        """Open ``directory/audit.jsonl`` for writing and take its lock.

        ``resume`` appends to the log that is there (its last whole line is checked first); otherwise there must be
        none. ``on_event`` is called with every event as it was written, in order. ``secrets`` are kept out of every
        string. ``audit_text="length"`` keeps only the length of typed text. ``started`` is the `time.monotonic` that
        ``t`` counts from (default: now).

        Raises LogBusy when another process writes it, LogBroken when its end does not verify, FileExistsError when
        there is a log and ``resume`` is false.
        """
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | (0 if resume else os.O_EXCL)
        descriptor = os.open(directory / FILE_NAME, flags, 0o600)
        try:
            _take_lock(descriptor, directory)
            log = cls(
                directory,
                conversation,
                descriptor,
                Scrubber(secrets, lengths_only=audit_text == "length"),
                on_event,
            )
            if started is not None:
                log._start = started
            if resume:
                log._continue(verify=True)
        except BaseException:
            os.close(descriptor)
            raise
        return log

    @property
    def head(self) -> str:
        """The hash of the last line; 64 zeros while there is none."""
        return self._head

    def write(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Append one event and flush it to disk; returns it as written, ``prev`` and ``hash`` included.

        Values may be JSON, dataclasses (fields that are None or empty are left out), sets, paths; a `Rect` becomes
        ``[x, y, width, height]`` and a `Point` ``[x, y]``. OSError when the disk refuses; the log stays usable.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
        if taken := _RESERVED & fields.keys():
            raise ValueError(f"an event sets these keys itself: {', '.join(sorted(taken))}")
        ready = {key: to_json(value) for key, value in fields.items()}
        with self._lock:
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            event: dict[str, Any] = {
                "v": VERSION,
                "seq": self._seq,
                "ts": now,
                "t": round(time.monotonic() - self._start, 3),
                "conversation": self.conversation,
                "kind": kind,
                **self._scrubber.clean(kind, ready),
            }
            if self._torn:
                event["torn"] = {"bytes": len(self._torn), "sha256": hashlib.sha256(self._torn).hexdigest()}
            line, digest = seal(event, self._head)
            self._append(line, digest)
            written: dict[str, Any] = json.loads(line)
            if self._on_event is not None:
                try:
                    self._on_event(written)
                except Exception:  # a listener's fault must not end the task it listens to
                    _logger.exception("a listener of the audit log failed")
            return written

    def seconds_at(self, moment: float) -> float:
        """What ``t`` was at a moment of `time.monotonic`."""
        return round(moment - self._start, 3)

    def scrub(self, text: str) -> str:
        """``text`` with each secret replaced by ``<secret:name>``, for what is kept beside the log."""
        return self._scrubber.text(text)

    def scrub_json(self, value: Any) -> Any:
        """JSON-ready data with the secrets replaced in each of its strings (numbers and structure stay)."""
        return self._scrubber.value(value)

    def store_image(self, data: bytes, suffix: str = "png") -> str:
        """Keep a picture under its SHA-256, which is returned for use in events."""
        return self.images.put(data, suffix)

    def close(self) -> None:
        """Release the lock. Idempotent."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, line: bytes, digest: str) -> None:
        if self._descriptor < 0:
            raise ValueError("the audit log is closed")
        data = b"\n" + line if self._lf_due else line
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
            os.fdatasync(self._descriptor)
        except OSError:
            self._continue()  # what did get there stays, and the next event carries on from it
            raise
        self._seq, self._head, self._torn, self._lf_due = self._seq + 1, digest, b"", False

    def _continue(self, *, verify: bool = False) -> None:
        """Take up the chain where the file ends; with ``verify``, LogBroken when it is broken anywhere."""
        chain, unended = Chain(), False
        with self.path.open("rb") as file:
            for line, ended in split_lines(iter(lambda: file.read(1 << 20), b"")):
                chain.feed(line, ended=ended)
                unended = not ended
        if not chain.end() and verify:
            raise LogBroken(
                f"{self.path}, line {chain.bad_line}: {chain.why}. Nothing is appended to a broken log."
            )
        if chain.whole_but_lf is not None:
            chain.advance(chain.whole_but_lf)
        self._seq, self._head, self._torn, self._lf_due = chain.seq, chain.head, chain.torn, unended


def _take_lock(descriptor: int, directory: Path) -> None:
    # A reader that asks whether the log is in use holds the lock for a moment: give way to that, and to nothing longer.
    for attempt in range(_LOCK_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if attempt == _LOCK_ATTEMPTS - 1:
                raise LogBusy(f"{directory.name} is running: another process writes its log") from None
            time.sleep(_LOCK_PAUSE)


def to_json(value: Any) -> Any:
    """``value`` as JSON-ready data: see `AuditLog.write`. What is none of the known kinds becomes its ``str``."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Rect):
        return [value.x, value.y, value.width, value.height]
    if isinstance(value, Point):
        return [value.x, value.y]
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((to_json(item) for item in value), key=str)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if f.repr)
        return {name: to_json(item) for name, item in items if item not in (None, "", (), frozenset())}
    return str(value)
