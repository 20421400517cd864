"""Reading native trees as a person reads a window: in rows, fields by the label beside them, nothing twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from deskhand.messages import Node, Rect
from deskhand.observers.node import CONTAINERS, comparable

_NAMED_BY_NEIGHBOUR: Final = frozenset(
    "textbox combobox spinbutton slider listbox table treegrid grid list checkbox switch searchbox".split()
)
ORDERED: Final = CONTAINERS | {"window", "dialog", "form", "toolbar"}
"""Roles whose children are told in reading order."""

_FORMS: Final = ORDERED | {"tablist", "tab", "tabpanel", "list", "listbox", "listitem", "row", "table"}


def one_cell(cells: Sequence[Node]) -> list[Node]:
    """What a cell that GTK 3 makes of several renderers (icon, text, the same text again) says: each thing once."""
    return list({(cell.name, cell.value): cell for cell in cells if cell.name or cell.value}.values())


def words_in(nodes: Sequence[Node], *, typed: bool = True) -> str:
    """What can be read in some nodes, nothing twice in a row, without what is hidden and what hangs off in a menu.

    Without what is ``typed`` into fields it can be the name of what they are in: that stays while somebody types.
    """
    words: list[str] = []
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        if "offscreen" in node.states or node.role in ("menu", "menuitem"):
            continue
        if not typed and "editable" in node.states:
            continue
        said = " ".join((node.name or node.value or "").split())
        if said and words[-1:] != [said]:
            words.append(said)
        stack.extend(reversed(node.children))
    return " ".join(words)


def chosen_in(children: Sequence[Node], name: str) -> str | None:
    """The words in a combo box, if they are few enough to be what is chosen in it."""
    words = words_in(children).removeprefix(name).strip()
    return words if 0 < len(words) <= 100 else None


def same_button(children: Sequence[Node]) -> Node | None:
    """The button inside a menu button, which GTK 4 builds of two; with the open popover, which hangs on the outer."""
    inner = [child for child in children if child.role == "button"]
    rest = [child for child in children if child.role != "button"]
    if len(inner) != 1 or any(child.role not in ("menu", "dialog") for child in rest):
        return None
    return replace(inner[0], children=(*inner[0].children, *rest))


def in_reading_order(nodes: Sequence[Node]) -> list[Node]:
    """Rows from the top, each from the left: boxes and grids list their children in the order they were added."""
    placed = [node for node in nodes if node.rect is not None]
    if len(placed) < 2 or len({node.rect for node in placed}) < 2:
        return list(nodes)
    rows: list[list[Node]] = []
    for node in sorted(placed, key=lambda n: (_rect(n).y, _rect(n).x)):
        row = next((row for row in reversed(rows[-8:]) if _same_row(_rect(row[0]), _rect(node))), None)
        if row is None:
            rows.append([node])
        else:
            row.append(node)
    ordered = [node for row in rows for node in sorted(row, key=lambda n: _rect(n).x)]
    return ordered + [node for node in nodes if node.rect is None]


def _rect(node: Node) -> Rect:
    assert node.rect is not None
    return node.rect


def _same_row(one: Rect, other: Rect) -> bool:
    overlap = min(one.bottom, other.bottom) - max(one.y, other.y)
    return overlap > 0.5 * min(one.height, other.height)


def label_by_neighbours(root: Node) -> Node:
    """Name the fields that have no name after the text to their left, or right above them, as a person reads a form."""
    fields: list[tuple[int, Node]] = []
    labels: list[tuple[int, Node]] = []
    taken: set[str] = set()
    # An entry of a list is a form of its own: its text labels its own fields, none outside.
    stack: list[tuple[Node, int]] = [(root, 0)]
    while stack:
        node, form = stack.pop()
        if "offscreen" in node.states:
            continue
        if node.role in _NAMED_BY_NEIGHBOUR and node.name:
            taken.add(comparable(node.name))
        elif node.rect is not None:
            if node.role == "text" and _labels(node.name):
                labels.append((form, node))
            elif node.role in _NAMED_BY_NEIGHBOUR:
                fields.append((form, node))
        if node.role in _FORMS:
            stack.extend((child, form if node.role in ORDERED else id(node)) for child in node.children)
    names: dict[int, str] = {}
    pairs = [
        (distance, place, field, label)
        for place, (form, field) in enumerate(fields)
        for own, label in labels
        if own == form
        and comparable(label.name) not in taken
        and (distance := _distance(_rect(field), _rect(label))) is not None
    ]
    used: set[int] = set()
    for _, _, field, label in sorted(pairs, key=lambda pair: pair[:2]):
        if id(field) not in names and id(label) not in used:
            names[id(field)] = label.name
            used.add(id(label))
    return _renamed(root, names) if names else root


def _labels(words: str) -> bool:
    """Whether a text reads like a field's label, not like a sentence."""
    return 0 < len(words) <= 60 and words[-1] not in ".!…"


def _distance(field: Rect, label: Rect) -> float | None:
    """How far a text is from a field whose label it could be; None when it stands elsewhere."""
    overlap = min(field.bottom, label.bottom) - max(field.y, label.y)
    gap = field.x - label.right
    if overlap > 0.5 * min(field.height, label.height) and -4 <= gap <= 200:
        return float(max(0, gap))
    above = field.y - label.bottom
    if -4 <= above <= 24 and label.x < field.right and label.right > field.x and label.x - field.x < 60:
        return 200.0 + above
    return None


def _renamed(root: Node, names: dict[int, str]) -> Node:
    done: dict[int, Node] = {}
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in node.children)
            continue
        children = tuple(done[id(child)] for child in node.children)
        same = all(new is old for new, old in zip(children, node.children, strict=True))
        new = node if same else replace(node, children=children)
        done[id(node)] = replace(new, name=names[id(node)]) if id(node) in names else new
    return done[id(root)]
