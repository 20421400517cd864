"""What the worker writes down: the child's transcript, and the audit events of the loop."""

from __future__ import annotations

import base64
import json
import os
import traceback
from pathlib import Path

from deskhand.audit.log import AuditLog
from deskhand.messages import Entry, Image, Json, Observation, StepReport, Turn
from deskhand.orchestrator.codec import entry_from_json, entry_to_json, observation_to_json, usage_to_json


class Record:
    """One task's log and transcript. Every word and every act goes through here, once."""

    def __init__(self, log: AuditLog) -> None:
        self.log = log
        self.actions: list[Json] = []
        self._transcript = os.open(
            log.directory / "transcript.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600
        )

    def store(self, image: Image) -> str:
        return self.log.store_image(image.data, "jpg" if image.media_type == "image/jpeg" else "png")

    def entry(self, entry: Entry) -> None:
        """Append one entry to the transcript, pictures by hash."""
        words = self.log.scrub_json(entry_to_json(entry, store=self.store))
        os.write(self._transcript, json.dumps(words, separators=(",", ":")).encode() + b"\n")

    def observation(self, observation: Observation, seconds: float) -> None:
        self.log.write(
            "observation", **observation_to_json(observation, store=self.store), seconds=round(seconds, 3)
        )

    def model_call(self, provider: str, turn: Turn, seconds: float) -> None:
        self.log.write(
            "model_call",
            provider=provider,
            model=turn.model or provider,
            **usage_to_json(turn.usage),
            calls=[call.name for call in turn.calls],
            stop=turn.stop,
            seconds=round(seconds, 3),
        )

    def action(self, report: StepReport, before: Image | None, after: Image | None) -> None:
        """One step of a batch as it was asked, resolved, done and settled."""
        event = self.log.write(
            "action",
            step=report.step,
            target=report.target,
            risk=report.risk,
            route=report.route,
            effect=report.effect,
            verdict=report.settled.verdict if report.settled else None,
            settled=report.settled,
            note=report.message,
            seconds=round(report.seconds, 3),
            before=self.store(before) if before else None,
            after=self.store(after) if after else None,
        )
        self.actions.append(event)

    def error(self, error: BaseException, where: str) -> None:
        """An error that ended something, with its trace for whoever mends it."""
        trace = "".join(traceback.format_exception(error))[-4000:]
        self.log.write(
            "error", where=where, error=type(error).__name__, message=str(error)[:2000], trace=trace
        )

    def close(self) -> None:
        os.close(self._transcript)
        self.log.close()


def load_transcript(directory: Path) -> list[Entry]:
    """A conversation's transcript as it was written; a torn last line is left out, lost pictures too."""
    entries: list[Entry] = []
    for line in (directory / "transcript.jsonl").read_text("utf-8").splitlines():
        try:
            data = json.loads(line)
        except ValueError:
            continue
        for holder in (data, *data.get("results", ())):
            if "images" in holder:
                holder["images"] = [
                    found for image in holder["images"] if (found := _image(directory, image))
                ]
        entries.append(entry_from_json(data))
    return entries


def _image(directory: Path, data: Json) -> Json | None:
    """A picture's JSON with its content instead of its hash."""
    digest = data.pop("sha256", "")
    for path in (directory / "images").glob(f"{digest}.*"):
        return {**data, "data": base64.b64encode(path.read_bytes()).decode()}
    return None


def write_private(path: Path, text: str) -> None:
    """Write a file, mode 0600, so that a reader sees all of it or none."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)
