"""Rules for clauses that press and switch: press, command, check, compute; and what they share with the others."""

from __future__ import annotations

import re

from deskhand.messages import Json, Node
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.lexicon import HERE, normal, without_article
from deskhand.orchestrator.models.embedded.matching import (
    EXACT,
    LOOSE,
    SAME,
    Match,
    Phrase,
    find,
    near,
    phrase,
)
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import Screen

BATCH = 8
"""Steps that may trust one look at the screen (the bound of batches that aim at refs)."""

_KEYS = {
    "enter": "Return", "return": "Return", "escape": "Escape", "esc": "Escape", "tab": "Tab", "space": "space",
    "space bar": "space", "spacebar": "space", "backspace": "BackSpace", "delete": "Delete", "del": "Delete", "home": "Home",
    "end": "End", "page up": "Page_Up", "page down": "Page_Down", "pageup": "Page_Up", "pagedown": "Page_Down",
    "up": "Up", "down": "Down", "left": "Left", "right": "Right", "up arrow": "Up", "down arrow": "Down",
    "left arrow": "Left", "right arrow": "Right", "arrow up": "Up", "arrow down": "Down", "arrow left": "Left",
    "arrow right": "Right", "insert": "Insert", **{f"f{n}": f"F{n}" for n in range(1, 13)},
}  # fmt: skip
_MODIFIERS = {
    "ctrl": "ctrl",
    "control": "ctrl",
    "alt": "alt",
    "shift": "shift",
    "super": "super",
    "win": "super",
    "meta": "super",
}


def press(scene: Scene) -> Move:
    """Click elements, or press keys where the words are a key's and no element's."""
    clause, screen = scene.clause, scene.screen
    if clause.path and scene.tried == 0:
        return Act(
            steps=({"kind": "menu", "path": [item.text for item in clause.items]},),
            items=(len(clause.items),),
        )
    steps: list[Json] = []
    reached: list[int] = []
    at = scene.memory.item
    trouble: Move | None = None
    while at < len(clause.items) and len(steps) < BATCH:
        used, found, wanted = _pressable(scene, at)
        item = clause.items[at]
        key = _key(item.text) if not item.quoted else None
        if key and ("+" in key or not (found.node and found.fit >= SAME)):
            steps.append({"kind": "key", "keys": key} | ({"times": clause.count} if clause.count > 1 else {}))
        elif node := found.node:
            steps.append(click(node, clause.button, clause.count))
        else:
            trouble = missing(scene, wanted, found, matching.PRESS, "press")
            break
        at += used
        reached.append(at)
        if clause.path:
            break  # a menu has to open before its items are there
    if not steps:
        return trouble or Next()
    return Act(steps=tuple(steps), items=tuple(reached), done=at >= len(clause.items))


def command(scene: Scene) -> Move:
    """A verb that is a button's name: only a button that is called so counts."""
    wanted = phrase(scene.clause.items[0].text)
    found = find(wanted, screen=scene.screen, pool=matching.PRESS)
    if found.node and found.fit >= LOOSE - 1:
        return Act(steps=(click(found.node, "left", 1),), items=(1,))
    return missing(scene, wanted, found, matching.PRESS, "press")


def check(scene: Scene) -> Move:
    """Bring checkboxes and switches to a state; what is already so is left alone."""
    clause = scene.clause
    at = scene.memory.item
    steps: list[Json] = []
    reached: list[int] = []
    while at < len(clause.items) and len(steps) < BATCH:
        used, found, wanted = joined(scene, at, matching.CHECK, None)
        node = found.node
        if node is None:
            if not steps:
                return missing(scene, wanted, found, matching.CHECK, "check")
            break
        at += used
        if clause.on is not None and is_on(node) == clause.on and reached == [] and at >= len(clause.items):
            return Next(said=f"“{wanted.name}” was already {'on' if clause.on else 'off'}")
        if clause.on is None or is_on(node) != clause.on:
            steps.append(
                {"kind": "toggle", "target": node.ref} | ({} if clause.on is None else {"on": clause.on})
            )
            reached.append(at)
    if not steps:
        return Next()
    return Act(steps=tuple(steps), items=tuple(reached), done=at >= len(clause.items))


