"""The process behind a window, by the server's own credentials; and whether it has come to rest."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, Final

import xcffib
import xcffib.res

from deskhand.desktop.x11 import XConnection
from deskhand.errors import DesktopError

_LOCAL_PID: Final = xcffib.res.ClientIdMask.LocalClientPID
_LOOK: Final = 0.005
_LOOKS_AT_REST: Final = 4
"""Looks in a row at which every thread slept and no processor time had passed."""


def client_pid(x: XConnection, window: int) -> int | None:
    """The pid, outside any sandbox, of the client that made a window (XRes 1.2); None when the server cannot say."""
    with x.lock:
        asked = pid_request(x, window)
        reply = x.replies([asked])[0] if asked is not None else None
    return pid_in(reply) if reply is not None else None


def pid_request(x: XConnection, window: int) -> Any | None:
    """Ask for that pid, for `XConnection.replies`; None when the server does not offer it."""
    spec: Any = xcffib.res.ClientIdSpec
    try:
        resources = x.extension(xcffib.res)
    except DesktopError as error:
        if isinstance(error.__cause__, xcffib.ConnectionException):
            raise
        return None
    return resources.QueryClientIds(1, [spec.synthetic(window, _LOCAL_PID)])


def pid_in(reply: Any) -> int | None:
    """The pid in the reply to a `pid_request`."""
    pids = [value.value[0] for value in reply.ids if value.spec.mask & _LOCAL_PID and len(value.value)]
    return pids[0] if pids and pids[0] > 0 else None


def server_pid(x: XConnection) -> int | None:
    """The pid of the server itself; None when it is not on this machine, or somebody else made its socket."""
    try:
        connection = socket.socket(fileno=os.dup(x.fd))
    except OSError:
        return None
    with connection:
        if connection.family != socket.AF_UNIX:
            return None
        pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid if pid not in (0, os.getpid()) else None


def wait_at_rest(pids: Sequence[int], timeout: float) -> bool:
    """Whether processes come to wait for something to do, all of them at once, within ``timeout`` seconds.

    A client that waits while its server does, too, has read what was sent to it: its socket would have woken it. There
    is no event for that, so they are looked at every few milliseconds.
    """
    end = time.monotonic() + timeout
    before: int | None = None
    rested = 0
    while rested < _LOOKS_AT_REST:
        states = [_state(pid) for pid in pids]
        sleeping, spent = all(state[0] for state in states), sum(state[1] for state in states)
        rested = rested + 1 if sleeping and spent == before else 0
        before = spent
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK)
    return True


def _state(pid: int) -> tuple[bool, int]:
    """Whether all threads sleep, and the nanoseconds of processor time spent so far. A process that is gone sleeps."""
    sleeping, spent = True, 0
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/task/{thread}/stat") as stat:
                    sleeping = sleeping and stat.read().rpartition(")")[2].split()[0] != "R"
                with open(f"/proc/{pid}/task/{thread}/schedstat") as schedule:
                    spent += int(schedule.read().split()[0])
    return sleeping, spent
