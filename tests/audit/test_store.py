from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from deskhand.audit.log import AuditLog
from deskhand.audit.store import TaskStore


def test_a_new_task_has_a_name_in_order_of_time_and_a_private_directory(store: TaskStore) -> None:
    names = {store.new()[0] for _ in range(50)}
    assert len(names) == 50
    for name in names:
        assert re.fullmatch(r"\d{8}-\d{6}-[a-z]+-[a-z]+", name)
        assert stat.S_IMODE(store.path(name).stat().st_mode) == 0o700
    assert stat.S_IMODE(store.directory.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "name", ["..", ".", "", "a/b", "../../etc", "a\0b", "-x", "a b", "é", "x" * 200, "ok\n"]
)
def test_a_name_cannot_lead_out_of_the_data_directory(store: TaskStore, name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a conversation"):
        store.path(name)


def test_a_task_is_found_by_a_beginning_or_end_that_only_it_has(store: TaskStore, finished: Path) -> None:
    name = finished.parent.name
    assert store.find(name) == store.find(name[16:]) == store.find(name[:15]) == finished.parent
    other = store.path(name[:15] + "-other-one")
    AuditLog.create(other, other.name).close()
    with pytest.raises(ValueError, match="several conversations"):
        store.find(name[:15])
    with pytest.raises(ValueError, match="no conversation is called 'nobody'"):
        store.find("nobody")


def test_tasks_are_listed_as_running_finished_or_dead(store: TaskStore, finished: Path) -> None:
    name, directory = store.new()
    log = AuditLog.create(directory, name)
    log.write("task_started", goal="wait", model="embedded")
    assert {row.conversation: row.state for row in store.list()} == {
        name: "running",
        finished.parent.name: "finished",
    }
    log.close()
    dead = store.row(name)
    assert (dead.state, dead.status, dead.goal, dead.model) == ("dead", None, "wait", "embedded")
    done = store.row(finished.parent.name)
    assert (done.state, done.status, done.seconds, done.computer) == ("finished", "success", 3.2, "private")


def test_a_damaged_result_does_not_hide_a_task(store: TaskStore, finished: Path) -> None:
    (finished.parent / "result.json").write_text("[1, 2")
    assert store.row(finished.parent.name).status == "success"
    (finished.parent / "result.json").write_text(json.dumps({"status": "failure", "reason": "gave_up"}))
    assert store.row(finished.parent.name).reason == "gave_up"


def test_no_tasks_are_an_empty_list(store: TaskStore) -> None:
    assert store.list() == []
    assert store.names() == []
