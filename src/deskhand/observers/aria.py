"""Reading Playwright's ARIA snapshot (AI mode, with boxes): the YAML that it writes, into elements.

The form is that of Playwright's ``ariaSnapshotRenderer``: one list item a line, ``role "name" [attribute]…``, the name
as JSON, the whole key in single quotes where YAML needs it, values plain or in double quotes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final

MOST_LINES: Final = 100_000
"""Lines of one snapshot that are read."""

_ATTRIBUTE: Final = re.compile(r"\s*\[([a-z-]+)(?:=([^\]]*))?\]")
_ROLE: Final = re.compile(r"[A-Za-z][\w-]*")
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|.)")
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_JSON: Final = json.JSONDecoder(strict=False)


@dataclass(slots=True)
class Aria:
    """One element of a snapshot. ``box`` is (x, y, width, height) in CSS pixels of its own frame's viewport."""

    role: str
    name: str = ""
    text: str | None = None
    """Its text, when that is all it holds: an input's value, a paragraph's words."""
    attributes: dict[str, str] = field(default_factory=dict)
    url: str = ""
    placeholder: str = ""
    children: list[Aria] = field(default_factory=list)

    @property
    def ref(self) -> str:
        return self.attributes.get("ref", "")

    @property
    def box(self) -> tuple[int, int, int, int] | None:
        try:
            x, y, width, height = (int(part) for part in self.attributes.get("box", "").split(","))
        except ValueError:
            return None
        return x, y, width, height


def parse_snapshot(text: str) -> list[Aria]:
    """The top elements of a snapshot. A line that is not understood is text: no page can break the reading."""
    top = Aria("fragment")
    path: list[tuple[int, Aria]] = [(-1, top)]
    for line in text.split("\n", MOST_LINES)[:MOST_LINES]:
        stripped = line.lstrip(" ")
        if not stripped.startswith("- "):
            continue
        depth = len(line) - len(stripped)
        while path[-1][0] >= depth:
            path.pop()
        above = path[-1][1]
        item = stripped[2:]
        if item.startswith("/"):
            _set_property(above, item)
            continue
        element = _element(item)
        above.children.append(element)
        path.append((depth, element))
    return top.children


def _set_property(element: Aria, item: str) -> None:
    name, _, value = item[1:].partition(":")
    if name == "url":
        element.url = _scalar(value)
    elif name == "placeholder":
        element.placeholder = _scalar(value)


def _element(item: str) -> Aria:
    if item.startswith("text:"):
        return Aria("text", name=_scalar(item[5:]))
    if item.startswith("'"):
        key, rest = _single_quoted(item)
    else:
        key, rest = item, None
    role = _ROLE.match(key)
    if role is None:
        return Aria("text", name=item)
    element = Aria(role[0])
    place = role.end()
    if key.startswith(' "', place):
        try:
            element.name, place = _JSON.raw_decode(key, place + 1)
        except ValueError:
            return Aria("text", name=item)
    while found := _ATTRIBUTE.match(key, place):
        element.attributes[found[1]] = found[2] or "true"
        place = found.end()
    rest = key[place:] if rest is None else rest
    if rest.startswith(":") and rest[1:].strip():
        element.text = _scalar(rest[1:])
    return element


def _single_quoted(item: str) -> tuple[str, str]:
    """The string in single quotes at the start (a quote inside is doubled) and what follows it."""
    end = 1
    while (end := item.find("'", end)) >= 0:
        if item[end + 1 : end + 2] != "'":
            return item[1:end].replace("''", "'"), item[end + 1 :]
        end += 2
    return item[1:], ""


def _scalar(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return _ESCAPE.sub(_unescape, value[1:-1])
    return value


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) == 3 else _ESCAPES.get(code, code)
