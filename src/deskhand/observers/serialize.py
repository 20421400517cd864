"""Trees as compact indented text: what a model reads instead of pixels.

One element a line: ``- button "Save" [e12] disabled`` and ``- textbox "Name" [e3] focused: "Ana"``. Strings are quoted
as in selectors (`node.quote`), so nothing that a screen says can pass for a line of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from deskhand.messages import Node
from deskhand.observers.node import CONTAINERS, comparable, quote, walk

LIMIT_CHARS: Final = 12_000
"""The default bound of a rendered tree: about 3000 tokens, twice what a screenshot costs."""

RUN: Final = 25
"""Like siblings of which more are counted, not listed."""

_NAME_CHARS: Final = 160
_VALUE_CHARS: Final = 400
_SHOWN_STATES: Final = (
    "focused checked mixed selected pressed expanded collapsed disabled readonly required invalid password busy modal "
    "unsure"
).split()
_SILENT: Final = frozenset({"separator", "scrollbar", "presentation", "none"})
_NO_REF: Final = frozenset({"text", "separator", "scrollbar", "presentation", "none"})
_SPEAKING: Final = frozenset({"img", "cell", "caption", "paragraph"})
"""Roles that are left out when they say nothing."""
_WHOLE: Final = frozenset("button menuitem menuitemcheckbox menuitemradio".split())
"""Roles whose name says all that the text inside them says (but for a shortcut)."""
_LISTS: Final = frozenset("list listbox table grid tree treegrid".split())
_CELLS: Final = frozenset("cell rowheader columnheader".split())
_SEQUENCES: Final = frozenset(
    "listitem option row treeitem cell gridcell menuitem tab link text button article checkbox radio img".split()
)


@dataclass(frozen=True, slots=True)
class _Line:
    depth: int
    text: str
    node: Node | None = None


def render(roots: Sequence[Node], *, limit_chars: int = LIMIT_CHARS, detail: bool = False) -> str:
    """The forest as text of at most ``limit_chars`` characters (at least 200).

    Wrappers without a name are folded into their parent, text that repeats the name of what it belongs to is dropped,
    long runs of like siblings are cut and counted. ``detail`` adds descriptions, rectangles, actions and addresses.
    """
    limit = max(200, limit_chars)
    out: list[str] = []
    size = 0
    lines = list(_lines(roots, detail))
    for place, line in enumerate(lines):
        text = "  " * min(line.depth, 12) + line.text
        left = len(lines) - place
        notice = f"… {left} more lines; ask with query, role or limit to see them"
        if size + len(text) + 1 > limit - (len(notice) + 1 if left > 1 else 0):
            out.append(notice)
            break
        out.append(text)
        size += len(text) + 1
    return "\n".join(out)


def describe(node: Node, *, detail: bool = False) -> str:
    """One node on one line, without its children: ``button "Save" [e12] disabled``."""
    parts = [node.role]
    if node.name:
        parts.append(quote(node.name, _NAME_CHARS if node.source != "text" else _VALUE_CHARS))
    if node.ref and (node.role not in _NO_REF or node.source == "text"):
        parts.append(f"[{node.ref}]")
    parts.extend(state for state in _SHOWN_STATES if state in node.states)
    if is_hidden(node):
        parts.append("offscreen")
    if node.hint:
        parts.append(f"({node.hint})")
    if (
        node.description
        and (detail or not node.name)
        and comparable(node.description) != comparable(node.name)
    ):
        parts.append(f"({quote(node.description, _NAME_CHARS)})")
    if detail:
        parts.extend(_details(node))
    line = " ".join(parts)
    if (
        node.value is not None
        and not (node.value and node.value == node.name)
        and "password" not in node.states
    ):
        line += f": {quote(node.value, _VALUE_CHARS)}"
    return line


def takes_ref(node: Node) -> bool:
    """Whether a node is worth a ref: not for an element's plain text and for wrappers without a name."""
    if node.source == "text":  # there is nothing else to aim at
        return node.role == "text"
    return node.handle is not None and node.role not in _NO_REF and not is_wrapper(node)


def is_wrapper(node: Node) -> bool:
    """Whether a node says nothing by itself, so that only its children are shown."""
    if node.role not in CONTAINERS or node.value or "focused" in node.states:
        return False
    # What toolkits call their boxes is for their programmers ("PathBar Layer").
    return not node.name or (node.role == "generic" and node.source == "native" and bool(node.children))


def is_hidden(node: Node) -> bool:
    """Whether a node and all below it is left out of the text: a native element that is not on the screen.

    What a page holds outside the view can be acted on (it scrolls there by itself), so that is shown.
    """
    return node.source == "native" and "offscreen" in node.states and node.role not in ("window", "dialog")


