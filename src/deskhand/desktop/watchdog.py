"""Lets go of held keys and buttons on a display that outlives us, when we are killed while holding them.

The X server keeps what XTEST pressed when the client that pressed it dies, even by SIGKILL. As a program, ``python
watchdog.py FD DISPLAY XAUTHORITY`` reads what is pressed and released from the pipe FD and, when the pipe ends,
releases what is left. It speaks the few X requests that it takes itself: standard library only, so it starts in
milliseconds and stays small.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

_DEADLINE = 5.0


class Watchdog:
    """Our end of the pipe. Starts the process at the first press; `close` ends it."""

    def __init__(self, display: str, xauthority: str | None) -> None:
        self._display, self._xauthority = display, xauthority
        self._pipe = -1
        self._process: subprocess.Popen[bytes] | None = None

    def note(self, kind: str, detail: int, down: bool) -> None:
        """Tell it of a press before it is made, or of a release. Never raises: input works without it."""
        if self._process is None:
            if not down:
                return
            self._start()
        with contextlib.suppress(OSError):
            os.write(self._pipe, f"{kind} {detail} {int(down)}\n".encode())

    def close(self) -> None:
        """End it; it releases what it still knows as pressed. Idempotent."""
        process, self._process = self._process, None
        if process is not None:
            os.close(self._pipe)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_DEADLINE)

    def _start(self) -> None:
        from deskhand.desktop.processes import spawn

        reader, self._pipe = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._pipe, False)
        command = [sys.executable, "-I", "-S", __file__, str(reader), self._display, self._xauthority or ""]
        try:
            # A session of its own and no leash: what ends us, or our group, must not end it.
            self._process = spawn(command, env={}, pass_fds=(reader,), outlives_us=True)
        finally:
            os.close(reader)


def watch(pipe: int) -> set[tuple[str, int]]:
    """Read the pipe to its end; what is pressed then."""
    held: set[tuple[str, int]] = set()
    with open(pipe, encoding="ascii") as lines:
        for line in lines:
            if not line.endswith("\n"):
                break
            kind, detail, down = line.split()
            (held.add if down == "1" else held.discard)((kind, int(detail)))
    return held


def release(held: set[tuple[str, int]], display: str, xauthority: str) -> None:
    """Release keys and buttons through XTEST on a bare X connection (X protocol, appendix B; XTEST, FakeInput)."""
    with _connect(display) as server:
        name, data = _cookie(display, xauthority)
        hello = struct.pack("<BxHHHH2x", ord("l"), 11, 0, len(name), len(data))
        server.sendall(hello + _padded(name) + _padded(data))
        status, length = struct.unpack("<B5xH", _read(server, 8))
        _read(server, 4 * length)
        if status != 1:
            return
        server.sendall(struct.pack("<BxHH2x", 98, 4, 5) + _padded(b"XTEST"))  # QueryExtension
        _, present, opcode = struct.unpack("<B7xBB22x", _read(server, 32))
        if not present:
            return
        for kind, detail in held:
            event = 3 if kind == "key" else 5
            server.sendall(struct.pack("<BBHBB2xII8xhh7xB", opcode, 2, 9, event, detail, 0, 0, 0, 0, 0))
        server.sendall(
            struct.pack("<BxH", 43, 1)
        )  # GetInputFocus: its reply says that all of it was carried out
        _read(server, 32)


def _connect(display: str) -> socket.socket:
    host, _, number = display.rpartition(":")
    number = number.partition(".")[0]
    if host and host != "unix":
        return socket.create_connection((host, 6000 + int(number)), _DEADLINE)
    path = f"/tmp/.X11-unix/X{number}"
    for address in ("\0" + path, path):
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.settimeout(_DEADLINE)
        try:
            server.connect(address)
        except OSError:
            server.close()
        else:
            return server
    raise ConnectionRefusedError(f"no X server answers for {display}")


def _cookie(display: str, xauthority: str) -> tuple[bytes, bytes]:
    if not xauthority:
        return b"", b""
    number = display.rpartition(":")[2].partition(".")[0].encode()
    data = Path(xauthority).read_bytes()
    offset = 0
    while offset < len(data):
        offset += 2
        fields = []
        for _ in range(4):
            (length,) = struct.unpack_from(">H", data, offset)
            fields.append(data[offset + 2 : offset + 2 + length])
            offset += 2 + length
        if fields[1] in (number, b""):
            return fields[2], fields[3]
    return b"", b""


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _read(server: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = server.recv(count - len(data))
        if not chunk:
            raise ConnectionResetError("the X server hung up")
        data += chunk
    return data


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it has to be there after whatever ends us
    if left := watch(int(sys.argv[1])):
        release(left, sys.argv[2], sys.argv[3])
