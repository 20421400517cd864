"""What tests of the desktop share: waiting for processes and windows by their events, and programs that probe a box."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbus_fast import Message
from dbus_fast.aio import MessageBus
from xcffib import xproto

from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.leash import marked
from deskhand.desktop.windows import XWindows
from deskhand.desktop.x11 import XConnection
from deskhand.messages import WindowInfo

Bare = tuple[str, str, subprocess.Popen[bytes]]
"""A display without anything on it: its name, its cookie file, its server."""


def xauthority_entry(number: bytes, name: bytes, cookie: bytes) -> bytes:
    """One entry of an X authority file, for display ``number`` of a host called host."""
    return struct.pack(">H", 256) + b"".join(
        struct.pack(">H", len(part)) + part for part in (b"host", number, name, cookie)
    )


def ended(pids: list[int], timeout: float) -> bool:
    """Whether all of these processes are gone within ``timeout`` seconds (each is waited for on its pidfd)."""
    deadline = time.monotonic() + timeout
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return False
        finally:
            os.close(fd)
    return True


def running(pids: list[int]) -> list[int]:
    """Those that are no zombies."""
    states = {pid: Path(f"/proc/{pid}/stat") for pid in pids}
    return [
        pid
        for pid, stat in states.items()
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
    ]


def directory_of(desktop: X11Desktop) -> str:
    """The one directory that holds everything a desktop makes."""
    return desktop._nest.directory.path


def processes_of(desktop: X11Desktop) -> list[int]:
    """Everything that runs for a desktop, wherever it went."""
    return marked(directory_of(desktop))


def window(desktop: X11Desktop, title: str, timeout: float = 20) -> WindowInfo:
    """The window whose title contains ``title``, waited for."""
    x = XConnection(desktop.display, desktop.client_env.get("XAUTHORITY"))
    try:
        found = XWindows(x).wait_for(lambda info: title.lower() in info.title.lower(), timeout)
        assert found is not None, (
            f"no window {title!r} among {[info.title for info in desktop.windows.list()]}"
        )
        return found
    finally:
        x.close()


def run(desktop: X11Desktop, script: str, *arguments: str, timeout: float = 20) -> Any:
    """Run a Python program on the desktop as any app is run, and return what it left in ``answer``.

    The program is the system's own interpreter; it says what it found with ``answer(value)``.
    """
    home = Path(desktop.home)
    inside = "/home/desk" if desktop.isolation == "files" else str(home)
    prelude = (
        f"import json, os, socket, sys\ndef answer(v): json.dump(v, open({inside + '/answer.json'!r}, 'w'))\n"
    )
    (home / "program.py").write_text(prelude + script)
    (home / "answer.json").unlink(missing_ok=True)
    pid = desktop.launch(["python3", f"{inside}/program.py", *arguments])
    assert ended([pid], timeout), "the program does not end"
    return json.loads((home / "answer.json").read_text())


async def ask_bus(
    address: str, member: str, signature: str = "", body: list[object] | None = None
) -> Message:
    """One call to the bus itself."""
    bus = await MessageBus(bus_address=address).connect()
    try:
        return await bus.call(
            Message(
                destination="org.freedesktop.DBus",
                path="/org/freedesktop/DBus",
                interface="org.freedesktop.DBus",
                member=member,
                signature=signature,
                body=body or [],
            )
        )
    finally:
        bus.disconnect()


@contextlib.contextmanager
def bare_display(directory: Path, options: str = "-screen 0 640x481x24") -> Iterator[Bare]:
    """An X server and nothing else, whose cookie holds colons."""
    authority = directory / "Xauthority"
    authority.write_bytes(xauthority_entry(b"", b"MIT-MAGIC-COOKIE-1", b"a:b:c:d:0123456\x00"))
    reader, writer = os.pipe()
    with subprocess.Popen(
        ["Xvfb", *f"-displayfd {writer} -nolisten tcp -noreset {options}".split(), "-auth", str(authority)],
        pass_fds=[writer],
        stderr=subprocess.DEVNULL,
    ) as server:
        os.close(writer)
        with open(reader) as pipe:
            number = pipe.readline().strip()
        try:
            yield f":{number}", str(authority), server
        finally:
            server.send_signal(signal.SIGCONT)
            server.terminate()


@contextlib.contextmanager
def open_display(directory: Path, options: str = "-screen 0 640x481x24") -> Iterator[tuple[str, str]]:
    """An X server and nothing else: its name, and a cookie file that any client can use."""
    with bare_display(directory, options) as (display, authority, _):
        cookie = Path(authority).read_bytes()[-16:]
        anywhere = struct.pack(">H", 0xFFFF)  # the family of entries that fit every host
        fields = (b"", b"", b"MIT-MAGIC-COOKIE-1", cookie)
        Path(authority).write_bytes(
            anywhere + b"".join(struct.pack(">H", len(field)) + field for field in fields)
        )
        yield display, authority


@contextlib.contextmanager
def managed_display(directory: Path, options: str = "-screen 0 640x481x24") -> Iterator[tuple[str, str]]:
    """The same with a window manager, such as a user has."""
    with open_display(directory, options) as (display, authority):
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(directory),
            "DISPLAY": display,
            "XAUTHORITY": authority,
        }
        x = XConnection(display, authority)
        manager = subprocess.Popen(["openbox"], env=env, stderr=subprocess.DEVNULL)
        try:
            x.core.ChangeWindowAttributes(x.root, xproto.CW.EventMask, [xproto.EventMask.PropertyChange])
            while not x.cardinals(x.root, "_NET_SUPPORTING_WM_CHECK"):
                assert x.wait_event(10) is not None, "the window manager does not start"
            yield display, authority
        finally:
            x.close()
            manager.kill()
            manager.wait()
