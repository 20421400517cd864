"""The ref table: short names (``e12``) for elements, one space for native trees, pages and text."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from deskhand.errors import TargetError
from deskhand.messages import Node
from deskhand.observers.node import comparable
from deskhand.observers.worth import takes_ref

CAPACITY: Final = 20_000
"""Elements remembered; the longest unseen are forgotten first."""


TITLED: Final = frozenset({"window", "document"})
"""Roles whose name is a title that comes and goes with what they show: they stay the same."""


ROWS: Final = frozenset({"listitem", "row", "treeitem", "article"})
"""Roles whose contents say which one it is, while what is in them is called the same in each."""

_ROW_CHARS: Final = 500
_TELLING: Final = frozenset(
    "text link heading cell gridcell rowheader img paragraph strong emphasis time code term definition".split()
)
"""What a row says, as opposed to what can be done in it: the latter may change because it was done."""
_TICKING: Final = re.compile(
    r"\d[\d.,:]*\s?(%|[kmgt]?i?b(/s)?\b|s(ec\w*)?\b|m(in\w*)?\b|h(ours?)?\b|days?\b)|\d+:\d\d"
)
"""Progress, sizes and times: a download does not become another one by going on."""


def row_words(row: Node) -> str:
    """What a row says of itself, without the rows in it, in a form to be compared."""
    told: list[str] = []
    stack = list(reversed(row.children))
    while stack:
        node = stack.pop()
        if node.role in _TELLING and (words := node.name or node.value):
            told.append(words)
        if node.role not in ROWS:
            stack.extend(reversed(node.children))
    words = comparable(" ".join(dict.fromkeys(told)) or row.name)
    return _TICKING.sub("", words)[:_ROW_CHARS]


class RefTable:
    """Gives every element that is shown a ref, the same one as long as it lives and is called the same.

    An element that changes role or name gets a new ref: what was seen under the old one is no longer there. So does
    one whose row now says something else: a row that a list recycles for other contents, and the button in it that is
    called the same in all rows, can never be acted on under the refs of the old contents.
    """

    def __init__(self) -> None:
        self._refs: OrderedDict[Hashable, str] = OrderedDict()
        self._nodes: dict[str, Node] = {}
        self._rows: dict[str, str] = {}
        self._last = 0

    def show(self, roots: Sequence[Node]) -> tuple[Node, ...]:
        """The same forest with refs. What is plain text or a nameless wrapper stays without."""
        # Built bottom up with an explicit stack: a page can be nested deeper than Python recurses.
        done: dict[int, Node] = {}
        stack = [(root, "", "", False) for root in reversed(roots)]
        while stack:
            node, ref, row, ready = stack.pop()
            if not ready:
                # Parents take their numbers before their children, as they are read.
                ref = self._ref(node, row) if takes_ref(node) else ""
                stack.append((node, ref, row, True))
                inside = row_words(node) if node.role in ROWS else row
                stack.extend((child, "", inside, False) for child in reversed(node.children))
                continue
            if ref or node.children:
                shown = replace(node, ref=ref, children=tuple(done[id(child)] for child in node.children))
            else:
                shown = node
            done[id(node)] = shown
            if ref:
                self._nodes[ref] = shown
        return tuple(done[id(root)] for root in roots)

    def lookup(self, ref: str) -> Node:
        """The element as it was last shown under this ref.

        TargetError ``not_found`` for a ref that was never given, ``stale_ref`` for one that is forgotten.
        """
        node = self._nodes.get(ref)
        if node is not None:
            return node
        if ref.startswith("e") and ref[1:].isdecimal() and 0 < int(ref[1:]) <= self._last:
            raise TargetError(
                "stale_ref", f"{ref} is from an old observation: observe again and use the new refs"
            )
        known = f"refs so far are e1–e{self._last}" if self._last else "nothing has been observed yet"
        raise TargetError("not_found", f"there is no ref {ref}: {known}")

    def row(self, ref: str) -> str:
        """What the row said that an element was shown in; empty when it was in none."""
        return self._rows.get(ref, "")

    def _ref(self, node: Node, row: str) -> str:
        key = (node.source, node.handle, node.role, "" if node.role in TITLED else node.name, row)
        ref = self._refs.get(key)
        if ref is None:
            self._last += 1
            ref = self._refs[key] = f"e{self._last}"
            if row:
                self._rows[ref] = row
            if len(self._refs) > CAPACITY:
                _, forgotten = self._refs.popitem(last=False)
                self._nodes.pop(forgotten, None)
                self._rows.pop(forgotten, None)
        else:
            self._refs.move_to_end(key)
        return ref
