"""Which program the name of an app means."""

from __future__ import annotations

import difflib
import functools
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deskhand.desktop.parts import PATH
from deskhand.errors import DesktopError, InvalidStep

DATA_DIRECTORIES = ("/usr/local/share", "/usr/share")

_URL = re.compile(r"(?:https?|file|about|data|chrome|view-source):", re.IGNORECASE)
_FIELD_CODE = re.compile(r"%[fFuUdDnNickvm]")
_ESCAPE = {"s": " ", "n": "\n", "t": "\t", "r": "\r", "\\": "\\"}


@dataclass(frozen=True, slots=True)
class App:
    """What to start: a program, or, when ``url`` is set, the desktop's own browser at an address."""

    argv: tuple[str, ...] = ()
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An installed application: ``id`` is the name of its file without the suffix."""

    id: str
    name: str
    generic: str
    argv: tuple[str, ...]
    shown: bool


def resolve_app(app: str | Sequence[str], *, data_directories: Sequence[str] = DATA_DIRECTORIES) -> App:
    """The program that ``app`` means: a URL, a ``.desktop`` name, a command line or the name people say.

    A sequence is always a command line. A string is tried as a URL, as a ``.desktop`` name (with or without the
    suffix), as a command line whose first word is a program, and as an application's name or generic name in any case.
    InvalidStep when it is none of these, with names that are near, or when it is the name of several.
    """
    if not isinstance(app, str):
        if not app or not all(word and "\0" not in word for word in app):
            raise InvalidStep("app must be a list of words, the program first")
        return App(tuple(app))
    said = app.strip()
    if not said or "\0" in said:
        raise InvalidStep("app is empty; say a program, an application's name or a URL")
    if _URL.match(said):
        return App(url=said)
    entries = installed(tuple(data_directories))
    for entry in entries:
        if entry.id == said.removesuffix(".desktop"):
            return App(entry.argv)
    return App(_command(said) or _by_name(said, entries))


def _command(said: str) -> tuple[str, ...] | None:
    try:
        words = tuple(shlex.split(said))
    except ValueError:
        return None
    return words if words and ("/" in words[0] or shutil.which(words[0], path=PATH)) else None


def _by_name(said: str, entries: Sequence[Entry]) -> tuple[str, ...]:
    wanted = said.casefold()
    shown = [entry for entry in entries if entry.shown]
    for names in (
        {e.id: e.name for e in shown},
        {e.id: e.generic for e in shown},
        {e.id: e.id for e in shown},
    ):
        found = [entry for entry in shown if names[entry.id].casefold() == wanted]
        if len(found) == 1:
            return found[0].argv
        if found:
            raise InvalidStep(f"{said!r} is the name of several applications: {_listed(e.id for e in found)}")
    known = {name.casefold(): name for e in shown for name in (e.name, e.generic, e.id) if name}
    near = difflib.get_close_matches(wanted, known, n=5, cutoff=0.5)
    near += [name for name in known if wanted in name and name not in near]
    hint = f"; near it: {_listed(known[name] for name in near[:8])}" if near else ""
    raise InvalidStep(f"no application or program {said!r} is installed{hint}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


@functools.cache
def installed(data_directories: tuple[str, ...] = DATA_DIRECTORIES) -> tuple[Entry, ...]:
    """The applications of the system, by their ``.desktop`` files; earlier directories win. Read once."""
    found: dict[str, Entry] = {}
    for data in data_directories:
        directory = os.path.join(data, "applications")
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            continue
        for name in names:
            identity = name.removesuffix(".desktop")
            if identity == name or identity in found:
                continue
            try:
                with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as file:
                    entry = _parse(identity, file.read())
            except OSError:
                continue
            if entry is not None:
                found[identity] = entry
    return tuple(found.values())


def _parse(identity: str, text: str) -> Entry | None:
    """The main group of a ``.desktop`` file (Desktop Entry Specification 1.5); None when it starts nothing."""
    keys: dict[str, str] = {}
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line
        elif group == "[Desktop Entry]" and not line.startswith("#"):
            key, _, value = line.partition("=")
            keys.setdefault(key.strip(), value.strip())
    if keys.get("Type", "Application") != "Application" or keys.get("Hidden") == "true":
        return None
    argv = _exec(keys.get("Exec", ""))
    if not argv:
        return None
    if keys.get("Terminal") == "true":
        argv = ("x-terminal-emulator", "-e", *argv)
    return Entry(
        id=identity,
        name=keys.get("Name", ""),
        generic=keys.get("GenericName", ""),
        argv=argv,
        shown=keys.get("NoDisplay") != "true",
    )


def _exec(value: str) -> tuple[str, ...]:
    """The words of an ``Exec`` key without its field codes: nothing is opened with the app."""
    value = re.sub(r"\\([sntr\\])", lambda match: _ESCAPE[match[1]], value)
    value = re.sub(r"\\([$`])", r"\1", value)  # quoted there, and not by a shell
    try:
        words = shlex.split(value)
    except ValueError:
        return ()
    return tuple(word for word in (_FIELD_CODE.sub("", word).replace("%%", "%") for word in words) if word)


def find_program(name: str) -> str:
    """The path of a program by name or path, as apps see it. DesktopError when it is not there or cannot be run."""
    path = name if "/" in name else shutil.which(name, path=PATH)
    if path is None:
        raise DesktopError(f"no program {name!r} is installed")
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        raise DesktopError(f"{name!r} cannot be run")
    return path
