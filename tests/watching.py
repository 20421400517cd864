"""Watching a task from outside: its events, and the processes that exist because of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from process_tree import Process, descendants

Script = Callable[[list[dict[str, Any]]], str]


class Watch:
    """Collects, at every event of a task, the processes that exist below this one because of it."""

    def __init__(self) -> None:
        self._before = descendants(os.getpid())
        self.seen: set[Process] = set()
        self.events: list[dict[str, Any]] = []
        self.when: dict[str, Callable[[dict[str, Any]], None]] = {}

    def __call__(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        self.look()
        if (act := self.when.pop(event["kind"], None)) is not None:
            act(event)

    def look(self) -> None:
        self.seen |= descendants(os.getpid()) - self._before

    def find(self, part: str) -> Process:
        """The process whose command contains ``part``."""
        self.look()
        found = [process for process in self.seen if process.alive and part in process.command]
        assert found, f"no process with {part!r} among {sorted(p.command for p in self.seen)}"
        return found[0]

    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.events]
