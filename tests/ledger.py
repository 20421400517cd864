"""Driving the window that changes between a look and an act (tests/apps/fickle.py)."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

from deskhand.tools.desk import Desk

APP = Path(__file__).parent / "apps" / "fickle.py"


class Fickle:
    """The app on a desk, told what to do through pipes in the desktop's home."""

    def __init__(self, desk: Desk, home: Path) -> None:
        self.desk = desk
        self._log = home / "pressed"
        # For reading and writing, so that neither side waits for the other to open it.
        self._ask, self._told = (open(home / pipe, "rb+", 0) for pipe in ("ask", "told"))  # noqa: SIM115

    @classmethod
    async def start(cls, desk: Desk, gtk: int) -> Fickle:
        """Launch it for this version of GTK."""
        home = Path(desk.desktop.home)  # type: ignore[attr-defined]
        for pipe in ("ask", "told"):
            os.mkfifo(home / pipe)
        shutil.copy(APP, home)
        started = cls(desk, home)
        await desk.launch(["python3", "/home/desk/fickle.py", str(gtk), "/home/desk"])
        return started

    async def do(self, command: str) -> None:
        """Have it change, and wait until that shows."""
        self._ask.write(command.encode() + b"\n")
        answer = await asyncio.wait_for(asyncio.to_thread(self._told.readline), 20)
        assert answer == b"done\n"

    async def afresh(self, seed: int) -> None:
        """Begin anew, with nothing pressed yet."""
        self._log.unlink(missing_ok=True)
        await self.do(f"fill {seed}")

    async def pressed(self) -> list[str]:
        """What was really pressed since; the app has dealt with all input when it answers."""
        await self.do("nothing")
        return self._log.read_text().splitlines() if self._log.exists() else []

    def close(self) -> None:
        """Let go of the pipes."""
        self._ask.close()
        self._told.close()
