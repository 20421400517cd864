"""Trees for tests: short to write, and any tree at all for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from deskhand.messages import Node, Rect
from deskhand.observers.node import STATES, clean_name, clean_value, walk


def n(role: str, name: str = "", *children: Node, states: str = "", **fields: Any) -> Node:
    """A node with these children; states as one string of words."""
    return Node(role=role, name=name, children=children, states=frozenset(states.split()), **fields)


def numbered(roots: tuple[Node, ...]) -> tuple[Node, ...]:
    """The same forest with a handle on every node, as an observer gives them."""
    from dataclasses import replace

    count = iter(range(1_000_000))

    def number(node: Node) -> Node:
        return replace(node, handle=next(count), children=tuple(number(child) for child in node.children))

    return tuple(number(root) for root in roots)


def only(roots: tuple[Node, ...], role: str, name: str) -> Node:
    """The one node of this role and name."""
    (found,) = [node for node in walk(roots) if (node.role, node.name) == (role, name)]
    return found


ROLES = (
    "window",
    "dialog",
    "group",
    "generic",
    "button",
    "text",
    "textbox",
    "list",
    "listitem",
    "menuitem",
    "row",
    "cell",
    "paragraph",
    "heading",
    "combobox",
    "option",
    "x-y",
)

names = st.one_of(
    st.sampled_from(["", "Save", "Cancel", "Save As…", "Name:", 'it\'s "x"', "a\\b", "\u202egnp.exe"]),
    st.text(max_size=30),
).map(clean_name)


def nodes(children: st.SearchStrategy[tuple[Node, ...]]) -> st.SearchStrategy[Node]:
    return st.builds(
        Node,
        role=st.sampled_from(ROLES),
        name=names,
        value=st.one_of(st.none(), st.text(max_size=20).map(clean_value)),
        description=names,
        states=st.frozensets(st.sampled_from(sorted(STATES - {"password"})), max_size=3),
        rect=st.one_of(st.none(), st.builds(Rect, *[st.integers(0, 500)] * 4)),
        source=st.sampled_from(["native", "page"]),
        children=children,
    )


forests: st.SearchStrategy[tuple[Node, ...]] = st.recursive(
    st.just(()), lambda below: st.lists(nodes(below), max_size=4).map(tuple), max_leaves=25
).map(numbered)
