"""What every test gets: a data directory of its own, no keys, the embedded model, and no network but loopback."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# How fast a machine draws examples says nothing of what is tested; these machines are shared
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

pytest_plugins = ["wire"]  # the stand-in for model servers: fixture `wire`

_SECRET = re.compile(r"(_API_KEY|_TOKEN|_BASE_URL|_AUTH_SOCK)$")


def _clean(environ: Any) -> None:
    """Take out what a developer's shell may carry: keys, endpoints, agents, our own settings."""
    for name in list(environ):
        if _SECRET.search(name) or name.startswith(("DESKHAND_", "PYTHONUNBUFFERED")):
            del environ[name]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before any fixture of any scope: a clean environment that also holds for sessions' and modules' fixtures."""
    _clean(os.environ)
    for number in (
        signal.SIGINT,
        signal.SIGHUP,
    ):  # a run in the background starts with these ignored, and hands that on
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    home = tempfile.TemporaryDirectory(prefix="dh-")  # short: sockets in it have a length limit
    config.add_cleanup(home.cleanup)
    os.environ["DESKHAND_HOME"] = home.name
    os.environ["DESKHAND_CONFIG"] = str(Path(home.name, "config.toml"))
    os.environ["DESKHAND_MODEL"] = "embedded"


@pytest.fixture(autouse=True)
def deskhand_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """This test's ``DESKHAND_HOME``, empty and removed by pytest; settings are read afresh."""
    from deskhand.config import load_settings

    home = tmp_path / "home"
    monkeypatch.setenv("DESKHAND_HOME", str(home))
    monkeypatch.setenv("DESKHAND_CONFIG", str(tmp_path / "config.toml"))
    load_settings.cache_clear()
    yield home
    load_settings.cache_clear()


class NetworkDenied(RuntimeError):
    """A test tried to leave this machine: a fake was forgotten."""


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections and look-ups that leave the machine; unix sockets and loopback stay open."""
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else host
        if name is None or name in ("", "localhost", "::1", "::", "0.0.0.0"):
            return
        if not (isinstance(name, str) and name.startswith("127.")):
            raise NetworkDenied(f"no network in tests: {name!r}")

    def guarded(call: Any) -> Any:
        def inner(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                check(address[0])
            return call(self, address)

        return inner

    def looked_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        check(host)
        return getaddrinfo(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded(connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", looked_up)


@pytest.fixture(autouse=True)
def _leases_end(deskhand_home: Path) -> Iterator[None]:
    """A desktop that a task keeps for an answer ends with its test."""
    yield
    from deskhand.orchestrator.control import NotRunning, send

    for socket_file in deskhand_home.glob("tasks/*/control.sock"):
        with contextlib.suppress(NotRunning):
            send(socket_file.parent, {"command": "stop"})
