"""Profiles: a home and a browser profile that persist under a name, used by one desktop at a time."""

from __future__ import annotations

import fcntl
import os
import re
from dataclasses import dataclass

from deskhand.config import Settings, data_home
from deskhand.errors import DesktopError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(slots=True)
class ProfileLock:
    """A profile that is ours until `release`, or until this process ends. ``home`` and ``web`` are its directories."""

    home: str
    web: str
    _fd: int

    def release(self) -> None:
        """Idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def lock_profile(name: str, settings: Settings) -> ProfileLock:
    """Take a profile, made when it is new. ValueError for a name that cannot be one; DesktopError when it is in use."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"profile must be letters, digits, '.', '_' and '-', at most 64, not {name!r}")
    directory = os.path.join(data_home(settings), "profiles", name)
    home, web = os.path.join(directory, "home"), os.path.join(directory, "web")
    for path in (home, web):
        os.makedirs(path, 0o700, exist_ok=True)
    os.chmod(directory, 0o700)
    fd = os.open(os.path.join(directory, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise DesktopError(f"the profile {name!r} is in use by another task") from None
    return ProfileLock(home, web, fd)
