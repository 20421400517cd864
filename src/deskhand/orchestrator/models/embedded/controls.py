"""Rules for clauses that press and switch: press, command, check, compute."""

from __future__ import annotations

import re
from dataclasses import replace

from deskhand.messages import Json, Node
from deskhand.observers.node import quote
from deskhand.orchestrator.models.embedded import explore, lexicon, matching
from deskhand.orchestrator.models.embedded.choices import choose_extreme, extreme, in_order
from deskhand.orchestrator.models.embedded.grammar import pattern
from deskhand.orchestrator.models.embedded.lexicon import normal
from deskhand.orchestrator.models.embedded.matching import LOOSE, PART, SAME, Phrase, find, phrase_of
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.repeating import until
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.orchestrator.models.embedded.targets import (
    belonging,
    click,
    describe,
    is_on,
    key,
    listed,
    missing,
    named,
    only_sender,
    placed,
)

BATCH = 8
"""Steps that may trust one look at the screen (the bound of batches that aim at refs)."""


_RESULT = pattern(r"^(?:the )?(?P<nth>\w+) (?:search )?result$")


def _result(scene: Scene, text: str) -> Move | None:
    """ "The fifth search result": results are counted over the pages they come on."""
    found = _RESULT.match(text)
    nth = lexicon.ORDINALS.get(found["nth"].casefold(), 0) if found else 0
    if nth < 1:
        return None
    screen = scene.screen
    links = [
        node
        for i, node in enumerate(screen.nodes)
        if node.role == "link"
        and node.ref
        and screen.shown(i)
        and re.search(r"[^\W\d]", node.name)
        and not explore.is_onward(screen, i)
    ]
    before = int(scene.memory.kept[0]) if scene.memory.kept else 0
    if nth <= before + len(links):
        return Act(steps=(click(screen, links[nth - before - 1]),), items=(scene.memory.item + 1,))
    onward = explore.way(scene, pages=True)
    return replace(onward, kept=(str(before + len(links)),)) if onward is not None and links else None


def press(scene: Scene) -> Move:
    """Click elements, or press keys where the words are a key's and no element's."""
    clause = scene.clause
    total = len(clause.items)
    if clause.path and scene.tried == 0 and (on_page := _page_menu(scene)):
        return Act(steps=on_page, items=(total,) * len(on_page))
    if clause.path and scene.tried == 0:
        return Act(steps=({"kind": "menu", "path": [item.text for item in clause.items]},), items=(total,))
    steps: list[Json] = []
    reached: list[int] = []
    at = scene.memory.item
    while at < total and len(steps) < BATCH:
        used, step = _press_one(scene, at)
        if not isinstance(step, dict):
            if steps:
                break  # what is there comes first; it may bring the rest
            return step
        at += used
        steps.append(step)
        reached.append(at)
        if clause.path:
            break  # a menu has to open before its items are there
    return Act(steps=tuple(steps), items=tuple(reached), done=at >= total)


_CROSS = frozenset({"x", "×", "✕", "✖"})


def measured_press(scene: Scene, text: str, verb: str = "") -> Move | None:
    """The press of what is meant by its measure, or of numbers in order; None where no measure is said."""
    screen = scene.screen
    if ordered := in_order(text, screen):
        at = scene.memory.stage
        part = ordered[at : at + BATCH]
        done = at + len(part) >= len(ordered)
        steps = tuple(click(screen, node) for node in part)
        return Act(steps=steps, items=(scene.memory.item,) * len(steps), done=done, stage=at + len(part))
    wanted = extreme(text)
    if wanted is None:
        return None
    nodes = choose_extreme(wanted, screen, verb)
    if len(nodes) == 1:
        return Act(steps=(click(screen, nodes[0]),), items=(scene.memory.item + 1,), done=True)
    if len(nodes) > 1:
        names = "; ".join(describe(node) for node in nodes[:5])
        return Ask(
            question=f"{len(nodes)} are “{text}”: {names}. Which one should I press?", answer="press {}"
        )
    return None


def mark(scene: Scene) -> Move:
    """Select the text of a paragraph, or of the only text there is."""
    item, screen = scene.clause.items[0], scene.screen
    wanted = phrase_of(item)
    found = find(wanted, screen, {"paragraph": 0, "blockquote": 0, "text": 1, "textbox": 2})
    if not found.nodes:
        return missing(scene, wanted, found, matching.ANY, "select")
    if len(found.nodes) > 1:
        return missing(scene, wanted, found, matching.ANY, "select")
    return Act(steps=(click(screen, found.nodes[0], count=3),))


def _page_menu(scene: Scene) -> tuple[Json, ...]:
    """The way through a page's own menu: the pointer over each entry opens the next; only the last is pressed."""
    first, *others = (item.text for item in scene.clause.items)
    node = find(Phrase(whole=first, name=first), scene.screen, {"menuitem": 0}).node
    if node is None or node.source != "page" or not node.ref:
        return ()
    targets = [node.ref, *(f"menuitem[name={quote(name)}]" for name in others)]
    return (
        *({"kind": "move", "target": target} for target in targets[:-1]),
        {"kind": "click", "target": targets[-1]},
    )


