"""Rules for clauses that give a value: type, fill, choose, search."""

from __future__ import annotations

from deskhand.messages import Node
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.grammar import Item
from deskhand.orchestrator.models.embedded.lexicon import normal
from deskhand.orchestrator.models.embedded.matching import LOOSE, PART, SAME, Match, find, phrase
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import TOGGLES, Screen
from deskhand.orchestrator.models.embedded.targets import click, is_here, is_on, listed, missing, named

_TRUE = frozenset("on yes true checked ticked enabled selected".split())
_FALSE = frozenset("off no false unchecked unticked disabled".split())
_OPTIONS = frozenset({"option", "menuitem", "listitem"})
_IN_LIST = {**matching.CHOOSE, "menuitem": 0, "text": 1}


def type_text(scene: Scene) -> Move:
    """Type at the caret, or into a field or window that the clause names."""
    clause = scene.clause
    text = clause.value or ""
    if not clause.items:
        field = named(scene, Item(clause.place), matching.FILL)[0].node if clause.place else None
        return _set(scene, field, text) if field is not None else _type_at_caret(scene, text)
    where = clause.items[0]
    found, wanted = named(scene, where, matching.FILL)
    if found.node is not None:
        return _set(scene, found.node, text)
    if not found.nodes and is_here(where.text, scene.screen):
        return _type_at_caret(scene, text)
    return missing(scene, wanted, found, matching.FILL, f"type “{text}” into")


def fill(scene: Scene) -> Move:
    """Give a field its value, whatever kind of control it is."""
    clause, item = scene.clause, scene.clause.items[0]
    if clause.value is None:
        return Ask(question=f"What should “{item.text}” be set to?", answer=f"set \"{item.text}\" to '{{}}'")
    found, wanted = named(scene, item, matching.FILL)
    if found.node is not None:
        return _set(scene, found.node, clause.value)
    if not found.nodes and scene.screen.visible(wanted.name or wanted.whole):
        # choices under a plain text: "set Colour to Blue" over radio buttons
        option = find(phrase(clause.value, quoted=True), scene.screen, {"radio": 0, "option": 0})
        if option.node is not None and option.fit >= SAME:
            return _choose_node(scene.screen, option.node)
    return missing(scene, wanted, found, matching.FILL, "fill in")


def choose(scene: Scene) -> Move:
    """Choose options: radio buttons, tabs, list items, entries of a combobox."""
    clause, screen, at = scene.clause, scene.screen, scene.memory.item
    item = clause.items[at]
    within: range | None = None
    if clause.place and not is_here(clause.place, screen):
        holder, wanted = named(scene, Item(clause.place), matching.HOLD)
        if holder.node is not None and holder.node.role in ("combobox", "listbox"):
            return _select_in(scene, holder.node, item)
        if holder.node is not None:
            within = screen.inside(screen.index(holder.node))
        elif not screen.visible(wanted.name):
            return missing(scene, wanted, holder, matching.HOLD, f"choose “{item.text}” from")
    used, found, wanted = listed(scene, at, matching.CHOOSE, within)
    if found.node is not None and found.fit >= PART:
        move: Act | Next = _choose_node(screen, found.node)
    elif not found.nodes and (closed := _closed_box(screen)) is not None and not scene.tried:
        move = Act(steps=({"kind": "select", "target": closed.ref, "option": item.text},))
    else:
        return missing(scene, wanted, found, matching.CHOOSE, "choose")
    reached = at + used
    last = reached >= len(clause.items)
    if isinstance(move, Act):
        return Act(steps=move.steps, items=(reached,) * len(move.steps), done=last)
    return Next(said=move.said, items=None if last else reached)


def search(scene: Scene) -> Move:
    """Fill the search field and press Return."""
    clause, screen = scene.clause, scene.screen
    pool = {"searchbox": 0, "textbox": 1, "combobox": 1}
    found, wanted = named(scene, Item(clause.place or "search"), pool)
    if not found.nodes:
        boxes = [node for i, node in enumerate(screen.nodes) if node.role == "searchbox" and screen.shown(i)]
        found = Match(nodes=tuple(boxes), fit=LOOSE)
    if found.node is None:
        return missing(scene, wanted, found, pool, "search in")
    filled = {"kind": "fill", "target": found.node.ref, "text": clause.value or ""}
    return Act(steps=(filled, {"kind": "key", "keys": "Return"}), items=(0, 1))


# --- parts --------------------------------------------------------------------------------------------------------


