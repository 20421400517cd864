"""The terms of a task, as its caller sets them: where it runs, within what bounds, and what it may do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

PROFILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""What a profile can be called: it names a directory."""


@dataclass(frozen=True, slots=True)
class Private:
    """A private desktop of the task's own.

    ``profile`` names a profile that persists; ``size`` is in screen pixels; ``keep`` the seconds the desktop outlives
    the task; ``share`` lists ``"dir"`` (read only) or ``"dir:rw"``; ``network`` ``"host"`` or ``"none"``;
    ``isolation`` ``"auto"``, ``"files"`` (refuse without bubblewrap) or ``"display"`` (no file isolation).
    """

    profile: str | None = None
    size: tuple[int, int] = (1280, 800)
    scale: int = 1
    visible: bool = False
    keep: float = 0
    share: tuple[str, ...] = ()
    network: Literal["host", "none"] = "host"
    isolation: Literal["auto", "files", "display"] = "auto"

    def __post_init__(self) -> None:
        width, height = self.size
        if not (320 <= width <= 7680 and 240 <= height <= 4320):
            raise ValueError(f"size must be from 320x240 to 7680x4320 pixels, not {width}x{height}")
        if self.profile is not None and not PROFILE_NAME.fullmatch(self.profile):
            raise ValueError(
                f"profile must be letters, digits, '.', '_' and '-', at most 64, not {self.profile!r}"
            )
        if self.scale not in (1, 2):
            raise ValueError(f"scale must be 1 or 2, not {self.scale!r}")
        if self.network not in ("host", "none"):
            raise ValueError(f"network must be 'host' or 'none', not {self.network!r}")
        if self.isolation not in ("auto", "files", "display"):
            raise ValueError(f"isolation must be 'auto', 'files' or 'display', not {self.isolation!r}")
        if self.keep < 0:
            raise ValueError(f"keep must be 0 or more seconds, not {self.keep!r}")
        share: object = self.share
        if isinstance(share, str):
            raise TypeError("share must be a sequence of strings, not one string")
        for entry in self.share:
            if not isinstance(entry, str):
                raise TypeError(f"each share must be a string such as 'DIR' or 'DIR:rw', not {entry!r}")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a task besides its timeout. None: no limit. ``human_wait``: seconds a question waits for its answer."""

    steps: int | None = 50
    tokens: int | None = None
    cost: float | None = None
    human_wait: float = 600

    def __post_init__(self) -> None:
        for name in ("steps", "tokens", "cost"):
            bound = getattr(self, name)
            if bound is not None and bound <= 0:
                raise ValueError(f"limits.{name} must be positive or None, not {bound!r}")
        if self.human_wait < 0:
            raise ValueError(f"limits.human_wait must be 0 or more seconds, not {self.human_wait!r}")


@dataclass(frozen=True, slots=True)
class Policy:
    """What the child may do. ``confirm``: a callable, ``"allow"``, ``"deny"`` or None (whoever is there).

    ``tools``, ``apps`` and ``domains`` are allow-lists; None allows all.
    """

    confirm: Any = None
    tools: tuple[str, ...] | None = None
    apps: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None
    verify: Literal["auto", "checks", "off"] = "auto"
    audit_text: Literal["full", "length"] = "full"

    def __post_init__(self) -> None:
        if not (self.confirm in (None, "allow", "deny") or callable(self.confirm)):
            raise ValueError("policy.confirm must be None, 'allow', 'deny' or a callable")
        if self.verify not in ("auto", "checks", "off"):
            raise ValueError(f"policy.verify must be 'auto', 'checks' or 'off', not {self.verify!r}")
        if self.audit_text not in ("full", "length"):
            raise ValueError(f"policy.audit_text must be 'full' or 'length', not {self.audit_text!r}")