def repeats(node: Node, holder: Node | None) -> bool:
    """Whether a text only says again what the element that it is in is called."""
    return node.role == "text" and holder is not None and holder.role in _WHOLE and bool(holder.name)


# --- laying out ---------------------------------------------------------------------------------------------------


def _lines(roots: Sequence[Node], detail: bool) -> Iterator[_Line]:
    stack: list[tuple[int, Node | str]] = [(0, each) for each in reversed(_children(roots, ""))]
    while stack:
        depth, item = stack.pop()
        if isinstance(item, str):
            yield _Line(depth, item)
            continue
        inside = [each for each in item.children if not repeats(each, item)]
        children = _children(inside, item.name)
        text = f"- {describe(item, detail=detail)}"
        if item.role == "row" and item.source == "page" and not detail:
            cells, children = _cells(children)
            text += f": {cells}" if cells else ""
        if not children and (hidden := _hidden_items(item)):
            text += f" ({hidden} items)"
        yield _Line(depth, text, item)
        if (more := _out_of_sight(item)) is not None:
            stack.append((depth + 1, more))
        stack.extend((depth + 1, child) for child in reversed(children))


def _cells(children: Sequence[Node | str]) -> tuple[str, list[Node | str]]:
    """What the cells of a table on a page say, in one line, and what is in them besides: that can be acted on."""
    said: list[str] = []
    rest: list[Node | str] = []
    for each in children:
        if isinstance(each, str) or each.role not in _CELLS:
            rest.append(each)
        elif not each.children and each.states <= {"offscreen"}:
            said.append(quote(each.name or each.value or "", _NAME_CHARS))
        elif each.name or not each.children:
            rest.append(each)
        else:
            rest.extend(_children(each.children, ""))
    return " | ".join(said), rest


def _out_of_sight(node: Node) -> str | None:
    """What to say of a long list that is scrolled: how much of it is not there to be read."""
    if node.role not in _LISTS or node.source != "native":
        return None
    hidden = [each for each in node.children if is_hidden(each) and each.role in _SEQUENCES]
    if not hidden:
        return None
    rest = max(len(hidden), getattr(node.handle, "size", 0) - (len(node.children) - len(hidden)))
    return f"… {rest} more {hidden[0].role} out of sight; query to narrow, or scroll"


def _children(nodes: Iterable[Node], name: str) -> list[Node | str]:
    """What is shown below a node called ``name``: wrappers unfolded, repeats dropped, long runs cut and counted."""
    flat = list(_unfolded(nodes))
    names = {comparable(each.name) for each in flat if each.role != "text" and each.name}
    if name:
        names.add(comparable(name))
    kept: list[Node] = []
    for each in flat:
        if each.role == "text" and each.source != "text":
            words = comparable(each.name or each.value or "")
            if (
                not words
                or words in names
                or (kept and kept[-1].role == "text" and kept[-1].name == each.name)
            ):
                continue
        kept.append(each)
    return _windowed(kept)


def _unfolded(nodes: Iterable[Node]) -> Iterator[Node]:
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        if is_hidden(node):
            continue
        if is_wrapper(node):
            stack.extend(reversed(node.children))
        elif node.role not in _SILENT and not (node.role in _SPEAKING and _says_nothing(node)):
            yield node


def _says_nothing(node: Node) -> bool:
    return not (node.name or node.value or node.description or node.children or "focused" in node.states)


def _windowed(nodes: Sequence[Node]) -> list[Node | str]:
    out: list[Node | str] = []
    start = 0
    while start < len(nodes):
        end = start
        while end < len(nodes) and nodes[end].role == nodes[start].role:
            end += 1
        run = nodes[start:end]
        if len(run) > RUN + 5 and run[0].role in _SEQUENCES and run[0].source != "text":
            out.extend(run[:RUN])
            # What is selected or focused is where the work is: kept, wherever it stands.
            special = [each for each in run[RUN:] if each.states & {"selected", "focused", "checked"}][:5]
            out.extend(special)
            out.append(f"… {len(run) - RUN - len(special)} more {run[0].role}, query to narrow")
        else:
            out.extend(run)
        start = end
    return out


def _hidden_items(node: Node) -> int:
    if node.role not in ("menuitem", "menu", "combobox"):
        return 0
    return sum(
        1 for each in walk(node.children) if each.role.startswith(("menuitem", "option")) and each.name
    )


def _details(node: Node) -> Iterator[str]:
    if node.level is not None:
        yield f"level={node.level}"
    if node.url:
        yield f"url={quote(node.url)}"
    if node.rect is not None:
        yield f"@{node.rect.x},{node.rect.y} {node.rect.width}x{node.rect.height}"
    if node.actions:
        yield f"actions={','.join(quote(action, 40) for action in node.actions[:8])}"
