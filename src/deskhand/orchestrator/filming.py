"""The recording of a task: one file for each of its runs, from the desktop's first moment to after the last picture."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from deskhand.audit.films import name_of, runs_of
from deskhand.audit.read import read_events
from deskhand.orchestrator.record import Record
from deskhand.tools.desk import Desk
from deskhand.tools.recording import Recording

_FIRST_PICTURE = 3.0
"""Seconds in which a recorder shows its first picture on a machine that is not overloaded."""


class Filming:
    """What is recorded of a conversation. ``path`` is the file of its present run, None where there is none."""

    def __init__(self, directory: Path, record: Record) -> None:
        self.path: str | None = None
        self._directory, self._record = directory, record
        self._recording: Recording | None = None

    def plan(self, wanted: bool | str) -> dict[str, str]:
        """Where a run that begins now is recorded, if that is wanted: a named file, or the task's own directory.

        What an earlier run left is not written over. Gives what the log is to know of it.
        """
        self.path = None
        if wanted:
            run = len(runs_of(read_events(self._record.log.path)))
            path = Path(wanted) if isinstance(wanted, str) else self._directory / name_of(run)
            again = path.with_name(f"{path.stem}-{run + 1}{path.suffix}")
            self.path = str(again if run and isinstance(wanted, str) else path)
        return {} if self.path is None else {"recording": self.path}

    async def begin(self, desk: Desk) -> None:
        """Record ``desk`` as planned."""
        if self.path is not None:
            self._recording = await desk.record(self.path)

    async def rolling(self) -> None:
        """Wait for the first picture, so that the first act is in the film: as long as a recorder takes to start."""
        end = time.monotonic() + _FIRST_PICTURE
        while (film := self._recording) is not None and film.began is None and film.running:
            if time.monotonic() > end:
                return
            await asyncio.sleep(0.02)

    async def end(self, within: float) -> dict[str, float]:
        """Finish the file, if that can be in so many seconds; what the log is to know of it.

        A recording that failed is an error in the log and no fault of the task.
        """
        recording, self._recording = self._recording, None
        if recording is None or self.path is None:
            return {}
        try:
            await recording.stop(within)
        except Exception as error:
            self._record.error(error, "recording")
        if not Path(self.path).is_file():
            self.path = None
        if self.path is None or recording.began is None:
            return {}
        return {"recording_t": self._record.log.seconds_at(recording.began)}
