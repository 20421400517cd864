"""Trees of `Node`s: walking, ancestors, text; and cleaning what the screen says before it goes anywhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from deskhand.messages import Node
from deskhand.observers.roles import ARIA_OF, ROLES, atspi_role, spellings

__all__ = [
    "ARIA_OF",
    "CONTAINERS",
    "ROLES",
    "STATES",
    "Flat",
    "ancestors",
    "atspi_role",
    "clean_name",
    "clean_value",
    "comparable",
    "flatten",
    "normalise",
    "quote",
    "spellings",
    "text_of",
    "walk",
]

NAME_LIMIT: Final = 10_000
"""Characters of a name that are kept, so that a hostile one cannot fill memory. What is shown is cut much shorter."""

VALUE_LIMIT: Final = 20_000
"""Characters of a value that are kept."""

STATES: Final = frozenset(
    "checked mixed selected disabled expanded collapsed focused busy modal pressed editable readonly required "
    "invalid password multiline offscreen active unsure".split()
)

CONTAINERS: Final = frozenset({"generic", "group", "none", "presentation", "rowgroup", "section"})
"""Roles that say nothing by themselves: shown only when they have a name."""

_JOINERS = "\u200c\u200d"  # of scripts and emoji: without them the words are other words
_MARKS = "\u00ad\u061c\u200b\u200e\u200f\ufeff"  # seen by nobody, and not compared (see `normalise`)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_SPACES = re.compile(r"\s+")
_LINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def clean_name(text: str) -> str:
    """A name on one line: runs of white space become one space, control characters go, length is bounded."""
    return _SPACES.sub(" ", _without_controls(text[: 2 * NAME_LIMIT])).strip()[:NAME_LIMIT]


def clean_value(text: str) -> str:
    """A value with its lines (LF) and tabs kept, other control characters gone, length bounded."""
    return _without_controls(_LINES.sub("\n", text[: 2 * VALUE_LIMIT]))[:VALUE_LIMIT]


def _without_controls(text: str) -> str:
    if text.isprintable():
        return text
    # Lone surrogates cannot be encoded, and the object replacement character stands for a child, not for text.
    kept = "\n\t "
    gone = [
        c for c in set(text) if c not in kept and (unicodedata.category(c) in ("Cc", "Cs") or c == "\ufffc")
    ]
    return _without(text, gone)


def _without(text: str, gone: Iterable[str]) -> str:
    """The text without some characters: names of megabytes are cleaned, so each character is asked about once."""
    for char in gone:
        text = text.replace(char, "")
    return text


def normalise(text: str) -> str:
    """What two spellings of the same words have in common: NFC, single spaces, no invisible format characters."""
    if not text.isascii():
        text = _without(text, [c for c in set(text) if unicodedata.category(c) == "Cf"])
        text = unicodedata.normalize("NFC", text)
    return _SPACES.sub(" ", text).strip()


def comparable(text: str) -> str:
    """`normalise`, without case."""
    return normalise(text).casefold()


def quote(text: str, limit: int = 200) -> str:
    """``text`` in double quotes, as selectors take it: nothing in it can end the quotes, break the line or reorder it.

    A line break is ``\\n``, a tab ``\\t``, anything else that cannot be seen a CSS escape. So a quoted name can be put
    into a selector as it stands. Cut in the middle to about ``limit`` characters with
    ``…`` (the selector then needs ``^=``).
    """
    if len(text) > limit:
        head = max(1, limit * 2 // 3)
        tail = max(0, limit - head - 1)
        text = text[:head] + "…" + (text[-tail:] if tail else "")
    return '"' + "".join(_escape(c) for c in text) + '"'


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char == " " or char.isprintable() or char in _JOINERS:
        return char
    if char in _MARKS:
        return ""
    return f"\\{ord(char):x} "


def walk(roots: Iterable[Node]) -> Iterator[Node]:
    """Every node, parents before children, in document order. Not recursive: depth is the screen's choice, not ours."""
    stack = list(roots)[::-1]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


@dataclass(frozen=True, slots=True)
class Flat:
    """A forest laid out in document order.

    ``parent[i]`` is the index of node i's parent (-1 for a root); its descendants are those from i + 1 up to, but not
    including, ``end[i]``.
    """

    nodes: tuple[Node, ...]
    parent: tuple[int, ...]
    end: tuple[int, ...]

    def path(self, index: int) -> Iterator[int]:
        """The indices of the ancestors of a node, the nearest first."""
        while (index := self.parent[index]) >= 0:
            yield index


def flatten(roots: Iterable[Node]) -> Flat:
    """Lay the forest out for searching."""
    nodes: list[Node] = []
    parent: list[int] = []
    stack = [(root, -1) for root in list(roots)[::-1]]
    while stack:
        node, above = stack.pop()
        index = len(nodes)
        nodes.append(node)
        parent.append(above)
        stack.extend((child, index) for child in reversed(node.children))
    end = list(range(1, len(nodes) + 1))
    for index in range(len(nodes) - 1, -1, -1):
        if (above := parent[index]) >= 0:
            end[above] = max(end[above], end[index])
    return Flat(tuple(nodes), tuple(parent), tuple(end))


def ancestors(node: Node, roots: Iterable[Node]) -> tuple[Node, ...]:
    """The ancestors of this very object in the forest, the nearest first; empty when it is a root or not there."""
    flat = flatten(roots)
    for index, other in enumerate(flat.nodes):
        if other is node:
            return tuple(flat.nodes[above] for above in flat.path(index))
    return ()


def text_of(node: Node) -> str:
    """The visible words of a node and all below it, in document order, one space between them."""
    parts: list[str] = []
    for each in walk((node,)):
        parts.extend(part for part in (each.name, each.value) if part)
    return " ".join(parts)
