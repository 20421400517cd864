"""What each command-line agent has of its own: how it is found, started, spoken to and understood."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from deskhand.errors import MissingPart, ModelError
from deskhand.messages import Image, Json, Turn

AGENTS: dict[str, tuple[str, str]] = {
    "claude-code": ("claude", "npm install -g @anthropic-ai/claude-code"),
    "codex": ("codex", "npm install -g @openai/codex"),
}
"""Models that are programs: by their names, the program and the command that brings it."""

_PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "TZ", "TERM",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
"""All that an agent's program gets of the user's environment, besides its own login and address."""


@dataclass(frozen=True, slots=True)
class Idle:
    """The program is done with what it was told, and waits for more."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The program cannot go on."""

    error: ModelError


@dataclass(frozen=True, slots=True)
class Answered:
    """The program put an answer to a call into its context: ours, or one of its own when it made no call to us."""

    call_id: str
    text: str


Event: TypeAlias = Turn | Idle | Failed | Answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The private directory of one run: ``path`` is the program's home, ``bridge`` the command of its MCP server."""

    path: Path
    bridge: tuple[str, ...]
    environ: Mapping[str, str]


class Dialect(Protocol):
    """One agent's program. ``send`` puts a JSON line on its standard input; `read` understands one of its output."""

    name: str
    login: Path | None
    """The user's own login file, from which the run's copy was made; None when there is none."""
    login_copy: Path | None
    login_before: bytes
    send: Callable[[Json], None]

    def prepare(self, home: Home) -> None:
        """Put the login and the configuration into the home. Blocks. ModelError when there is no login."""
        ...

    def command(self, home: Home, system: str) -> list[str]: ...

    def environment(self, home: Home) -> dict[str, str]: ...

    def begin(self, home: Home, system: str) -> None:
        """What has to be said before any words."""
        ...

    def say(self, text: str, images: Sequence[Image]) -> None:
        """Words for the model, as a user's."""
        ...

    def read(self, line: Json) -> Sequence[Event]: ...


def find_program(agent: str) -> str | None:
    """Where an agent's program is: on PATH, or where its installer puts it."""
    program = AGENTS[agent][0]
    places = [os.environ.get("PATH", ""), str(Path.home() / ".local" / "bin")]
    return shutil.which(program, path=os.pathsep.join(places))


def require_program(agent: str) -> str:
    """Its path; MissingPart with the command that brings it."""
    if found := find_program(agent):
        return found
    program, command = AGENTS[agent]
    raise MissingPart(f"the program {program}", f"the model {agent!r} is this program", command)


def base_environment(home: Home) -> dict[str, str]:
    """A cleaned environment with a home and a temporary directory of the run's own."""
    passed = {name: value for name in _PASSED_ON if (value := home.environ.get(name))}
    temporary = home.path / "tmp"
    temporary.mkdir(mode=0o700, exist_ok=True)
    return {**passed, "HOME": str(home.path), "TMPDIR": str(temporary)}


def copy_login(source: Path, target: Path) -> bool:
    """Copy a login file, readable by its owner alone. False when there is none."""
    try:
        data = source.read_bytes()
    except OSError:
        return False
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    return True
