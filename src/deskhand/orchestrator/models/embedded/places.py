"""Rules for clauses about where and when: open, within, save, close, wait, scroll, expect."""

from __future__ import annotations

import re

from deskhand.messages import Json, Node
from deskhand.observers.node import quote
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.controls import missing
from deskhand.orchestrator.models.embedded.lexicon import HERE, normal, without_article
from deskhand.orchestrator.models.embedded.matching import LOOSE, SAME, find, phrase
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import Screen

_URL = re.compile(
    r"^(?:https?|file|about|data):\S+$|^(?:www\.\S+|localhost(?::\d+)?(?:/\S*)?|\d+(?:\.\d+){3}(?::\d+)?(?:/\S*)?)$",
    re.I,
)
_APP_NOUN = re.compile(r"\s+(?:app|application|program|window)$", re.I)
_PART_NOUN = re.compile(
    r"\s+(?:dialog(?: box)?|dialogue|section|group|panel|toolbar|sidebar|row|table|menu|list|area|tab|form)$",
    re.I,
)
_IN_APP = frozenset({"menu", "tab", "link", "dropdown", "section", "item", "list", "combobox", "row"})
_SAVE_NAMES = ("Name", "File name", "Filename", "File Name:", "Location", "Save as")


def open_(scene: Scene) -> Move:
    """Open a URL, an application, or something on the screen that goes by that name."""
    item = scene.clause.items[0]
    text = without_article(item.text)
    if _URL.match(text):
        return _launch(
            scene,
            text
            if ":" in text.split("/")[0] and not text[0].isdigit() and not text.startswith("localhost")
            else f"http://{text}",
        )
    wanted = phrase(item.text)
    if scene.screen.nodes:
        found = find(wanted, scene.screen, matching.PRESS)
        inside = bool(wanted.roles)
        if (
            found.node
            and (found.fit >= SAME or (inside and found.fit >= LOOSE - 1))
            and matching.PRESS[found.node.role] < 4
        ):
            kind = "invoke" if found.node.rect is None else "click"
            return Act(steps=({"kind": kind, "target": found.node.ref},))
        if inside:
            return missing(scene, wanted, found, matching.PRESS, "open")
    return _go_to(scene, item.text)


def within(scene: Scene) -> Move:
    """Be in a window, a part of the page or an application; start the application when it is not there."""
    text = scene.clause.items[0].text
    if _URL.match(without_article(text)):
        return _launch(scene, without_article(text))
    return _go_to(scene, text)


def _go_to(scene: Scene, text: str) -> Move:
    """The window of that name comes to the front; a part of the screen becomes the scope; else an app is started."""
    screen = scene.screen
    name = without_article(text)
    if normal(name) in HERE:
        return Next()
    app = _APP_NOUN.sub("", name)
    window = screen.window_for(app)
    if window is not None:
        if window.active:
            return Next()
        return Act(steps=({"kind": "window", "do": "focus", "title": window.title},))
    if screen.root_for(app) is not None or (scene.memory.stage and screen.windows):
        return Next()  # what was started may show under another name
    if find(phrase(text), screen, matching.HOLD).node or find(phrase(text), screen, matching.FILL).node:
        return Next()
    if _PART_NOUN.search(name):
        trimmed = _PART_NOUN.sub("", name)
        if screen.root_for(trimmed) is not None or screen.window_for(trimmed):
            return Next()
        return missing(scene, phrase(text), matching.Match(), matching.HOLD, "work in")
    return _launch(scene, app)


def _launch(scene: Scene, app: str) -> Move:
    if scene.memory.trouble:
        trouble = scene.memory.trouble
        return Ask(question=f"I could not open “{app}”: {trouble}. What should I open?", answer="open {}")
    if scene.memory.stage:
        return (
            Next()
            if scene.screen.windows
            else Look(otherwise=Fail(result=f"“{app}” was started but showed no window."))
        )
    return Act(steps=({"kind": "launch", "app": app},), done=False, stage=1)


