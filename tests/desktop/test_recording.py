"""Recordings: playable whatever ends them."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.mp4 import has_fragment
from deskhand.desktop.recording import PARTIAL, FfmpegRecorder, duration_of, poster_of, start_recording
from deskhand.errors import DesktopError
from desktop_world import open_display
from films import frames_of, size_of


def _kill(recorder: FfmpegRecorder) -> None:
    """End ffmpeg as the kernel ends it when memory is short."""
    fd = os.pidfd_open(recorder._process.pid)
    signal.pidfd_send_signal(fd, signal.SIGKILL)
    os.close(fd)


def test_a_recording_stopped_at_once_has_a_duration_and_is_private(
    shared: X11Desktop, tmp_path: Path
) -> None:
    path = tmp_path / "short.mp4"
    recorder = shared.record(str(path))
    recorder.stop()
    recorder.stop()
    duration = duration_of(str(path))
    assert duration is not None
    assert duration > 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.with_name(path.name + PARTIAL).exists()


def test_the_last_picture_lies_beside_the_recording(shared: X11Desktop, tmp_path: Path) -> None:
    path = tmp_path / "short.mp4"
    shared.record(str(path)).stop()
    poster = Path(poster_of(str(path)))
    assert poster.name == "short.png"
    assert poster.read_bytes() == shared.screen.grab().png()
    assert stat.S_IMODE(poster.stat().st_mode) == 0o600


@pytest.mark.parametrize("size", [(641, 479), (640, 479), (641, 480), (1279, 799)])
def test_odd_sizes_are_recorded(shared: X11Desktop, tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "odd.mp4"
    recorder = start_recording(shared.display, shared.client_env["XAUTHORITY"], size, str(path))
    recorder.stop()
    assert duration_of(str(path))
    assert size_of(path) == (size[0] // 2 * 2, size[1] // 2 * 2)


def test_a_recording_that_cannot_be_made_says_why(shared: X11Desktop, tmp_path: Path) -> None:
    path = tmp_path / "no.mp4"
    recorder = start_recording(shared.display, shared.client_env["XAUTHORITY"], (5000, 5000), str(path))
    for _ in range(2):
        with pytest.raises(DesktopError, match="outside the screen"):
            recorder.stop()
    assert not path.exists()
    with pytest.raises(DesktopError, match="cannot write the recording"):
        start_recording(shared.display, None, (640, 480), str(tmp_path / "none" / "x.mp4"))


def test_a_recording_has_its_name_once_it_can_be_played(shared: X11Desktop, tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(b"an older recording")
    recorder = start_recording(shared.display, shared.client_env["XAUTHORITY"], (640, 480), str(path))
    assert not path.exists()
    _kill(recorder)
    with pytest.raises(DesktopError, match="not playable"):
        recorder.stop()
    assert not path.exists()
    assert path.with_name(path.name + PARTIAL).exists()


def test_a_file_can_be_played_from_its_first_whole_fragment_on(shared: X11Desktop, tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    recorder = start_recording(shared.display, shared.client_env["XAUTHORITY"], (640, 480), str(path))
    while not path.exists():
        assert recorder.running
        duration_of(str(path))  # which takes a moment
    assert duration_of(str(path))
    recorder.stop()
    assert has_fragment(str(path))
    begun = path.read_bytes()
    for cut in (0, 4, 40, 400):
        assert not has_fragment(_write(tmp_path / "head", begun[: begun.index(b"moof") + cut]))
        assert not has_fragment(_write(tmp_path / "other", b"\0\0\0\1" + begun[4 : 4 + cut]))


def _write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def test_a_recording_whose_recorder_was_killed_still_plays_and_says_that_it_ended(
    shared: X11Desktop, tmp_path: Path
) -> None:
    path = tmp_path / "killed.mp4"
    recorder = start_recording(shared.display, shared.client_env["XAUTHORITY"], (640, 480), str(path), fps=30)
    while not duration_of(str(path)):
        assert recorder.running
    _kill(recorder)
    with pytest.raises(DesktopError, match=r"ended by itself after \d+\.\d s"):
        recorder.stop()
    assert not recorder.running
    assert frames_of(path) > 5


def test_a_recorder_that_hangs_is_killed_in_time_and_leaves_what_plays(
    shared: X11Desktop, tmp_path: Path
) -> None:
    path = tmp_path / "hung.mp4"
    recorder = start_recording(shared.display, shared.client_env["XAUTHORITY"], (640, 480), str(path), fps=30)
    while not duration_of(str(path)):
        assert recorder.running
    os.kill(recorder._process.pid, signal.SIGSTOP)
    start = time.monotonic()
    recorder.stop(within=1.0)
    assert time.monotonic() - start < 4
    assert duration_of(recorder.path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_recorder_killed_at_any_moment_after_three_seconds_leaves_what_plays(
    shared: X11Desktop, tmp_path: Path, seed: int
) -> None:
    moments = random.Random(seed)
    shared.launch(["xterm", "-e", "while :; do date; sleep 0.05; done"])

    def one(number: int) -> tuple[float, float, int]:
        path = tmp_path / f"{number}.mp4"
        recorder = start_recording(shared.display, shared.client_env["XAUTHORITY"], (1279, 799), str(path))
        wanted = moments.uniform(3.0, 6.0)
        fd = os.pidfd_open(recorder._process.pid)
        time.sleep(wanted)  # the moment itself is what is tried
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        os.close(fd)
        with pytest.raises(DesktopError, match="ended by itself"):
            recorder.stop()
        assert path.exists(), f"seed {seed}: nothing to play after {wanted:.2f} s"
        return wanted, duration_of(str(path)) or 0.0, frames_of(path)

    with ThreadPoolExecutor(5) as pool:
        found = list(pool.map(one, range(5)))
    for wanted, lasts, frames in found:
        assert wanted - 2.5 < lasts <= wanted, f"seed {seed}: {found}"
        assert frames >= lasts * 5, f"seed {seed}: {found}"


def test_a_recording_of_a_display_that_dies_plays_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with open_display(tmp_path) as (display, authority):
        recorder = start_recording(display, authority, (640, 480), str(path))
        while not duration_of(str(path)):
            assert recorder.running
    while recorder.running:
        duration_of(str(path))
    with pytest.raises(DesktopError, match="ended by itself"):
        recorder.stop()
    assert frames_of(path) > 3


SMALL = """
import json, os, sys, time
from deskhand.desktop.recording import duration_of, start_recording
from deskhand.errors import DesktopError
display, authority, path = sys.argv[1:]
recorder = start_recording(display, authority, (640, 480), path, fps=60)
while recorder.running:
    duration_of(path)
try:
    recorder.stop()
except DesktopError as error:
    print(json.dumps([str(error), duration_of(path), os.listdir(os.path.dirname(path))]))
"""


def test_a_full_disk_ends_a_recording_which_says_so_and_plays(tmp_path: Path) -> None:
    """In a file system of 16 kB, of the test's own."""
    room = tmp_path / "room"
    room.mkdir()
    with open_display(tmp_path) as (display, authority):
        box = ["bwrap", "--dev-bind", "/", "/", "--size", "16384", "--tmpfs", str(room)]
        program = [sys.executable, "-c", SMALL, display, authority, str(room / "film.mp4")]
        done = subprocess.run([*box, *program], capture_output=True, text=True, timeout=60, check=True)
    said, lasts, files = json.loads(done.stdout)
    assert "No space left on device" in said
    assert lasts > 0.4
    assert files == ["film.mp4"]
