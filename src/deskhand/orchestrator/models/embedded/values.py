"""Rules for clauses that give a value: type, fill, choose, search."""

from __future__ import annotations

from deskhand.messages import Json, Node
from deskhand.orchestrator.models.embedded import dates, matching
from deskhand.orchestrator.models.embedded.controls import hurried
from deskhand.orchestrator.models.embedded.grammar import Item
from deskhand.orchestrator.models.embedded.lexicon import normal
from deskhand.orchestrator.models.embedded.matching import (
    LOOSE,
    SAME,
    Match,
    Phrase,
    find,
    phrase,
)
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.options import choose_node, select_in
from deskhand.orchestrator.models.embedded.ranges import numbers_in, slide
from deskhand.orchestrator.models.embedded.reading import said_of
from deskhand.orchestrator.models.embedded.screen import TOGGLES
from deskhand.orchestrator.models.embedded.targets import is_here, is_on, missing, named

_TRUE = frozenset("on yes true checked ticked enabled selected".split())
_FALSE = frozenset("off no false unchecked unticked disabled".split())


def type_text(scene: Scene) -> Move:
    """Type at the caret, or into a field or window that the clause names."""
    clause = scene.clause
    text = _value(scene)
    if not clause.items:
        field = named(scene, Item(clause.place), matching.FILL)[0].node if clause.place else None
        return _set(scene, field, text) if field is not None else _type_at_caret(scene, text)
    where = clause.items[0]
    found, wanted = _field(scene, where, text)
    if wanted.several and found.nodes:
        return _set_all(scene, found.nodes, [text] * len(found.nodes))
    if found.node is not None:
        return _set(scene, found.node, text)
    if not found.nodes and is_here(where.text, scene.screen):
        return _type_at_caret(scene, text)
    return missing(scene, wanted, found, matching.FILL, f"type “{text}” into")


def fill(scene: Scene) -> Move:
    """Give a field its value, whatever kind of control it is."""
    clause, item = scene.clause, scene.clause.items[0]
    if clause.how == "labels":
        return _fill_labels(scene)
    if clause.value is None:
        return Ask(question=f"What should “{item.text}” be set to?", answer=f"set \"{item.text}\" to '{{}}'")
    value = _value(scene)
    found, wanted = _field(scene, item, value)
    numbers = numbers_in(value)
    if set(wanted.roles) <= _RANGES and wanted.roles and not found.nodes and numbers:
        return slide(scene, numbers)
    if wanted.several and found.nodes:
        values = numbers if len(numbers) == len(found.nodes) else [value] * len(found.nodes)
        return _set_all(scene, found.nodes, [str(each) for each in values])
    if found.node is not None:
        return _set(scene, found.node, value)
    if not found.nodes and scene.screen.visible(wanted.name or wanted.whole):
        # choices under a plain text: "set Colour to Blue" over radio buttons
        option = find(phrase(clause.value, quoted=True), scene.screen, {"radio": 0, "option": 0})
        if option.node is not None and option.fit >= SAME:
            return choose_node(scene.screen, option.node)
    return missing(scene, wanted, found, matching.FILL, "fill in")


def focus(scene: Scene) -> Move:
    """Put the caret into a field."""
    item = scene.clause.items[0]
    found, wanted = named(scene, item, {**matching.FILL, **matching.PRESS})
    if found.node is None:
        found, wanted = named(scene, item, matching.FILL)
    if found.node is None:
        return missing(scene, wanted, found, matching.FILL, "put the caret into")
    if "focused" in found.node.states:
        return Next(said=f"{scene.clause.said} (it was so already)")
    return Act(steps=({"kind": "click", "target": found.node.ref},))


# --- parts --------------------------------------------------------------------------------------------------------


_RANGES = frozenset({"slider"})
_KINDS = frozenset("date time day number answer value text it result word password username email".split())


def _value(scene: Scene) -> str:
    """What the clause enters: the text it says, or what was found out before."""
    return scene.memory.held if scene.clause.how == "held" else scene.clause.value or ""


