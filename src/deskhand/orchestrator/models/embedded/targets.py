"""From what a clause names to one element on the screen, or an honest word about why not; and keys by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from deskhand.messages import Json, Node
from deskhand.observers.node import quote
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.grammar import Item, pattern
from deskhand.orchestrator.models.embedded.lexicon import HERE, normal, without_article
from deskhand.orchestrator.models.embedded.matching import (
    EXACT,
    Match,
    Phrase,
    Pool,
    find,
    near,
    phrase,
    phrase_of,
)
from deskhand.orchestrator.models.embedded.moves import Ask, Fail, Look, Move, Scene
from deskhand.orchestrator.models.embedded.screen import Screen

_LONGEST_RUN = 4
"""Items of a list that may together be one name ("Terms, Conditions and Privacy")."""


def named(scene: Scene, item: Item, pool: Pool, within: range | None = None) -> tuple[Match, Phrase]:
    """What an item means: in the part of the screen that the goal is in, else anywhere."""
    wanted = phrase_of(item)
    screen = scene.screen
    if within is None and scene.memory.scope:
        holder = find(phrase(scene.memory.scope), screen, matching.HOLD).node
        if holder is not None:
            found = find(wanted, screen, pool, screen.inside(screen.index(holder)))
            if found.nodes:
                return found, wanted
    return find(wanted, screen, pool, within), wanted


def listed(scene: Scene, at: int, pool: Pool, within: range | None = None) -> tuple[int, Match, Phrase]:
    """What the item at this place means, and how many items its name takes ("Terms and Conditions" is one name)."""
    items = scene.clause.items
    for end in range(min(len(items), at + _LONGEST_RUN), at + 1, -1):
        whole = phrase(items[at].text + "".join(item.glue + item.text for item in items[at + 1 : end]))
        found = find(whole, scene.screen, pool, within)
        if found.node and found.fit == EXACT:
            return end - at, found, whole
    found, wanted = named(scene, items[at], pool, within)
    return 1, found, wanted


_PLACED = pattern(r"^(?P<body>.*\S) (?:in|on|of|inside|within|from|under) (?P<place>\S.*)$")


_BELONGS = pattern(r"^(?:their|his|her|its) (?P<what>\S.*)$")


def belonging(text: str, screen: Screen) -> Node | None:
    """ "their phone number": what the only label of that name is followed by."""
    found = _BELONGS.match(text)
    if found is None:
        return None
    words = set(normal(found["what"]).split())
    written = screen.written()
    labels = [
        i
        for i, each in enumerate(written[:-1])
        if normal(each.text) and set(normal(each.text).split()) & words
    ]
    labels = [i for i in labels if len(normal(written[i].text).split()) <= len(words)]
    return written[labels[0] + 1].node if len(labels) == 1 else None


_SENDING = frozenset(
    "submit send ok login log in sign in go enter done continue confirm save search apply".split()
) | {
    "log in",
    "sign in",
}
_AGREEING = frozenset({"ok", "okay", "submit", "go", "enter", "done", "continue", "confirm"})


def only_sender(name: str, screen: Screen) -> Node | None:
    """ "Press login" on a form whose only button says OK: the button that sends it, whatever it is called."""
    if normal(name) not in _SENDING:
        return None
    buttons = [
        node for i, node in enumerate(screen.nodes) if node.role == "button" and node.ref and screen.shown(i)
    ]
    fields = any(node.role in ("textbox", "searchbox") for node in screen.nodes)
    alone = len(buttons) == 1 and fields and "disabled" not in buttons[0].states
    return buttons[0] if alone and normal(buttons[0].name) in _AGREEING else None


def place_said(item: Item) -> str | None:
    """The place that is said with an item: "OK in the Print dialog"."""
    split = None if item.quoted else _PLACED.match(item.text)
    return split["place"] if split else None


def placed(scene: Scene, item: Item, pool: Pool) -> tuple[Match, Phrase] | None:
    """The element within the place that is said with it; None when none is said or it is not there."""
    split = None if item.quoted else _PLACED.match(item.text)
    if split is None:
        return None
    screen, inner = scene.screen, phrase(split["body"])
    if is_here(split["place"], screen):
        return find(inner, screen, pool), inner
    holder = find(phrase(split["place"]), screen, matching.HOLD).node
    if holder is None:
        return None
    return find(inner, screen, pool, screen.inside(screen.index(holder))), inner


def missing(scene: Scene, wanted: Phrase, found: Match, pool: Pool, doing: str) -> Move:
    """What to do when a target is not exactly one element: look again for a while, then say so."""
    name, again = wanted.whole, f"{scene.clause.verb} {{}}"
    if len(found.nodes) > 1:
        places = "; ".join(describe(node) for node in found.nodes[:5])
        question = f"“{name}” may mean {len(found.nodes)} elements ({places}). Which one should I {doing}?"
        return Ask(question=question, answer=again, about=name)
    if found.nodes and found.disabled:
        result = f"“{name}” is there but disabled, so I could not {doing} it."
        return Look(otherwise=Fail(result=result, reason="infeasible"))
    names = near(wanted, scene.screen, pool)
    there = f" What I see: {', '.join(f'“{n}”' for n in names)}." if names else " I see nothing of that kind."
    trouble = f" ({scene.memory.trouble})" if scene.memory.trouble else ""
    question = f"I found no “{name}” to {doing}.{there}{trouble} What did you mean?"
    return Look(otherwise=Ask(question=question, answer=again))


def describe(node: Node) -> str:
    """An element, for a person."""
    where = f" in “{node.window}”" if node.window else ""
    at = f" at {node.rect.x},{node.rect.y}" if node.rect else ""
    return f"{node.role} “{node.name}”{where}{at}"


def is_on(node: Node) -> bool:
    """Whether a toggle or choice is on."""
    return bool({"checked", "pressed", "selected"} & node.states)


def is_here(place: str, screen: Screen) -> bool:
    """Whether a place is where we are: "it", "the page", or a window that is there."""
    name = without_article(place)
    return normal(name) in HERE or screen.window_for(name) is not None or screen.root_for(name) is not None


def click(screen: Screen, node: Node, *, button: str = "left", count: int = 1) -> Json:
    """The step that presses an element. What is in a closed menu is reached through the menu."""
    plain = button == "left" and count == 1
    if plain and node.role.startswith("menuitem") and "offscreen" in node.states:
        above = (screen.nodes[i] for i in screen.above(screen.index(node)))
        way = [each.name for each in above if each.role in ("menuitem", "menu") and each.name]
        if way:
            return {"kind": "menu", "path": [*reversed(way), node.name]}
    if not node.ref:
        aim = f"{node.role}[name={quote(node.name)}]"
        return {"kind": "click", "target": aim} | ({"count": count} if count > 1 else {})
    if plain and node.rect is None:
        return {"kind": "invoke", "target": node.ref}
    step: Json = {"kind": "click", "target": node.ref}
    if button != "left":
        step["button"] = button
    if count > 1:
        step["count" if count <= 3 else "times"] = count
    return step


_ARROWS = ("up", "down", "left", "right")
_KEYS: Mapping[str, str] = {
    "enter": "Return",
    "esc": "Escape",
    "del": "Delete",
    "pageup": "Page_Up",
    "pagedown": "Page_Down",
    "space": "space",
    "space bar": "space",
    "spacebar": "space",
    "backspace": "BackSpace",
    **{name: name.title() for name in ("return", "escape", "tab", "home", "end", "insert", "delete")},
    **{name: name.replace(" ", "_").title() for name in ("page up", "page down")},
    **{said: name.title() for name in _ARROWS for said in (name, f"{name} arrow", f"arrow {name}")},
    **{f"f{n}": f"F{n}" for n in range(1, 13)},
}
_MODIFIERS = {"control": "ctrl", "win": "super", "meta": "super"} | {
    name: name for name in ("ctrl", "alt", "shift", "super")
}


def key(text: str) -> str | None:
    """The keys that a text names ("Ctrl+S", "the Enter key"), or None."""
    said = without_article(text).strip()
    plain = re.sub(r"\s+keys?$", "", said, flags=re.I)
    if plain.casefold() in _KEYS:
        return _KEYS[plain.casefold()]
    *held, last = (part.strip() for part in re.split(r"\s*\+\s*|(?<=\w)-(?=\w)", plain))
    if held and last and all(part.casefold() in _MODIFIERS for part in held):
        final = _KEYS.get(last.casefold(), last.lower() if len(last) == 1 else last)
        return "+".join([*(_MODIFIERS[part.casefold()] for part in held), final])
    return plain if plain != said and len(plain) == 1 else None
