"""A display of our own: Xvfb behind a cookie, marked, with a window manager."""

from __future__ import annotations

import os
import random
import secrets
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xcffib.xproto import CW, EventMask

from deskhand.desktop.directory import DesktopDirectory
from deskhand.desktop.parts import require
from deskhand.desktop.processes import Household, end, tail
from deskhand.desktop.sweep import DISPLAY_FILE, lock_path, remove_display_files, socket_path
from deskhand.desktop.x11 import XConnection
from deskhand.errors import DesktopError

_NUMBERS = range(100, 10_000)
"""Display numbers are drawn from here: above what people and display managers use, below what TCP numbering allows."""

_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """A running display: ``name`` is ``:N``, ``xauthority`` its cookie's file; see `XConnection.check_marker`."""

    number: int
    xauthority: str
    marker: str
    process: subprocess.Popen[bytes]

    @property
    def name(self) -> str:
        return f":{self.number}"


def write_cookie(path: str, cookie: bytes) -> None:
    """An Xauthority file (0600) with one MIT-MAGIC-COOKIE-1 entry that fits any host name and display number."""

    def counted(data: bytes) -> bytes:
        return struct.pack(">H", len(data)) + data

    # FamilyWild: inside the sandbox the host has another name (Xauth.h)
    entry = (
        struct.pack(">H", 0xFFFF)
        + counted(b"")
        + counted(b"")
        + counted(b"MIT-MAGIC-COOKIE-1")
        + counted(cookie)
    )
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(entry)


def number_is_free(number: int) -> bool:
    """Whether a display's lock, its socket file and its abstract socket (Linux) are all unused at this moment."""
    if os.path.lexists(lock_path(number)) or os.path.lexists(socket_path(number)):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.bind("\0" + socket_path(number))
        except OSError:
            return False
    return True


def start_display(
    directory: DesktopDirectory,
    household: Household,
    *,
    xauthority: str,
    size: tuple[int, int],
    scale: int,
    deadline: float,
) -> Display:
    """Start Xvfb on a free number and mark its root window; returns when it answers.

    ``deadline`` is on the monotonic clock. MissingPart without Xvfb; DesktopError, with its last words, when it fails.
    """
    write_cookie(xauthority, secrets.token_bytes(16))
    program, log = require("Xvfb"), directory.join("xvfb.log")
    for number in random.sample(_NUMBERS, _ATTEMPTS):
        if not number_is_free(number):
            continue
        _record_number(directory, number)
        process = _run_server(
            household, [program, f":{number}", *_server_options(size, scale, xauthority)], log, deadline
        )
        if process is not None:
            marker = secrets.token_hex(16)
            display = Display(number=number, xauthority=xauthority, marker=marker, process=process)
            _mark(display, scale)
            return display
        remove_display_files(number)
        if time.monotonic() > deadline:
            break
    raise DesktopError(f"Xvfb does not start: {tail(log) or 'no reason given'}")


def _server_options(size: tuple[int, int], scale: int, xauthority: str) -> list[str]:
    # -nopn: give up unless both the file and the abstract socket could be had, or clients may meet another server
    screen = f"{size[0]}x{size[1]}x24"
    options = f"-nopn -screen 0 {screen} -dpi {96 * scale} -nolisten tcp -noreset -s 0 -auth"
    return [*options.split(), xauthority]


def _record_number(directory: DesktopDirectory, number: int) -> None:
    with open(directory.join(DISPLAY_FILE), "w") as file:
        file.write(str(number))


def _run_server(
    household: Household, argv: Sequence[str], log: str, deadline: float
) -> subprocess.Popen[bytes] | None:
    """Start a server and read ``-displayfd`` to its newline (it writes twice, and dies when we close early)."""
    reader, writer = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            process = household.start([*argv, "-displayfd", str(writer)], env={}, log=log, pass_fds=(writer,))
        finally:
            os.close(writer)
        said = read_line(reader, deadline)
    finally:
        os.close(reader)
    if not said.endswith(b"\n"):
        end([process])
        return None
    return process


