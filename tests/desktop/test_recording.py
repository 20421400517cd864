"""Recordings: playable whatever ends them."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.recording import duration_of, start_recording
from deskhand.errors import DesktopError


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


def test_odd_sizes_are_recorded(shared: X11Desktop, tmp_path: Path) -> None:
    path = tmp_path / "odd.mp4"
    recorder = start_recording(shared.display, shared.client_env["XAUTHORITY"], (641, 479), str(path))
    recorder.stop()
    assert duration_of(str(path))


def test_a_recording_that_cannot_be_made_says_why(shared: X11Desktop, tmp_path: Path) -> None:
    recorder = start_recording(
        shared.display, shared.client_env["XAUTHORITY"], (5000, 5000), str(tmp_path / "no.mp4")
    )
    with pytest.raises(DesktopError, match="outside the screen"):
        recorder.stop()
    with pytest.raises(DesktopError, match="cannot write the recording"):
        start_recording(shared.display, None, (640, 480), str(tmp_path / "none" / "x.mp4"))


def test_a_recording_whose_recorder_was_killed_still_plays(shared: X11Desktop, tmp_path: Path) -> None:
    path = tmp_path / "killed.mp4"
    recorder = start_recording(shared.display, shared.client_env["XAUTHORITY"], (640, 480), str(path), fps=30)
    fd = os.pidfd_open(recorder._process.pid)
    try:
        while not duration_of(str(path)):  # until its first fragment is there, after two seconds
            assert recorder.running
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    finally:
        os.close(fd)
    recorder.stop()
    assert duration_of(str(path))
