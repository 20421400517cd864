"""Looking into films: how many pictures they hold, their size, and a picture of a moment."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

from PIL import Image


def frames_of(path: Path) -> int:
    """How many pictures can be decoded; fails when the film as a whole cannot."""
    command = [
        "ffprobe",
        "-v",
        "quiet",
        "-count_frames",
        "-show_entries",
        "stream=nb_read_frames",
        "-of",
        "json",
    ]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=60, check=True)
    return int(json.loads(done.stdout)["streams"][0]["nb_read_frames"])


def size_of(path: Path) -> tuple[int, int]:
    """Width and height in pixels."""
    command = ["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    stream = json.loads(done.stdout)["streams"][0]
    return stream["width"], stream["height"]


def picture_at(path: Path, seconds: float) -> Image.Image:
    """The picture that is shown at a moment."""
    command = ["ffmpeg", "-v", "error", "-ss", str(seconds), "-i", str(path), "-frames:v", "1"]
    done = subprocess.run(
        [*command, "-f", "image2pipe", "-c:v", "png", "-"], capture_output=True, timeout=60, check=True
    )
    return Image.open(io.BytesIO(done.stdout)).convert("RGB")
