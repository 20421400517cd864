"""Rules for clauses that give a value: type, fill, choose, search."""

from __future__ import annotations

from deskhand.messages import Node
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.controls import click, in_scope, is_here, is_on, joined, missing
from deskhand.orchestrator.models.embedded.grammar import Item
from deskhand.orchestrator.models.embedded.lexicon import normal
from deskhand.orchestrator.models.embedded.matching import LOOSE, SAME, Match, Phrase, find, phrase
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import TOGGLES, Screen

_TRUE = frozenset("on yes true checked ticked enabled selected".split())
_FALSE = frozenset("off no false unchecked unticked disabled".split())


def type_text(scene: Scene) -> Move:
    """Type at the caret, or into a field or window that the clause names."""
    clause, screen = scene.clause, scene.screen
    text = clause.value or ""
    if clause.items:
        wanted = phrase(clause.items[0].text, quoted=clause.items[0].quoted)
        found = in_scope(scene, wanted, matching.FILL)
        if node := found.node:
            return _set(scene, node, text)
        if not found.nodes and is_here(clause.items[0].text, screen):
            return _type_at_caret(scene, text)
        return missing(scene, wanted, found, matching.FILL, f"{normal('type')} {text!r} into")
    return _type_at_caret(scene, text)


def fill(scene: Scene) -> Move:
    """Give a field its value, whatever kind of control it is."""
    clause = scene.clause
    item = clause.items[0]
    if clause.value is None:
        return Ask(question=f"What should “{item.text}” be set to?", answer=f"set \"{item.text}\" to '{{}}'")
    wanted = phrase(item.text, quoted=item.quoted)
    found = in_scope(scene, wanted, matching.FILL)
    if node := found.node:
        return _set(scene, node, clause.value)
    if not found.nodes and scene.screen.visible(wanted.name or wanted.whole):
        # choices under a plain text: "set Color to Blue" over radio buttons
        option = find(phrase(clause.value, quoted=True), scene.screen, {"radio": 0, "option": 0})
        if option.node and option.fit >= SAME:
            return _choose_node(scene, option.node)
    return missing(scene, wanted, found, matching.FILL, "fill in")


def choose(scene: Scene) -> Move:
    """Choose options: radio buttons, tabs, list items, entries of a combobox."""
    clause, screen = scene.clause, scene.screen
    item = clause.items[scene.memory.item] if scene.memory.item < len(clause.items) else None
    if item is None:
        return Next()
    within: range | None = None
    if clause.place and not is_here(clause.place, screen):
        holder = find(phrase(clause.place), screen, matching.HOLD)
        node = holder.node
        if node is None and not (holder.nodes or screen.visible(phrase(clause.place).name)):
            return missing(scene, phrase(clause.place), holder, matching.HOLD, f"choose {item.text!r} from")
        if node is not None and node.role in ("combobox", "listbox"):
            return _select_in(scene, node, item)
        if node is not None:
            within = screen.inside(screen.index(node))
    used, found, wanted = joined(scene, scene.memory.item, matching.CHOOSE, within)
    if found.node and found.fit >= LOOSE - 1:
        chosen = _choose_node(scene, found.node)
        if isinstance(chosen, Act):
            at = scene.memory.item + used
            return Act(steps=chosen.steps, items=(at,), done=at >= len(clause.items))
        return chosen
    if not found.nodes:
        empty = [
            n
            for i, n in enumerate(screen.nodes)
            if n.role == "combobox" and not _options(screen, i) and screen.shown(i)
        ]
        if len(empty) == 1 and not scene.tried:
            return Act(steps=({"kind": "select", "target": empty[0].ref, "option": item.text},), items=(scene.memory.item + 1,),
                       done=scene.memory.item + 1 >= len(clause.items))  # fmt: skip
    return missing(scene, wanted, found, matching.CHOOSE, "choose")


def search(scene: Scene) -> Move:
    """Fill the search field and press Return."""
    clause, screen = scene.clause, scene.screen
    pool = {"searchbox": 0, "textbox": 1, "combobox": 1}
    named = phrase(clause.place) if clause.place else Phrase(whole="search", name="search")
    found = find(named, screen, pool)
    if not found.nodes:
        boxes = tuple(
            node for i, node in enumerate(screen.nodes) if node.role == "searchbox" and screen.shown(i)
        )
        found = Match(nodes=boxes, fit=LOOSE)
    if node := found.node:
        steps = (
            {"kind": "fill", "target": node.ref, "text": clause.value or ""},
            {"kind": "key", "keys": "Return"},
        )
        return Act(steps=steps, items=(0, 1))
    return missing(scene, named, found, pool, "search in")


# --- parts --------------------------------------------------------------------------------------------------------


