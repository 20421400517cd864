"""Whether the browser's pages are at work although nothing moves yet: requests that an act has brought about."""

from __future__ import annotations

import re
import time
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Final

from deskhand.observers.stirring import Stirring

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Request

_ENDLESS: Final = frozenset({"eventsource", "websocket", "ping", "media", "cspviolationreport"})
"""Kinds of requests, as Playwright names them, that stay open or that no reader waits for."""
_POLLS: Final = 2
"""A page that asks for the same thing more often than this, in one act or by itself, polls."""
_REMEMBERED_S: Final = 15.0
_NUMBERS: Final = re.compile(r"\d+")


class PageWork:
    """Requests in flight. Written by the event loop, asked by the settle engine's thread."""

    def __init__(self) -> None:
        self._open: dict[Request, str] = {}
        self._in_act: defaultdict[str, int] = defaultdict(int)
        self._alone: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_POLLS))
        self._acting = False
        self.stirring = Stirring()
        """What the pages do without asking for anything."""

    def watch(self, context: BrowserContext) -> None:
        """Follow all pages of a browser from now on."""
        self._open.clear()
        context.on("request", self._began)
        context.on("requestfinished", self._ended)
        context.on("requestfailed", self._ended)
        self.stirring.watch(context)

    def act_begins(self) -> None:
        """What is asked for from now on may be an act's doing."""
        self._in_act.clear()
        self._acting = True

    def act_ends(self) -> None:
        """What is asked for from now on is the page's own."""
        self._acting = False

    def __call__(self) -> bool:
        """Whether something is being loaded, polling left out."""
        return any(not self._polled(key) for key in tuple(self._open.values()))

    def _polled(self, key: str) -> bool:
        alone = self._alone.get(key)
        if alone and len(alone) == _POLLS and time.monotonic() - alone[0] < _REMEMBERED_S:
            return True
        return self._in_act.get(key, 0) > _POLLS

    def _began(self, request: Request) -> None:
        if request.resource_type in _ENDLESS:
            return
        key = f"{request.method} {_NUMBERS.sub('#', request.url)}"
        self._open[request] = key
        if self._acting:
            self._in_act[key] += 1
        elif not request.is_navigation_request():
            if len(self._alone) > 500:
                self._alone.clear()
            self._alone[key].append(time.monotonic())

    def _ended(self, request: Request) -> None:
        self._open.pop(request, None)
