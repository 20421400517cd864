"""Where tasks live on disk, and what there is of them."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from deskhand.audit.log import FILE_NAME
from deskhand.audit.read import is_running, last_events, read_events

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")

_MOODS = """
able brave brisk calm clear clever cool eager early fair fine fond free fresh gentle glad good grand
happy honest jolly keen kind light lively lucky mellow merry mild neat nimble noble open patient
plain prime proud quick quiet ready ripe sage sharp shy silent smart smooth snug steady still sunny
sure swift tidy true warm wise witty young
""".split()
_ANIMALS = """
ant badger bat bear beaver bee bison boar crane crow deer dove duck eagle elk falcon finch fox frog
gecko goat goose hare hawk heron horse ibis jay koala lark lemur lion lynx mole moose moth mouse
newt otter owl panda pike pony puffin quail rabbit ram raven robin seal shrew sparrow stork swan
swift tern thrush tiger toad trout vole wolf wren
""".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task in a list.

    ``state``: ``running`` (a living process writes its log), ``finished``, or ``dead`` (its log has neither an end nor
    a writer). ``status`` and ``reason`` are the task's own, None until it has finished.
    """

    conversation: str
    state: Literal["running", "finished", "dead"]
    status: str | None
    reason: str | None
    goal: str
    started: str
    seconds: float | None
    model: str
    computer: str


class TaskStore:
    """The tasks below a data directory: ``<home>/tasks/<conversation>/``. Directories are 0700, files 0600."""

    def __init__(self, home: Path) -> None:
        self.directory = home / "tasks"

    def new(self, goal: str = "") -> tuple[str, Path]:
        """Make the directory of a new task: its name, unique and in order of time (UTC), and the directory."""
        _private_directory(self.directory)
        while True:
            stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
            name = f"{stamp}-{secrets.choice(_MOODS)}-{secrets.choice(_ANIMALS)}"
            directory = self.directory / name
            try:
                directory.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return name, directory

    def path(self, conversation: str) -> Path:
        """The directory of a conversation, which need not exist. ValueError when the name cannot be one."""
        if not _NAME.match(conversation):
            raise ValueError(f"not the name of a conversation: {conversation!r}")
        return self.directory / conversation

    def find(self, conversation: str) -> Path:
        """The directory of a conversation that is there, by its name or by a beginning or end that only one has.

        ValueError when none has, or several have: it names them.
        """
        exact = self.path(conversation)
        if (exact / FILE_NAME).is_file():
            return exact
        names = [
            name for name in self.names() if name.startswith(conversation) or name.endswith(conversation)
        ]
        if len(names) == 1:
            return self.directory / names[0]
        if names:
            raise ValueError(
                f"{conversation!r} is the beginning or end of several conversations: {', '.join(names[:5])}"
            )
        raise ValueError(f"no conversation is called {conversation!r} in {self.directory}")

    def names(self) -> list[str]:
        """All conversations that have a log, newest first."""
        if not self.directory.is_dir():
            return []
        return sorted((path.parent.name for path in self.directory.glob(f"*/{FILE_NAME}")), reverse=True)

    def list(self, limit: int | None = None) -> list[TaskRow]:
        """What there is to say about each task, newest first."""
        return [self.row(name) for name in self.names()[:limit]]

    def row(self, conversation: str) -> TaskRow:
        """What there is to say about one task."""
        log = self.path(conversation) / FILE_NAME
        running = is_running(log)
        first = next(read_events(log), {})
        last = next(iter(last_events(log, 1)), {})
        finished = last if last.get("kind") == "task_finished" else {}
        result = _result(self.path(conversation)) if finished and not running else {}
        said = {**finished, **result}
        return TaskRow(
            conversation=conversation,
            state="running" if running else "finished" if finished else "dead",
            status=_text(said.get("status")) or None if finished and not running else None,
            reason=_text(said.get("reason")) or None if finished and not running else None,
            goal=_text(first.get("goal")),
            started=_text(first.get("ts")),
            seconds=_seconds(said.get("seconds", last.get("t"))),
            model=_text(said.get("model") or first.get("model")),
            computer=_text(said.get("computer") or first.get("computer")),
        )


def _private_directory(directory: Path) -> None:
    if not directory.is_dir():
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)


def _result(directory: Path) -> dict[str, Any]:
    try:
        result = json.loads((directory / "result.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return result if isinstance(result, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
