"""Which programs are missing and what brings them, on each family of systems."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.desktop import parts


@pytest.mark.parametrize(
    ("family", "tool", "package"),
    [
        ("debian", "apt-get install -y", "xvfb"),
        ("fedora", "dnf install -y", "xorg-x11-server-Xvfb"),
        ("arch", "pacman -S --noconfirm", "xorg-server-xvfb"),
    ],
)
def test_the_command_is_that_of_the_system(
    family: str, tool: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_family", lambda: family)
    command = parts.install_command([part for part in parts.PARTS if part.name in ("Xvfb", "setpriv")])
    assert command.removeprefix("sudo ") == f"{tool} {package} util-linux"


def test_what_is_not_there_is_listed_and_what_is_required_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("Xvfb", "setpriv", "openbox", "dbus-daemon"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setattr(parts, "PATH", str(tmp_path))
    monkeypatch.setattr(parts, "_LIBEXEC", ())
    assert [part.name for part in parts.missing(required_only=True)] == ["at-spi2-registryd"]
    assert {"bubblewrap", "Chromium", "ffmpeg"} < {part.name for part in parts.missing()}


def test_the_list_works_before_anything_is_installed() -> None:
    source = Path(__file__).parents[2] / "src"
    script = "import sys; sys.path.insert(0, sys.argv[1]); from deskhand.desktop import parts; sys.exit(parts.main([]))"
    bare = [sys.executable, "-I", "-S", "-c", script, str(source)]
    done = subprocess.run(bare, capture_output=True, text=True, check=True)
    assert "Xvfb" in done.stdout


def test_every_program_of_a_part_is_named_in_its_error() -> None:
    for part in parts.PARTS:
        for program in part.programs:
            assert part.name in str(parts.missing_part(program))
