"""Recording the screen with ffmpeg into a fragmented MP4, which stays playable whatever ends it."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import threading
import time

from deskhand.desktop.parts import require
from deskhand.desktop.processes import end, spawn
from deskhand.errors import DesktopError

_FIRST_FRAME_DEADLINE = 3.0
_FINISH_DEADLINE = 5.0
_PROBE_DEADLINE = 5.0


class FfmpegRecorder:
    """A running recording of one display. ``path`` is the file, 0600."""

    def __init__(self, process: subprocess.Popen[bytes], path: str, log: int, progress: int) -> None:
        self.path = path
        self._process, self._log = process, log
        self._lock = threading.Lock()
        self._stopped = False
        self._first_frame = threading.Event()
        self._reader = threading.Thread(
            target=self._await_frame, args=(progress,), name="deskhand-ffmpeg", daemon=True
        )
        self._reader.start()

    @property
    def running(self) -> bool:
        """Whether ffmpeg still records; False as well when it has given up."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Finish the file and check that it has a duration. Idempotent.

        DesktopError with ffmpeg's last words when the file is not good.
        """
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            # A file without a frame has no duration: wait for one, also when the task was quicker than that.
            self._first_frame.wait(_FIRST_FRAME_DEADLINE)
            if self._process.poll() is None:
                self._process.send_signal(signal.SIGINT)
                if not _wait(self._process, _FINISH_DEADLINE):
                    end([self._process])
            self._reader.join(1.0)
            said = self._last_words()
            os.close(self._log)
        if (duration := duration_of(self.path)) is None or duration <= 0:
            raise DesktopError(
                f"the recording {self.path} is not playable: {said or 'ffmpeg gave no reason'}"
            )

    def _await_frame(self, progress: int) -> None:
        """Read ffmpeg's progress until it tells of a frame; after that nobody listens, which ffmpeg does not mind."""
        with open(progress, "rb", buffering=0) as pipe:
            said = b""
            while chunk := pipe.read(4096):
                said = (said + chunk)[-4096:]
                if re.search(rb"frame=\s*[1-9]", said):
                    break
        self._first_frame.set()

    def _last_words(self) -> str:
        size = os.fstat(self._log).st_size
        text = os.pread(self._log, 2000, max(0, size - 2000)).decode(errors="replace")
        return " / ".join(line.strip() for line in text.splitlines()[-3:] if line.strip())


def start_recording(
    display: str, xauthority: str | None, size: tuple[int, int], path: str, fps: int = 10
) -> FfmpegRecorder:
    """Record ``size`` pixels of ``display`` into ``path`` (MP4, overwritten) at ``fps`` frames a second.

    Returns at once. MissingPart without ffmpeg; DesktopError when the file cannot be written.
    """
    ffmpeg = require("ffmpeg")
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise DesktopError(f"cannot write the recording {path}: {error.strerror}") from error
    log = os.memfd_create("ffmpeg.log", os.MFD_CLOEXEC)
    reader, writer = os.pipe2(os.O_CLOEXEC)
    env = {"PATH": os.path.dirname(ffmpeg), "AV_LOG_FORCE_NOCOLOR": "1"}
    if xauthority:
        env["XAUTHORITY"] = xauthority
    try:
        process = spawn(
            [ffmpeg, *_arguments(display, size, fps, writer), os.path.abspath(path)],
            env=env,
            log=f"/proc/self/fd/{log}",
            pass_fds=(writer,),
        )
    except BaseException:
        os.close(log)
        os.close(reader)
        raise
    finally:
        os.close(writer)
    return FfmpegRecorder(process, path, log, reader)


def _arguments(display: str, size: tuple[int, int], fps: int, progress: int) -> list[str]:
    grab = [
        "-f",
        "x11grab",
        "-draw_mouse",
        "1",
        "-framerate",
        str(fps),
        "-video_size",
        f"{size[0]}x{size[1]}",
    ]
    # H.264 in 4:2:0 has no odd sizes.
    even = ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2"]
    encode = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", str(2 * fps)]
    # Flushed as they come: what sits in a buffer is lost with a kill.
    fragments = [
        "-movflags",
        "+frag_keyframe+empty_moov+default_base_moof",
        "-flush_packets",
        "1",
        "-f",
        "mp4",
        "-y",
    ]
    quiet = ["-nostdin", "-hide_banner", "-loglevel", "warning", "-nostats"]
    report = ["-progress", f"pipe:{progress}", "-stats_period", "0.1"]
    return [*quiet, *report, *grab, "-i", display, *even, *encode, *fragments]


def duration_of(path: str) -> float | None:
    """Seconds of video in a file, by ffprobe; None when it has none."""
    command = ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path]
    try:
        said = subprocess.run(
            [_ffprobe(), *command],
            capture_output=True,
            timeout=_PROBE_DEADLINE,
            check=False,
        ).stdout
        return float(said.strip())
    except (ValueError, subprocess.TimeoutExpired):
        return None


def _ffprobe() -> str:
    return os.path.join(os.path.dirname(require("ffmpeg")), "ffprobe")


def _wait(process: subprocess.Popen[bytes], timeout: float) -> bool:
    """Whether the process ends within ``timeout`` seconds, by its pidfd."""
    end_time = time.monotonic() + timeout
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return process.poll() is not None
    try:
        select.select([fd], [], [], max(0.0, end_time - time.monotonic()))
    finally:
        os.close(fd)
    return process.poll() is not None
