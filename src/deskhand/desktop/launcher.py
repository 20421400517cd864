"""Starting apps on a desktop: in its box, or, where there is none, under its leash."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from deskhand.desktop.apps import find_program
from deskhand.desktop.browser import (
    BrowserCommand,
    browser_flags,
    find_browser,
    uses_own_sandbox,
    write_launcher,
)
from deskhand.desktop.leash import MARK
from deskhand.desktop.outputs import Outputs
from deskhand.desktop.parts import PATH, require
from deskhand.desktop.processes import Household
from deskhand.desktop.sandbox import HOME, Sandbox
from deskhand.errors import DesktopError


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """Starts what runs on one desktop. ``home`` and ``web`` are outside paths; ``env`` is all that an app gets;
    ``cookies`` the file for a profile's cookies, None without a profile."""

    household: Household
    env: Mapping[str, str]
    home: str
    web: str
    sandbox: Sandbox | None = None
    cookies: str | None = None
    outputs: Outputs = field(default_factory=Outputs)

    @property
    def shares(self) -> tuple[str, ...]:
        """What of the user's is visible in the box; empty without one."""
        return tuple(share.path for share in self.sandbox.shares) if self.sandbox is not None else ()

    def start(self, argv: Sequence[str]) -> int:
        """Start a program; the pid, outside, of the top of its process tree. DesktopError when it cannot start."""
        if not argv:
            raise DesktopError("nothing to start: the command is empty")
        self.household.check_open()
        program = find_program(self._outside(argv[0]))
        if self.sandbox is None:
            return self._run([program, *argv[1:]], self.env, self.home)
        if not self._visible(program):
            raise DesktopError(f"{argv[0]!r} is not visible to the desktop's apps; share its directory")
        inside = program if "/" not in argv[0] else argv[0]
        return self._run(self.sandbox.argv([inside, *argv[1:]]), {"PATH": PATH}, "/")

    def _run(self, argv: Sequence[str], env: Mapping[str, str], cwd: str) -> int:
        return self.outputs.start(lambda out: self.household.start(argv, env=env, out=out, cwd=cwd)).pid

    def _outside(self, name: str) -> str:
        """Where a path of the private home is outside of the box."""
        if self.sandbox is not None and name.startswith(HOME + "/"):
            return os.path.join(self.home, os.path.relpath(name, HOME))
        return name

    def _visible(self, program: str) -> bool:
        assert self.sandbox is not None
        return program.startswith(self.home + "/") or self.sandbox.sees(program)

    def browser(self, *, scale: int, size: tuple[int, int]) -> BrowserCommand:
        """How to start the desktop's browser. MissingPart when there is none."""
        program = find_browser()
        if self.sandbox is None:
            env = [f"{name}={value}" for name, value in {**self.env, MARK: self.household.directory}.items()]
            command = [require("setpriv"), "--pdeathsig", "KILL", "/usr/bin/env", "-i", *env, program]
        else:
            command = self.sandbox.showing(os.path.dirname(program)).argv([program])
        profile, downloads = os.path.join(self.web, "profile"), os.path.join(self.web, "downloads")
        artifacts = os.path.join(self.household.directory, "artifacts")
        for path in (profile, downloads, artifacts):
            os.makedirs(path, 0o700, exist_ok=True)
        return BrowserCommand(
            executable=write_launcher(os.path.join(self.household.directory, "browser"), command),
            args=browser_flags(scale=scale, size=size),
            env={"PATH": PATH, MARK: self.household.directory},
            profile=profile,
            downloads=downloads,
            artifacts=artifacts,
            chromium_sandbox=uses_own_sandbox(),
            cookies=self.cookies,
        )
