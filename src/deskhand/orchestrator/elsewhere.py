"""A task on another computer: how it is sent there, and how its log and files come back as they are made."""

from __future__ import annotations

import base64
import json
import logging
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, Field

from deskhand.audit.chain import encode
from deskhand.audit.log import FILE_NAME
from deskhand.messages import Json
from deskhand.orchestrator.brief import Brief, TaskStatus

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL")
"""What a computer gets of the caller's environment when its entry says ``keys = "caller"``."""

_logger = logging.getLogger(__name__)


class Sent(BaseModel):
    """The first line down the pipe to another computer.

    ``elapsed``: seconds of the brief's time that are used up (its clock means nothing there). ``keys``: variables for
    the worker's environment.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    brief: Brief
    elapsed: float
    keys: dict[str, str] = Field(default_factory=dict)

    def here(self, home: str, model: str) -> Brief:
        """The brief for a worker on this machine."""
        now = time.monotonic()
        return self.brief.model_copy(
            update={
                "home": home,
                "model": model,
                "started": now - self.elapsed,
                "deadline": now - self.elapsed + self.brief.timeout,
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A computer of the table, by its ``name`` there. ``keys``: variables that go along."""

    name: str
    keys: Mapping[str, str]

    def first_line(self, brief: Brief) -> Sent:
        """The order as it is sent: a private desktop there, and a recording in the task's own directory."""
        there = brief.model_copy(update={"computer": "private", "record": bool(brief.record)})
        return Sent(brief=there, elapsed=time.monotonic() - brief.started, keys=dict(self.keys))


class Mirror:
    """The task's directory on this side: the log grows line by line, so that a broken connection leaves what was.

    At the end the files come as one tar stream and replace it. What comes is not trusted: plain files below the
    task's own name only.
    """

    def __init__(self, directory: Path, brief: Brief) -> None:
        self._directory, self._brief = directory, brief
        self._log = directory / FILE_NAME
        self._archive = tempfile.TemporaryFile()  # noqa: SIM115 (until `close`)

    def event(self, event: Json) -> None:
        """Append an event as it was written there, byte for byte."""
        descriptor = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, encode(event) + b"\n")
        finally:
            os.close(descriptor)

    def files(self, data: str, *, last: bool) -> None:
        """Take a piece of the tar stream, and after the last one put the files in their places."""
        self._archive.write(base64.b64decode(data))
        if last:
            self._archive.seek(0)
            self._unpack()

    def _unpack(self) -> None:
        streamed = self._log.read_bytes() if self._log.is_file() else b""
        with tarfile.open(fileobj=self._archive, mode="r:") as archive:
            for member in archive:
                parts = PurePosixPath(member.name).parts
                file = archive.extractfile(member) if member.isfile() else None
                if file is None or parts[:1] != (self._directory.name,) or ".." in parts or len(parts) < 2:
                    _logger.warning("left out of what came back: %s", member.name)
                    continue
                place = self._directory.joinpath(*parts[1:])
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                part = place.with_name(f".{place.name}.part")
                with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                    shutil.copyfileobj(file, out)
                part.replace(place)
        if not self._log.read_bytes().startswith(streamed):
            (self._directory / "audit.streamed.jsonl").write_bytes(streamed)
            _logger.warning("the log that came back is not the one that was streamed (audit.streamed.jsonl)")
        self._remember()

    def _remember(self) -> None:
        """The brief as it came back, which has no secrets, with where the conversation is."""
        path = self._directory / "brief.json"
        with suppress(OSError, ValueError):
            kept = json.loads(path.read_text("utf-8"))
            path.write_text(json.dumps({**kept, "computer": self._brief.computer}))

    def status(self, status: TaskStatus) -> TaskStatus:
        """The result with the paths of this side."""
        recording = self._here(PurePosixPath(status["recording"]).name) if status["recording"] else None
        if recording is not None and isinstance(self._brief.record, str):
            recording = shutil.copyfile(recording, self._brief.record)
        final = status["final_image"]
        told: TaskStatus = {
            **status,
            "logdir": str(self._directory),
            "recording": recording,
            "final_image": self._here(f"images/{PurePosixPath(final).name}") if final else None,
            "computer": str(self._brief.computer),
        }
        with suppress(OSError):
            (self._directory / "result.json").write_text(json.dumps(told, indent=1))
        return told

    def _here(self, name: str) -> str | None:
        path = self._directory / name
        return str(path) if path.is_file() else None

    def close(self) -> None:
        self._archive.close()
