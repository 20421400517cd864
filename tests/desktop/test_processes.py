"""Processes of a desktop: what they get, and what ends them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.desktop.leash import MARK, end_marked, marked
from deskhand.desktop.processes import Household, descendants, end, spawn, tail
from deskhand.errors import DesktopError
from desktop_world import ended


@pytest.fixture
def household(tmp_path: Path) -> Iterator[Household]:
    """A household whose processes are ended."""
    one = Household(str(tmp_path))
    yield one
    one.close()


def test_a_process_gets_the_environment_it_is_given_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    process = spawn(["/usr/bin/env"], env={"ONLY": "this"}, log=str(tmp_path / "log"))
    assert ended([process.pid], 5)
    said = (tmp_path / "log").read_text()
    assert "ONLY=this" in said
    assert "sk-very-secret" not in said
    end([process])


def test_a_process_does_not_end_with_the_thread_that_asked_for_it(household: Household) -> None:
    started = []
    thread = threading.Thread(target=lambda: started.append(household.start(["/bin/sleep", "60"], env={})))
    thread.start()
    thread.join()
    assert not ended([started[0].pid], 0.2)


def test_ending_takes_the_whole_group(household: Household, tmp_path: Path) -> None:
    up = tmp_path / "up"
    os.mkfifo(up)
    process = household.start(["/bin/sh", "-c", f"sleep 61 & echo up > {up}; wait"], env={"PATH": "/bin"})
    assert up.read_text() == "up\n"
    group = [process.pid, *descendants(process.pid)]
    assert len(group) == 2
    assert end([process]) == []
    assert ended(group, 1)


def test_a_process_that_left_its_group_and_its_parent_is_found_by_its_mark(
    household: Household, tmp_path: Path
) -> None:
    up, never = tmp_path / "up", tmp_path / "never"
    os.mkfifo(up)
    os.mkfifo(never)
    stray = f"setsid -f /bin/sh -c 'echo up > {up}; read never < {never}'"
    process = household.start(["/bin/sh", "-c", stray], env={"PATH": "/usr/bin:/bin"})
    assert up.read_text() == "up\n"  # an earlier look could come in the middle of its exec
    assert ended([process.pid], 5)
    strays = marked(household.directory)
    assert len(strays) == 1
    assert f"{MARK}={household.directory}".encode() in Path(f"/proc/{strays[0]}/environ").read_bytes()
    assert end_marked(household.directory) == []
    assert ended(strays, 0)


def test_a_process_of_another_desktop_is_not_touched(household: Household) -> None:
    other = Household(household.directory + "-other")
    process = other.start(["/bin/sleep", "63"], env={})
    assert household.close() == []
    assert not ended([process.pid], 0.1)
    other.close()
    assert process.poll() is not None


def test_what_stopped_is_ended_too(household: Household) -> None:
    process = household.start(["/bin/sleep", "64"], env={})
    os.kill(process.pid, 19)
    assert household.close() == []
    assert process.poll() is not None


def test_a_closed_household_starts_nothing(household: Household) -> None:
    household.close()
    with pytest.raises(DesktopError, match="closed"):
        household.start(["/bin/sleep", "65"], env={})


def test_the_last_words_of_a_program_are_bounded_and_one_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("one\n\ntwo\nthree\n" + "x" * 9000)
    assert len(tail(str(log))) == 500
    assert "\n" not in tail(str(log))
    assert tail(str(tmp_path / "none")) == ""
