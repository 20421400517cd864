"""The desktop's own session bus and accessibility bus. Neither can start anything."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from deskhand.desktop.directory import DesktopDirectory
from deskhand.desktop.display import read_line
from deskhand.desktop.parts import PATH, require
from deskhand.desktop.processes import Household, tail
from deskhand.errors import DesktopError

REGISTRY = "org.a11y.atspi.Registry"

_CONFIG = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>{kind}</type>
  <keep_umask/>
  <listen>unix:path={path}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
  <limit name="max_incoming_bytes">134217728</limit>
  <limit name="max_outgoing_bytes">134217728</limit>
  <limit name="max_message_size">67108864</limit>
  <limit name="max_connections_per_user">4096</limit>
  <limit name="max_match_rules_per_connection">4096</limit>
  <limit name="max_replies_per_connection">8192</limit>
</busconfig>
"""
# There is deliberately no <servicedir> of any kind: a bus outside the sandbox that can activate services runs programs
# outside the sandbox for whoever asks, and both standard configurations (at-spi2's too) have one.

Kind = Literal["session", "accessibility"]


def start_bus(
    kind: Kind, directory: DesktopDirectory, household: Household, *, path: str, deadline: float
) -> str:
    """Start a message bus at the socket ``path``; its address, once it listens. DesktopError with its last words."""
    program, log = require("dbus-daemon"), directory.join(f"{kind}-bus.log")
    config = directory.write(f"{kind}-bus.conf", _CONFIG.format(kind=kind, path=path))
    reader, writer = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            household.start(
                [
                    program,
                    f"--config-file={config}",
                    "--nofork",
                    "--nopidfile",
                    "--nosyslog",
                    f"--print-address={writer}",
                ],
                env={},
                log=log,
                pass_fds=(writer,),
            )
        finally:
            os.close(writer)
        said = read_line(reader, deadline)
    finally:
        os.close(reader)
    if not said.endswith(b"\n"):
        raise DesktopError(f"the {kind} bus does not start: {tail(log) or 'no reason given'}")
    return f"unix:path={path}"


async def registry_answers(address: str, timeout: float = 2.0) -> bool:
    """Whether there is an accessibility registry at that address, started on demand or running, and it answers."""
    from dbus_fast import Message, MessageType
    from dbus_fast.aio import MessageBus

    bus: MessageBus | None = None
    try:
        async with asyncio.timeout(timeout):
            bus = await MessageBus(bus_address=address).connect()
            reply = await bus.call(
                Message(
                    destination=REGISTRY,
                    path="/org/a11y/atspi/registry",
                    interface=REGISTRY,
                    member="GetRegisteredEvents",
                )
            )
    except (
        Exception
    ):  # the library's own, OSError for a socket that is dead, a time-out: all mean the same here
        return False
    finally:
        if bus is not None:
            bus.disconnect()
    return reply.message_type is MessageType.METHOD_RETURN


async def start_registry(
    address: str,
    directory: DesktopDirectory,
    household: Household,
    *,
    session: str,
    client_env: Callable[[], Awaitable[Mapping[str, str]]],
) -> None:
    """Start the accessibility registry on the bus at ``address``; returns when it has its name there.

    ``client_env`` says, once the display is there, how to reach it: the registry wants it; the bus is watched before.
    Waits as long as the caller lets it. MissingPart without the registry; DesktopError, with its last words, when it
    ends instead.
    """
    program, log = require("at-spi2-registryd"), directory.join("registry.log")
    env = {
        "PATH": PATH,
        "HOME": directory.path,
        "DBUS_SESSION_BUS_ADDRESS": session,
        "AT_SPI_BUS_ADDRESS": address,
        "GSETTINGS_BACKEND": "memory",
        "GIO_USE_VFS": "local",
    }
    from dbus_fast import Message, MessageType
    from dbus_fast.aio import MessageBus

    bus = await MessageBus(bus_address=address).connect()
    try:
        owned = asyncio.Event()

        def seen(message: Message) -> None:
            if message.member == "NameOwnerChanged" and message.body[0] == REGISTRY and message.body[2]:
                owned.set()

        bus.add_message_handler(seen)
        rule = f"type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{REGISTRY}'"
        for member, body in (("AddMatch", rule), ("NameHasOwner", REGISTRY)):
            reply = await bus.call(
                Message(
                    destination="org.freedesktop.DBus",
                    path="/org/freedesktop/DBus",
                    interface="org.freedesktop.DBus",
                    member=member,
                    signature="s",
                    body=[body],
                )
            )
            if reply.message_type is MessageType.ERROR:
                raise DesktopError(f"the accessibility bus refuses {member}")
        env |= await client_env()
        process = await asyncio.to_thread(household.start, [program], env=env, log=log)
        await _first(owned, process, log)
    finally:
        bus.disconnect()


async def _first(owned: asyncio.Event, process: subprocess.Popen[bytes], log: str) -> None:
    """Wait for the name, or for the process to end without it."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[bool] = loop.create_future()
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        fd = -1
        ended.cancel()
    else:
        loop.add_reader(fd, ended.cancel)
    waiting: asyncio.Future[bool] = asyncio.ensure_future(owned.wait())
    try:
        # a cancelled future counts as done: `ended` carries no result
        await asyncio.wait([waiting, ended], return_when=asyncio.FIRST_COMPLETED)
        if not owned.is_set():
            raise DesktopError(f"the accessibility registry does not start: {tail(log) or 'no reason given'}")
    finally:
        waiting.cancel()
        if fd >= 0:
            loop.remove_reader(fd)
            os.close(fd)
