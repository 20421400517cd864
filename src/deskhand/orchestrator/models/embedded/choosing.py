"""The rule for clauses that choose: one option or several, by name, by measure, or as a value of a field."""

from __future__ import annotations

from dataclasses import replace

from deskhand.messages import Json
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.controls import BATCH, hurried, measured_press
from deskhand.orchestrator.models.embedded.grammar import Item
from deskhand.orchestrator.models.embedded.lexicon import normal
from deskhand.orchestrator.models.embedded.matching import PART, find
from deskhand.orchestrator.models.embedded.moves import Act, Move, Next, Scene
from deskhand.orchestrator.models.embedded.options import choose_node, closed_box, select_in
from deskhand.orchestrator.models.embedded.targets import is_here, listed, missing, named
from deskhand.orchestrator.models.embedded.values import choose_value


def choose(scene: Scene) -> Move:
    """Choose options: radio buttons, tabs, list items, entries of a combobox."""
    clause, screen, total = scene.clause, scene.screen, len(scene.clause.items)
    item = clause.items[scene.memory.item]
    if total == 1 and not item.quoted and normal(item.text) in ("nothing", "none", "none of them"):
        return Next(said=clause.said)
    within: range | None = None
    if clause.place and total == 1 and (moved := choose_value(scene, item)) is not None:
        return moved
    if clause.place and not is_here(clause.place, screen):
        holder, wanted = named(scene, Item(clause.place), matching.HOLD)
        if not holder.nodes and wanted.roles and wanted.name:
            # "the scroll list", where there is but one list
            holder = find(replace(wanted, name=""), screen, matching.HOLD)
        if holder.node is not None and holder.node.role in ("combobox", "listbox") and total == 1:
            return select_in(scene, holder.node, item)
        if holder.node is not None:
            within = screen.inside(screen.index(holder.node))
        elif not screen.visible(wanted.name):
            return missing(scene, wanted, holder, matching.HOLD, f"choose “{item.text}” from")
    steps: list[Json] = []
    reached: list[int] = []
    at = scene.memory.item
    while at < total and len(steps) < BATCH:
        used, move = _choose_one(scene, at, within)
        if isinstance(move, Next):
            if not steps:
                return Next(said=move.said, items=None if at + used >= total else at + used)
            reached[-1] = at + used
        elif isinstance(move, Act) and total > 1 and move.done:
            steps.extend(move.steps)
            reached.extend([at + used] * len(move.steps))
        elif steps:
            break  # what is there comes first; it may bring the rest
        else:
            return move
        at += used
    hurried(steps)
    return Act(steps=tuple(steps), items=tuple(reached), done=at >= total)


def _choose_one(scene: Scene, at: int, within: range | None) -> tuple[int, Move]:
    """What chooses one item, and how many items of the clause it takes."""
    clause, screen, item = scene.clause, scene.screen, scene.clause.items[at]
    used, found, wanted = listed(scene, at, matching.CHOOSE, within)
    alone = len(clause.items) == 1
    if not found.nodes and alone and (measured := measured_press(scene, item.text)) is not None:
        return used, measured
    if found.node is not None and found.fit >= PART:
        move = choose_node(screen, found.node, several=not alone)
    elif not found.nodes and (closed := closed_box(screen)) is not None and not scene.tried:
        move = Act(steps=({"kind": "select", "target": closed.ref, "option": item.text},))
    else:
        return used, missing(scene, wanted, found, matching.CHOOSE, "choose")
    reached = at + used
    last = reached >= len(clause.items)
    if isinstance(move, Act):
        return used, Act(steps=move.steps, items=(reached,) * len(move.steps), done=last or not alone)
    return used, move