def save(scene: Scene) -> Move:
    """Save the document; under a name, through the dialog that asks for it."""
    clause, screen, stage = scene.clause, scene.screen, scene.memory.stage
    path = _path(clause.value or "", clause.place)
    dialog = _save_dialog(screen)
    if stage == 0 and dialog is None:
        return _ask_to_save(scene, as_new=bool(path))
    if dialog is not None and stage <= 1:
        if not path:
            return Ask(question="Under which name should I save it?", answer="save it as '{}'")
        field, button = dialog
        if button is None:
            return Look(
                otherwise=Fail(result="A dialog asks for a file name but has no button to save with.")
            )
        steps: tuple[Json, ...] = (
            {"kind": "fill", "target": field.ref, "text": path},
            {"kind": "click", "target": button.ref},
        )
        return Act(steps=steps, items=(0, 0), done=False, stage=2)
    if dialog is None and (warning := _open_dialog(screen)):
        return Ask(
            question=f"A dialog came up while saving: {_words(screen, warning)}. What should I press?",
            answer="press '{}'",
        )
    if dialog is not None:
        return Look(otherwise=Fail(result=f"The dialog did not accept “{path}”."))
    if stage == 1 and path:
        return Look(otherwise=Fail(result="No dialog came up that asks for the file's name."))
    return _saved(screen, path)


def _saved(screen: Screen, path: str) -> Move:
    """Proof of a save: a window that bears the file's name, where there is one."""
    base = path.rsplit("/", 1)[-1]
    titled = next((n for n in screen.nodes if n.role == "window" and base and base in n.name), None)
    proof = (f"window[name*={quote(base)}]",) if titled is not None else ()
    return Next(said=f"saved as {path}" if path else "saved", proof=proof)


def _ask_to_save(scene: Scene, *, as_new: bool) -> Move:
    """The application's own menu item where it has one, else the customary keys."""
    screen = scene.screen
    menu = {"menuitem": 0, "button": 1}
    names = ("Save As", "Save as") if as_new else ("Save",)
    for name in names:
        found = find(phrase(name, quoted=True), screen, menu)
        if found.node and found.fit >= SAME and scene.tried < 2:
            return Act(steps=({"kind": "invoke", "target": found.node.ref},), done=False, stage=1)
    keys = "ctrl+shift+s" if as_new and scene.tried == 0 else "ctrl+s"
    return Act(steps=({"kind": "key", "keys": keys},), done=False, stage=1)


def _save_dialog(screen: Screen) -> tuple[Node, Node | None] | None:
    """The field for the name and the button of a dialog that asks where to save."""
    for i, node in enumerate(screen.nodes):
        if node.role not in ("dialog", "alertdialog", "window"):
            continue
        inside = screen.inside(i)
        save_button = find(phrase("Save", quoted=True), screen, {"button": 0}, inside)
        field = next(
            (
                found.node
                for name in _SAVE_NAMES
                if (
                    found := find(phrase(name, quoted=True), screen, {"textbox": 0, "combobox": 1}, inside)
                ).node
                and found.fit >= SAME
            ),
            None,
        )
        if field is not None and save_button.node is not None:
            return field, save_button.node
    return None


def _open_dialog(screen: Screen) -> Node | None:
    return next(
        (
            node
            for node in screen.nodes
            if node.role in ("dialog", "alertdialog") or (node.role == "alert" and node.actions)
        ),
        None,
    )


def _words(screen: Screen, node: Node) -> str:
    index = screen.index(node)
    said = [
        screen.nodes[i].name
        for i in screen.inside(index)
        if screen.nodes[i].role in ("text", "heading", "button") and screen.nodes[i].name
    ]
    return quote("; ".join([node.name, *said] if node.name else said), 300)


def _path(name: str, folder: str) -> str:
    """Name and folder, as said, as a path: "my home" is ``~``, "Documents" is a folder in it."""
    if not name or not folder or name.startswith(("/", "~")):
        return name
    where = re.sub(r"^(?:my|the)\s+", "", folder.strip(), flags=re.I)
    where = re.sub(r"\s+(?:folder|directory|dir)$", "", where, flags=re.I)
    if where.casefold() in ("home", "~", "$home"):
        return f"~/{name}"
    if where.startswith(("/", "~")):
        return f"{where.rstrip('/')}/{name}"
    return f"~/{where}/{name}"


