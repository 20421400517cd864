"""What each model can take: one table, overridable in the settings (``models``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

Thinking = Literal["adaptive", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a model can take and what is to be sent to it.

    ``window`` is in tokens, None where it is not known. ``stream``: replies come as they are made; without it they come
    in one piece. ``silence``: seconds that a streamed reply may stand still before it is asked for again.
    ``image_edge`` is in pixels; ``image_pixels`` bounds width times height, None where nothing else does;
    ``image_bytes`` bounds the encoded file. With more than ``many_images`` pictures in one request each is bounded by
    ``many_edge``. ``bound_thinking``: thinking blocks are bound to everything before them, so that a shortened
    history has to be allowed for in the request. ``computer``: the type of the native computer tool, if there is one.
    ``price_*`` are US dollars for a million tokens; None: the price list decides.
    """

    window: int | None = 200_000
    stream: bool = True
    silence: float = 300.0
    vision: bool = True
    parallel_calls: bool = True
    image_edge: int = 2048
    image_pixels: int | None = None
    image_bytes: int = 3_700_000
    image_detail: str = ""
    many_images: int = 20
    many_edge: int = 2000
    max_output: int | None = None
    thinking: Thinking = "off"
    bound_thinking: bool = False
    computer: str = ""
    price_provider: str = ""
    price_input: float | None = None
    price_output: float | None = None
    price_cached: float | None = None


_CLAUDE_OLD = Capabilities(
    image_edge=1568,
    image_pixels=1_150_000,
    max_output=16_000,
    price_provider="anthropic",
    computer="computer_20250124",
    silence=90.0,  # there are pings while it thinks
)
_CLAUDE_4 = replace(_CLAUDE_OLD, thinking="adaptive", computer="computer_20251124")
# 4784 visual tokens of 28 x 28 pixels each.
_CLAUDE_4_7 = replace(_CLAUDE_4, image_edge=2576, image_pixels=4784 * 28 * 28)
_CLAUDE_5 = replace(_CLAUDE_4_7, computer="computer_toolset_20260801")
_CLAUDE_5_5 = replace(_CLAUDE_5, bound_thinking=True)
_GPT_OLD = Capabilities(price_provider="openai", window=128_000)
_GPT_5_4 = replace(
    _GPT_OLD,
    window=272_000,
    image_edge=6000,
    image_pixels=10_240_000,
    image_detail="original",
    computer="computer",
)

LONG_SILENCE = 600.0
"""Seconds; a machine of one's own may read a long prompt for minutes before its first word."""

# First match wins. The sources are the vendors' pages on vision, on computer use and on thinking, as of November 2026.
_TABLE: dict[str, tuple[tuple[str, Capabilities], ...]] = {
    "anthropic": (
        ("claude-3*", _CLAUDE_OLD),
        ("claude-opus-4-5*", replace(_CLAUDE_OLD, computer="computer_20251124")),
        ("claude-*-4-5*", _CLAUDE_OLD),
        ("claude-*-4-6*", _CLAUDE_4),
        ("claude-opus-4-7*", _CLAUDE_4_7),
        ("claude-opus-4-8*", _CLAUDE_5),
        ("claude-mythos-preview*", replace(_CLAUDE_4_7, computer="")),
        ("claude-*-5-1*", _CLAUDE_5_5),
        ("claude-*-5-2*", replace(_CLAUDE_5_5, computer="")),  # computer use is not confirmed for these
        ("claude-*-5-5*", _CLAUDE_5_5),
        ("claude-*-5", _CLAUDE_5),
        ("claude-*-5-20*", _CLAUDE_5),
        ("claude-*-4", _CLAUDE_OLD),
        ("claude-*-4-[01]*", _CLAUDE_OLD),
        ("claude-*-4-20*", _CLAUDE_OLD),
        ("claude-*", replace(_CLAUDE_5_5, computer="")),
        ("*", replace(_CLAUDE_OLD, computer="")),
    ),
    "openai": (
        ("gpt-5.[4-9]*", _GPT_5_4),
        ("gpt-[6-9]*", _GPT_5_4),
        ("o1-mini*", replace(_GPT_OLD, vision=False)),
        ("o1-preview*", replace(_GPT_OLD, vision=False)),
        ("o3-mini*", replace(_GPT_OLD, vision=False)),
        ("gpt-3.5*", replace(_GPT_OLD, vision=False)),
        ("*", _GPT_OLD),
    ),
    # Any server: what a model cannot do is found out at the first refusal, see `openai_chat`.
    "openai-chat": (("*", Capabilities(window=None, silence=LONG_SILENCE)),),
}

DEFAULT_MODELS: dict[str, str] = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-5.6-sol"}
"""The model that is taken when only a provider's key is known."""


def capabilities(
    provider: str, name: str, overrides: Mapping[str, Mapping[str, Any]] | None = None
) -> Capabilities:
    """What model ``name`` of ``provider`` can take.

    ``overrides`` maps ``"provider:name"`` or ``"name"`` (with ``*``) to fields of `Capabilities`; all that match apply,
    in their order. ValueError names a field that does not exist or a value of the wrong kind.
    """
    found = next(
        (known for pattern, known in _TABLE.get(provider, ()) if fnmatchcase(name, pattern)), Capabilities()
    )
    for pattern, changes in (overrides or {}).items():
        if fnmatchcase(name, pattern) or fnmatchcase(f"{provider}:{name}", pattern):
            found = replace(found, **{key: _checked(pattern, key, value) for key, value in changes.items()})
    return found


_KINDS: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (int, float), "str": (str,)}


def _checked(pattern: str, key: str, value: Any) -> Any:
    known = {field.name: str(field.type) for field in fields(Capabilities)}
    if key not in known:
        raise ValueError(f"settings: models.{pattern!r} has no field {key!r}; there are {', '.join(known)}")
    kind = known[key]
    if key == "thinking":
        fits = value in ("adaptive", "off")
    elif value is None:
        fits = "None" in kind
    else:
        wanted = _KINDS[kind.split(" ")[0]]
        fits = isinstance(value, wanted) and (bool in wanted or not isinstance(value, bool))
    if not fits:
        raise ValueError(f"settings: models.{pattern!r}.{key} must be {kind}, not {value!r}")
    return value
