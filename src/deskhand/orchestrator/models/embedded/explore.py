"""Going through what hides things: tabs, closed sections, further pages. Each way is gone once."""

from __future__ import annotations

import re

from deskhand.messages import Node
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.lexicon import normal
from deskhand.orchestrator.models.embedded.matching import LOOSE, Phrase, phrase_of
from deskhand.orchestrator.models.embedded.matching import find as find_node
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.orchestrator.models.embedded.targets import click, missing

_FORWARD = frozenset({">", "›", "»", "→", "next", "next page", "more", "show more", "load more"})
_CLOSED = frozenset("button treeitem generic group row link tab heading listitem".split())
_MOST = 40
"""Ways that are gone for one thing."""


def find(scene: Scene) -> Move:
    """Have it on the screen, going through what may hide it."""
    if not scene.clause.items:
        return Next()
    item = scene.clause.items[0]
    wanted = phrase_of(item)
    if find_node(wanted, scene.screen, matching.ANY).fit >= LOOSE or scene.screen.visible(wanted.whole):
        return Next(said=f"found “{wanted.whole}”")
    return way(scene, pages=True) or missing(scene, wanted, matching.Match(), matching.ANY, "find")


def expand(scene: Scene) -> Move:
    """Unfold a section; what is unfolded already is left alone."""
    screen, wanted = scene.screen, phrase_of(scene.clause.items[0])
    closed = [(i, node) for i, node in enumerate(screen.nodes) if _closed(screen, i)]
    if (
        wanted.name
        and not wanted.nth
        and (opener := _opener(screen)) is not None
        and not _named(wanted, screen)
    ):
        return Act(steps=(click(screen, opener),))
    if wanted.name:
        pool = {**dict.fromkeys(_CLOSED, 0), "combobox": 1, "menuitem": 1}
        found = find_node(Phrase(whole=wanted.whole, name=wanted.name, nth=wanted.nth), screen, pool)
        if found.node is None:
            return missing(scene, wanted, found, pool, "expand")
        if {"expanded", "selected"} & found.node.states:
            return Next(said=f"“{wanted.name}” was already open")
        return Act(steps=(click(screen, found.node),))
    if wanted.nth is not None and closed:
        place = wanted.nth - 1 if wanted.nth > 0 else len(closed) - 1
        closed = closed[place : place + 1]
    if len(closed) == 1:
        return Act(steps=(click(screen, closed[0][1]),))
    if not closed:
        return Look(
            otherwise=Ask(
                question=f"I see nothing that is closed, for “{scene.clause.said}”. What should I expand?"
            )
        )
    names = ", ".join(f"“{node.name}”" for _, node in closed[:8])
    return Ask(question=f"Which one should I expand: {names}?", answer="expand {}")


def _named(wanted: Phrase, screen: Screen) -> bool:
    return bool(find_node(wanted, screen, matching.ANY).nodes)


def _opener(screen: Screen) -> Node | None:
    """The only sign on the screen that says "unfold"."""
    found = [
        node
        for i, node in enumerate(screen.nodes)
        if node.ref
        and screen.shown(i)
        and any(name.strip() in ("+", "▸", "▶", "⊞", "▼", "▾", "…") for name in screen.names(i))
    ]
    return found[0] if len(found) == 1 else None


