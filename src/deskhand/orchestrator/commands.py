"""What a command line would do: whether it deletes, sends away, runs what it fetches, or takes more rights."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from deskhand.orchestrator.risks import Asked

TERMINALS: Final = frozenset(
    """
xterm uxterm gnome-terminal gnome-terminal-server konsole xfce4-terminal kitty alacritty terminator tilix qterminal
lxterminal st foot wezterm urxvt rxvt terminal x-terminal-emulator mate-terminal
""".split()
)
"""Programs, by name, whose text input is a shell's."""

_START: Final = (
    r"(?:^|[;&|\n(`]|\$\(|(?<!\S)(?:sudo|xargs|exec|env|nohup|time|then|do|-c|-e|-exec)\s+['\"]?)\s*(?:\S*/)?"
)

_RULES: Final[tuple[tuple[str, str, str], ...]] = (
    # What it is, the kind of act in `risks.KINDS` whose naming allows it (empty: the command itself only), its looks.
    ("deleting files", "deleting", _START + r"(?:rm|rmdir|unlink|shred|srm|wipe|trash|trash-put)\b"),
    (
        "deleting files",
        "deleting",
        r"\bfind\b.*\s-delete\b|\bgit\s+(?:clean|reset\s+--hard|push\s+.*--force|branch\s+-D)\b",
    ),
    (
        "deleting files",
        "deleting",
        r"\brsync\b.*--delete|\bmv\b.*\s/dev/null|(?:^|[;&|])\s*(?::|true)?\s*>\s*[\w/~.]+\s*$",
    ),
    ("deleting files", "deleting", r"os\.(?:remove|unlink|rmdir)|shutil\.rmtree|\bunlink\s*\("),
    (
        "overwriting a disk",
        "",
        _START + r"(?:mkfs(?:\.\w+)?|fdisk|parted|wipefs)\b|\bdd\b.*\bof=|>\s*/dev/(?:sd|nvme|hd|mmc)",
    ),
    (
        "running what is fetched from the net",
        "",
        r"\b(?:curl|wget|fetch)\b.*\|\s*(?:\S*/)?(?:sudo\s+)?(?:\w*sh|python\d*|perl|ruby|node)\b",
    ),
    (
        "running what is fetched from the net",
        "",
        r"(?:\w*sh|eval|source|\.)\s+(?:-c\s+)?['\"]?(?:<\(|\$\(|`)\s*(?:curl|wget)\b",
    ),
    ("running what is hidden", "", r"\bbase64\s+(?:-d|-D|--decode)\b.*\|\s*(?:\w*sh|python\d*|perl)\b"),
    ("taking the rights of another user", "", _START + r"(?:sudo|su|doas|pkexec)\b"),
    (
        "changing rights",
        "changing who has access",
        _START + r"(?:chmod|chown|chgrp|setfacl|passwd|usermod|useradd|visudo)\b",
    ),
    (
        "ending programs or the computer",
        "",
        _START + r"(?:shutdown|reboot|poweroff|halt|kill|killall|pkill)\b",
    ),
    (
        "sending files away",
        "sending",
        _START + r"(?:scp|sftp|ftp|nc|ncat|netcat|telnet|mail|mailx|sendmail|mutt)\b",
    ),
    (
        "sending files away",
        "sending",
        r"\bcurl\b.*\s(?:-T|--upload-file|-d|--data\S*|-F|--form)\b|\bwget\b.*--post-",
    ),
    ("sending files away", "sending", r"\brsync\b.*\s\S+:\S*|>\s*/dev/tcp/"),
    (
        "publishing",
        "publishing",
        r"\bgit\s+push\b|\b(?:npm|cargo|poetry|flit|gem)\s+publish\b|\btwine\s+upload\b|\bdocker\s+push\b",
    ),
    ("opening another computer", "", _START + r"ssh\b"),
    (
        "changing what is installed",
        "",
        r"\b(?:apt|apt-get|dnf|yum|pacman|snap|flatpak|brew)\s+(?:-\S+\s+)*(?:install|remove|purge|autoremove|-S|-R)",
    ),
    ("changing what runs by itself", "", _START + r"(?:crontab|systemctl|at)\b"),
    (
        "deleting data",
        "deleting",
        r"(?i)\b(?:drop\s+(?:table|database|schema)|truncate\s+table|delete\s+from)\b",
    ),
    ("deleting data", "deleting", r"\bdocker\s+(?:rm|rmi|system\s+prune|volume\s+rm)\b|\bkubectl\s+delete\b"),
)
_COMPILED: Final = tuple((what, kind, re.compile(rule)) for what, kind, rule in _RULES)

_EVERYTHING: Final = re.compile(
    r"(?:^|\s)(?:/|/\*|~|~/|~/\*|\*|\.|\./|\.\.|\$HOME|\"\$HOME\"|/home/\w+/?|/\w+/?)(?=\s|$|['\"])"
)
"""Operands that stand for everything there is, or a whole top folder."""


def dangers(command: str, asked: Asked, said: Iterable[str]) -> str:
    """What is sensitive in a command line and not asked for by the caller's words ``said``; empty when nothing is.

    A command that the caller gave word for word is the caller's. To name the kind of act is enough for what the caller
    names, too, but never for everything at once.
    """
    whole = re.compile(rf"(?<![\w-]){re.escape(' '.join(command.split()))}(?![\w-])")
    if command.strip() and any(whole.search(" ".join(text.split())) for text in said):
        return ""
    for what, kind, rule in _COMPILED:
        hit = rule.search(command)
        if hit is None:
            continue
        if not kind or kind not in asked.kinds:
            return what
        if kind == "deleting" and (
            _EVERYTHING.search(command) or not _names_operands(command[hit.end() :], said)
        ):
            return what
    return ""


def _names_operands(operands: str, said: Iterable[str]) -> bool:
    """Whether each file of a command is one of those that the caller names, where the caller names any."""
    told = " ".join(said).casefold()
    if re.search(r"[\w-]+\.\w{1,5}\b|\B[~.]?/\w", told) is None:
        return True
    files = [word.strip("'\"") for word in operands.split() if not word.startswith("-")]
    return all(part.rstrip("/").rsplit("/", 1)[-1].casefold() in told for part in files)
