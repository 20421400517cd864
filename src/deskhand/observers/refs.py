"""The ref table: short names (``e12``) for elements, one space for native trees, pages and text."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from deskhand.errors import TargetError
from deskhand.messages import Node
from deskhand.observers.serialize import takes_ref

CAPACITY: Final = 20_000
"""Elements remembered; the longest unseen are forgotten first."""


TITLED: Final = frozenset({"window", "document"})
"""Roles whose name is a title that comes and goes with what they show: they stay the same."""


class RefTable:
    """Gives every element that is shown a ref, the same one as long as it lives and is called the same.

    An element that changes role or name gets a new ref: what was seen under the old one is no longer there. So a row
    that a list recycles for other contents can never be acted on under the ref of the old contents.
    """

    def __init__(self) -> None:
        self._refs: OrderedDict[Hashable, str] = OrderedDict()
        self._nodes: dict[str, Node] = {}
        self._last = 0

    def show(self, roots: Sequence[Node]) -> tuple[Node, ...]:
        """The same forest with refs. What is plain text or a nameless wrapper stays without."""
        # Built bottom up with an explicit stack: a page can be nested deeper than Python recurses.
        done: dict[int, Node] = {}
        stack = [(root, "", False) for root in reversed(roots)]
        while stack:
            node, ref, ready = stack.pop()
            if not ready:
                # Parents take their numbers before their children, as they are read.
                ref = self._ref(node) if takes_ref(node) else ""
                stack.append((node, ref, True))
                stack.extend((child, "", False) for child in reversed(node.children))
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

    def _ref(self, node: Node) -> str:
        key = (node.source, node.handle, node.role, "" if node.role in TITLED else node.name)
        ref = self._refs.get(key)
        if ref is None:
            self._last += 1
            ref = self._refs[key] = f"e{self._last}"
            if len(self._refs) > CAPACITY:
                _, forgotten = self._refs.popitem(last=False)
                self._nodes.pop(forgotten, None)
        else:
            self._refs.move_to_end(key)
        return ref