_WORD_SIGNS = (
    (r"multiplied by|times", "×"), (r"divided by|over", "÷"), ("plus", "+"), ("minus", "−"), ("to the power of", "^"),
    ("percent", "%"), ("square root of", "√"),
)  # fmt: skip


def compute(scene: Scene) -> Move:
    """Press an expression into whatever has its signs as buttons; type it where there are none."""
    expression = scene.clause.value or ""
    for words, sign in _WORD_SIGNS:
        expression = re.sub(rf"\b(?:{words})\b", sign, expression, flags=re.I)
    signs = [*re.sub(r"[\s,]", "", expression).rstrip("="), "="]
    steps: list[Json] = []
    for at in range(scene.memory.item, min(len(signs), scene.memory.item + BATCH)):
        node = find(Phrase(whole=signs[at], name=signs[at]), scene.screen, {"button": 0}).node
        if node is None:
            break
        steps.append(click(node, "left", 1))
    start = scene.memory.item
    if len(steps) == min(len(signs) - start, BATCH):
        if start == 0 and (leftover := _calculator_display(scene.screen)):
            return Act(steps=({"kind": "fill", "target": leftover.ref, "text": ""},), items=(0,), done=False)
        reached = tuple(range(start + 1, start + len(steps) + 1))
        return Act(steps=tuple(steps), items=reached, done=reached[-1] >= len(signs))
    if start == 0 and scene.tried and (field := _only_field(scene.screen)):
        plain = expression.translate(str.maketrans("×÷−", "*/-"))
        return Act(
            steps=({"kind": "fill", "target": field.ref, "text": plain}, {"kind": "key", "keys": "Return"}),
            items=(0, 1),
        )
    return Look(otherwise=Ask(question=f"I see nothing here that could compute “{scene.clause.value}”. Where should I do it?",
                              answer=f"in {{}} compute {scene.clause.value}"))  # fmt: skip


def missing(scene: Scene, wanted: Phrase, found: Match, pool: dict[str, int], doing: str) -> Move:
    """What to do when a target is not exactly one element: look again for a while, then say so."""
    name = wanted.whole
    if len(found.nodes) > 1:
        places = "; ".join(describe(node) for node in found.nodes[:5])
        question = f"There are {len(found.nodes)} elements that “{name}” may mean ({places}). Which one should I {doing}?"
        return Ask(question=question, answer=f"{scene.clause.verb} {{}}")
    if found.nodes and found.disabled:
        return Look(
            otherwise=Fail(
                result=f"“{name}” is there but disabled, so I could not {doing} it.", reason="infeasible"
            )
        )
    names = near(wanted, scene.screen, pool)
    there = f" What I see: {', '.join(f'“{n}”' for n in names)}." if names else " I see nothing of that kind."
    trouble = f" ({scene.memory.trouble})" if scene.memory.trouble else ""
    return Look(otherwise=Ask(question=f"I found no “{name}” to {doing}.{there}{trouble} What did you mean?",
                              answer=f"{scene.clause.verb} {{}}"))  # fmt: skip


def describe(node: Node) -> str:
    """An element for a person."""
    where = f" in “{node.window}”" if node.window else ""
    at = f" at {node.rect.x},{node.rect.y}" if node.rect else ""
    return f"{node.role} “{node.name}”{where}{at}"


def is_on(node: Node) -> bool:
    return bool({"checked", "pressed", "selected"} & node.states)


# --- parts --------------------------------------------------------------------------------------------------------


def is_here(place: str, screen: Screen) -> bool:
    return (
        normal(without_article(place)) in HERE
        or screen.window_for(place) is not None
        or screen.root_for(place) is not None
    )


