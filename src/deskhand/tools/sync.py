"""A desk for code without an event loop: one loop in a thread of its own, and the same methods as plain calls."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from deskhand.messages import BatchReport, Image, Json, Node, Observation, Rect, WindowInfo

if TYPE_CHECKING:
    from deskhand.desktop.base import Desktop
    from deskhand.tools.desk import Desk

T = TypeVar("T")


class SyncDesk:
    """`tools.desk.Desk` with plain calls. See there for what each gives and raises."""

    def __init__(self, desk: Desk, loop: asyncio.AbstractEventLoop) -> None:
        self._desk, self._loop = desk, loop

    @property
    def desktop(self) -> Desktop:
        """The computer itself."""
        return self._desk.desktop

    def observe(self, **what: Any) -> Observation:
        """What is on the desktop."""
        return self._wait(self._desk.observe(**what))

    def act(self, steps: Sequence[Json], on_no_change: str = "auto") -> BatchReport:
        """Run a batch of steps."""
        return self._wait(self._desk.act(steps, on_no_change))

    def find(self, selector: str, limit: int = 50) -> tuple[list[Node], int]:
        """The first matches and how many there are."""
        return self._wait(self._desk.find(selector, limit))

    def wait_for(self, selector: str, state: str = "present", timeout: float = 10) -> Node | None:
        """Wait until a selector matches, or no longer does."""
        return self._wait(self._desk.wait_for(selector, state, timeout))

    def launch(self, app: str | Sequence[str], timeout: float | None = None) -> BatchReport:
        """Start an app and wait for its window."""
        return self._wait(self._desk.launch(app, timeout))

    def screenshot(self, region: Rect | None = None) -> Image:
        """The screen, or a region of it."""
        return self._wait(self._desk.screenshot(region))

    def read_page(self, url: str) -> str:
        """A web page as text."""
        return self._wait(self._desk.read_page(url))

    def windows(self) -> Sequence[WindowInfo]:
        """The windows, topmost first."""
        return self._wait(self._desk.windows())

    def holds(self, evidence: str) -> bool:
        """Whether a piece of evidence is true of the desktop now."""
        return self._wait(self._desk.holds(evidence))

    def matches(self, selector: str) -> bool:
        """Whether a selector matches anything now."""
        return self._wait(self._desk.matches(selector))

    @contextlib.contextmanager
    def record(self, path: str | os.PathLike[str], *, fps: int = 10) -> Iterator[None]:
        """Record the screen for the length of the block."""
        self._wait(self._desk.record(path, fps=fps).begin())
        try:
            yield
        finally:
            self._wait(self._desk.stop_recording())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C: the step that runs is ended, too
            raise


@contextlib.contextmanager
def running_desk(opening: AbstractAsyncContextManager[Desk]) -> Iterator[SyncDesk]:
    """Open a desk on a loop in a thread; both end with the block, whatever happens in it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_run, args=(loop,), name="deskhand desk", daemon=True)
    thread.start()

    def wait(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    try:
        desk = wait(opening.__aenter__())
        try:
            yield SyncDesk(desk, loop)
        finally:
            wait(opening.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """The life of the loop's thread: the caller's own thread may have a loop that runs."""
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
