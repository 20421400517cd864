"""Options: choosing an entry of a combobox or a list, a radio button, a tab."""

from __future__ import annotations

from deskhand.messages import Node
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.grammar import Item
from deskhand.orchestrator.models.embedded.lexicon import normal
from deskhand.orchestrator.models.embedded.matching import find, phrase_of
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import TOGGLES, Screen
from deskhand.orchestrator.models.embedded.targets import click, is_on, missing

_OPTIONS = frozenset({"option", "menuitem", "listitem"})
_IN_LIST = {**matching.CHOOSE, "menuitem": 0, "text": 1}


def select_in(scene: Scene, holder: Node, item: Item) -> Move:
    """Choose an option of a combobox, a list or a group of radio buttons."""
    screen, wanted = scene.screen, phrase_of(item)
    index = screen.index(holder)
    if holder.role not in ("combobox", "listbox"):
        found = find(wanted, screen, matching.CHOOSE, screen.inside(index))
        if found.node is not None:
            return choose_node(screen, found.node)
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


def choose_node(screen: Screen, node: Node, *, several: bool = False) -> Act | Next:
    """The step that chooses this element; of ``several``, those of a list are added to each other."""
    if node.role in ("radio", "tab", "option", "menuitemradio", *TOGGLES) and is_on(node):
        return Next(said=f"“{node.name}” was already chosen")
    if node.role in _OPTIONS:
        above = (screen.nodes[i] for i in screen.above(screen.index(node)))
        box = next((each for each in above if each.role == "combobox"), None)
        if box is not None:
            return Act(steps=({"kind": "select", "target": box.ref, "option": node.name},))
        if several and any(screen.nodes[i].role == "listbox" for i in screen.above(screen.index(node))):
            return Act(steps=({"kind": "click", "target": node.ref, "modifiers": ["ctrl"]},))
    if node.role in TOGGLES:
        return Act(steps=({"kind": "toggle", "target": node.ref, "on": True},))
    if node.role in ("button", "menuitem", "link"):
        return Act(steps=(click(screen, node),))
    return Act(steps=({"kind": "select", "target": node.ref},))


def _options(screen: Screen, index: int) -> list[str]:
    return [screen.nodes[i].name for i in screen.inside(index) if screen.nodes[i].role in _OPTIONS]


def closed_box(screen: Screen) -> Node | None:
    """The only combobox that does not say what it offers until it is opened."""
    boxes = [
        node
        for i, node in enumerate(screen.nodes)
        if node.role == "combobox" and screen.shown(i) and not _options(screen, i)
    ]
    return boxes[0] if len(boxes) == 1 else None