def _key(text: str) -> str | None:
    """The keys that a text names ("Ctrl+S", "the Enter key"), or None."""
    plain = re.sub(r"\s+keys?$", "", without_article(text), flags=re.I).strip()
    said_key = plain != without_article(text).strip()
    if plain.casefold() in _KEYS:
        return _KEYS[plain.casefold()]
    parts = [part.strip() for part in re.split(r"\s*\+\s*|(?<=\w)-(?=\w)", plain)]
    if len(parts) > 1 and all(parts) and all(part.casefold() in _MODIFIERS for part in parts[:-1]):
        last = parts[-1]
        held = "+".join(_MODIFIERS[part.casefold()] for part in parts[:-1])
        return f"{held}+{_KEYS.get(last.casefold(), last.lower() if len(last) == 1 else last)}"
    return plain if said_key and len(plain) == 1 else None


def click(node: Node, button: str, count: int) -> Json:
    if node.rect is None and button == "left" and count == 1:
        return {"kind": "invoke", "target": node.ref}
    step: Json = {"kind": "click", "target": node.ref}
    if button != "left":
        step["button"] = button
    if count > 3:
        return step | {"times": count}
    return step | {"count": count} if count > 1 else step


def _pressable(scene: Scene, at: int) -> tuple[int, Match, Phrase]:
    """How many items the name takes, the elements it means, the phrase; a place said at its end is tried as one."""
    used, found, wanted = joined(scene, at, matching.PRESS, None)
    if found.nodes and found.fit >= LOOSE:
        return used, found, wanted
    split = re.match(
        r"^(?P<body>.*\S)\s+(?:in|on|of|inside|within|from|under)\s+(?P<place>\S.*)$", wanted.whole, re.I
    )
    if split and not scene.clause.items[at].quoted:
        screen = scene.screen
        inner = phrase(split["body"])
        if is_here(split["place"], screen):
            return 1, find(inner, screen, matching.PRESS), inner
        holder = find(phrase(split["place"]), screen, matching.HOLD)
        if holder.node:
            return 1, find(inner, screen, matching.PRESS, screen.inside(screen.index(holder.node))), inner
    return used, found, wanted


def joined(scene: Scene, at: int, pool: dict[str, int], within: range | None) -> tuple[int, Match, Phrase]:
    """The longest run of items that together are one exact name ("Terms and Conditions"), else the one at ``at``."""
    items = scene.clause.items
    for end in range(min(len(items), at + 4), at + 1, -1):
        text = items[at].text + "".join(item.glue + item.text for item in items[at + 1 : end])
        wanted = phrase(text)
        found = find(wanted, scene.screen, pool, within)
        if found.node and found.fit == EXACT:
            return end - at, found, wanted
    wanted = phrase(items[at].text, quoted=items[at].quoted)
    return 1, in_scope(scene, wanted, pool, within), wanted


def in_scope(scene: Scene, wanted: Phrase, pool: dict[str, int], within: range | None = None) -> Match:
    """Look in the place that the goal last named, then everywhere."""
    screen = scene.screen
    if within is None and scene.memory.scope:
        holder = find(phrase(scene.memory.scope), screen, matching.HOLD).node
        if holder is not None:
            found = find(wanted, screen, pool, screen.inside(screen.index(holder)))
            if found.nodes:
                return found
    return find(wanted, screen, pool, within)


def _only_field(screen: Screen) -> Node | None:
    fields = [
        n
        for i, n in enumerate(screen.nodes)
        if n.role == "textbox" and screen.shown(i) and "readonly" not in n.states
    ]
    return fields[0] if len(fields) == 1 else None


def _calculator_display(screen: Screen) -> Node | None:
    """The only field, when something is left in it that would be computed along."""
    field = _only_field(screen)
    return field if field and field.value and field.value.strip() not in ("", "0") else None
