"""Tool calls that a model wrote as text, because its server does not know the model's way of calling."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection
from typing import Any

from deskhand.messages import Json

_TAGGED = re.compile(r"<(tool_call|function_call|tool_use)>\s*(.*?)\s*</\1>", re.DOTALL)
_FENCED = re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*\n(.*?)\n?```", re.DOTALL)
_MARKED = re.compile(r"\[TOOL_CALLS\]\s*(.*)$", re.DOTALL)
_NAMES, _ARGUMENTS = ("name", "tool", "tool_name", "function"), ("arguments", "parameters", "input", "args")
_BESIDES = frozenset({"id", "type"})


def find_calls(text: str, tools: Collection[str]) -> tuple[str, list[tuple[str, Json]]]:
    """The text without the calls at its end, and these calls as (name, arguments).

    Only what cannot mean anything else counts: JSON objects of a name of one of ``tools`` and an object of arguments,
    nothing behind them, nothing half right among them. Else the text comes back as it was, with no calls.
    """
    stripped = text.rstrip()
    for pattern in (_TAGGED, _FENCED, _MARKED):
        matches = list(pattern.finditer(stripped))
        if matches and matches[-1].end() == len(stripped):
            calls = [_calls(match[match.lastindex or 0], tools) for match in matches]
            if all(calls):
                between = (stripped[a.end() : b.start()] for a, b in itertools.pairwise(matches))
                if any(part.strip() for part in between):
                    return text, []
                return stripped[: matches[0].start()].rstrip(), [call for group in calls for call in group]
            return text, []
    whole = _calls(stripped, tools) if stripped[:1] in ("{", "[") else []
    return ("", whole) if whole else (text, [])


def _calls(text: str, tools: Collection[str]) -> list[tuple[str, Json]]:
    """All calls of one piece of JSON: an object or a list of them. Empty if any of it is not a call."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    found = [_call(item, tools) for item in (value if isinstance(value, list) else [value])]
    return [call for call in found if call] if all(found) else []


def _call(value: Any, tools: Collection[str]) -> tuple[str, Json] | None:
    if isinstance(value, dict) and isinstance(
        value.get("function"), dict
    ):  # the wire's own form, written out
        value = value["function"] if not value.keys() - _BESIDES - {"function"} else None
    if not isinstance(value, dict):
        return None
    names = [key for key in _NAMES if key in value]
    arguments = [key for key in _ARGUMENTS if key in value]
    if len(names) != 1 or len(arguments) != 1 or value.keys() - _BESIDES - {names[0], arguments[0]}:
        return None
    name, given = value[names[0]], value[arguments[0]]
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    return (name, given) if isinstance(name, str) and name in tools and isinstance(given, dict) else None
