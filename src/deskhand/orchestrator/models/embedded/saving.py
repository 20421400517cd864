"""The rule for "save": through the application's own command, and the dialog that asks for a name."""

from __future__ import annotations

import re

from deskhand.messages import Json, Node
from deskhand.observers.node import quote
from deskhand.orchestrator.models.embedded.grammar import pattern
from deskhand.orchestrator.models.embedded.matching import SAME, find, phrase
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.places import open_dialog
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.orchestrator.models.embedded.targets import click

# What dialogs call the field for the name.
_FIELD_NAMES = ("Name", "File name", "Filename", "Location", "Save as")
_ASKED, _ANSWERED = 1, 2
"""Stages: the dialog was asked for; the name was given."""


def save(scene: Scene) -> Move:
    """Save the document; under a name, through the dialog that asks for it."""
    clause, screen, stage = scene.clause, scene.screen, scene.memory.stage
    path = path_of(clause.value or "", clause.place)
    dialog = _save_dialog(screen)
    if dialog is not None and stage != _ANSWERED:
        if not path:
            return Ask(question="Under which name should I save it?", answer="save it as '{}'")
        field, button = dialog
        fill: Json = {"kind": "fill", "target": field.ref, "text": path}
        press: Json = {"kind": "click", "target": button.ref}
        return Act(steps=(fill, press), items=(0, 0), done=False, stage=_ANSWERED)
    if dialog is not None:
        return Look(otherwise=Fail(result=f"The dialog did not accept “{path}”."))
    if stage == 0:
        return _request(scene, as_new=bool(path))
    if (warning := open_dialog(screen)) is not None:
        question = f"While saving, a dialog came up: {_words(screen, warning)}. What should I press?"
        # A dialog that has just come up may still lack its field or its button: look again before asking.
        return Look(otherwise=Ask(question=question, answer="press '{}'"))
    if stage == _ASKED and path:
        return Look(otherwise=Fail(result="No dialog came up that asks for the file's name."))
    base = path.rsplit("/", 1)[-1]
    titled = next(
        (each for each in screen.nodes if each.role == "window" and base and base in each.name), None
    )
    proof = (f"window[name*={quote(base)}]",) if titled is not None else ()
    return Next(said=f"saved as {path}" if path else "saved", proof=proof)


def _request(scene: Scene, *, as_new: bool) -> Move:
    """The application's own command where it has one, else the customary keys."""
    name = "Save As" if as_new else "Save"
    found = find(phrase(name, quoted=True), scene.screen, {"menuitem": 0, "button": 1})
    if found.node is not None and found.fit >= SAME and not scene.tried:
        return Act(steps=(click(scene.screen, found.node),), done=False, stage=_ASKED)
    keys = "ctrl+shift+s" if as_new and scene.tried < 2 else "ctrl+s"
    return Act(steps=({"kind": "key", "keys": keys},), done=False, stage=_ASKED)


def _save_dialog(screen: Screen) -> tuple[Node, Node] | None:
    """The field for the name and the button of a dialog that asks where to save."""
    for i, node in enumerate(screen.nodes):
        if node.role not in ("dialog", "alertdialog", "window"):
            continue
        inside = screen.inside(i)
        buttons = find(phrase("Save", quoted=True), screen, {"button": 0}, inside)
        for name in _FIELD_NAMES:
            found = find(phrase(name, quoted=True), screen, {"textbox": 0, "combobox": 1}, inside)
            # the button may be disabled for as long as there is no name
            if len(buttons.nodes) == 1 and found.node is not None and found.fit >= SAME:
                return found.node, buttons.nodes[0]
    return None


def _words(screen: Screen, dialog: Node) -> str:
    inside = (screen.nodes[i] for i in screen.inside(screen.index(dialog)))
    said = [node.name for node in inside if node.role in ("text", "heading", "button") and node.name]
    return quote("; ".join(filter(None, [dialog.name, *said])), 300)


_OWNER = pattern(r"^(?:my|the) ")
_FOLDER = pattern(r" (?:folder|directory|dir)$")


def path_of(name: str, folder: str) -> str:
    """Name and folder, as said, as a path: "my home" is ``~``, "Documents" a folder in it."""
    if not name or not folder or name.startswith(("/", "~")):
        return name
    where = _FOLDER.sub("", _OWNER.sub("", folder.strip()))
    if re.fullmatch(r"home|~|\$home", where, re.I):
        return f"~/{name}"
    return f"{where.rstrip('/')}/{name}" if where.startswith(("/", "~")) else f"~/{where}/{name}"
