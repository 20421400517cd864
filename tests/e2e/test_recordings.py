"""The recording of a task: playable whatever ends the task, and never what ends it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from deskhand.audit.read import read_events
from deskhand.desktop.recording import PARTIAL, duration_of
from films import frames_of
from process_tree import Process, descendants, left_alive
from watching import Script

COMPUTER = [sys.executable, "-m", "deskhand.cli"]
LAUNCH = {"calls": [{"name": "act", "input": {"steps": [{"kind": "launch", "app": "mousepad"}]}}]}
WAIT = {"calls": [{"name": "wait_for", "input": {"selector": "button[name='never']", "timeout": 50}}]}
LINES = "\n".join(f"{line} {'#' * 60}" for line in range(30))
BUSY = {
    "calls": [
        {
            "name": "act",
            "input": {
                "steps": [{"kind": "fill", "target": "textbox", "text": text} for text in (LINES, "blue")]
            },
        }
    ]
}


class Killed(NamedTuple):
    """What is left of a task: it recorded for ``after`` seconds when all of it was killed."""

    after: float
    film: Path
    partial: bool
    lasts: float


def _kill(processes: Iterable[Process]) -> None:
    for process in processes:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _kill_a_task(model: str, film: Path, after: float) -> Killed:
    """Start a task that records, kill it and everything below it so many seconds later."""
    partial = Path(f"{film}{PARTIAL}")
    words = ["task", "wait", "--model", model, "--record", str(film), "--timeout", "60"]
    with subprocess.Popen(
        [*COMPUTER, *words], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as caller:
        end = time.monotonic() + 30
        while not (partial.exists() or film.exists()):
            assert time.monotonic() < end
            assert caller.poll() is None
            time.sleep(0.01)
        time.sleep(after)  # the moment itself is what is tried
        below = descendants(caller.pid)
        caller.kill()
        _kill(below)
    assert left_alive(below, 5) == []
    return Killed(after, film, partial.exists(), (film.exists() and duration_of(str(film))) or 0.0)


def _kill_at(model: str, moments: list[float], room: Path, together: int) -> list[Killed]:
    with ThreadPoolExecutor(together) as pool:
        return list(
            pool.map(lambda pair: _kill_a_task(model, room / f"{pair[0]}.mp4", pair[1]), enumerate(moments))
        )


def _plays(found: list[Killed]) -> None:
    for each in found:
        if each.after < 3 and not each.film.exists():
            assert each.partial, found
            continue
        assert each.after - 2.5 < each.lasts <= each.after + 1, found
        assert frames_of(each.film) > 0
        assert not each.partial


@pytest.mark.long
def test_a_task_that_is_killed_leaves_a_recording_that_plays(scripted: Script, tmp_path: Path) -> None:
    _plays(_kill_at(scripted([LAUNCH, WAIT]), [0.2, 3.0, 4.3], tmp_path, together=3))


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", [1])
def test_a_task_killed_at_any_moment_leaves_a_recording_that_plays(
    scripted: Script, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    moments = [rng.uniform(3, 8) for _ in range(20)] + [rng.uniform(0, 3) for _ in range(6)]
    _plays(_kill_at(scripted([LAUNCH, WAIT]), moments, tmp_path, together=2))


@pytest.mark.long  # of a recorder by itself: tests/desktop/test_recording.py
def test_a_full_disk_ends_the_recording_and_not_the_task(scripted: Script, tmp_path: Path) -> None:
    """In a file system of 48 kB, of the test's own."""
    room = tmp_path / "room"
    room.mkdir()
    box = ["bwrap", "--dev-bind", "/", "/", "--size", str(48 * 1024), "--tmpfs", str(room), "--"]
    evidence = {"result": "written", "evidence": ["textbox[value='blue']"]}
    turns = [LAUNCH, BUSY, {"calls": [{"name": "finish", "input": evidence}]}]
    task = [*COMPUTER, "task", "write the word blue", "--model", scripted(turns), "--json"]
    film, copy = room / "film.mp4", tmp_path / "copy.mp4"
    program = f'"$@" --record {film}; status=$?; cp {film} {copy}; exit $status'
    done = subprocess.run(
        [*box, "sh", "-c", program, "sh", *task], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert (status["status"], status["verified"], status["recording"]) == ("success", True, str(film))
    errors = [
        event for event in read_events(Path(status["logdir"]) / "audit.jsonl") if event["kind"] == "error"
    ]
    assert [(event["where"], "No space left on device" in event["message"]) for event in errors] == [
        ("recording", True)
    ]
    assert frames_of(copy) > 0
