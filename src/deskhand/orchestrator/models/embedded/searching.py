"""The rule for clauses that search: in the search field, or in a form with a field for each attribute that is named."""

from __future__ import annotations

import re

from deskhand.messages import Json, Node
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.controls import hurried
from deskhand.orchestrator.models.embedded.grammar import Item
from deskhand.orchestrator.models.embedded.lexicon import normal
from deskhand.orchestrator.models.embedded.matching import LOOSE, Match, phrase
from deskhand.orchestrator.models.embedded.moves import Act, Move, Scene
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.orchestrator.models.embedded.targets import click, missing, named

_BOXES = {"searchbox": 0, "textbox": 1, "combobox": 1}
_JOINS = frozenset("by from in of with for at on to the a an is and under between".split())
_SENDS = ("search", "find", "go", "go!", "submit", "ok", "apply", "show results")
_STEM = 5
"""Letters by which a label and a word of the goal are the same ("Director", "directed")."""


def search(scene: Scene) -> Move:
    """Fill the search field and press Return."""
    clause, screen = scene.clause, scene.screen
    if not clause.place and (form := searched_by(scene, clause.value or "")) is not None:
        return form
    found, wanted = named(scene, Item(clause.place or "search"), _BOXES)
    if found.node is None:
        boxes = [node for i, node in enumerate(screen.nodes) if node.role == "searchbox" and screen.shown(i)]
        found = Match(nodes=tuple(boxes), fit=LOOSE) if not found.nodes else found
    if found.node is None:
        return missing(scene, wanted, found, _BOXES, "search in")
    filled = {"kind": "fill", "target": found.node.ref, "text": clause.value or ""}
    return Act(steps=(filled, {"kind": "key", "keys": "Return"}), items=(0, 1))


def searched_by(scene: Scene, said: str) -> Act | None:
    """Fill each field with what is said of its label, and the only one that is left with what is left; then send.

    None unless every word finds its field: a search that leaves something out is another search.
    """
    screen = scene.screen
    fields = [
        (node, normal((screen.names(i) or ("",))[0]))
        for i, node in enumerate(screen.nodes)
        if node.role in ("textbox", "searchbox")
        and screen.shown(i)
        and not {"readonly", "disabled"} & node.states
    ]
    button = _button(screen)
    if len(fields) < 2 or button is None or not all(label for _, label in fields):
        return None
    values = _told_apart(said.split(), [label for _, label in fields])
    if values is None:
        return None
    steps: list[Json] = [
        {"kind": "fill", "target": node.ref, "text": values[label]}
        for node, label in fields
        if label in values
    ]
    steps.append(click(screen, button))
    hurried(steps)
    return Act(steps=tuple(steps), items=tuple(range(len(steps))))


def _button(screen: Screen) -> Node | None:
    for name in _SENDS:
        found = matching.find(phrase(name, quoted=True), screen, {"button": 0, "link": 1, "generic": 2})
        if found.node is not None and found.fit >= matching.SAME:
            return found.node
    return None


def _told_apart(words: list[str], labels: list[str]) -> dict[str, str] | None:
    """The value for each label; what stands before the first of them goes to the only label that nothing named."""
    spots = [(i, label) for i, word in enumerate(words) for label in labels if _alike(word, label)]
    if not spots or len({label for _, label in spots}) != len(spots):
        return None
    values: dict[str, str] = {}
    for (at, label), end in zip(spots, [*(i for i, _ in spots[1:]), len(words)], strict=True):
        value = _trimmed(words[at + 1 : end])
        if not value:
            return None
        values[label] = " ".join(value)
    head = _trimmed(words[: spots[0][0]])
    left = [label for label in labels if label not in values]
    if head and len(left) == 1:
        # the last word before the first attribute is what is searched for ("novels"), the ones before it tell its kind
        kind = head[:-1] or head
        values[left[0]] = " ".join(kind)
    elif left or head:
        return None
    return values


def _alike(word: str, label: str) -> bool:
    stem = normal(word)[:_STEM]
    return len(stem) >= 4 and any(part.startswith(stem) or stem == part for part in label.split())


def _trimmed(words: list[str]) -> list[str]:
    """Without the little words at both ends."""
    bare = [re.sub(r"[.,;:]+$", "", word) for word in words]
    while bare and normal(bare[0]) in _JOINS:
        bare.pop(0)
    while bare and normal(bare[-1]) in _JOINS:
        bare.pop()
    return bare
