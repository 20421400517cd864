"""The one directory that holds everything a desktop makes, locked for as long as its process lives."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator

from deskhand.errors import DesktopError

_LONGEST_BASE = 60
"""A unix socket's address has 108 bytes; ours are the base, an id of 8 and the socket's name."""


def base_directory() -> str:
    """``deskhand-<uid>`` under the temporary directory: 0700 and ours, or DesktopError. Made when it is not there."""
    temporary = tempfile.gettempdir()
    if len(temporary.encode()) > _LONGEST_BASE:
        temporary = "/tmp"
    base = os.path.join(os.path.realpath(temporary), f"deskhand-{os.geteuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(base, 0o700)
    status = os.lstat(base)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise DesktopError(
            f"{base} must be a directory of yours that nobody else can enter; remove it and try again"
        )
    return base


@contextlib.contextmanager
def base_lock(base: str) -> Iterator[None]:
    """Held while a directory is made or condemned, so that a sweep never meets one that is not locked yet."""
    fd = os.open(os.path.join(base, ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


class DesktopDirectory:
    """A 0700 directory with a ``lock`` file that is held; the lock falls with the process, however that ends."""

    def __init__(self, path: str, lock: int) -> None:
        self.path, self._lock = path, lock

    @classmethod
    def create(cls) -> DesktopDirectory:
        """A new one. DesktopError when the temporary directory cannot be used."""
        base = base_directory()
        with base_lock(base):
            path = os.path.join(base, secrets.token_hex(4))
            os.mkdir(path, 0o700)
            lock = os.open(os.path.join(path, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return cls(path, lock)

    def join(self, *names: str) -> str:
        return os.path.join(self.path, *names)

    def make(self, *names: str) -> str:
        """A 0700 directory in here, made when it is not there."""
        path = self.join(*names)
        os.makedirs(path, 0o700, exist_ok=True)
        return path

    def write(self, name: str, content: bytes | str, mode: int = 0o600) -> str:
        """A new file in here with exactly these permissions from the start; its path."""
        path = self.join(name)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with open(fd, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return path

    def remove(self) -> None:
        """Remove all of it and let go of the lock. What cannot be removed now is left to the next sweep. Idempotent."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
