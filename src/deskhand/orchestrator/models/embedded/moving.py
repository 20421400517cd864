"""Dragging: an item to where another is, or up and down its list; done only when the list shows it."""

from __future__ import annotations

import re

from deskhand.messages import Node
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.grammar import Item, pattern
from deskhand.orchestrator.models.embedded.lexicon import ORDINALS, normal
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.orchestrator.models.embedded.targets import missing, named

_POSITION = pattern(
    r"^(?:the )?(?P<nth>\S+) (?:position|place|spot|row|slot)$|"
    r"^(?:the )?(?P<end>top|bottom|start|end)(?: of the list)?$"
)
_ENDS = {"top": 1, "start": 1, "bottom": -1, "end": -1}
_ITEMS = {**dict.fromkeys(("listitem", "row", "option", "treeitem"), 0), **matching.PRESS}


def drag(scene: Scene) -> Move:
    """Drag an element onto another, or to a place in its list."""
    clause, screen = scene.clause, scene.screen
    found, wanted = named(scene, clause.items[0], _ITEMS)
    if found.node is None:
        return missing(scene, wanted, found, _ITEMS, "drag")
    row = _items(screen, found.node)
    here = next((i for i, node in enumerate(row) if node is found.node), None)
    if clause.place and not _POSITION.match(clause.place):
        onto, where = named(scene, Item(clause.place), matching.ANY)
        if onto.node is None or onto.node is found.node:
            return missing(scene, where, onto, matching.ANY, "drag it to")
        return Act(steps=({"kind": "drag", "path": [found.node.ref, onto.node.ref]},))
    if here is None:
        return Ask(
            question=f"“{wanted.whole}” is in no list that I can see. Where should I drag it?",
            answer=f"drag {wanted.whole} to {{}}",
        )
    to = _goal(clause.place, clause.value, clause.count, here, len(row))
    kept = scene.memory.kept
    if kept:
        to = int(kept[0])
    if to is None or not 0 <= to < len(row):
        return Fail(
            result=f"the list has {len(row)} items; there is no place for “{clause.said}”.",
            reason="infeasible",
        )
    if here == to:
        return Next(said=clause.said)
    if len(scene.memory.ways) >= 4:
        return Fail(result=f"“{wanted.whole}” is still item {here + 1} of its list.")
    path = [found.node.ref, row[to].ref]
    beyond = to + (1 if to > here else -1)
    if scene.memory.ways and 0 <= beyond < len(row):
        path.insert(1, row[beyond].ref)  # past it and back: lists make room only once the middle is passed
    return Act(
        steps=({"kind": "drag", "path": path},),
        items=(scene.memory.item,),
        done=False,
        tried=(f"drag {len(scene.memory.ways)}",),
        kept=(str(to),),
    )


def _items(screen: Screen, node: Node) -> list[Node]:
    """The elements of its kind beside it, in the order of the screen."""
    parent = screen.flat.parent[screen.index(node)]
    if parent < 0:
        return []
    return [each for each in screen.nodes[parent].children if each.role == node.role]


def _goal(place: str, way: str | None, count: int, here: int, length: int) -> int | None:
    if way:
        return here - count if way == "up" else here + count
    found = _POSITION.match(place)
    if found is None:
        return None
    if found["end"]:
        nth = _ENDS[normal(found["end"])]
    else:
        said = re.sub(r"\W", "", found["nth"]).casefold()
        nth = ORDINALS.get(said, 0)
    return nth - 1 if nth > 0 else length - 1 if nth < 0 else None
