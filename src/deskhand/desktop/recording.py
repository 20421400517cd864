"""Recording the screen with ffmpeg into a fragmented MP4, which stays playable whatever ends it."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from deskhand.desktop.mp4 import has_fragment
from deskhand.desktop.parts import require
from deskhand.desktop.processes import end, spawn
from deskhand.errors import DeskhandError, DesktopError

PARTIAL = ".partial"
"""What a recording's name ends in until there is something in it that can be played."""

_FRAGMENT = 0.5
"""Seconds of video that are written at once, and that a kill can cost."""
_FIRST_FRAME_DEADLINE = 3.0
_FINISH_DEADLINE = 5.0
_PROBE_DEADLINE = 5.0
_CHECKING = 0.3
"""Seconds of a bounded end that are kept for looking whether the file is good."""

_TOLD_TO = 255
"""ffmpeg's exit status when a signal told it to end."""

_FRAMES = re.compile(rb"frame=\s*([1-9]\d*)")
_REACHED = re.compile(rb"out_time_us=(\d+)")


class FfmpegRecorder:
    """A running recording of one display. ``path`` is the file, 0600.

    Until the first half second of video is in it, the file is called ``path`` + `PARTIAL`. ``picture``, when given,
    gives the screen as PNG; the last one is kept beside the video (`poster_of`).
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        path: str,
        log: int,
        progress: int,
        picture: Callable[[], bytes] | None = None,
    ) -> None:
        self.path = path
        self.began: float | None = None
        """`time.monotonic` of the first frame, to a tenth of a second; None until there is one."""
        self._process, self._log, self._picture = process, log, picture
        self._file, self._started = os.path.abspath(path), time.monotonic()
        self._pidfd = os.pidfd_open(
            process.pid
        )  # nobody has waited for it yet: this is ffmpeg and nothing else
        self._lock = threading.Lock()
        self._fault: DesktopError | None = None
        self._done = False
        self._lasted: float | None = None
        self._first_frame = threading.Event()
        self._reader = threading.Thread(
            target=self._follow, args=(progress,), name="deskhand-ffmpeg", daemon=True
        )
        self._reader.start()

    @property
    def running(self) -> bool:
        """Whether ffmpeg still records; False as well when it has given up."""
        return self._process.poll() is None

    def stop(self, within: float | None = None) -> None:
        """Finish the file and check that it has a duration. A second call says what the first one said.

        ``within`` is about how many seconds that may take; an ffmpeg that does not end is killed, and the file holds
        all but its last moment.
        DesktopError with ffmpeg's last words when the file is not good, or when the recording had ended by itself.
        """
        with self._lock:
            if not self._done:
                try:
                    self._finish(within)
                except DesktopError as error:
                    self._fault = error
                self._done = True
            if self._fault is not None:
                raise self._fault

    def _finish(self, within: float | None) -> None:
        until = time.monotonic() + (_FIRST_FRAME_DEADLINE + _FINISH_DEADLINE if within is None else within)
        # A file without a frame has no duration: wait for one, also when the task was quicker than that.
        self._first_frame.wait(min(_FIRST_FRAME_DEADLINE, (until - time.monotonic()) / 2))
        killed = False
        if self._process.poll() is None:
            self._keep_picture()
            self._process.send_signal(signal.SIGINT)
            patience = min(_FINISH_DEADLINE, max(0.0, until - time.monotonic() - _CHECKING))
            if killed := not _ended(self._pidfd, patience):
                end([self._process])
        self._process.poll()
        self._reader.join(1.0)
        if not self._reader.is_alive():
            os.close(self._pidfd)
        said = self._last_words() or "ffmpeg gave no reason"
        os.close(self._log)
        playable = self._publish()
        if not playable:
            raise DesktopError(f"the recording {self.path} is not playable: {said}")
        if not (killed or self._process.returncode == _TOLD_TO):
            raise DesktopError(
                f"the recording {self.path} ended by itself after {self._lasted or 0.0:.1f} s: {said}"
            )

    def _publish(self) -> bool:
        """Give the file its name when it can be played; whether it can."""
        if not duration_of(self._file if os.path.exists(self._file) else self._file + PARTIAL):
            return False
        with contextlib.suppress(FileNotFoundError):
            os.replace(self._file + PARTIAL, self._file)
        return True

    def _keep_picture(self) -> None:
        if self._picture is None:
            return
        with contextlib.suppress(
            DeskhandError, OSError
        ):  # the display may be gone, the disk full: the video counts
            data = self._picture()
            descriptor = os.open(
                poster_of(self._file), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)

    def _follow(self, progress: int) -> None:
        """Read ffmpeg's progress until the file can be played; after that nobody listens, which ffmpeg does not mind.

        Then wait for ffmpeg's end, to know when it was.
        """
        try:
            with open(progress, "rb", buffering=0) as pipe:
                said = b""
                while chunk := pipe.read(4096):
                    said = (said + chunk)[-4096:]
                    if _FRAMES.search(said):
                        self._note_frame(said)
                    if self.began is not None and self._name_playable():
                        break
        finally:
            self._first_frame.set()
        _ended(self._pidfd, None)
        self._lasted = time.monotonic() - (self.began or self._started)

    def _note_frame(self, said: bytes) -> None:
        if self.began is None:
            reached = _REACHED.findall(said)
            self.began = time.monotonic() - (int(reached[-1]) / 1e6 if reached else 0.0)
        self._first_frame.set()

    def _name_playable(self) -> bool:
        with contextlib.suppress(OSError):
            if has_fragment(self._file + PARTIAL):
                os.replace(self._file + PARTIAL, self._file)
                return True
        return False

    def _last_words(self) -> str:
        size = os.fstat(self._log).st_size
        text = os.pread(self._log, 2000, max(0, size - 2000)).decode(errors="replace")
        return " / ".join(line.strip() for line in text.splitlines()[-3:] if line.strip())


def poster_of(path: str) -> str:
    """Where the last picture of a recording lies: beside it, with its name and ``.png``."""
    return str(Path(path).with_suffix(".png"))


def start_recording(
    display: str,
    xauthority: str | None,
    size: tuple[int, int],
    path: str,
    fps: int = 10,
    picture: Callable[[], bytes] | None = None,
) -> FfmpegRecorder:
    """Record ``size`` pixels of ``display`` into ``path`` (MP4, overwritten) at ``fps`` frames a second.

    Returns at once. ``picture`` gives the screen as PNG, for the picture that is kept beside the video. MissingPart
    without ffmpeg; DesktopError when the file cannot be written.
    """
    ffmpeg = require("ffmpeg")
    partial = os.path.abspath(path) + PARTIAL
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # an older recording must not pass for this one
    except OSError as error:
        raise DesktopError(f"cannot write the recording {path}: {error.strerror}") from error
    log = os.memfd_create("ffmpeg.log", os.MFD_CLOEXEC)
    reader, writer = os.pipe2(os.O_CLOEXEC)
    env = {"PATH": os.path.dirname(ffmpeg), "AV_LOG_FORCE_NOCOLOR": "1"}
    if xauthority:
        env["XAUTHORITY"] = xauthority
    try:
        process = spawn(
            [ffmpeg, *_arguments(display, size, fps, writer), partial],
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
    return FfmpegRecorder(process, path, log, reader, picture)


def _arguments(display: str, size: tuple[int, int], fps: int, progress: int) -> list[str]:
    quiet = "-nostdin -hide_banner -loglevel warning -nostats".split()
    report = f"-progress pipe:{progress} -stats_period 0.1".split()
    grab = f"-f x11grab -draw_mouse 1 -framerate {fps} -video_size {size[0]}x{size[1]} -i {display}".split()
    # H.264 in 4:2:0 has no odd sizes.
    even = ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2"]
    # Without frames held back in the encoder: what sits in a buffer is lost with a kill.
    encode = f"-c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -g {2 * fps}".split()
    flags = "+empty_moov+default_base_moof"
    fragments = f"-movflags {flags} -frag_duration {int(_FRAGMENT * 1e6)} -flush_packets 1 -f mp4 -y".split()
    return [*quiet, *report, *grab, *even, *encode, *fragments]


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


def _ended(pidfd: int, timeout: float | None) -> bool:
    """Whether a process ends within ``timeout`` seconds (None: however long it takes)."""
    waiting = select.poll()  # any number of descriptors may be open
    waiting.register(pidfd, select.POLLIN)
    return bool(waiting.poll(None if timeout is None else timeout * 1000))
