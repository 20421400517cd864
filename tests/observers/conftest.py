"""A real private desktop with all of its senses."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.composed import X11Desktop
from deskhand.messages import Node, WindowInfo
from deskhand.observers.eyes import Eyes
from deskhand.observers.native import NativeTree
from deskhand.observers.page import Browser
from deskhand.observers.selector import parse_selector


class Seen:
    """A desktop, its senses, and ways to wait for what they see."""

    def __init__(self, desktop: X11Desktop, native: NativeTree, browser: Browser) -> None:
        self.desktop, self.native, self.browser = desktop, native, browser
        self.eyes = Eyes(desktop, native, browser, secrets={"pin": "s3cret-pin"})

    async def run(self, *argv: str, until: str) -> Node:
        """Start a program and wait for the element that says it is ready."""
        await asyncio.to_thread(self.desktop.launch, argv)
        return await self.until(until)

    async def find(self, selector: str) -> list[Node]:
        return parse_selector(selector).match(await self.eyes.roots())

    async def one(self, selector: str) -> Node:
        (found,) = await self.find(selector)
        return found

    async def until(self, selector: str, *, there: bool = True, timeout: float = 15) -> Node:
        """The first match, once there is one (or, with ``there`` false, once there is none)."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while bool(found := await self.find(selector)) is not there:
            left = deadline - loop.time()
            assert left > 0, f"{selector} after {timeout} s: {(await self.eyes.observe()).text}"
            await asyncio.to_thread(self.desktop.changes.wait, min(left, 0.2))
            self.desktop.changes.collect()
        return found[0] if there else Node(role="none")

    async def still(self) -> None:
        """Wait until nothing has been painted for a moment: what pops up moves into its place first."""
        for _ in range(20):
            self.desktop.changes.collect()
            if not await asyncio.to_thread(self.desktop.changes.wait, 0.3):
                return

    def click(self, node: Node) -> None:
        """With the pointer, in the middle of where it says it is."""
        assert node.rect is not None
        self.desktop.input.click(node.rect.center)

    def windows(self) -> Sequence[WindowInfo]:
        return self.desktop.windows.list()

    async def browse(self, html: str, name: str = "page.html") -> None:
        """Open a page in the desktop's browser."""
        if not self.browser.running:
            await self.browser.start(self.desktop.browser_command())
        await self.browser.open(self.page(html, name))

    def page(self, html: str, name: str = "page.html") -> str:
        """The address of a page that the browser in its box can read."""
        path = Path(self.desktop.browser_command().downloads, name)
        path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{html}")
        return f"file://{path}"


@asynccontextmanager
async def open_seen() -> AsyncIterator[Seen]:
    """Everything that can be seen of a fresh desktop."""
    desktop = await open_desktop_backend("private", settings=load_settings(), environ=os.environ)
    assert isinstance(desktop, X11Desktop)
    assert desktop.a11y_address is not None
    native, browser = NativeTree(desktop.a11y_address), Browser()
    try:
        await native.connect()
        yield Seen(desktop, native, browser)
    finally:
        await browser.aclose()
        await native.aclose()
        await asyncio.to_thread(desktop.close)


@pytest.fixture(scope="session")
def opened_seen() -> Callable[[], AbstractAsyncContextManager[Seen]]:
    """What opens a desktop, for fixtures of a wider scope."""
    return open_seen


@pytest.fixture
async def seen() -> AsyncIterator[Seen]:
    """A fresh desktop for one test."""
    async with open_seen() as opened:
        yield opened
