"""A session bus that says where the accessibility bus is, as a user's session has it: where other tools look."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dbus_fast import PropertyAccess
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property


class Bus(ServiceInterface):
    """``org.a11y.Bus``."""

    def __init__(self, address: str) -> None:
        super().__init__("org.a11y.Bus")
        self._address = address

    @dbus_method()
    def GetAddress(self) -> "s":  # type: ignore[name-defined]  # noqa: F821
        return self._address


class Status(ServiceInterface):
    """``org.a11y.Status``: accessibility is on."""

    def __init__(self) -> None:
        super().__init__("org.a11y.Status")

    @dbus_property(access=PropertyAccess.READ)
    def IsEnabled(self) -> "b":  # type: ignore[name-defined]  # noqa: F821
        return True

    @dbus_property(access=PropertyAccess.READ)
    def ScreenReaderEnabled(self) -> "b":  # type: ignore[name-defined]  # noqa: F821
        return True


@asynccontextmanager
async def session_bus(a11y_address: str) -> AsyncIterator[str]:
    """The address of such a bus; it ends with the block."""
    daemon = subprocess.Popen(  # noqa: ASYNC220
        ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address"],
        text=True,
        stdout=subprocess.PIPE,
    )
    try:
        assert daemon.stdout is not None
        address = daemon.stdout.readline().strip()
        bus = await MessageBus(bus_address=address).connect()
        for interface in (Bus(a11y_address), Status()):
            bus.export("/org/a11y/bus", interface)
        await bus.request_name("org.a11y.Bus")
        yield address
        bus.disconnect()
    finally:
        daemon.kill()
        daemon.wait()
