"""Removing what dead workers left behind: known by its lock, never by its age."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import socket
import struct

from deskhand.desktop.directory import base_directory, base_lock
from deskhand.desktop.leash import end_marked

DISPLAY_FILE = "display"
"""In a desktop's directory: the number of its display, written before the server starts."""

_CONDEMNED = "dead-"

_DYING = 0.5
"""Seconds after which a server that still runs is taken for somebody else's."""


def sweep() -> list[str]:
    """Remove the directories whose process is gone, with their displays' files and any survivor. What was removed."""
    base = base_directory()
    condemned = []
    with base_lock(base):
        for name in os.listdir(base):
            path = os.path.join(base, name)
            if name.startswith(_CONDEMNED):
                condemned.append((path, os.path.join(base, name.removeprefix(_CONDEMNED))))
            elif os.path.isdir(path) and _abandoned(path):
                with contextlib.suppress(OSError):
                    os.rename(path, os.path.join(base, _CONDEMNED + name))
                    condemned.append((os.path.join(base, _CONDEMNED + name), path))
    for path, former in condemned:
        end_marked(former)
        remove_display_of(path)
        shutil.rmtree(path, ignore_errors=True)
    return [former for _, former in condemned]


def remove_display_of(directory: str) -> None:
    """Remove the files of the display that a desktop's directory names, when its server is dead."""
    with contextlib.suppress(OSError, ValueError), open(os.path.join(directory, DISPLAY_FILE)) as file:
        remove_display_files(int(file.read()))


def _abandoned(path: str) -> bool:
    try:
        fd = os.open(os.path.join(path, "lock"), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return True  # made and locked under the base's lock, so one without a lock file is half removed
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def socket_path(number: int) -> str:
    """Where X servers put the socket of a display."""
    return f"/tmp/.X11-unix/X{number}"


def lock_path(number: int) -> str:
    """Where X servers put the lock of a display (their pid in text)."""
    return f"/tmp/.X{number}-lock"


def remove_display_files(number: int) -> bool:
    """Remove the socket and the lock of a display of ours whose server is dead. False when it is not, or not ours."""
    if not _ends(_server_of(socket_path(number))) or _locked_by_the_living(number):
        return False
    for path in (socket_path(number), lock_path(number)):
        with contextlib.suppress(OSError):
            if os.lstat(path).st_uid == os.geteuid():
                os.unlink(path)
    return True


def _server_of(path: str) -> int | None:
    """The process that listens on a socket; 0 when that cannot be told, None when nobody does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(0.5)
        try:
            client.connect(path)
            pid, _, _ = struct.unpack("iII", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            return int(pid)
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        except OSError:
            return 0


def _ends(server: int | None) -> bool:
    """Whether a server is gone, or goes: the kernel kills one with its worker, and that takes it a moment."""
    if not server:
        return server is None
    try:
        fd = os.pidfd_open(server)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    try:
        return bool(select.select([fd], [], [], _DYING)[0])
    finally:
        os.close(fd)


def _locked_by_the_living(number: int) -> bool:
    try:
        with open(lock_path(number)) as file:
            pid = int(file.read())
    except (OSError, ValueError):
        return False
    return os.path.exists(f"/proc/{pid}")
