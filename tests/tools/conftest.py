"""A desk on a private desktop for each test that asks for one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from deskhand.tools.desk import Desk, open_desktop


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    """A desk on a private desktop, closed at the end whatever happened."""
    async with open_desktop() as opened:
        yield opened


@pytest.fixture
def home(desk: Desk) -> Path:
    """The home directory of the desktop's applications, as a path outside."""
    return Path(desk.desktop.home)  # type: ignore[attr-defined]


@pytest.fixture
def page(home: Path) -> Callable[[str, str], str]:
    """Writes a page into the desktop's home; its address there."""

    def write(name: str, body: str) -> str:
        (home / name).write_text(f"<!doctype html><meta charset=utf-8><title>{name}</title>{body}", "utf-8")
        return f"file:///home/desk/{name}"

    return write