def _set(scene: Scene, node: Node, value: str) -> Move:
    """The step that gives a control its value."""
    names = scene.screen.names(scene.screen.index(node))
    name = names[0] if names else node.role
    if node.role in TOGGLES:
        if normal(value) not in _TRUE | _FALSE:
            question = f"“{name}” can only be on or off, not “{value}”. Which?"
            return Ask(question=question, answer=f"set \"{name}\" to '{{}}'")
        on = normal(value) in _TRUE
        if is_on(node) == on:
            return Next(said=f"“{name}” was already {'on' if on else 'off'}")
        return Act(steps=({"kind": "toggle", "target": node.ref, "on": on},))
    if node.role in ("listbox", "radiogroup", "group"):
        return _select_in(scene, node, Item(value, quoted=True))
    if node.role == "combobox" and "editable" not in node.states:
        return _select_in(scene, node, Item(value, quoted=True))
    if {"readonly", "disabled"} & node.states:
        return Fail(result=f"“{name}” cannot be changed.", reason="infeasible")
    kept = scene.clause.verb == "type" and node.value and "multiline" in node.states
    return Act(steps=({"kind": "type" if kept else "fill", "target": node.ref, "text": value},))


def _select_in(scene: Scene, holder: Node, item: Item) -> Move:
    """Choose an option of a combobox, a list or a group of radio buttons."""
    screen, wanted = scene.screen, phrase(item.text, quoted=item.quoted)
    index = screen.index(holder)
    if holder.role not in ("combobox", "listbox"):
        found = find(wanted, screen, matching.CHOOSE, screen.inside(index))
        if found.node is not None:
            return _choose_node(screen, found.node)
        return missing(scene, wanted, found, matching.CHOOSE, "choose")
    found = find(wanted, screen, _IN_LIST, screen.inside(index))
    options = _options(screen, index)
    names = screen.names(index)
    called = scene.clause.place or (names[0] if names else holder.role)
    if options and not found.nodes:
        seen = ", ".join(f"“{option}”" for option in options[:8])
        question = f"“{called}” has no “{item.text}”; it offers {seen}. Which one?"
        return Look(otherwise=Ask(question=question, answer=f"choose '{{}}' from {called}"))
    option = (found.node.name if found.node is not None else "") or item.text
    if normal(holder.value or "") == normal(option):
        return Next(said=f"“{called}” was already “{option}”")
    return Act(steps=({"kind": "select", "target": holder.ref, "option": option},))


def _choose_node(screen: Screen, node: Node) -> Act | Next:
    """The step that chooses this element."""
    if node.role in ("radio", "tab", "option", "menuitemradio", *TOGGLES) and is_on(node):
        return Next(said=f"“{node.name}” was already chosen")
    if node.role in _OPTIONS:
        above = (screen.nodes[i] for i in screen.above(screen.index(node)))
        box = next((each for each in above if each.role == "combobox"), None)
        if box is not None:
            return Act(steps=({"kind": "select", "target": box.ref, "option": node.name},))
    if node.role in TOGGLES:
        return Act(steps=({"kind": "toggle", "target": node.ref, "on": True},))
    if node.role in ("button", "menuitem", "link"):
        return Act(steps=(click(screen, node),))
    return Act(steps=({"kind": "select", "target": node.ref},))


def _options(screen: Screen, index: int) -> list[str]:
    return [screen.nodes[i].name for i in screen.inside(index) if screen.nodes[i].role in _OPTIONS]


def _closed_box(screen: Screen) -> Node | None:
    """The only combobox that does not say what it offers until it is opened."""
    boxes = [
        node
        for i, node in enumerate(screen.nodes)
        if node.role == "combobox" and screen.shown(i) and not _options(screen, i)
    ]
    return boxes[0] if len(boxes) == 1 else None


def _type_at_caret(scene: Scene, text: str) -> Move:
    """Type where the caret is; else into the only place that takes text."""
    screen = scene.screen
    fields = [
        (i, node)
        for i, node in enumerate(screen.nodes)
        if node.role in ("textbox", "searchbox", "combobox")
        and screen.shown(i)
        and not {"readonly", "disabled"} & node.states
    ]
    focused = [node for _, node in fields if "focused" in node.states]
    large = [node for _, node in fields if "multiline" in node.states]
    for targets in (focused, large, [node for _, node in fields]):
        if len(targets) == 1:
            return Act(steps=({"kind": "type", "target": targets[0].ref, "text": text},))
    if not fields and screen.observation.kind == "screen" and screen.windows:
        return Act(steps=({"kind": "type", "text": text},))  # nothing to go by but the caret
    answer = f"type '{text}' into {{}}"
    if not fields:
        question = f"I see no field to type “{text}” into. Where should it go?"
        return Look(otherwise=Ask(question=question, answer=answer))
    names = ", ".join(f"“{(screen.names(i) or ('a field without a name',))[0]}”" for i, _ in fields[:8])
    return Ask(question=f"Which field should I type “{text}” into: {names}?", answer=answer)
