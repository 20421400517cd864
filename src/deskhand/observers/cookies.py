"""The cookies of a profile, kept beside the browser's own store, which is written too late for one that is killed."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from deskhand.messages import Json

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

EVERY: Final = 0.5
"""Seconds between two looks. Chromium's own store is written every 30 s (`SQLitePersistentCookieStore`)."""


class CookieJar:
    """A file with all cookies of one browser, those of its session included: a login outlives the browser.

    What the file says counts when the browser starts: it is never older than the browser's own store.
    """

    def __init__(self, context: BrowserContext, path: str) -> None:
        self._context, self._path = context, path
        self._kept: list[Json] | None = None
        self._task: asyncio.Task[None] | None = None
        self._due = asyncio.Event()

    async def start(self) -> None:
        """Give the browser what the file holds, and follow its cookies from now on."""
        if os.path.isfile(self._path):
            await self._fill()
        self._context.on("response", lambda _: self._due.set())
        self._task = asyncio.create_task(self._follow())

    async def aclose(self) -> None:
        """Keep the last state, and stop following."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            await self._keep()

    async def _fill(self) -> None:
        with suppress(ValueError, OSError):
            self._kept = json.loads(Path(self._path).read_text("utf-8"))
            await self._context.clear_cookies()
            for cookie in self._kept or ():
                with suppress(Exception):  # one that this browser refuses, or that has expired
                    await self._context.add_cookies([_settable(cookie)])

    async def _follow(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._due.wait()
            self._due.clear()
            await self._keep()

    async def _keep(self) -> None:
        with suppress(Exception):  # a browser that has just ended; a full disk must not end the task
            cookies: list[Any] = list(await self._context.cookies())
            if cookies != self._kept:
                _write(self._path, json.dumps(cookies))
                self._kept = cookies


def _settable(cookie: Json) -> Any:
    """A cookie as it was read, as it can be set."""
    return {name: value for name, value in cookie.items() if value is not None}


def _write(path: str, text: str) -> None:
    part = f"{path}.part"
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