def _set(scene: Scene, node: Node, value: str) -> Move:
    """The steps that give a control its value."""
    screen = scene.screen
    index = screen.index(node)
    plain = normal(value)
    if node.role in TOGGLES:
        if plain not in _TRUE | _FALSE:
            return Ask(
                question=f"“{node.name}” can only be on or off, not “{value}”. Which?",
                answer=f"set \"{node.name}\" to '{{}}'",
            )
        on = plain in _TRUE
        if is_on(node) == on:
            return Next(said=f"“{node.name}” was already {'on' if on else 'off'}")
        return Act(steps=({"kind": "toggle", "target": node.ref, "on": on},))
    if node.role in ("listbox", "radiogroup", "group") or (
        node.role == "combobox" and "editable" not in node.states
    ):
        return _select_in(scene, node, Item(value, quoted=True))
    if "readonly" in node.states or "disabled" in node.states:
        return Fail(
            result=f"“{screen.names(index)[0] if screen.names(index) else node.role}” cannot be changed.",
            reason="infeasible",
        )
    if scene.clause.verb == "type" and node.value and "multiline" in node.states:
        return Act(steps=({"kind": "type", "target": node.ref, "text": value},))
    return Act(steps=({"kind": "fill", "target": node.ref, "text": value},))


def _select_in(scene: Scene, holder: Node, item: Item) -> Move:
    """Choose an option of a combobox, list or group of radio buttons."""
    screen = scene.screen
    index = screen.index(holder)
    wanted = phrase(item.text, quoted=item.quoted)
    pool = (
        matching.CHOOSE
        if holder.role not in ("combobox", "listbox")
        else {**matching.CHOOSE, "menuitem": 0, "text": 1}
    )
    found = find(wanted, screen, pool, screen.inside(index))
    if holder.role in ("combobox", "listbox"):
        options = _options(screen, index)
        if options and not found.nodes:
            seen = ", ".join(f"“{option}”" for option in options[:8])
            question = f"“{holder.name}” has no “{item.text}”; it offers {seen}. Which one?"
            return Look(
                otherwise=Ask(
                    question=question, answer=f"choose '{{}}' from {scene.clause.place or holder.name}"
                )
            )
        option = found.node.name or item.text if found.node else item.text
        if normal(holder.value or "") == normal(option):
            return Next(said=f"“{holder.name}” was already “{option}”")
        return Act(steps=({"kind": "select", "target": holder.ref, "option": option},))
    if node := found.node:
        return _choose_node(scene, node)
    return missing(scene, wanted, found, pool, "choose")


def _choose_node(scene: Scene, node: Node) -> Move:
    screen = scene.screen
    if node.role in ("radio", "tab", "option", "menuitemradio") and is_on(node):
        return Next(said=f"“{node.name}” was already chosen")
    if node.role in ("option", "menuitem", "listitem"):
        holder = next(
            (screen.nodes[i] for i in screen.above(screen.index(node)) if screen.nodes[i].role == "combobox"),
            None,
        )
        if holder is not None and holder.ref:
            return Act(steps=({"kind": "select", "target": holder.ref, "option": node.name},))
    if node.role in TOGGLES:
        return Act(steps=({"kind": "toggle", "target": node.ref, "on": True},)) if not is_on(node) else Next()
    if node.role in ("button", "menuitem", "link"):
        return Act(steps=(click(node, "left", 1),))
    return Act(steps=({"kind": "select", "target": node.ref},))


def _options(screen: Screen, index: int) -> list[str]:
    return [
        screen.nodes[i].name
        for i in screen.inside(index)
        if screen.nodes[i].role in ("option", "menuitem", "listitem")
    ]


def _type_at_caret(scene: Scene, text: str) -> Move:
    """Type where the caret is; else into the only place that takes text."""
    screen = scene.screen
    editable = [
        (i, node)
        for i, node in enumerate(screen.nodes)
        if node.role in ("textbox", "searchbox", "combobox")
        and screen.shown(i)
        and not {"readonly", "disabled"} & node.states
    ]
    if scene.clause.place:
        wanted = phrase(scene.clause.place)
        found = find(wanted, screen, matching.FILL)
        if found.node:
            return _set(scene, found.node, text)
    focused = [node for _, node in editable if "focused" in node.states]
    large = [node for _, node in editable if "multiline" in node.states]
    for target in (focused, large, [node for _, node in editable]):
        if len(target) == 1:
            return Act(steps=({"kind": "type", "target": target[0].ref, "text": text},))
    if not editable and screen.observation.kind == "screen" and screen.windows:
        return Act(steps=({"kind": "type", "text": text},))
    if not editable:
        return Look(
            otherwise=Ask(
                question=f"I see no field to type “{text}” into. Where should it go?",
                answer=f"type '{text}' into {{}}",
            )
        )
    names = ", ".join(f"“{(screen.names(i) or ('a field without a name',))[0]}”" for i, _ in editable[:8])
    return Ask(
        question=f"Which field should I type “{text}” into: {names}?", answer=f"type '{text}' into {{}}"
    )
