"""A private desktop: a display, buses and files of its own, started all at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any

from deskhand.config import Settings
from deskhand.desktop import sandbox
from deskhand.desktop.buses import start_bus, start_registry
from deskhand.desktop.composed import Nest, Place, X11Desktop
from deskhand.desktop.display import (
    WINDOW_MANAGER_CONFIG,
    Display,
    name_accessibility_bus,
    start_display,
    start_window_manager,
)
from deskhand.desktop.environment import app_environment, locale_for
from deskhand.desktop.launcher import Launcher
from deskhand.desktop.leash import MARK
from deskhand.desktop.parts import require
from deskhand.desktop.profile import ProfileLock, lock_profile
from deskhand.desktop.sandbox import RUN, Sandbox, Share, parse_shares
from deskhand.desktop.sweep import sweep
from deskhand.errors import DesktopError, MissingPart
from deskhand.terms import Private

_NO_STRUCTURE = "apps cannot be read as structure, only as pictures: {}"

START_DEADLINE = 15.0
"""Seconds that all of a start may take: fifty times the usual, for a machine that is swapping."""


async def open_private(spec: Private, *, settings: Settings, environ: Mapping[str, str]) -> X11Desktop:
    """A new private desktop, ready to be used.

    ``environ`` is the user's environment, of which only the language is looked at. ValueError when ``spec.share`` or
    ``spec.profile`` is wrong; MissingPart or DesktopError when the desktop, or the isolation that was asked for,
    cannot be had. A start that fails or is cancelled leaves nothing behind.
    """
    if spec.visible:
        raise DesktopError("visible desktops are not available on this version; use visible=False")
    shares = parse_shares(spec.share)
    for program in ("setpriv", "Xvfb", "openbox", "dbus-daemon"):
        require(program)
    profile = lock_profile(spec.profile, settings) if spec.profile is not None else None
    start: _Start | None = None
    try:
        start = _Start(spec, Nest.make(), shares, profile, locale_for(environ))
        async with asyncio.timeout(START_DEADLINE):
            return await start.run()
    except BaseException as error:
        if start is not None:
            await asyncio.shield(asyncio.ensure_future(start.abandon()))
        if profile is not None:
            profile.release()
        if isinstance(error, TimeoutError):
            raise DesktopError(f"the desktop was not ready after {START_DEADLINE:g} s") from None
        raise


_STILL = "[Settings]\ngtk-enable-animations=false\ngtk-cursor-blink=false\n"
"""Nobody needs an app to fade: a pressed GTK 4 button does for half a second, which every act would wait for."""


class _Start:
    """One start: what runs side by side, and how to take it back."""

    def __init__(
        self,
        spec: Private,
        nest: Nest,
        shares: tuple[Share, ...],
        profile: ProfileLock | None,
        locale: Mapping[str, str],
    ) -> None:
        self._spec, self._nest, self._shares, self._profile, self._locale = (
            spec,
            nest,
            shares,
            profile,
            locale,
        )
        self._deadline = time.monotonic() + START_DEADLINE
        self._tasks: list[asyncio.Task[Any]] = []
        directory = nest.directory
        self._run = directory.join("run")
        self._home = profile.home if profile else directory.join("home")
        self._web = profile.web if profile else directory.join("web")
        self._notes: list[str] = []

    def _aside(self, work: Callable[..., Any], *arguments: Any, **keywords: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(asyncio.to_thread(work, *arguments, **keywords))
        self._tasks.append(task)
        return task

    async def run(self) -> X11Desktop:
        directory, household = self._nest.directory, self._nest.household
        for path in (self._run, self._home, self._web):
            os.makedirs(path, 0o700, exist_ok=True)
        display_task = self._aside(
            start_display,
            directory,
            household,
            xauthority=os.path.join(self._run, "xauthority"),
            size=self._spec.size,
            scale=self._spec.scale,
            deadline=self._deadline,
        )
        session_task = self._aside(self._bus, "session")
        a11y_task = self._aside(self._bus, "accessibility")
        isolation_task = self._aside(sandbox.decide, self._spec.isolation, self._spec.network)
        sweep_task = self._aside(sweep)
        prepare_task = self._aside(_furnish, self._home)
        session = await session_task
        try:
            a11y: str | None = await a11y_task
        except DesktopError as error:
            a11y = None
            self._notes.append(_NO_STRUCTURE.format(error))
        registry_task = asyncio.create_task(self._registry(a11y, session, display_task))
        self._tasks.append(registry_task)
        boxed, notes = await isolation_task
        self._notes.extend(notes)
        display: Display = await display_task
        await prepare_task
        launcher = await self._aside(self._launcher, display, boxed, session, a11y)
        window_manager = self._aside(self._window_manager, display, launcher)
        await window_manager
        structured = await registry_task
        await sweep_task
        place = Place(
            name="private",
            display=display.name,
            xauthority=display.xauthority,
            marker=display.marker,
            a11y_address=a11y if structured else None,
            isolation="files" if boxed else "display",
            notes=tuple(self._notes),
            scale=self._spec.scale,
        )
        release = self._profile.release if self._profile else None
        desktop: X11Desktop = await self._aside(X11Desktop, self._nest, place, launcher, release)
        return desktop

    async def abandon(self) -> None:
        """End what was started. Steps that are still under way end by themselves: their processes are gone."""
        await asyncio.to_thread(self._nest.household.close)
        for result in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(result, X11Desktop):
                await asyncio.to_thread(result.close)
        await asyncio.to_thread(self._nest.close)

    def _bus(self, kind: Any) -> str:
        path = os.path.join(self._run, kind)
        return start_bus(kind, self._nest.directory, self._nest.household, path=path, deadline=self._deadline)

    async def _registry(self, address: str | None, session: str, coming: asyncio.Task[Display]) -> bool:
        """Whether apps can be read as structure."""

        async def client_env() -> Mapping[str, str]:
            display = await coming
            return {"DISPLAY": display.name, "XAUTHORITY": display.xauthority}

        if address is None:
            return False
        directory, household = self._nest.directory, self._nest.household
        try:
            await start_registry(address, directory, household, session=session, client_env=client_env)
        except (DesktopError, MissingPart) as error:
            self._notes.append(_NO_STRUCTURE.format(error))
            return False
        return True

    def _launcher(self, display: Display, boxed: bool, session: str, a11y: str | None) -> Launcher:
        run = RUN if boxed else self._run
        env = app_environment(
            home=sandbox.HOME if boxed else self._home,
            runtime=f"/run/user/{os.geteuid()}" if boxed else self._nest.directory.make("runtime"),
            display=display.name,
            xauthority=f"{run}/xauthority",
            session_bus=f"unix:path={run}/session",
            a11y_bus=f"unix:path={run}/{'accessibility' if a11y else 'none'}",
            scale=self._spec.scale,
            locale=self._locale,
        )
        if a11y:
            name_accessibility_bus(display, env["AT_SPI_BUS_ADDRESS"])
        box = None
        if boxed:
            box = Sandbox(
                directory=self._nest.directory,
                home=self._home,
                web=self._web,
                display_number=display.number,
                network=self._spec.network,
                shares=self._shares,
                env={**env, MARK: self._nest.directory.path},
            )
            box.prepare()
        else:
            self._nest.household.leash()
        return Launcher(
            household=self._nest.household,
            env=env,
            home=self._home,
            web=self._web,
            sandbox=box,
            cookies=self._profile.cookies if self._profile else None,
        )

    def _window_manager(self, display: Display, launcher: Launcher) -> None:
        """In a box like any app: it takes requests from every client of the display."""
        config = self._nest.directory.write("run/openbox.xml", WINDOW_MANAGER_CONFIG)
        log = self._nest.directory.join("openbox.log")
        box = launcher.sandbox
        seen = f"{RUN}/openbox.xml" if box else config
        argv = [require("openbox"), "--sm-disable", "--config-file", seen]

        def start() -> subprocess.Popen[bytes]:
            return self._nest.household.start(
                box.argv(argv) if box else argv, env={} if box else launcher.env, log=log
            )

        start_window_manager(display, start, log=log, deadline=self._deadline)


def _furnish(home: str) -> None:
    """The directories that apps and file dialogs expect in a home, and settings that keep toolkits still."""
    for name in ("Desktop", "Documents", "Downloads"):
        os.makedirs(os.path.join(home, name), 0o700, exist_ok=True)
    directories = {"DESKTOP": "Desktop", "DOCUMENTS": "Documents", "DOWNLOAD": "Downloads"}
    lines = "".join(f'XDG_{key}_DIR="$HOME/{name}"\n' for key, name in directories.items())
    _write_new(os.path.join(home, ".config", "user-dirs.dirs"), lines)
    for toolkit in ("gtk-3.0", "gtk-4.0"):
        _write_new(os.path.join(home, ".config", toolkit, "settings.ini"), _STILL)


def _write_new(path: str, content: str) -> None:
    """Write a file unless it exists: a profile's own is kept."""
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError), open(path, "x") as file:
        file.write(content)
