"""A recording with captions and markers burnt in: ffmpeg draws what a subtitle script (ASS) says."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from deskhand.audit.marks import Mark
from deskhand.desktop.parts import require
from deskhand.desktop.recording import duration_of
from deskhand.errors import DesktopError

_PATIENCE = 60.0
"""Seconds to draw a film in, besides ten times what it lasts."""

_PIXELS_OF_A_CHARACTER = 0.56
"""Width of a character of the caption's font, on average, as a part of its height."""

_COLOURS: Final = {"good": "80CB5E", "bad": "727BFF", "dim": "979D9D", "": "EAECEC"}
_HIT: Final = "7A00E5"
"""Colours as ASS spells them: blue, green, red."""

_STYLE: Final = (
    "Name,Fontname,Fontsize,PrimaryColour,OutlineColour,BorderStyle,Outline,Shadow,Alignment,"
    "MarginL,MarginR,MarginV"
)
_BOTTOM_LEFT, _TOP_LEFT = 1, 7


def burn_in(recording: Path, marks: Sequence[Mark], out: Path, *, began: float = 0.0) -> None:
    """Write ``recording`` with its marks to ``out`` (MP4, 0600): a line below the picture, rings and outlines in it.

    ``began`` is the recording's first moment on the marks' clock. DesktopError when the recording cannot be read or the
    film not be written; MissingPart without ffmpeg.
    """
    lasts = duration_of(str(recording))
    if not lasts:
        raise DesktopError(f"{recording} is no recording that can be played")
    width, height = _size_of(recording)
    strip = max(28, round(height * 0.055) // 2 * 2)
    with tempfile.TemporaryDirectory(prefix="deskhand-film-") as room:
        script = script_of(marks, width, height, strip, began=began, lasts=lasts)
        Path(room, "marks.ass").write_text(script, encoding="utf-8")
        draw = f"pad=iw:ih+{strip}:0:0:color=0x1c1c1a,ass=marks.ass"
        done = out.absolute().with_name(f".{out.name}.making")
        encode = "-c:v libx264 -preset veryfast -crf 21 -pix_fmt yuv420p -movflags +faststart -f mp4 -y"
        command = [require("ffmpeg"), "-nostdin", "-v", "error", "-i", str(recording.absolute()), "-vf", draw]
        try:
            os.close(os.open(done, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
            _run([*command, *encode.split(), str(done)], room, _PATIENCE + 10 * lasts)
            os.replace(done, out)
        except OSError as error:
            raise DesktopError(f"cannot write the film {out}: {error.strerror}") from error
        finally:
            with contextlib.suppress(FileNotFoundError):
                done.unlink()


def script_of(
    marks: Sequence[Mark], width: int, height: int, strip: int, *, began: float, lasts: float
) -> str:
    """The subtitle script: captions in the strip of ``strip`` pixels below a picture of ``width`` by ``height``."""
    size = round(strip * 0.55)
    room = int((width - 2 * size) / (size * _PIXELS_OF_A_CHARACTER))
    lines = [
        "[Script Info]",
        "ScriptType: v4.00+",
        "WrapStyle: 2",
        "ScaledBorderAndShadow: yes",
        f"PlayResX: {width}",
        f"PlayResY: {height + strip}",
        "[V4+ Styles]",
        f"Format: {_STYLE}",
        f"Style: Caption,DejaVu Sans,{size},&H00EAECEC,&H001A1C1C,1,0,0,{_BOTTOM_LEFT},{size},{size},{strip // 4}",
        f"Style: Mark,DejaVu Sans,{size},&HFF000000,&H00{_HIT},1,2,0,{_TOP_LEFT},0,0,0",
        "[Events]",
        "Format: Layer,Start,End,Style,Text",
    ]
    for mark in marks:
        start, end = mark.start - began, (lasts if mark.end is None else mark.end - began)
        colour = _COLOURS.get(mark.mood, _COLOURS[""])
        lines += _line(start, end, lasts, "Caption", f"{{\\1c&H{colour}&}}{_inert(mark.caption, room)}")
        until = mark.pointed - began
        if mark.box is not None:
            lines += _line(start, until, lasts, "Mark", _outline(mark.box))
        if mark.point is not None:
            lines += _line(start, until, lasts, "Mark", _ring(mark.point))
    return "\n".join(lines) + "\n"


def _line(start: float, end: float, lasts: float, style: str, text: str) -> list[str]:
    start, end = max(0.0, start), min(end, lasts)
    if end <= start:
        return []
    return [f"Dialogue: 0,{_clock(start)},{_clock(end)},{style},{text}"]


def _clock(seconds: float) -> str:
    hundredths = round(seconds * 100)
    return f"{hundredths // 360000}:{hundredths // 6000 % 60:02}:{hundredths // 100 % 60:02}.{hundredths % 100:02}"


def _inert(words: str, room: int) -> str:
    """A caption that fits, in which nothing is an instruction: what came from a screen may hold braces."""
    cut = words if len(words) <= room else f"{words[: room - 1]}…"
    line = " ".join(cut.splitlines())
    return line.replace("\\", "\\\u2060").replace("{", "\\{").replace("}", "\\}")


def _outline(box: tuple[float, float, float, float]) -> str:
    x, y, width, height = map(round, box)
    return _drawn(x, y, f"m 0 0 l {width} 0 l {width} {height} l 0 {height}")


def _ring(point: tuple[float, float], radius: int = 15) -> str:
    """A circle of four curves, within half a pixel of the true one."""
    r, k = radius, round(radius * 0.5523)
    x, y = (round(edge) - r for edge in point)
    return _drawn(
        x,
        y,
        f"m {r} 0 b {r + k} 0 {2 * r} {r - k} {2 * r} {r} b {2 * r} {r + k} {r + k} {2 * r} {r} {2 * r} "
        f"b {r - k} {2 * r} 0 {r + k} 0 {r} b 0 {r - k} {r - k} 0 {r} 0",
    )


def _drawn(x: int, y: int, path: str) -> str:
    return f"{{\\an7\\pos({x},{y})\\fad(0,200)\\p1}}{path}{{\\p0}}"


def _size_of(recording: Path) -> tuple[int, int]:
    entries = "-select_streams v:0 -show_entries stream=width,height -of csv=p=0".split()
    probe = os.path.join(os.path.dirname(require("ffmpeg")), "ffprobe")
    said = _run([probe, "-v", "error", *entries, str(recording.absolute())], "/", _PATIENCE)
    width, _, height = said.strip().partition(",")
    return int(width), int(height.rstrip(","))


def _run(command: Sequence[str], where: str, seconds: float) -> str:
    """What a program says. DesktopError when it fails or takes longer."""
    try:
        done = subprocess.run(
            command, cwd=where, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise DesktopError(f"{os.path.basename(command[0])} did not end within {seconds:.0f} s") from None
    if done.returncode:
        raise DesktopError(f"{os.path.basename(command[0])}: {done.stderr.strip()[-400:]}")
    return done.stdout
