"""What the child is told of a look: lists of what a query means, differences, the line of windows, pages of lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from deskhand.errors import TargetError
from deskhand.messages import Node, WindowInfo
from deskhand.observers.diff import diff
from deskhand.observers.node import comparable, flatten, quote, spellings, walk
from deskhand.observers.refs import TITLED
from deskhand.observers.serialize import LIMIT_CHARS, describe, render
from deskhand.observers.tabs import Tab
from deskhand.observers.worth import is_hidden

_WINDOWS_NAMED: Final = 20


def matching(
    roots: Sequence[Node], query: str | None, role: str | None, *, limit: int, offset: int, detail: bool
) -> str:
    """The elements that a query means, one a line, each with up to three named ancestors."""
    flat = flatten(roots)
    words = comparable(query or "")
    roles = (spellings(role) or frozenset({role})) if role else None
    found = [
        index
        for index, node in enumerate(flat.nodes)
        if (roles is None or node.role in roles)
        and (node.name or node.value or node.description or not words)
        and words in comparable(f"{node.name} {node.value or ''} {node.description}")
    ]
    lines: list[str] = []
    for index in found[offset : offset + limit]:
        above = [flat.nodes[each] for each in flat.path(index) if flat.nodes[each].name][:3]
        inside = " < ".join(f"{each.role} {quote(each.name, 40)}" for each in above)
        place = f" (in {inside})" if inside else ""
        lines.append(f"- {describe(flat.nodes[index], detail=detail)}{place}")
    left = len(found) - offset - len(lines)
    if left > 0:
        lines.append(f"… {left} more of {len(found)}: narrow the query, or offset={offset + limit}")
    return _bounded(lines) if lines else "nothing matches"


def instead(was: Node, roots: Sequence[Node]) -> str:
    """What is called as an element was that is there no more, or that one has to look again."""
    like = [
        each
        for each in walk(roots)
        if each.role == was.role and comparable(each.name) == comparable(was.name) and not is_hidden(each)
    ]
    if not was.name or not like:
        return "look at what is there now"
    listed = ", ".join(describe(each) for each in like[:3])
    return f"look again; called so now: {listed}{' …' if len(like) > 3 else ''}"


def difference(old: Node, new: Node) -> str:
    """The change in words, or the whole when that is shorter. A title is told in the line of windows."""
    if old.role in TITLED:
        old = replace(old, name=new.name)
    changed = diff((old,), (new,))
    if len(changed) < 400:
        return changed
    whole = render((new,))
    return changed if len(changed) <= len(whole) else whole


def windows(known: Sequence[WindowInfo]) -> str:
    """The line that names the windows."""
    if not known:
        return "Windows: none"
    titles = [
        f"{quote(w.title, 80)}{' (active)' if w.active else ''}{' (modal)' if w.modal else ''}"
        for w in known[:_WINDOWS_NAMED]
    ]
    more = f" and {len(known) - _WINDOWS_NAMED} more" if len(known) > _WINDOWS_NAMED else ""
    return f"Windows: {', '.join(titles)}{more}"


def page(root: Node, tabs: Sequence[Tab]) -> str:
    """The line that names the page, with its browser's tabs when there are several."""
    line = f"Page: {quote(root.name, 120)} {quote(root.url, 300)}"
    if len(tabs) > 1:
        listed = ", ".join(
            f"{tab.number} {quote(tab.title, 60)}{' (this one)' if tab.active else ''}" for tab in tabs[:20]
        )
        line += f"; tabs: {listed}"
    return line


def named(title: str, known: Sequence[WindowInfo]) -> WindowInfo:
    """The window that a title, or a part of it or of its program's name, means; TargetError when none."""
    wanted = comparable(title)
    exact = [w for w in known if comparable(w.title) == wanted]
    found = exact or [w for w in known if wanted in comparable(w.title) or wanted in comparable(w.app)]
    if not found:
        listed = ", ".join(quote(w.title, 60) for w in known[:_WINDOWS_NAMED]) or "none"
        raise TargetError("not_found", f"no window {quote(title, 80)}; there are: {listed}")
    return found[0]


def in_lines(roots: Sequence[Node], *, limit: int | None, offset: int, detail: bool) -> str:
    """The trees as text: all that there is room for, or ``limit`` of its lines from ``offset``."""
    room = LIMIT_CHARS if not offset else LIMIT_CHARS + offset * 120  # lines that are skipped do not count
    text = render(roots, detail=detail, limit_chars=room)
    lines = text.split("\n")
    if limit is None and not offset:
        return text
    end = len(lines) if limit is None else offset + limit
    rest = len(lines) - end
    shown = lines[offset:end]
    if rest > 0:
        shown.append(f"… {rest} more lines: offset={end}")
    return _bounded(shown)


def _bounded(lines: Sequence[str]) -> str:
    size = 0
    for place, line in enumerate(lines):
        size += len(line) + 1
        if size > LIMIT_CHARS:
            return "\n".join([*lines[:place], f"… {len(lines) - place} more lines: use limit and offset"])
    return "\n".join(lines)
