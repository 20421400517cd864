"""How to start a desktop's own Chromium so that it is driven over a pipe, through the sandbox."""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from deskhand.desktop.parts import missing_part, which
from deskhand.errors import MissingPart

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_FLAGS = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-gpu",
    "--disable-breakpad",
    "--password-store=basic",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserCommand:
    """What Playwright's ``launch_persistent_context`` needs to start a desktop's browser.

    ``executable`` is a script that runs the browser on the desktop, in its box, with the caller's fds 3 and 4 (the
    pipe of ``--remote-debugging-pipe``). ``profile`` and ``downloads`` are directories that have the same path in
    and outside of the box. ``chromium_sandbox`` is to be handed on as it is: Playwright otherwise switches the
    browser's own sandbox off. ``artifacts`` is a directory for what Playwright makes meanwhile. ``cookies`` is the file
    that keeps a profile's cookies, where there is one.
    """

    executable: str
    args: tuple[str, ...]
    env: dict[str, str]
    profile: str
    downloads: str
    artifacts: str
    chromium_sandbox: bool
    cookies: str | None = None


def find_browser() -> str:
    """Chromium or Chrome of the system, else Playwright's own build. MissingPart when there is none."""
    for program in _PROGRAMS:
        if path := which(program):
            return path
    cache = os.path.expanduser("~/.cache/ms-playwright")
    for pattern in ("chromium-*/chrome-linux64/chrome", "chromium-*/chrome-linux/chrome"):
        if builds := sorted(glob.glob(os.path.join(cache, pattern))):
            return builds[-1]
    raise missing_part("chromium")


def has_browser() -> bool:
    """Whether `find_browser` finds one."""
    try:
        find_browser()
    except MissingPart:
        return False
    return True


def browser_flags(*, scale: int, size: tuple[int, int]) -> tuple[str, ...]:
    """The switches for a desktop of this scale and size."""
    flags = [*_FLAGS, "--window-position=0,0", f"--window-size={size[0] // scale},{size[1] // scale}"]
    if scale > 1:
        flags.append(f"--force-device-scale-factor={scale}")
    return tuple(flags)


def uses_own_sandbox() -> bool:
    """Chromium refuses to run its sandbox as root."""
    return os.geteuid() != 0


def write_launcher(path: str, command: Sequence[str]) -> str:
    """A script that becomes ``command`` with its arguments appended; open descriptors pass through. Its path."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o700)
    with open(fd, "w") as file:
        file.write(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    return path