def _press_one(scene: Scene, at: int) -> tuple[int, Json | Move]:
    """The step for one item and how many items it takes, or what stands in the way."""
    clause, item = scene.clause, scene.clause.items[at]
    if not item.exact and (node := belonging(item.text, scene.screen)) is not None:
        return 1, click(scene.screen, node, button=clause.button, count=clause.count)
    used, found, wanted = listed(scene, at, matching.PRESS)
    keys = None if item.quoted else key(item.text)
    if (result := _result(scene, item.text)) is not None and len(clause.items) == 1:
        return 1, result
    if keys and ("+" in keys or not found.nodes or found.fit < SAME):
        return 1, {"kind": "key", "keys": keys} | ({"times": clause.count} if clause.count > 1 else {})
    if not (found.nodes and found.fit >= LOOSE) and (inside := placed(scene, item, matching.PRESS)):
        used, (found, wanted) = 1, inside
    if not found.nodes and normal(item.exact or wanted.name) in _CROSS:
        crossed = find(Phrase(whole="Close", name="Close"), scene.screen, {"button": 0, "link": 1})
        found = crossed if crossed.node is not None else found
    if not found.nodes and scene.tried and (sender := only_sender(wanted.name, scene.screen)) is not None:
        return 1, click(scene.screen, sender)
    if found.node is None:
        if (
            not item.exact
            and len(clause.items) == 1
            and (measured := measured_press(scene, item.text)) is not None
        ):
            return 1, measured
        return 1, missing(scene, wanted, found, matching.PRESS, "press")
    return used, click(scene.screen, found.node, button=clause.button, count=clause.count)


def command(scene: Scene) -> Move:
    """A verb that is a button's name."""
    found, wanted = named(scene, scene.clause.items[0], matching.PRESS)
    if found.node is not None and found.fit >= PART:
        return Act(steps=(click(scene.screen, found.node),))
    if not found.nodes and scene.tried and (sender := only_sender(wanted.whole, scene.screen)) is not None:
        return Act(steps=(click(scene.screen, sender),))
    if (pressed := until(scene, wanted.whole)) is not None:
        return pressed
    verb, _, rest = wanted.whole.partition(" ")
    if rest and (measured := measured_press(scene, rest, verb)) is not None:
        return measured
    return missing(scene, wanted, found, matching.PRESS, "press")


def check(scene: Scene) -> Move:
    """Bring checkboxes and switches to a state; what is already so is left alone."""
    clause = scene.clause
    total = len(clause.items)
    at = scene.memory.item
    steps: list[Json] = []
    reached: list[int] = []
    while at < total and len(steps) < BATCH:
        used, found, wanted = listed(scene, at, matching.CHECK)
        if found.node is None:
            if steps:
                break
            return missing(scene, wanted, found, matching.CHECK, "check")
        at += used
        if clause.on is None or is_on(found.node) != clause.on:
            wish = {} if clause.on is None else {"on": clause.on}
            steps.append({"kind": "toggle", "target": found.node.ref} | wish)
            reached.append(at)
    hurried(steps)
    if not steps:
        return Next(said=f"{clause.said} (it was so already)")
    return Act(steps=tuple(steps), items=tuple(reached), done=at >= total)


def hurried(steps: list[Json]) -> None:
    """Of steps that are read back each, only the last waits for the screen to rest."""
    for step in steps[:-1]:
        if step["kind"] in ("toggle", "fill", "select"):
            step["settle"] = "none"


_SIGN_WORDS = (
    (r"multiplied by|times", "×"),
    (r"divided by|over", "÷"),
    (r"plus", "+"),
    (r"minus", "−"),
    (r"to the power of", "^"),
    (r"percent", "%"),
    (r"square root of", "√"),
)
_TYPED = str.maketrans("×÷−", "*/-")


def compute(scene: Scene) -> Move:
    """Press an expression into whatever has its signs as buttons; type it into a field where there are none."""
    expression = scene.clause.value or ""
    for words, sign in _SIGN_WORDS:
        expression = re.sub(rf"\b(?:{words})\b", sign, expression, flags=re.I)
    signs = [*re.sub(r"[\s,]", "", expression), "="]
    start = scene.memory.item
    part = signs[start : start + BATCH]
    keys = [find(Phrase(whole=sign, name=sign), scene.screen, {"button": 0}).node for sign in part]
    field = _only_field(scene.screen)
    if all(keys):
        if start == 0 and field is not None and (field.value or "").strip() not in ("", "0"):
            # something is left in it that would be computed along
            return Act(steps=({"kind": "fill", "target": field.ref, "text": ""},), items=(0,), done=False)
        reached = tuple(range(start + 1, start + len(part) + 1))
        steps = tuple(click(scene.screen, node) for node in keys if node is not None)
        return Act(steps=steps, items=reached, done=reached[-1] >= len(signs))
    if start == 0 and scene.tried and field is not None:
        typed = {"kind": "fill", "target": field.ref, "text": expression.translate(_TYPED)}
        return Act(steps=(typed, {"kind": "key", "keys": "Return"}), items=(0, 1))
    question = f"I see nothing here that could compute “{scene.clause.value}”. Where should I do it?"
    return Look(otherwise=Ask(question=question, answer=f"in {{}} compute {scene.clause.value}"))


def _only_field(screen: Screen) -> Node | None:
    fields = [
        node
        for i, node in enumerate(screen.nodes)
        if node.role == "textbox" and screen.shown(i) and "readonly" not in node.states
    ]
    return fields[0] if len(fields) == 1 else None