def read_line(fd: int, deadline: float) -> bytes:
    """Read a pipe up to a newline, its end or the deadline (monotonic clock)."""
    said = b""
    while not said.endswith(b"\n"):
        if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        chunk = os.read(fd, 4096)
        if not chunk:
            break
        said += chunk
    return said


def _mark(display: Display, scale: int) -> None:
    x = XConnection(display.name, display.xauthority)
    try:
        x.set_marker(display.marker)
        resources = f"Xft.dpi:\t{96 * scale}\nXft.antialias:\t1\nXft.hinting:\t1\n"
        x.set_property(x.root, "RESOURCE_MANAGER", "STRING", 8, resources.encode())
    finally:
        x.close()


def name_accessibility_bus(display: Display, address: str) -> None:
    """Write the accessibility bus's address, as apps reach it, on the root window.

    at-spi2's launcher does the same. Qt reads it there, where it ignores ``AT_SPI_BUS_ADDRESS``; its other way, to ask
    ``org.a11y.Bus``, would need a service of ours on the apps' session bus.
    """
    x = XConnection(display.name, display.xauthority, display.marker)
    try:
        x.set_property(x.root, "AT_SPI_BUS", "STRING", 8, address.encode())
    finally:
        x.close()


def start_window_manager(
    display: Display, start: Callable[[], subprocess.Popen[bytes]], *, log: str, deadline: float
) -> None:
    """Call ``start`` and return when a window manager has announced itself on the root window (EWMH).

    DesktopError, with its last words, when none has by ``deadline`` (monotonic clock).
    """
    x = XConnection(display.name, display.xauthority, display.marker)
    try:
        x.reply(x.core.ChangeWindowAttributesChecked(x.root, CW.EventMask, [EventMask.PropertyChange]))
        process = start()
        while not x.cardinals(x.root, "_NET_SUPPORTING_WM_CHECK"):
            if not _next_event(x, process, deadline):
                raise DesktopError(f"the window manager does not start: {tail(log) or 'no reason given'}")
    finally:
        x.close()


def _next_event(x: XConnection, process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Wait for an event; False when ``process`` has ended or time is up."""
    if x.event() is not None:
        return True
    try:
        ended = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        left = max(0.0, deadline - time.monotonic())
        return x.fd in select.select([x.fd, ended], [], [], left)[0]
    finally:
        os.close(ended)


WINDOW_MANAGER_CONFIG = """\
<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse><focusLast>yes</focusLast><underMouse>no</underMouse></focus>
  <placement><policy>Smart</policy><center>yes</center><monitor>Primary</monitor></placement>
  <theme><name>Clearlooks</name><titleLayout>NLIMC</titleLayout><animateIconify>no</animateIconify></theme>
  <desktops><number>1</number><popupTime>0</popupTime></desktops>
  <resize><drawContents>yes</drawContents><popupShow>Never</popupShow></resize>
  <keyboard>
    <keybind key="A-F4"><action name="Close"/></keybind>
    <keybind key="A-Tab"><action name="NextWindow"><dialog>none</dialog><finalactions><action name="Focus"/>
      <action name="Raise"/><action name="Unshade"/></finalactions></action></keybind>
  </keyboard>
  <mouse>
    <dragThreshold>1</dragThreshold><doubleClickTime>400</doubleClickTime>
    <context name="Titlebar">
      <mousebind button="Left" action="Drag"><action name="Move"/></mousebind>
      <mousebind button="Left" action="DoubleClick"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="Titlebar Top Right Bottom Left TLCorner TRCorner BRCorner BLCorner">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>
    <context name="Top Right Bottom Left TLCorner TRCorner BRCorner BLCorner">
      <mousebind button="Left" action="Drag"><action name="Resize"/></mousebind>
    </context>
    <context name="Client">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Middle" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Right" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>
    <context name="Close"><mousebind button="Left" action="Click"><action name="Close"/></mousebind></context>
    <context name="Maximize">
      <mousebind button="Left" action="Click"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="Iconify"><mousebind button="Left" action="Click"><action name="Iconify"/></mousebind></context>
  </mouse>
  <menu/>
</openbox_config>
"""
"""Focus and the title bar's buttons; no menus and no commands, so that nothing on the screen can start a program."""
