"""What must not be seen: password fields have no text, and a task's secrets appear under their names only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from deskhand.messages import Node

SHORTEST: Final = 3
"""Secrets of fewer characters are not looked for in text: they would blot out half of every page."""


def mask_text(text: str, secrets: Mapping[str, str]) -> str:
    """``text`` with every secret replaced by ``<secret:name>``, the longest first."""
    for name, value in sorted(secrets.items(), key=lambda item: -len(item[1])):
        if len(value) >= SHORTEST and value in text:
            text = text.replace(value, f"<secret:{name}>")
    return text


def mask_tree(roots: Sequence[Node], secrets: Mapping[str, str]) -> tuple[Node, ...]:
    """The forest without the values of password fields and with the secrets' names in place of the secrets."""
    masked: dict[int, Node] = {}
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, ready = stack.pop()
        if not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in node.children)
            continue
        children = tuple(masked[id(child)] for child in node.children)
        same = all(new is old for new, old in zip(children, node.children, strict=True))
        masked[id(node)] = _mask(node if same else replace(node, children=children), secrets)
    return tuple(masked[id(root)] for root in roots)


def _mask(node: Node, secrets: Mapping[str, str]) -> Node:
    if "password" in node.states:
        # Some toolkits expose a password's characters, or as many dots, as a child or as the name.
        if node.value is None and not node.children:
            return node
        return replace(node, value=None, children=())
    if not secrets:
        return node
    name, description = mask_text(node.name, secrets), mask_text(node.description, secrets)
    value = None if node.value is None else mask_text(node.value, secrets)
    if (name, value, description) == (node.name, node.value, node.description):
        return node
    return replace(node, name=name, value=value, description=description)