def close(scene: Scene) -> Move:
    """Close a window by its name, the active one, or press what closes a part of the screen."""
    screen = scene.screen
    text = scene.clause.items[0].text
    name = _APP_NOUN.sub("", without_article(text))
    active = next((window for window in screen.windows if window.active), None)
    if normal(name) in HERE:
        dialog = _open_dialog(screen) if normal(name) in ("dialog", "popup") else None
        if dialog is not None:
            index = screen.index(dialog)
            button = find(phrase("Close", quoted=True), screen, matching.PRESS, screen.inside(index))
            if button.node:
                return Act(steps=({"kind": "click", "target": button.node.ref},))
            return Act(steps=({"kind": "key", "keys": "Escape"},))
        if active is None:
            return Next()
        return Act(steps=({"kind": "window", "do": "close", "title": active.title},))
    if window := screen.window_for(name):
        return Act(steps=({"kind": "window", "do": "close", "title": window.title},))
    wanted = phrase(f"Close {name}")
    found = find(wanted, screen, matching.PRESS)
    if found.node:
        return Act(steps=({"kind": "click", "target": found.node.ref},))
    return missing(scene, phrase(text), found, matching.HOLD, "close")


WAIT_LIMIT = 30
"""Seconds that a clause waits for what it names."""


def wait(scene: Scene) -> Move:
    """Wait for seconds, or for something to appear or go."""
    clause = scene.clause
    if not clause.items:
        if clause.value and scene.memory.stage == 0:
            return Act(steps=({"kind": "wait", "seconds": min(60.0, float(clause.value))},))
        return Next()  # every act waits until the screen has settled
    item = clause.items[0]
    there = _seen(scene.screen, item.text, quoted=item.quoted)
    if there == clause.on:
        return Next()
    if scene.memory.trouble:
        what = "come up" if clause.on else "go away"
        return Fail(result=f"I waited {WAIT_LIMIT} s for “{item.text}” to {what}; it did not.")
    wanted = phrase(item.text, quoted=item.quoted)
    selector = f"*:has-text({quote(wanted.name or wanted.whole)})"
    state = "present" if clause.on else "absent"
    return Act(steps=({"kind": "wait", "for": selector, "state": state, "timeout": WAIT_LIMIT},))


def expect(scene: Scene) -> Move:
    """What has to be on the screen here; it becomes evidence."""
    item = scene.clause.items[0]
    if _seen(scene.screen, item.text, quoted=item.quoted):
        wanted = phrase(item.text, quoted=item.quoted)
        proof = (wanted.name,) if scene.screen.visible(wanted.name) else ()
        return Next(said=f"“{wanted.name}” is shown", proof=proof)
    return Look(otherwise=Fail(result=f"“{item.text}” is not on the screen."))


def _seen(screen: Screen, text: str, *, quoted: bool) -> bool:
    wanted = phrase(text, quoted=quoted)
    return screen.visible(wanted.whole) or bool(find(wanted, screen, matching.ANY).fit >= LOOSE)


def scroll(scene: Scene) -> Move:
    """Turn the wheel; "to X" turns it until X is there."""
    clause = scene.clause
    if clause.items:
        wanted = phrase(clause.items[0].text, quoted=clause.items[0].quoted)
        if _seen(scene.screen, clause.items[0].text, quoted=clause.items[0].quoted):
            return Next()
        if scene.tried:
            return missing(scene, wanted, matching.Match(), matching.ANY, "scroll to")
        until = f"*:has-text({quote(wanted.name or wanted.whole)})"
        return Act(steps=({"kind": "scroll", "down": 5, "until": until, "times": 20},))
    way, notches = clause.value, 5 * clause.count
    step: Json = {"kind": "scroll"}
    step |= (
        {"down": notches if way == "down" else -notches}
        if way in ("down", "up")
        else {"right": notches if way == "right" else -notches}
    )
    return Act(steps=(step,))