def way(scene: Scene, *, pages: bool = False) -> Act | None:
    """The next way to go on a search: a closed section, a tab, a further page; None when all were gone."""
    screen, gone = scene.screen, scene.memory.ways
    if len(gone) >= _MOST:
        return None
    open_now = tuple(
        _key(screen, i)
        for i, node in enumerate(screen.nodes)
        if node.role == "tab" and {"selected", "expanded"} & node.states
    )
    for i, node in enumerate(screen.nodes):
        if _closed(screen, i) and (key := _key(screen, i)) not in gone:
            tried = (*(each for each in open_now if each not in gone), key)
            return Act(steps=(click(screen, node),), items=(scene.memory.item,), done=False, tried=tried)
    for i, node in enumerate(screen.nodes):
        if node.role == "menuitem" and node.source == "page" and node.ref and screen.shown(i):
            key = f"over {_key(screen, i)}"
            if key not in gone and "disabled" not in node.states:
                over = {"kind": "move", "target": node.ref}
                return Act(steps=(over,), items=(scene.memory.item,), done=False, tried=(key,))
    if pages or scene.memory.through:
        for i, node in enumerate(screen.nodes):
            onward = node.role in ("link", "button") and any(
                normal(name) in _FORWARD for name in screen.names(i)
            )
            if onward and "disabled" not in node.states and screen.shown(i):
                seen = f"page:{_digest(screen)}"
                if seen in gone:
                    return None  # the same page again: it was the last
                return Act(
                    steps=(click(screen, node),), items=(scene.memory.item,), done=False, tried=(seen,)
                )
    return None


_DECLINES = ("cancel", "no", "no, thanks", "not now", "later", "close", "dismiss", "stay", "keep", "×", "x")


def past_what_is_in_the_way(scene: Scene) -> Act | None:
    """The press that declines what nobody asked for: a dialog, or a question that has come up with its answers.

    Only what says no or goes away by itself is pressed, each once, and never what the goal names; never before anything
    was done, and never in a window of its own: that is where the work is.
    """
    screen = scene.screen
    if not (scene.memory.acted or scene.memory.trouble):
        return None
    for i, node in enumerate(screen.nodes):
        if (
            node.role not in ("button", "link")
            or not node.ref
            or "disabled" in node.states
            or not screen.shown(i)
        ):
            continue
        names = [normal(name) for name in screen.names(i)]
        if not any(name in _DECLINES for name in names) or (key := f"past {names[0]}") in scene.memory.ways:
            continue
        if any(name and name in normal(scene.clause.said) for name in names):
            continue
        if any(screen.nodes[above].role in ("dialog", "alertdialog") for above in screen.above(i)) or _asked(
            screen, i
        ):
            return Act(steps=(click(screen, node),), items=(scene.memory.item,), done=False, tried=(key,))
    return None


def _asked(screen: Screen, index: int) -> bool:
    """Whether a question stands right before a button, and something else of the page is disabled meanwhile."""
    before = [
        n.name or n.value or ""
        for n in screen.nodes[max(0, index - 6) : index]
        if n.role in ("text", "paragraph", "heading")
    ]
    blocked = any("disabled" in node.states for node in screen.nodes)
    return blocked and any(text.rstrip().endswith("?") for text in before)


def is_onward(screen: Screen, index: int) -> bool:
    """Whether it leads to the next page."""
    role = screen.nodes[index].role
    return role in ("link", "button") and any(normal(name) in _FORWARD for name in screen.names(index))


def _closed(screen: Screen, index: int) -> bool:
    node = screen.nodes[index]
    if "disabled" in node.states or not node.ref or not screen.shown(index):
        return False
    if node.role == "tab":
        inside = any(
            screen.nodes[i].role not in ("link", "text", "img", "generic") for i in screen.inside(index)
        )
        named = bool(screen.names(index)) or any(screen.nodes[i].name for i in screen.inside(index))
        return named and not inside and not {"selected", "expanded"} & node.states
    return "collapsed" in node.states and node.role in _CLOSED and not _opens_menu(node)


def _opens_menu(node: Node) -> bool:
    return re.search(r"\bmenu\b", f"{node.name} {node.description}", re.I) is not None


def _key(screen: Screen, index: int) -> str:
    node = screen.nodes[index]
    inner = " ".join(screen.nodes[i].name for i in screen.inside(index) if screen.nodes[i].name)
    return f"{node.role}:{node.name or inner}"[:80]


def _digest(screen: Screen) -> str:
    return "|".join(each.text for each in screen.written())[:300]
