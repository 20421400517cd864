from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskhand.audit.log import AuditLog
from deskhand.audit.read import follow, is_running, last_events, read_events
from deskhand.audit.store import TaskStore
from deskhand.audit.verify import verify_log

Lines = list[bytes]


def _edited(lines: Lines) -> Lines:
    return [*lines[:2], lines[2].replace(b"900", b"901"), *lines[3:]]


def _dropped(lines: Lines) -> Lines:
    return lines[:2] + lines[3:]


def _doubled(lines: Lines) -> Lines:
    return [*lines[:3], lines[2], *lines[3:]]


def _reordered(lines: Lines) -> Lines:
    return [*lines[:2], lines[3], lines[2], *lines[4:]]


def _cut_inside(lines: Lines) -> Lines:
    return [*lines[:2], lines[2][:-10], *lines[3:]]


def _emptied(lines: Lines) -> Lines:
    return [*lines[:2], b"", *lines[2:]]


@pytest.mark.parametrize(
    ("tamper", "bad_line"),
    [(_edited, 3), (_dropped, 3), (_doubled, 4), (_reordered, 3), (_cut_inside, 3), (_emptied, 3)],
)
def test_tampering_is_found_and_the_first_bad_line_named(
    finished: Path, tamper: Callable[[Lines], Lines], bad_line: int
) -> None:
    *lines, end = finished.read_bytes().split(b"\n")
    finished.write_bytes(b"\n".join([*tamper(lines), end]))
    checked = verify_log(finished)
    assert not checked.intact
    assert checked.bad_line == bad_line
    assert checked.why


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_changed_byte_goes_unnoticed(finished: Path, data: st.DataObject) -> None:
    whole = finished.read_bytes()
    head = verify_log(finished).head
    place = data.draw(st.integers(0, len(whole) - 1))
    flip = data.draw(st.integers(1, 255))
    changed = bytearray(whole)
    changed[place] ^= flip
    copy = finished.parent / "copy.jsonl"
    copy.write_bytes(changed)
    checked = verify_log(copy, head)
    assert not checked.ok
    assert not checked.intact or place == len(whole) - 1  # a lost last LF alone is a torn line


def test_a_line_cannot_be_replaced_by_a_torn_one(finished: Path) -> None:
    """Losing the last LF as well must not turn an edited line in the middle into a harmless torn tail."""
    data = finished.read_bytes().replace(b"press Save", b"press Quit")
    finished.write_bytes(data[:-1])
    assert not verify_log(finished).intact


def test_a_cut_tail_is_found_by_the_hash_that_the_caller_kept(finished: Path) -> None:
    head = verify_log(finished).head
    lines = finished.read_bytes().split(b"\n")
    finished.write_bytes(b"\n".join(lines[:4]) + b"\n")
    checked = verify_log(finished, head)
    assert checked.intact
    assert not checked.found_expected
    assert not checked.ok
    assert verify_log(finished).ok


def test_a_hash_from_before_a_task_was_resumed_is_still_in_the_chain(finished: Path) -> None:
    head = verify_log(finished).head
    with AuditLog.create(finished.parent, finished.parent.name, resume=True) as log:
        log.write("task_started")
    checked = verify_log(finished, head)
    assert checked.ok
    assert checked.expected_at == 6
    assert checked.lines == 7


def test_an_exchanged_picture_is_found(finished: Path) -> None:
    with AuditLog.create(finished.parent, finished.parent.name, resume=True) as log:
        digest = log.store_image(b"what was seen")
        log.write("action", after=digest)
    assert verify_log(finished).ok
    (finished.parent / "images" / f"{digest}.png").write_bytes(b"something else")
    checked = verify_log(finished)
    assert not checked.ok
    assert digest in checked.why


def test_an_empty_log_is_intact_and_a_missing_one_an_error(store: TaskStore) -> None:
    _, directory = store.new()
    with pytest.raises(FileNotFoundError):
        verify_log(directory / "audit.jsonl")
    (directory / "audit.jsonl").touch()
    assert verify_log(directory / "audit.jsonl").lines == 0
    assert verify_log(directory / "audit.jsonl").ok


def test_a_log_of_a_newer_version_verifies_and_reads(finished: Path) -> None:
    from deskhand.audit.chain import seal

    head = verify_log(finished).head
    event = {"v": 2, "seq": 6, "kind": "telepathy", "when": {"new": True}}
    finished.write_bytes(finished.read_bytes() + seal(event, head)[0])
    assert verify_log(finished).ok
    assert [event["kind"] for event in read_events(finished)][-1] == "telepathy"


def test_a_torn_tail_is_left_out_when_reading(finished: Path) -> None:
    finished.write_bytes(finished.read_bytes() + b'{"v":1,"kind":"act')
    assert len(list(read_events(finished))) == 6
    assert [event["kind"] for event in last_events(finished, 2)] == ["verification", "task_finished"]


def test_the_last_events_of_a_long_log_are_read_from_its_end(long_log: Callable[[int], Path]) -> None:
    path = long_log(5000)
    assert [event["seq"] for event in last_events(path, 3)] == [4997, 4998, 4999]
    assert len(last_events(path, 4000)) == 4000
    assert len(last_events(path, 9000)) == 5000


def test_a_log_that_is_being_written_can_be_followed_to_its_end(log: AuditLog) -> None:
    log.write("task_started")
    events = follow(log.path)
    assert next(events)["kind"] == "task_started"
    assert is_running(log.path)
    log.write("task_finished")
    log.close()
    assert [event["kind"] for event in events] == ["task_finished"]
    assert not is_running(log.path)
