"""Working on a display that is already there."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import struct
import tempfile
import time
from collections.abc import Mapping

from deskhand.config import Settings
from deskhand.desktop.buses import registry_answers, start_bus, start_registry
from deskhand.desktop.clipboard import XClipboard
from deskhand.desktop.composed import Nest, Place, X11Desktop
from deskhand.desktop.environment import app_environment, locale_for
from deskhand.desktop.launcher import Launcher
from deskhand.desktop.portable import PortableDesktop, on_display
from deskhand.desktop.sweep import sweep
from deskhand.desktop.x11 import XConnection, read_cookie
from deskhand.errors import DesktopError, MissingPart

START_DEADLINE = 10.0
"""Seconds that attaching may take, a private accessibility bus included."""

_NAME = re.compile(r":\d{1,5}(\.\d)?")


async def open_attached(display: str, *, settings: Settings, environ: Mapping[str, str]) -> X11Desktop:
    """The desktop on ``display`` (``:99``), which belongs to somebody else and stays as it is.

    ``environ`` is the user's environment (XAUTHORITY, HOME, DISPLAY, the session bus). What is launched is not boxed,
    but it ends with this desktop. ValueError for what is not a display's name; DesktopError when it does not let us in.
    """
    if not _NAME.fullmatch(display):
        raise ValueError(f"computer must name a display as in 'display::99', not {'display:' + display!r}")
    xauthority = _authority(display, environ)
    found = await asyncio.to_thread(_look, display, xauthority)
    nest = Nest.make()
    try:
        async with asyncio.timeout(START_DEADLINE):
            return await _attach(display, xauthority, found, nest, environ)
    except BaseException as error:
        await asyncio.shield(asyncio.ensure_future(asyncio.to_thread(nest.close)))
        if isinstance(error, TimeoutError):
            raise DesktopError(f"attaching to {display} took more than {START_DEADLINE:g} s") from None
        raise


async def open_portable(display: str, *, environ: Mapping[str, str]) -> PortableDesktop:
    """The same display, as systems without an X server's means would work on it: through mss and pyautogui."""
    if not _NAME.fullmatch(display):
        raise ValueError(f"computer must name a display as in 'display::99', not {'display:' + display!r}")
    xauthority = _authority(display, environ)
    await asyncio.to_thread(_look, display, xauthority)  # says plainly when there is none
    env = on_display(display, xauthority, environ, own=_same(display, environ.get("DISPLAY", "")))
    return await asyncio.to_thread(_portable, display, xauthority, env)


def _portable(display: str, xauthority: str | None, env: Mapping[str, str]) -> PortableDesktop:
    """python3-xlib, under pyautogui, only takes a cookie that names this host and this display: it gets one while it
    connects."""
    board = XClipboard(display, xauthority)
    name = f"display:{display}"
    if xauthority is None:
        return PortableDesktop(name, env, board)
    number = display.rpartition(":")[2].partition(".")[0].encode()
    fields = (socket.gethostname().encode(), number, *read_cookie(display, xauthority))
    with tempfile.NamedTemporaryFile(prefix="deskhand-") as file:  # mode 0600
        file.write(b"\x01\x00" + b"".join(struct.pack(">H", len(field)) + field for field in fields))
        file.flush()
        return PortableDesktop(name, env, board, hands={"XAUTHORITY": file.name})


async def _attach(
    display: str, xauthority: str | None, found: tuple[str, bool], nest: Nest, environ: Mapping[str, str]
) -> X11Desktop:
    address, managed = found
    notes = ["apps launched here are not isolated from your files"]
    if not managed:
        notes.append("no window manager runs on this display: windows may not get the keyboard")
    await asyncio.to_thread(sweep)
    await asyncio.to_thread(nest.household.leash)
    run = nest.directory.make("run")
    # The user's own session bus belongs to the user's own display: a program that runs once per session would otherwise
    # open its window there instead of here
    session = (
        environ.get("DBUS_SESSION_BUS_ADDRESS", "") if _same(display, environ.get("DISPLAY", "")) else ""
    )
    deadline = time.monotonic() + START_DEADLINE
    if not session:
        path = os.path.join(run, "session")
        session = await asyncio.to_thread(
            start_bus, "session", nest.directory, nest.household, path=path, deadline=deadline
        )
    if address and not await registry_answers(address):
        notes.append("this display's own accessibility bus does not answer")
        address = ""
    a11y: str | None = address
    if not address:
        client_env = {"DISPLAY": display, **({"XAUTHORITY": xauthority} if xauthority else {})}
        try:
            a11y = await _private_a11y(nest, session, client_env, deadline)
        except (DesktopError, MissingPart) as error:
            a11y = None
            notes.append(f"apps cannot be read as structure, only as pictures: {error}")
        else:
            notes.append("only apps launched from here can be read as structure")
    home = environ.get("HOME") or os.path.expanduser("~")
    env = app_environment(
        home=home,
        runtime=environ.get("XDG_RUNTIME_DIR") or nest.directory.make("runtime"),
        display=display,
        xauthority=xauthority or "",
        session_bus=session,
        a11y_bus=a11y or f"unix:path={run}/none",
        scale=1,
        locale=locale_for(environ),
    )
    launcher = Launcher(household=nest.household, env=env, home=home, web=nest.directory.make("web"))
    place = Place(
        name=f"display:{display}",
        display=display,
        xauthority=xauthority,
        marker=None,
        a11y_address=a11y,
        isolation="display",
        notes=tuple(notes),
    )
    return await asyncio.to_thread(X11Desktop, nest, place, launcher)


async def _private_a11y(nest: Nest, session: str, client_env: Mapping[str, str], deadline: float) -> str:
    path = nest.directory.join("run", "accessibility")
    address = await asyncio.to_thread(
        start_bus, "accessibility", nest.directory, nest.household, path=path, deadline=deadline
    )

    async def known() -> Mapping[str, str]:
        return client_env

    await start_registry(address, nest.directory, nest.household, session=session, client_env=known)
    return address


def _authority(display: str, environ: Mapping[str, str]) -> str | None:
    """The cookie file that knows this display; None when there is none (the display may let us in without)."""
    home = environ.get("HOME") or os.path.expanduser("~")
    for path in (environ.get("XAUTHORITY"), os.path.join(home, ".Xauthority")):
        if path and os.path.isfile(path):
            try:
                read_cookie(display, path)
            except DesktopError:
                continue
            return path
    return None


def _look(display: str, xauthority: str | None) -> tuple[str, bool]:
    """The display's accessibility bus (at-spi2's root property; may be empty), and whether a window manager runs."""
    x = XConnection(display, xauthority)
    try:
        return x.text(x.root, "AT_SPI_BUS"), bool(x.cardinals(x.root, "_NET_SUPPORTING_WM_CHECK"))
    finally:
        x.close()


def _same(one: str, other: str) -> bool:
    return one.partition(".")[0] == other.partition(".")[0]
