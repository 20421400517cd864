"""A recording of a desk, as an object to await or to enter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import Any

from deskhand.desktop.base import Recorder


class Recording:
    """It begins when it is awaited or entered, and ends by `stop` or at the end of ``async with``."""

    def __init__(
        self,
        path: str,
        start: Callable[[], Awaitable[Recorder]],
        stop: Callable[[float | None], Awaitable[str | None]],
    ) -> None:
        self.path = path
        """The file."""
        self._start, self._stop = start, stop
        self._recorder: Recorder | None = None

    @property
    def began(self) -> float | None:
        """`time.monotonic` of the first picture; None until there is one."""
        return None if self._recorder is None else self._recorder.began

    @property
    def running(self) -> bool:
        """Whether it records; False as well when it had to give up, which `stop` tells of."""
        return self._recorder is not None and self._recorder.running

    async def begin(self) -> Recording:
        """Begin, if it has not yet."""
        if self._recorder is None:
            self._recorder = await self._start()
        return self

    async def stop(self, within: float | None = None) -> str | None:
        """Finish the file, in about ``within`` seconds; its path. DesktopError when the file is no good."""
        return await self._stop(within)

    def __await__(self) -> Generator[Any, None, Recording]:
        return self.begin().__await__()

    async def __aenter__(self) -> Recording:
        return await self.begin()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
