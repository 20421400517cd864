"""The verifier that the docs show, which knows nothing of this package, and ours say the same of any log."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskhand.audit.log import AuditLog
from deskhand.audit.verify import verify_log

PAGE = Path(__file__).parents[2] / "docs" / "audit-log.md"

Verify = Callable[[Path], str | None]


@pytest.fixture(scope="module")
def verify() -> Verify:
    """The function that docs/audit-log.md shows."""
    (snippet,) = [
        text
        for text in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
        if "def verify" in text
    ]
    assert re.findall(r"^(?:import|from) (.+)$", snippet, re.M) == ["hashlib, json"]
    names: dict[str, Any] = {}
    exec(snippet, names)
    shown: Verify = names["verify"]
    return shown


@pytest.fixture
def resumed(finished: Path) -> Path:
    """The path of a closed log of eight lines, one of them torn by a crash and accounted for."""
    finished.write_bytes(finished.read_bytes() + b'{"v":1,"seq":6,"ts":"20')
    with AuditLog.create(finished.parent, finished.parent.name, resume=True) as log:
        log.write("task_started", goal="press Quit")
        log.write("task_finished", status="success")
    return finished


def test_both_end_at_the_same_hash(verify: Verify, finished: Path) -> None:
    assert verify(finished) == verify_log(finished).head


def test_both_pass_over_a_torn_line_that_is_accounted_for(verify: Verify, resumed: Path) -> None:
    assert verify_log(resumed).sealed == 1
    assert verify(resumed) == verify_log(resumed).head


def test_both_bear_a_line_that_is_being_written(verify: Verify, finished: Path) -> None:
    head = verify_log(finished).head
    finished.write_bytes(finished.read_bytes() + b'{"v":1,"seq":6,"ts":"20')
    assert verify(finished) == verify_log(finished).head == head


@st.composite
def tamperings(draw: st.DrawFn, lines: int, size: int) -> Callable[[bytes], bytes]:
    """One way to falsify a file of so many lines and bytes."""
    one, other = draw(st.lists(st.integers(0, lines - 1), min_size=2, max_size=2, unique=True))
    place, flip = draw(st.integers(0, size - 1)), draw(st.integers(1, 255))

    def on_lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
        return lambda data: b"".join(change(data.splitlines(keepends=True)))

    def swapped(rows: list[bytes]) -> list[bytes]:
        rows[one], rows[other] = rows[other], rows[one]
        return rows

    return draw(
        st.sampled_from(
            [
                lambda data: data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :],
                lambda data: data[:place],
                lambda data: data[:place] + data[place + 1 :],
                lambda data: data[:place] + bytes([flip]) + data[place:],
                on_lines(lambda rows: rows[:one] + rows[one + 1 :]),
                on_lines(lambda rows: rows[:one]),
                on_lines(lambda rows: rows[: one + 1] + rows[one:]),
                on_lines(lambda rows: [*rows[:one], rows[other], *rows[one:]]),
                on_lines(swapped),
            ]
        )
    )


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_against_the_hash_that_the_caller_holds_both_find_every_falsification(
    verify: Verify, resumed: Path, data: st.DataObject
) -> None:
    whole = resumed.read_bytes()
    held = verify_log(resumed).head
    false = data.draw(tamperings(whole.count(b"\n"), len(whole)))(whole)
    if false == whole:
        return
    copy = resumed.parent / "copy.jsonl"
    copy.write_bytes(false)
    ours = verify_log(copy, held)
    theirs = verify(copy)
    lost_only_its_end = whole[:-1] == false or (false[:-1] == whole[:-1] and len(false) == len(whole))
    if false.startswith(whole) and not false.endswith(b"\n"):
        # bytes after the last line are a line that is being written
        assert ours.ok
        assert theirs == held
    else:
        assert not ours.ok or lost_only_its_end
        assert theirs != held
    if ours.intact and not ours.torn:
        assert theirs == ours.head
