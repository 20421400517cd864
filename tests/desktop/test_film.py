"""A recording with captions and markers burnt in, looked at pixel by pixel."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from deskhand.audit.marks import Mark
from deskhand.desktop.film import burn_in
from deskhand.errors import DesktopError
from films import frames_of, picture_at, size_of

GREY = (110, 110, 110)
HIT = (229, 0, 122)
BOX, POINT = (100.0, 60.0, 80.0, 40.0), (300.0, 120.0)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of grey, as a recorder writes them."""
    path = tmp_path_factory.mktemp("film") / "recording.mp4"
    source = "color=c=0x6e6e6e:s=640x360:r=10:d=4"
    encode = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -movflags +empty_moov -frag_duration 500000"
    command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, *encode.split(), "-y", str(path)]
    subprocess.run(command, check=True, timeout=60)
    return path


def _mark(caption: str = "2.1  click button “Save”", **more: object) -> Mark:
    fields: dict[str, object] = {"start": 11.0, "end": 12.0, "pointed": 12.0, "caption": caption, **more}
    return Mark(**fields)  # type: ignore[arg-type]


def _film(recording: Path, tmp_path: Path, *marks: Mark) -> Path:
    out = tmp_path / "film.mp4"
    burn_in(recording, marks, out, began=10.0)
    return out


def _pixel(picture: Image.Image, x: float, y: float) -> tuple[int, ...]:
    pixel = picture.getpixel((x, y))
    assert isinstance(pixel, tuple)
    return pixel


def _near(found: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 60 for a, b in zip(found, wanted, strict=True))


def _written(picture: Image.Image) -> float:
    """How much of the strip below the picture is letters."""
    strip = picture.crop((0, 360, picture.width, picture.height)).convert("L")
    return sum(strip.histogram()[90:]) / (strip.width * strip.height)


def test_rings_and_outlines_are_where_the_step_was_while_it_lasts(recording: Path, tmp_path: Path) -> None:
    film = _film(recording, tmp_path, _mark(box=BOX, point=POINT))
    assert size_of(film) == (640, 388)
    assert frames_of(film) == 40
    assert stat.S_IMODE(film.stat().st_mode) == 0o600
    before, during, after = (picture_at(film, at) for at in (0.5, 1.5, 2.5))
    places = [(99, 80), (180, 80), (140, 59), (140, 100), (284, 120), (315, 120), (300, 104), (300, 135)]
    for place in places:
        assert _near(_pixel(during, *place), HIT), place
        assert _near(_pixel(before, *place), GREY), place
        assert _near(_pixel(after, *place), GREY), place
    for place in [(140, 80), (300, 120), (93, 80), (187, 80), (277, 120), (323, 120)]:
        assert _near(_pixel(during, *place), GREY), place


def test_the_caption_is_below_the_picture_and_hides_none_of_it(recording: Path, tmp_path: Path) -> None:
    film = _film(recording, tmp_path, _mark())
    before, during, after = (picture_at(film, at) for at in (0.5, 1.5, 2.5))
    assert _written(during) > 0.01
    assert _written(before) == _written(after) == 0
    picture = during.crop((0, 0, 640, 359))
    difference = ImageChops.difference(picture, Image.new("RGB", picture.size, GREY)).convert("L")
    assert sum(difference.histogram()[12:]) == 0


def test_the_last_caption_stays_to_the_end_and_what_was_before_the_film_is_left_out(
    recording: Path, tmp_path: Path
) -> None:
    film = _film(recording, tmp_path, _mark(start=3.0, end=9.0, box=BOX), _mark(start=12.0, end=None))
    assert _written(picture_at(film, 0.5)) == 0
    assert _written(picture_at(film, 3.8)) > 0.01


HOSTILE = [
    "{\\p1}m 0 -300 l 640 -300 640 0 0 0{\\p0}",
    "a\\Nb\\nc\\hd",
    "}{\\pos(320,100)\\fs200}BIG",
    "x" * 2**20,
    "\nDialogue: 0,0:00:00.00,0:00:04.00,Caption,{\\pos(320,100)\\fs200}BIG",
]


def test_a_name_from_a_stranger_is_text_in_the_strip_and_nothing_else(
    recording: Path, tmp_path: Path
) -> None:
    start, lasts = 10.2, 0.7
    film = _film(
        recording,
        tmp_path,
        *(
            _mark(name, start=start + place * lasts, end=start + (place + 1) * lasts)
            for place, name in enumerate(HOSTILE)
        ),
    )
    for place, name in enumerate(HOSTILE):
        picture = picture_at(film, 0.2 + (place + 0.5) * lasts)
        assert _written(picture) > 0.01, name[:40]
        shown = picture.crop((0, 0, 640, 355))
        difference = ImageChops.difference(shown, Image.new("RGB", shown.size, GREY)).convert("L")
        assert sum(difference.histogram()[12:]) == 0, name[:40]


def test_what_is_no_recording_is_refused_and_leaves_nothing(recording: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.mp4"
    wrong.write_bytes(b"no film")
    with pytest.raises(DesktopError, match="no recording that can be played"):
        burn_in(wrong, [], tmp_path / "film.mp4")
    with pytest.raises(DesktopError, match="cannot write the film"):
        burn_in(recording, [], tmp_path / "none" / "film.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.mp4"]
