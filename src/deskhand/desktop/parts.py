"""The programs that a desktop is made of, and the package that brings each.

Standard library only, so that ``python3 -m deskhand.desktop.parts --list-missing`` works before anything is installed.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from deskhand.errors import MissingPart

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/games:/usr/games"
"""Where programs are looked for, and the PATH that everything on a desktop gets: the system's, never the user's."""

_LIBEXEC = (
    "/usr/libexec",
    "/usr/lib/at-spi2-core",
    "/usr/lib/at-spi2",
    "/usr/lib",
    "/usr/lib/x86_64-linux-gnu/at-spi2-core",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A program and the packages that bring it.

    ``programs``: any one of them will do. ``required``: there is no desktop without it.
    """

    name: str
    programs: tuple[str, ...]
    why: str
    debian: str
    fedora: str
    arch: str
    required: bool = True


PARTS = (
    Part(
        name="Xvfb",
        programs=("Xvfb",),
        why="the display of a private desktop",
        debian="xvfb",
        fedora="xorg-x11-server-Xvfb",
        arch="xorg-server-xvfb",
    ),
    Part(
        name="setpriv",
        programs=("setpriv",),
        why="ends every process with the task",
        debian="util-linux",
        fedora="util-linux",
        arch="util-linux",
    ),
    Part(
        name="openbox",
        programs=("openbox",),
        why="gives windows focus, so that apps take keys",
        debian="openbox",
        fedora="openbox",
        arch="openbox",
    ),
    Part(
        name="dbus-daemon",
        programs=("dbus-daemon",),
        why="the desktop's own message buses",
        debian="dbus",
        fedora="dbus-daemon",
        arch="dbus",
    ),
    Part(
        name="at-spi2-registryd",
        programs=("at-spi2-registryd",),
        why="reading apps as structure",
        debian="at-spi2-core",
        fedora="at-spi2-core",
        arch="at-spi2-core",
    ),
    Part(
        name="bubblewrap",
        programs=("bwrap",),
        why="keeps apps away from the user's files",
        debian="bubblewrap",
        fedora="bubblewrap",
        arch="bubblewrap",
        required=False,
    ),
    Part(
        name="Chromium",
        programs=("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
        why="web pages",
        debian="chromium",
        fedora="chromium",
        arch="chromium",
        required=False,
    ),
    Part(
        name="ffmpeg",
        programs=("ffmpeg",),
        why="recordings",
        debian="ffmpeg",
        fedora="ffmpeg-free",
        arch="ffmpeg",
        required=False,
    ),
    Part(
        name="fonts",
        programs=("fc-match",),
        why="text on the screen",
        debian="fontconfig fonts-dejavu-core",
        fedora="fontconfig dejavu-sans-fonts",
        arch="fontconfig ttf-dejavu",
        required=False,
    ),
)

_BY_PROGRAM = {program: part for part in PARTS for program in part.programs}


def which(program: str) -> str | None:
    """The path of a program of the system, helper directories included; None when it is not there."""
    if found := shutil.which(program, path=PATH):
        return found
    for directory in _LIBEXEC:
        path = os.path.join(directory, program)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


@functools.cache
def _family() -> str:
    """``debian``, ``fedora`` or ``arch``, from /etc/os-release (``debian`` when it does not say)."""
    words: set[str] = set()
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        try:
            with open(path, encoding="utf-8") as file:
                for line in file:
                    key, _, value = line.partition("=")
                    if key in ("ID", "ID_LIKE"):
                        words.update(value.strip().strip("\"'").split())
            break
        except OSError:
            continue
    if words & {"fedora", "rhel", "centos"}:
        return "fedora"
    return "arch" if "arch" in words else "debian"


def packages(parts: Sequence[Part]) -> list[str]:
    """The names of the packages that bring these parts on this system."""
    names: list[str] = []
    for part in parts:
        names.extend(name for name in getattr(part, _family()).split() if name not in names)
    return names


def install_command(parts: Sequence[Part]) -> str:
    """The exact line that brings these parts on this system."""
    tool = {"debian": "apt-get install -y", "fedora": "dnf install -y", "arch": "pacman -S --noconfirm"}[
        _family()
    ]
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}{tool} {' '.join(packages(parts))}"


def missing(*, required_only: bool = False) -> list[Part]:
    """The parts that are not on this system."""
    return [
        part
        for part in PARTS
        if (part.required or not required_only) and not any(which(program) for program in part.programs)
    ]


def missing_part(program: str) -> MissingPart:
    """The error that says what brings ``program``."""
    part = _BY_PROGRAM[program]
    return MissingPart(part.name, f"needed for {part.why}", install_command([part]))


def require(program: str) -> str:
    """The path of a program in `PARTS`; MissingPart, with the package and the command, when it is not there."""
    if path := which(program):
        return path
    raise missing_part(program)


def main(arguments: Sequence[str]) -> int:
    """``--list-missing`` prints the packages that are missing, one a line; ``--command`` the line that brings them."""
    absent = missing()
    if "--list-missing" in arguments:
        print("\n".join(packages(absent)), end="\n" if absent else "")
    elif "--command" in arguments:
        print(install_command(absent) if absent else "", end="\n" if absent else "")
    else:
        for part in PARTS:
            print(f"{'missing' if part in absent else 'ok':8}{part.name:20}{part.why}")
    return 1 if any(part.required for part in absent) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