def _field(scene: Scene, item: Item, value: str) -> tuple[Match, Phrase]:
    """The field an item names; "as the date" may name what it is for: the field of that kind, or the only one."""
    found, wanted = named(scene, item, matching.FILL)
    if found.nodes or normal(wanted.name) not in _KINDS:
        if (
            len(found.nodes) > 1
            and wanted.roles
            and not wanted.name
            and wanted.nth is None
            and not wanted.several
        ):
            found = _of_size(found, wanted)
        return found, wanted
    screen = scene.screen
    fields = [
        n for i, n in enumerate(screen.nodes) if n.role in ("textbox", "spinbutton") and screen.shown(i)
    ]
    of_kind = [node for node in fields if node.hint.startswith(normal(wanted.name))]
    nodes = of_kind or fields
    return (Match(nodes=tuple(nodes), fit=LOOSE) if len(nodes) == 1 else found), wanted


def _of_size(found: Match, wanted: Phrase) -> Match:
    """Of fields without a name: "the text box" is one of a line, "the text area" one of several lines."""
    large = "area" in wanted.whole.casefold()
    nodes = [node for node in found.nodes if ("multiline" in node.states) == large]
    empty = [node for node in nodes if not node.value] if len(nodes) > 1 else nodes
    return Match(nodes=tuple(empty if len(empty) == 1 else nodes or found.nodes), fit=found.fit)


def choose_value(scene: Scene, item: Item) -> Move | None:
    """ "Select 5 with the slider", "select 1/2/2030 as the date": a value for a field; None when it is an option."""
    wanted = phrase(scene.clause.place)
    numbers = numbers_in(item.text)
    if set(wanted.roles) & {"slider", "spinbutton"} and "textbox" not in wanted.roles and numbers:
        found, wanted = named(scene, Item(scene.clause.place), {"slider": 0, "spinbutton": 0})
        if found.node is not None:
            return _set(scene, found.node, item.text)
        if not found.nodes:
            return slide(scene, numbers[:1]) if "slider" in wanted.roles else None
    if dates.as_date(item.text) is not None or dates.as_time(item.text) is not None:
        found, wanted = _field(scene, Item(scene.clause.place), item.text)
        if found.node is not None:
            return _set(scene, found.node, item.text)
    return None


def _set_all(scene: Scene, nodes: tuple[Node, ...], values: list[str]) -> Move:
    """The steps that give each of several fields its value."""
    steps: list[Json] = []
    for node, value in zip(nodes, values, strict=True):
        move = _set(scene, node, value)
        if isinstance(move, Act):
            steps.extend(move.steps)
        elif not isinstance(move, Next):
            return move
    at = scene.memory.item
    hurried(steps)
    return (
        Act(steps=tuple(steps[:8]), items=(at,) * len(steps[:8])) if steps else Next(said=scene.clause.said)
    )


def _fill_labels(scene: Scene) -> Move:
    """Give each field what the screen says of its label."""
    screen = scene.screen
    nodes, values = [], []
    for i, node in enumerate(screen.nodes):
        if (
            node.role in ("textbox", "searchbox")
            and screen.shown(i)
            and not {"readonly", "disabled"} & node.states
        ):
            label = (screen.names(i) or ("",))[0]
            value = said_of(label, screen) if label else ""
            if not value:
                return Look(
                    otherwise=Fail(result=f"I see nothing that says what “{label or 'a field'}” should be.")
                )
            nodes.append(node)
            values.append(value)
    if not nodes:
        return Look(otherwise=Fail(result="I see no field to fill in."))
    return _set_all(scene, tuple(nodes), values)


def _set(scene: Scene, node: Node, value: str) -> Move:
    """The step that gives a control its value."""
    if node.role in ("textbox", "combobox") and (picked := dates.pick(scene, node, value)) is not None:
        return picked
    value = dates.in_form(value, node)
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
        return select_in(scene, node, Item(value, quoted=True))
    if node.role == "combobox" and "editable" not in node.states:
        return select_in(scene, node, Item(value, quoted=True))
    if {"readonly", "disabled"} & node.states:
        return Fail(result=f"“{name}” cannot be changed.", reason="infeasible")
    kept = scene.clause.verb == "type" and node.value and "multiline" in node.states
    return Act(steps=({"kind": "type" if kept else "fill", "target": node.ref, "text": value},))


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
