"""Reading a log: its events, whether its writer lives, and what is still being written."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deskhand.audit.chain import split_lines

Event = dict[str, Any]

_TAIL_BYTES = 256 * 1024
_LOOK = 0.25
"""Seconds between two looks at a log that is being followed, where nothing tells of its growth."""


def read_events(path: Path) -> Iterator[Event]:
    """The events of a log, oldest first. Skips a torn line; an event of a newer version is given as it is."""
    with path.open("rb") as file:
        for line, ended in split_lines(iter(lambda: file.read(1 << 20), b"")):
            if ended and (event := parse(line)) is not None:
                yield event


def last_events(path: Path, count: int) -> list[Event]:
    """The last ``count`` events, oldest first, read from the file's end without reading all of it."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        size = _TAIL_BYTES
        while True:
            start = file.seek(max(0, end - size))
            data = file.read(end - start)
            lines = data.split(b"\n")[:-1]  # what follows the last LF is a torn line or nothing
            whole = lines if start == 0 else lines[1:]
            events = [event for line in whole[-count:] if (event := parse(line)) is not None]
            if len(events) >= count or start == 0:
                return events
            size *= 4


def is_running(path: Path) -> bool:
    """Whether a living process holds the log's lock. False when there is no log."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def follow(path: Path, *, stop: threading.Event | None = None) -> Iterator[Event]:
    """The events of a log as they are written, from the first one, until its writer is gone or ``stop`` is set."""
    return (event for line in follow_lines(path, stop=stop) if (event := parse(line)) is not None)


def follow_lines(path: Path, *, stop: threading.Event | None = None) -> Iterator[bytes]:
    """The same as `follow`, as the lines' bytes without LF."""
    stop = stop or threading.Event()
    rest = b""
    with path.open("rb") as file:
        while True:
            alive = is_running(
                path
            )  # asked before reading, so that the last lines of a writer that ends are read
            while chunk := file.read(1 << 16):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines
            if not alive or stop.wait(_LOOK):
                return


def parse(line: bytes) -> Event | None:
    """One line as an event; None when it is none (torn, or not of this log)."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("kind"), str) else None
