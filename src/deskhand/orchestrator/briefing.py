"""The words of the brief besides the goal: what the caller gave, and what the child finds around it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from deskhand.desktop.apps import installed
from deskhand.desktop.base import Desktop
from deskhand.desktop.sandbox import HOME
from deskhand.orchestrator.brief import Brief
from deskhand.terms import Private

LISTED_APPS = 40
"""Application names that a brief lists at most."""


def details(brief: Brief, surroundings: str) -> str:
    """The optional parts of the brief, each under its own heading."""
    parts = []
    if brief.context:
        parts.append(f"Context:\n{brief.context}")
    if brief.inputs:
        parts.append("Inputs, by field label:\n" + "\n".join(f"- {k}: {v}" for k, v in brief.inputs.items()))
    if brief.secrets:
        names = ", ".join(f"<secret:{name}>" for name in brief.secrets)
        parts.append(f"Secrets: type these placeholders, the values are filled in for you: {names}")
    if brief.expect:
        parts.append("These must hold at the end:\n" + "\n".join(f"- {item}" for item in brief.expect))
    if brief.output is not None:
        parts.append(f"`finish` must carry `data` of this JSON schema:\n{json.dumps(brief.output)}")
    if surroundings:
        parts.append(surroundings)
    return "\n" + "\n\n".join(parts) + "\n" if parts else ""


def surroundings(brief: Brief, desktop: Desktop) -> str:
    """What can be started on the desktop, where its files are, and which of them outlive it."""
    lines = []
    if isinstance(brief.computer, Private) or brief.computer == "private":
        computer = brief.computer if isinstance(brief.computer, Private) else Private()
        lines.append(
            _files(computer, HOME if desktop.isolation == "files" else str(getattr(desktop, "home", "~")))
        )
    if names := _names([entry.name for entry in installed() if entry.shown and entry.name]):
        lines.append(f"Applications here: {names}")
    return "\n".join(lines)


def _files(computer: Private, home: str) -> str:
    fate = "kept with the profile" if computer.profile else "thrown away when you end"
    folders = [
        f"{entry.removesuffix(':rw')} ({'you may write' if entry.endswith(':rw') else 'read only'})"
        for entry in computer.share
    ]
    shared = f" Shared with the caller: {', '.join(folders)}." if folders else ""
    return f"Files: your home directory is {home}, {fate}.{shared}"


def _names(names: Sequence[str]) -> str:
    unique = sorted(set(names), key=str.casefold)
    more = f" and {len(unique) - LISTED_APPS} more" if len(unique) > LISTED_APPS else ""
    return ", ".join(unique[:LISTED_APPS]) + more
