"""The recordings of a task: one for each of its runs that was recorded, and what happened in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deskhand.audit.read import Event, read_events
from deskhand.audit.words import number

NAME = "recording"

_STARTING = 0.15
"""Seconds from the desktop's readiness to the first frame, where nothing says it: the recorder was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """A recording. ``run`` counts the task's runs from 0 (each answer begins one); ``began`` is ``t`` of its start."""

    path: Path
    run: int
    began: float
    events: tuple[Event, ...]


def name_of(run: int) -> str:
    """The file of a run's recording, in the task's directory."""
    return f"{NAME}.mp4" if run == 0 else f"{NAME}-{run + 1}.mp4"


def films_of(log: Path) -> list[Film]:
    """The recordings that are there, oldest first."""
    found = (film_of(log.parent, run, events) for run, events in enumerate(runs_of(read_events(log))))
    return [film for film in found if film is not None]


def film_of(directory: Path, run: int, events: Sequence[Event]) -> Film | None:
    """The recording of one run, which is where the log says, else where it would be; None when it is not there."""
    named = [event["recording"] for event in events if isinstance(event.get("recording"), str)]
    places = [*map(Path, named), directory / name_of(run)]
    path = next((place for place in places if _is_mp4(place)), None)
    if path is None:
        return None
    return Film(path=path, run=run, began=began_of(events), events=tuple(events))


def runs_of(events: Iterable[Event]) -> list[list[Event]]:
    """The events of each run: a task that is resumed starts anew in its log."""
    runs: list[list[Event]] = []
    for event in events:
        if event.get("kind") == "task_started" or not runs:
            runs.append([])
        runs[-1].append(event)
    return runs


def began_of(events: Iterable[Event]) -> float:
    """When a run's recording began, in seconds of the task: as the log says, else as well as can be told."""
    first = ready = 0.0
    for place, event in enumerate(events):
        first = (number(event.get("t")) or 0.0) if place == 0 else first
        if event.get("kind") == "desktop_ready":
            ready = number(event.get("t")) or 0.0
        if (told := number(event.get("recording_t"))) is not None:
            return told
    return ready + _STARTING if ready else first


def _is_mp4(path: Path) -> bool:
    """Whether a file begins as an MP4 does: a log from somewhere else must not make a page carry other files."""
    try:
        with path.open("rb") as file:
            return file.read(12)[4:8] == b"ftyp"
    except (OSError, ValueError):  # a name that cannot be one, of a log that was made up
        return False
