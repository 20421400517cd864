"""Binds cua-auto-harness to a private desktop: every action of its catalogs becomes one step of our own vocabulary.

The harness runs its observers (a Tk window, an X RECORD tap) by shell commands in "the guest": here a bubblewrap box
with processes, /tmp and ports of its own, which sees the desktop's display. So runs can stand side by side.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from autoharness.adapters import SutExecutionError
from autoharness.adapters.gym_anything import build_xdotool_commands
from autoharness.backend import Adapter
from autoharness.contracts import (
    Action,
    ButtonPress,
    ButtonRelease,
    Click,
    Drag,
    KeyChord,
    Move,
    Scroll,
    TypeText,
)

from deskhand import Private, open_desktop_sync
from deskhand.errors import DeskhandError
from deskhand.messages import Json
from deskhand.tools.targets import failed

SCREEN = (1920, 1080)
"""The size that the catalogs' coordinates are made for."""


class Guest:
    """A shell in a box, fed through a pipe. It ends with this process, and everything it started with it."""

    def __init__(self, display: str, xauthority: str) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="conformance-")
        cookie = Path(self._directory.name, "xauthority")
        cookie.write_bytes(_local_cookie(Path(xauthority).read_bytes()[-16:]))
        x_socket = f"/tmp/.X11-unix/X{display.removeprefix(':')}"
        env = {
            "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": "/tmp",
            "XAUTHORITY": "/tmp/xauthority",
        }
        box = "bwrap --unshare-pid --unshare-net --die-with-parent --new-session --clearenv".split()
        box += ["--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
        box += ["--ro-bind", sys.prefix, sys.prefix]  # it may lie below /tmp
        box += ["--ro-bind", str(cookie), "/tmp/xauthority", "--ro-bind", x_socket, x_socket]
        box += [word for name, value in env.items() for word in ("--setenv", name, value)]
        self._shell = subprocess.Popen(
            [*box, "--chdir", "/tmp", "bash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )

    def run(self, command: str, timeout: float) -> tuple[int, str]:
        """The exit status and stdout of a command line; what it leaves in the background stays."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        line = f"bash -c {shlex.quote(command)} </dev/null 2>/dev/null; printf '\\0%d\\0' $?\n"
        self._shell.stdin.write(line.encode())
        deadline = time.monotonic() + timeout
        said = b""
        while not said.endswith(b"\0"):
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._shell.stdout], [], [], left)[0]:
                raise TimeoutError(f"after {timeout:g} s: {command}")
            chunk = os.read(self._shell.stdout.fileno(), 65536)
            if not chunk:
                raise RuntimeError(f"the guest's shell has ended: {command}")
            said += chunk
        out, status, _ = said.rsplit(b"\0", 2)
        return int(status), out.decode(errors="replace")

    def end(self) -> None:
        """End the box and wait for it."""
        self._shell.kill()
        self._shell.wait()
        for pipe in (self._shell.stdin, self._shell.stdout):
            assert pipe is not None
            pipe.close()
        self._directory.cleanup()


def _local_cookie(cookie: bytes) -> bytes:
    """An Xauthority file as python-xlib wants it: it takes no entry for any host (FamilyWild), only for this one."""
    fields = (socket.gethostname().encode(), b"", b"MIT-MAGIC-COOKIE-1", cookie)
    return struct.pack(">H", 256) + b"".join(struct.pack(">H", len(field)) + field for field in fields)


class Deskhand(Adapter):  # type: ignore[misc]
    """Actions through `open_desktop_sync` and `act`, as any user of the package would send them."""

    supports_raw_tap = True

    def __init__(self, **options: Any) -> None:
        self._open = contextlib.ExitStack()

    def boot(self) -> None:
        """Open the desktop and the guest beside it."""
        self._desk = self._open.enter_context(open_desktop_sync(Private(size=SCREEN)))
        env = self._desk.desktop.client_env
        self.guest_display = env["DISPLAY"]
        self._guest = Guest(env["DISPLAY"], env["XAUTHORITY"])
        self._open.callback(self._guest.end)

    def exec(self, cmd: str, timeout: int = 120) -> tuple[int, str]:
        """Run a command in the guest."""
        return self._guest.run(cmd, timeout)

    def inject(self, action: Action) -> None:
        """Look, as a model does before it aims, then act."""
        self._image = self._desk.screenshot().id
        try:
            report = self._desk.act([self._step(action)])
        except DeskhandError as error:
            raise SutExecutionError(str(error)) from error
        for step in report.steps:
            if failed(step.effect):
                raise SutExecutionError(f"{step.effect}: {step.message}")

    def _step(self, action: Action) -> Json:
        match action:
            case Click():
                return self._at(action, "click", count=action.count, modifiers=action.modifiers)
            case ButtonPress():
                return self._at(action, "press")
            case ButtonRelease():
                return self._at(action, "release")
            case Move():
                return {"kind": "move", "target": self._spot(action.x, action.y)}
            case Drag():
                path = [self._spot(x, y) for x, y in action.path]
                return {
                    "kind": "drag",
                    "path": path,
                    "button": action.button,
                    "modifiers": action.modifiers,
                }
            case Scroll():
                return {
                    "kind": "scroll",
                    "target": self._spot(action.x, action.y),
                    "down": action.dy_ticks,
                    "right": action.dx_ticks,
                    "modifiers": action.modifiers,
                }
            case KeyChord():
                return {"kind": "key", "keys": "+".join(action.keys)}
            case TypeText():
                return {"kind": "type", "text": action.text}
        raise AssertionError(f"the catalogs have no {action.kind} at the time of writing")

    def _at(self, action: Click | ButtonPress | ButtonRelease, kind: str, **more: Any) -> Json:
        return {
            "kind": kind,
            "target": self._spot(action.x, action.y),
            "button": action.button,
        } | more

    def _spot(self, x: int, y: int) -> Json:
        return {"x": x, "y": y, "image": self._image}

    def screenshot(self, dst_path: str) -> None:
        """Write what the desk sees."""
        Path(dst_path).write_bytes(self._desk.screenshot().data)

    def teardown(self) -> None:
        """End guest and desktop."""
        self._open.close()


class Xdotool(Deskhand):
    """The harness's own reference injection on the same desktop, to compare with."""

    def inject(self, action: Action) -> None:
        """Run the reference's command lines."""
        for words in build_xdotool_commands(action):
            status, _ = self.exec(f"DISPLAY={self.guest_display} xdotool {shlex.join(words)}")
            if status:
                raise SutExecutionError(f"xdotool exited with {status}: {shlex.join(words)}")
