"""A person's hand on the task: pause it, take its desktop over, give it back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from deskhand.audit.log import AuditLog
from deskhand.errors import TargetError
from deskhand.messages import Json, Node, Target
from deskhand.orchestrator.limits import Meter
from deskhand.tools.workspace import Gate

LOOK_AGAIN = (
    "a person used this desktop meanwhile; nothing was done. Look at what is there now and go on from that"
)


class Hold:
    """Whether the child may act. While it may not, the clock stands still.

    ``state``: ``free``; ``paused`` (the next action waits); ``taken`` (so it does, and a person works on the
    desktop: afterwards what the child meant to do is refused once, so that it looks first).
    """

    def __init__(self, meter: Callable[[], Meter], log: AuditLog, send_clock: Callable[[], None]) -> None:
        self.state: Literal["free", "paused", "taken"] = "free"
        self._meter, self._log, self._send_clock = meter, log, send_clock
        self._free = asyncio.Event()
        self._free.set()
        self._touched = False

    def pause(self, by: str) -> None:
        """The next action waits."""
        self._hold("paused", "paused the task", by)

    def take_over(self, by: str) -> None:
        """The next action waits, and a person works."""
        self._touched = True
        self._hold("taken", "took the desktop over", by)

    def go_on(self, by: str) -> None:
        """The child may act again."""
        if self.state == "free":
            return
        self._log.write(
            "human", what="gave the desktop back" if self._touched else "let the task go on", by=by
        )
        self.state = "free"
        self._free.set()
        self._meter().resume()
        self._send_clock()

    def _hold(self, state: Literal["paused", "taken"], what: str, by: str) -> None:
        if self.state == state:
            return
        if self.state == "free":
            self._free.clear()
            self._meter().pause()
            self._send_clock()
        self.state = state
        self._log.write("human", what=what, by=by)

    def gate(self, gate: Gate) -> Gate:
        """The same gate, behind this hold."""

        async def ask(step: Json, target: Target | None, node: Node | None) -> str | None:
            await self._free.wait()
            if self._touched:
                self._touched = False
                raise TargetError("busy", LOOK_AGAIN)
            return await gate(step, target, node)

        return ask
