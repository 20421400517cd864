"""``computer record``: in the foreground, in the background, of a display and of a running task."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.recordings import Recordings
from deskhand.errors import DesktopError
from desktop_world import ended
from films import frames_of, size_of
from process_tree import descendants
from test_cli import computer

COMPUTER = [sys.executable, "-m", "deskhand.cli"]


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A display that belongs to nobody: an Xvfb of odd height."""
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "640x361x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    with os.fdopen(read_end) as ready:
        yield f"display::{int(ready.readline())}"
    server.terminate()
    server.wait(5)


def _duration(path: Path) -> float:
    command = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_a_display_is_recorded_for_the_seconds_asked_for(display: str, tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    done = computer("record", "--computer", display, "--seconds", "1.5", "-o", str(film))
    assert (done.returncode, done.stdout) == (0, f"{film}\n"), done.stderr
    assert 0.8 < _duration(film) < 3


def test_a_recording_is_ended_by_ctrl_c(display: str, tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    command = [sys.executable, "-m", "deskhand.cli", "record", "--computer", display, "-o", str(film)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as recording:
        assert recording.stderr is not None
        assert "Ctrl-C ends it" in recording.stderr.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            recording.wait(1.2)
        recording.send_signal(signal.SIGINT)
        assert recording.wait(10) == 0
    assert _duration(film) > 0.5


def test_a_display_is_recorded_only_where_there_is_one() -> None:
    bare = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    refused = computer("record", env=bare)
    assert (refused.returncode, "there is no display here" in refused.stderr) == (2, True)
    assert computer("record", "--computer", "private").returncode == 2


@pytest.fixture(autouse=True)
def _recorders_end(deskhand_home: Path) -> Iterator[None]:
    yield
    registry = Recordings(deskhand_home)
    for row in registry.list():
        if row.state == "running":
            registry.stop(row.name)


def _start(*words: str) -> dict[str, Any]:
    done = computer("record", "start", *words, "--json")
    assert done.returncode == 0, done.stderr
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def _pid(home: Path, name: str) -> int:
    pid = json.loads((home / "recordings" / f"{name}.json").read_text())["pid"]
    assert isinstance(pid, int)
    return pid


def _wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def _wait_until_it_plays(film: Path) -> None:
    _wait_until(film.exists)


def test_a_recording_runs_behind_the_prompt_until_it_is_stopped(
    display: str, tmp_path: Path, deskhand_home: Path
) -> None:
    film = tmp_path / "film.mp4"
    begun = _start("-o", str(film), "--computer", display)
    assert (begun["state"], begun["computer"], begun["file"]) == ("running", display, str(film))
    assert "running" in computer("record", "status").stdout
    _wait_until_it_plays(film)
    stopped = computer("record", "stop", "--json")
    assert json.loads(stopped.stdout)["state"] == "finished", stopped.stderr
    assert frames_of(film) > 3
    assert film.with_suffix(".png").is_file()
    (row,) = json.loads(computer("record", "list", "--json").stdout)
    assert (row["name"], row["state"], row["bytes"]) == (begun["name"], "finished", film.stat().st_size)
    assert row["seconds"] > 0.5
    again = computer("record", "stop", begun["name"])
    assert (again.returncode, "no running recording called" in again.stderr) == (1, True)


@pytest.mark.long
def test_several_at_once_are_told_apart_by_name(deskhand_home: Path, tmp_path: Path) -> None:
    registry = Recordings(deskhand_home)
    with registry.running("display::1", tmp_path / "a.mp4") as first:
        with registry.running("display::2", tmp_path / "b.mp4") as second:
            with pytest.raises(DesktopError, match=f"which one.*{second}.*{first}"):
                registry.find(None, running=True)
            assert registry.find(first, running=True).computer == "display::1"
        assert registry.find(None, running=True).name == first
        assert registry.find(second).state == "finished"
    with pytest.raises(DesktopError, match="no running recording"):
        registry.stop(None)


@pytest.mark.long
def test_a_running_task_is_recorded_until_it_ends(tmp_path: Path, deskhand_home: Path) -> None:
    turns = [{"calls": [{"name": "wait_for", "input": {"selector": "button[name='never']", "timeout": 50}}]}]
    script, film = tmp_path / "turns.json", tmp_path / "film.mp4"
    script.write_text(json.dumps(turns))
    begun = computer("task", "wait", "--model", f"scripted:{script}", "--background", "--json")
    name = json.loads(begun.stdout)["conversation"]
    try:
        _wait_until(lambda: "desktop_ready" in computer("audit-log", name, "--jsonl").stdout)
        row = _start("-o", str(film), "--computer", name)
        _wait_until(film.exists)
    finally:
        computer("stop", name)
    _wait_until(lambda: Recordings(deskhand_home).find(row["name"]).state == "finished")
    assert size_of(film) == (1280, 800)
    listed = json.loads(computer("record", "list", "--json").stdout)
    assert [each["file"] for each in listed] == [str(film)]


@pytest.mark.long
def test_a_recorder_that_was_killed_is_listed_as_dead_and_its_file_plays(
    display: str, tmp_path: Path, deskhand_home: Path
) -> None:
    film = tmp_path / "film.mp4"
    name = _start("-o", str(film), "--computer", display)["name"]
    _wait_until_it_plays(film)
    pid = _pid(deskhand_home, name)
    os.kill(pid, signal.SIGKILL)
    assert ended([pid], 10)
    assert "dead" in computer("record", "status").stdout
    assert frames_of(film) > 0


def test_a_recording_that_ceases_by_itself_ends_the_command_with_the_reason(
    display: str, tmp_path: Path
) -> None:
    film = tmp_path / "film.mp4"
    command = [*COMPUTER, "record", "--computer", display, "-o", str(film)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as recording:
        _wait_until_it_plays(film)
        (ffmpeg,) = (each for each in descendants(recording.pid) if "x11grab" in each.command)
        os.kill(ffmpeg.pid, signal.SIGKILL)
        assert recording.wait(10) == 1
        assert recording.stderr is not None
        said = recording.stderr.read()
    assert "ended by itself after" in said
    assert "Traceback" not in said
    assert frames_of(film) > 0


def test_a_recording_that_cannot_begin_says_why_at_once(tmp_path: Path, deskhand_home: Path) -> None:
    refused = computer("record", "start", "--computer", "display::9876", "-o", str(tmp_path / "film.mp4"))
    assert refused.returncode == 1
    assert "9876" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert Recordings(deskhand_home).list() == []
    assert computer("record", "start", "--computer", "nobody").returncode != 0
    assert computer("record", "begin").returncode == 2
    assert computer("record", "start", "NAME").returncode == 2
    assert computer("record", "-o", str(tmp_path / "none" / "film.mp4")).returncode == 2


def test_a_recording_ends_with_its_display(tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    read_end, write_end = os.pipe()
    words = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "320x200x24", "-nolisten", "tcp"]
    with subprocess.Popen([*words, "-noreset"], pass_fds=[write_end], stderr=subprocess.DEVNULL) as server:
        os.close(write_end)
        with os.fdopen(read_end) as ready:
            number = int(ready.readline())
        command = [*COMPUTER, "record", "--computer", f"display::{number}", "-o", str(film)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as recording:
            _wait_until_it_plays(film)
            server.terminate()
            assert recording.wait(20) == 0, recording.stderr and recording.stderr.read()
    assert frames_of(film) > 0
