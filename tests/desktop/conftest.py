"""Desktops for tests: real ones, closed at the end whatever happened."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import pytest

from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.composed import X11Desktop
from deskhand.terms import Private
from desktop_world import Bare, bare_display
from pad import Pad

Opener = Callable[..., Awaitable[X11Desktop]]


@pytest.fixture
async def opened() -> AsyncIterator[Opener]:
    """A function that opens what it is given (a private desktop by default)."""
    desktops: list[X11Desktop] = []

    async def open_one(
        computer: str | Private = "private", environ: Mapping[str, str] | None = None
    ) -> X11Desktop:
        desktop = await open_desktop_backend(
            computer, settings=load_settings(), environ=os.environ if environ is None else environ
        )
        assert isinstance(desktop, X11Desktop)
        desktops.append(desktop)
        return desktop

    yield open_one
    for desktop in desktops:
        desktop.close()


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory that no other process uses, with a name short enough for sockets in it."""
    with tempfile.TemporaryDirectory(prefix="dh-", dir="/tmp") as path:
        monkeypatch.setattr(tempfile, "tempdir", path)
        yield Path(path)


@pytest.fixture
async def desktop(opened: Opener) -> X11Desktop:
    """A private desktop."""
    return await opened()


@pytest.fixture(scope="module")
def shared() -> Iterator[X11Desktop]:
    """One private desktop for a whole module of tests that leave nothing on it."""
    opened = asyncio.run(open_desktop_backend("private", settings=load_settings(), environ=os.environ))
    assert isinstance(opened, X11Desktop)
    yield opened
    opened.close()


@pytest.fixture
def pad(shared: X11Desktop) -> Iterator[Pad]:
    """A window on it that has the keyboard and notes what it gets."""
    made = Pad(shared.display, shared.client_env["XAUTHORITY"])
    yield made
    made.close()


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Bare]:
    """A display that is not ours; its cookie holds colons."""
    with bare_display(tmp_path) as display:
        yield display
