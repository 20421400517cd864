from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deskhand.audit.chain import ZERO, seal
from deskhand.audit.log import AuditLog
from deskhand.audit.store import TaskStore


@pytest.fixture
def store(deskhand_home: Path) -> TaskStore:
    return TaskStore(deskhand_home)


@pytest.fixture
def log(store: TaskStore) -> Iterator[AuditLog]:
    """An open log of a new task."""
    name, directory = store.new()
    with AuditLog.create(directory, name) as log:
        yield log


@pytest.fixture
def finished(store: TaskStore) -> Path:
    """The path of a closed log of six lines."""
    name, directory = store.new()
    with AuditLog.create(directory, name) as log:
        log.write("task_started", goal="press Save", model="embedded", computer="private")
        log.write("desktop_ready", isolation="files", size=[1280, 800])
        log.write(
            "model_call", model="embedded", input_tokens=900, output_tokens=20, stop="calls", seconds=1.5
        )
        log.write(
            "action",
            step={"kind": "click", "target": "button[name='Save']"},
            target={"role": "button", "name": "Save", "rect": [10, 20, 80, 30]},
            risk="write",
            effect="done",
            verdict="settled",
            seconds=0.4,
        )
        log.write("verification", evidence=[{"check": "text[name='Saved']", "holds": True}], passed=True)
        log.write("task_finished", status="success", reason=None, result="It is saved.", seconds=3.2)
    return log.path


@pytest.fixture
def long_log(store: TaskStore) -> Callable[[int], Path]:
    """Makes a log of any length quickly: sealed as the writer seals, without flushing each line to disk."""

    def make(lines: int) -> Path:
        name, directory = store.new()
        head, chunks = ZERO, []
        for seq in range(lines):
            event = {
                "v": 1,
                "seq": seq,
                "ts": "2026-11-30T20:31:02.123Z",
                "t": seq / 10,
                "conversation": name,
                "kind": "action",
                "step": {"kind": "click", "target": f"button[name='Line {seq}']"},
                "effect": "done",
            }
            line, head = seal(event, head)
            chunks.append(line)
        path = directory / "audit.jsonl"
        path.write_bytes(b"".join(chunks))
        return path

    return make
