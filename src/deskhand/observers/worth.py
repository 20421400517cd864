"""What of an element is worth telling: what only repeats, what is there for the looks, what can be aimed at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from deskhand.messages import Node
from deskhand.observers.node import CONTAINERS, comparable

NO_REF: Final = frozenset({"text", "separator", "scrollbar", "presentation", "none"})
_WHOLE: Final = frozenset("button menuitem menuitemcheckbox menuitemradio".split())
"""Roles whose name says all that the text inside them says (but for a shortcut)."""
READ: Final = frozenset(
    "paragraph heading row cell rowheader columnheader listitem status alert term definition caption strong emphasis "
    "code blockquote note time mark".split()
)
"""Roles of a page that are read, not pressed: their refs are not told, unless an action says that a click does
something there."""
_HOLDERS: Final = frozenset({"paragraph", "listitem"})


def takes_ref(node: Node) -> bool:
    """Whether a node is worth a ref: not for an element's plain text and for wrappers without a name."""
    if node.source == "text":  # there is nothing else to aim at
        return node.role == "text"
    return node.handle is not None and node.role not in NO_REF and not _is_box(node)


def tells_ref(node: Node) -> bool:
    """Whether the ref is told unasked: of what can be pressed, typed into, scrolled."""
    if node.source == "page" and node.role in READ:
        return bool(node.ref and (node.actions or node.states & {"focused", "selected"}))
    return bool(node.ref) and (node.role not in NO_REF or node.source == "text")


def is_wrapper(node: Node) -> bool:
    """Whether a node says nothing by itself, so that only its children are shown."""
    return _is_box(node) or _only_holds(node)


def _is_box(node: Node) -> bool:
    if node.role not in CONTAINERS or node.value or "focused" in node.states:
        return False
    # What toolkits call their boxes is for their programmers ("PathBar Layer").
    return not node.name or (node.role == "generic" and node.source == "native" and bool(node.children))


def _only_holds(node: Node) -> bool:
    """A page's paragraph around controls, or a list item around one: it is there for their looks."""
    if node.source != "page" or node.role not in _HOLDERS or not node.children:
        return False
    if node.name or node.value or node.description or node.actions or node.states - {"offscreen"}:
        return False
    held = _controls(node.children)
    return held > 0 and (node.role == "paragraph" or held == 1)


def _controls(children: Sequence[Node], depth: int = 3) -> int:
    """How many elements there are besides boxes around them and their labels; 0 when there is text of its own."""
    count = 0
    said = echoes(children)
    for each in children:
        if id(each) in said:
            continue
        if each.role == "text" or each.role in _HOLDERS:
            return 0
        if not _is_box(each):
            count += 1
            continue
        inside = _controls(each.children, depth - 1) if depth else 0
        if not inside:
            return 0
        count += inside
    return count


def echoes(siblings: Sequence[Node]) -> set[int]:
    """The ids of the texts among siblings that only say what another of them is called: the label of a field."""
    texts = [each for each in siblings if each.role == "text" and each.source != "text"]
    if not texts:
        return set()
    names = {comparable(each.name) for each in siblings if each.role != "text" and each.name}
    return {id(each) for each in texts if comparable(each.name or each.value or "") in names}


def is_hidden(node: Node) -> bool:
    """Whether a node and all below it is left out of the text: a native element that is not on the screen.

    What a page holds outside the view can be acted on (it scrolls there by itself), so that is shown.
    """
    return node.source == "native" and "offscreen" in node.states and node.role not in ("window", "dialog")


def repeats(node: Node, holder: Node | None) -> bool:
    """Whether a text only says again what the element that it is in is called."""
    return node.role == "text" and holder is not None and holder.role in _WHOLE and bool(holder.name)
