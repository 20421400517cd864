"""Profiles: a home and a browser profile that persist under a name, used by one desktop at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass

from deskhand.config import Settings, data_home
from deskhand.errors import DesktopError
from deskhand.terms import PROFILE_NAME, Private


@dataclass(slots=True)
class ProfileLock:
    """A profile that is ours until `release`, or until this process ends.

    ``home`` and ``web`` are its directories, ``cookies`` the file of its browser's cookies.
    """

    home: str
    web: str
    cookies: str
    _fd: int

    def release(self) -> None:
        """Idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRow:
    """A profile in a list: its size in bytes, when it was used last (seconds since the epoch), whether it is in use."""

    name: str
    bytes: int
    used: float
    busy: bool


def lock_profile(name: str, settings: Settings) -> ProfileLock:
    """Take a profile, made when it is new. ValueError for a name that cannot be one; DesktopError when it is in use."""
    directory = _directory(name, settings)
    home, web = os.path.join(directory, "home"), os.path.join(directory, "web")
    for path in (home, web):
        os.makedirs(path, 0o700, exist_ok=True)
    os.chmod(directory, 0o700)
    fd = _lock(directory)
    if fd is None:
        raise DesktopError(f"the profile {name!r} is in use by another task")
    os.utime(directory)
    return ProfileLock(home, web, os.path.join(directory, "cookies.json"), fd)


def list_profiles(settings: Settings) -> list[ProfileRow]:
    """All profiles, by name."""
    root = os.path.join(data_home(settings), "profiles")
    names = sorted(os.listdir(root)) if os.path.isdir(root) else []
    return [_row(name, os.path.join(root, name)) for name in names if PROFILE_NAME.fullmatch(name)]


def remove_profile(name: str, settings: Settings) -> None:
    """Delete a profile with its files and logins. ValueError when there is none, DesktopError when it is in use."""
    directory = _directory(name, settings)
    if not os.path.isdir(directory):
        raise ValueError(f"no profile is called {name!r}")
    fd = _lock(directory)
    if fd is None:
        raise DesktopError(f"the profile {name!r} is in use by a task")
    try:
        shutil.rmtree(directory)
    finally:
        os.close(fd)


def _directory(name: str, settings: Settings) -> str:
    return os.path.join(data_home(settings), "profiles", Private(profile=name).profile or "")


def _lock(directory: str) -> int | None:
    """The descriptor that holds a profile's lock; None while another process holds it."""
    fd = os.open(os.path.join(directory, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def _row(name: str, directory: str) -> ProfileRow:
    size = 0
    for place, _, files in os.walk(directory):
        for file in files:
            with suppress(OSError):
                size += os.lstat(os.path.join(place, file)).st_size
    fd = _lock(directory)
    if fd is not None:
        os.close(fd)
    return ProfileRow(name=name, bytes=size, used=os.stat(directory).st_mtime, busy=fd is None)
