"""``computer login PROFILE``: a profile's browser on a watch page, so that a person signs in once, by hand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

from deskhand.audit.review import Row
from deskhand.messages import Json
from deskhand.terms import Private
from deskhand.tools.desk import Desk, open_desktop
from deskhand.watch import Hand, WatchServer


class OwnDesktop:
    """A desktop that is a person's from the start: nothing but its screen, and a button that ends it."""

    def __init__(self, desk: Desk, profile: str) -> None:
        self.ended = threading.Event()
        self._goal = f"Sign in with the profile {profile}, then press Stop: the login is kept"
        self._env = desk.desktop.client_env
        self._hand = Hand()

    def state(self) -> Json:
        over = "kept: this page can be closed" if self.ended.is_set() else ""
        return {"goal": self._goal, "held": "taken", "asking": [], "over": over}

    def steps(self, stop: threading.Event) -> Iterator[Row]:
        """None: nobody but the person acts."""
        while not self.ended.wait(0.25) and not stop.is_set():
            pass
        return iter(())

    def display(self) -> tuple[str, str | None]:
        return self._env["DISPLAY"], self._env.get("XAUTHORITY")

    def control(self, command: Json) -> bool:
        if command["command"] != "stop":
            return False
        self.ended.set()
        return True

    def act(self, events: list[Json]) -> bool:
        self._hand.act(self.display(), events)
        return True

    def close(self) -> None:
        self._hand.let_go()


async def login(profile: str, url: str, *, port: int, tell: Callable[[str], None]) -> None:
    """Serve the page until its person is done, or the browser was closed. ``tell`` gets the page's address.

    ValueError for a name that cannot be a profile's, DesktopError when the profile is in use.
    """
    async with open_desktop(Private(profile=profile)) as desk:
        await desk.launch(url)
        own = OwnDesktop(desk, profile)
        server = WatchServer(own, port)
        serving = threading.Thread(
            target=server.serve_forever, args=(0.1,), name="deskhand-login", daemon=True
        )
        serving.start()
        try:
            tell(server.url)
            while not own.ended.is_set() and await asyncio.to_thread(_lives, desk, own):
                pass
        finally:
            own.ended.set()
            own.close()
            await asyncio.to_thread(server.shutdown)
            server.server_close()


def _lives(desk: Desk, own: OwnDesktop) -> bool:
    """Whether there is a window left on the desktop; takes a moment, or until the person is done."""
    own.ended.wait(0.5)
    return desk.desktop.alive() and bool(desk.desktop.windows.list())
