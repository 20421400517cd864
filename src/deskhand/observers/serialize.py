"""Trees as compact indented text: what a model reads instead of pixels.

One element a line: ``- button "Save" [e12] disabled`` and ``- textbox "Name" [e3] focused: "Ana"``. Strings are quoted
as in selectors (`node.quote`), so nothing that a screen says can pass for a line of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from deskhand.messages import Node
from deskhand.observers.node import comparable, quote, walk
from deskhand.observers.worth import NO_REF, is_hidden, is_wrapper, repeats, tells_ref

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
_SPEAKING: Final = frozenset({"img", "cell", "caption", "paragraph"})
"""Roles that are left out when they say nothing."""
_LISTS: Final = frozenset("list listbox table grid tree treegrid".split())
_CELLS: Final = frozenset("cell gridcell rowheader columnheader".split())
_PROSE: Final = frozenset("paragraph listitem status alert term definition blockquote note caption".split())
"""Roles of a page whose text may be followed by what is in it."""
_WORDS: Final = re.compile(r"[^\W_](?:[\w.,:%+/€$£@& -]{0,78}[\w.%€$£])?")
_EMPTY: Final = '""'
_BELOW: Final = "…"
"""Stands for a cell whose contents take lines of their own."""
_IN_CELL: Final = 3
"""Elements in one cell of a table that still fit into the line of its row."""
_OPTIONS: Final = 30
_OPTIONS_CHARS: Final = 600
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


def describe(node: Node, *, detail: bool = False, brief: bool = False) -> str:
    """One node on one line, without its children: ``button "Save" [e12] disabled``.

    ``brief`` leaves out the refs of what is only read.
    """
    parts = [node.role]
    if node.name:
        parts.append(quote(node.name, _NAME_CHARS if node.source != "text" else _VALUE_CHARS))
    if node.ref and (tells_ref(node) if brief else node.role not in NO_REF or node.source == "text"):
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


def options(node: Node) -> tuple[str, ...]:
    """The choices of a page's own drop-down list, which are told with it; empty for anything else."""
    if node.role != "combobox" or node.source != "page":
        return ()
    if not all(each.role == "option" and getattr(each.handle, "option", "") for each in node.children):
        return ()
    return tuple(each.name for each in node.children)


def options_words(node: Node) -> str:
    """The choices in words, with a space before; empty without any."""
    names = options(node)
    said: list[str] = []
    for name in names[:_OPTIONS]:
        said.append(quote(name, 60))
        if sum(map(len, said)) > _OPTIONS_CHARS:
            break
    more = f" … {len(names) - len(said)} more" if len(names) > len(said) else ""
    return f" (options {' | '.join(said)}{more})" if said else ""


# --- laying out ---------------------------------------------------------------------------------------------------


def _lines(roots: Sequence[Node], detail: bool) -> Iterator[_Line]:
    stack: list[tuple[int, Node | str]] = [(0, each) for each in reversed(_children(roots, ""))]
    while stack:
        depth, item = stack.pop()
        if isinstance(item, str):
            yield _Line(depth, item)
            continue
        children = _below(item)
        text = f"- {describe(item, detail=detail, brief=not detail)}"
        if item.source == "page" and not detail:
            if item.role == "row":
                cells, children = _cells(item)
                text += f": {cells}" if cells else ""
            elif item.role in _PROSE and not item.name and item.value is None:
                words, children = _beginning(children)
                text += f": {words}" if words else ""
        text += options_words(item)
        if not children and not options(item) and (hidden := _hidden_items(item)):
            text += f" ({hidden} items)"
        yield _Line(depth, text, item)
        if (more := _out_of_sight(item)) is not None:
            stack.append((depth + 1, more))
        stack.extend((depth + 1, child) for child in reversed(children))


def _below(node: Node) -> list[Node | str]:
    """What is shown below a node."""
    if options(node):
        return []
    return _children([each for each in node.children if not repeats(each, node)], node.name)


def _beginning(children: list[Node | str]) -> tuple[str, list[Node | str]]:
    """The text that something begins with, for its own line, and what follows."""
    first = children[0] if children else ""
    if isinstance(first, str) or first.role != "text":
        return "", children
    return quote(first.name or first.value or "", _VALUE_CHARS), children[1:]


def _cells(row: Node) -> tuple[str, list[Node | str]]:
    """A row of a table on a page in one line, cell by cell, and what is in it that takes lines of its own."""
    said: list[str] = []
    rest: list[Node | str] = []
    for each in row.children:
        if each.role not in _CELLS or not each.states <= {"offscreen"}:
            rest.extend(_children((each,), row.name))
            continue
        inside = _children(each.children, "")
        leaves = [kid for kid in inside if not isinstance(kid, str) and not _below(kid)]
        if len(leaves) == len(inside) <= _IN_CELL:
            said.append(_cell(each, leaves))
        else:
            said.append(_BELOW)
            rest.extend(inside)
    while said and said[-1] == _EMPTY:
        said.pop()
    if len(said) > RUN + 5:
        said[RUN:] = [f"… {len(said) - RUN} more cells, query to narrow"]
    return ("" if {_EMPTY, _BELOW}.issuperset(said) else " | ".join(said)), rest


def _cell(cell: Node, leaves: Sequence[Node]) -> str:
    """A cell and the few things that are in it. What it is called is left out where they say it."""
    parts = [
        _plain(each.name or each.value or "")
        if each.role == "text"
        else describe(each, brief=True) + options_words(each)
        for each in leaves
    ]
    name = cell.name or cell.value or ""
    if not parts or comparable(name) not in comparable(" ".join(e.name or e.value or "" for e in leaves)):
        parts.insert(0, _plain(name) + (f" [{cell.ref}]" if tells_ref(cell) else ""))
    return " ".join(parts)


def _plain(text: str) -> str:
    """The words of a cell; in quotes where they could be taken for anything but words and numbers."""
    return text if _WORDS.fullmatch(text) else quote(text, _NAME_CHARS)


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
        if each.role == "text" and each.source != "text" and not each.children:
            words = comparable(each.name or each.value or "")
            if (
                not words
                or words in names
                or (kept and kept[-1].role == "text" and kept[-1].name == each.name)
            ):
                continue
        kept.append(each)
    if name and all(each.role == "text" and not each.children for each in kept):
        words = "".join(comparable(each.name or each.value or "") for each in kept)
        if words.replace(" ", "") == comparable(name).replace(" ", ""):
            return []
    return _windowed(kept)


def _unfolded(nodes: Iterable[Node]) -> Iterator[Node]:
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        if is_hidden(node):
            continue
        if is_wrapper(node) or (node.role == "text" and _says_only_children(node)):
            stack.extend(reversed(node.children))
        elif node.role not in _SILENT and not (node.role in _SPEAKING and _says_nothing(node)):
            yield node


def _says_only_children(node: Node) -> bool:
    return bool(node.children) and not (node.name or node.value or node.description)


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
