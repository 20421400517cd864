"""Rules for clauses about where and when: open, within, close, wait, scroll, expect."""

from __future__ import annotations

import re

from deskhand.messages import Json, Node
from deskhand.observers.node import quote
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.grammar import Item, pattern
from deskhand.orchestrator.models.embedded.lexicon import HERE, normal, without_article
from deskhand.orchestrator.models.embedded.matching import LOOSE, PART, SAME, find, phrase, phrase_of
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.orchestrator.models.embedded.targets import click, is_here, missing

WAIT_LIMIT = 30
"""Seconds that a clause waits for what it names."""

_URL = re.compile(r"(?:https?|file|about|data):\S+", re.I)
_BARE_HOST = re.compile(r"(?:www\.|localhost(?=[:/]|$)|\d+(?:\.\d+){3}(?=[:/]|$))\S*", re.I)
_SITE = pattern(r"^(?:(?:web )?(?:page|site)|website|url|address) (?:at )?")
_APP_NOUN = pattern(r" (?:app|application|program|window)$")
_PART_NOUN = pattern(
    r" (?:dialog(?: box)?|dialogue|section|group|panel|toolbar|sidebar|row|table|menu|list|area|tab|form)$"
)


def open_(scene: Scene) -> Move:
    """Open a URL, something on the screen that goes by that name, or an application."""
    item, screen = scene.clause.items[0], scene.screen
    if url := _url(item.text):
        return _launch(scene, url)
    wanted = phrase_of(item)
    if screen.nodes and not scene.memory.stage:
        found = find(wanted, screen, matching.PRESS)
        sure = SAME if not wanted.roles else PART
        if found.node is not None and found.fit >= sure and matching.PRESS[found.node.role] < 4:
            return Act(steps=(click(screen, found.node),))
        if wanted.roles:
            return missing(scene, wanted, found, matching.PRESS, "open")
    return _go_to(scene, item.text)


def within(scene: Scene) -> Move:
    """Be in a window, a part of the page or an application; start the application when it is not there."""
    text = scene.clause.items[0].text
    if url := _url(text):
        return _launch(scene, url)
    return _go_to(scene, text)


def _url(text: str) -> str:
    """The text as a URL, when it is one."""
    bare = _SITE.sub("", without_article(text))
    if _URL.fullmatch(bare):
        return bare
    return f"http://{bare}" if _BARE_HOST.fullmatch(bare) else ""


def _go_to(scene: Scene, text: str) -> Move:
    """The window of that name comes to the front; a part of the screen is enough; else an app is started."""
    screen = scene.screen
    name = without_article(text)
    if normal(name) in HERE:
        return Next()
    app = _APP_NOUN.sub("", name)
    window = screen.window_for(app)
    if window is not None:
        return (
            Next()
            if window.active
            else Act(steps=({"kind": "window", "do": "focus", "title": window.title},))
        )
    if screen.root_for(app) is not None or (scene.memory.stage and screen.windows):
        return Next()  # what was started may show under another name
    wanted = phrase(text)
    if find(wanted, screen, matching.HOLD).node or find(wanted, screen, matching.FILL).node:
        return Next()
    if _PART_NOUN.search(name):
        if is_here(_PART_NOUN.sub("", name), screen):
            return Next()
        return missing(scene, wanted, matching.Match(), matching.HOLD, "work in")
    return _launch(scene, app)


def _launch(scene: Scene, app: str) -> Move:
    """Start it; once started, it must have a window."""
    if scene.memory.trouble:
        question = f"I could not open “{app}” ({scene.memory.trouble}). What should I open?"
        return Ask(question=question, answer="open {}")
    if scene.memory.stage:
        return Next() if scene.screen.windows else Look(otherwise=Fail(result=f"“{app}” shows no window."))
    return Act(steps=({"kind": "launch", "app": app},), done=False, stage=1)


def close(scene: Scene) -> Move:
    """Close a window by its name, the active one, or what closes a part of the screen."""
    screen = scene.screen
    text = scene.clause.items[0].text
    name = _APP_NOUN.sub("", without_article(text))
    if normal(name) in ("dialog", "popup") and (dialog := open_dialog(screen)) is not None:
        button = find(
            phrase("Close", quoted=True), screen, matching.PRESS, screen.inside(screen.index(dialog))
        ).node
        return Act(
            steps=(click(screen, button) if button is not None else {"kind": "key", "keys": "Escape"},)
        )
    here = normal(name) in HERE
    window = next((each for each in screen.windows if each.active), None) if here else screen.window_for(name)
    if window is not None:
        return Act(steps=({"kind": "window", "do": "close", "title": window.title},))
    if here:
        return Next()
    found = find(phrase(f"Close {name}"), screen, matching.PRESS)
    if found.node is not None:
        return Act(steps=(click(screen, found.node),))
    return missing(scene, phrase(text), found, matching.HOLD, "close")


def open_dialog(screen: Screen) -> Node | None:
    """The dialog that is up."""
    return next((node for node in screen.nodes if node.role in ("dialog", "alertdialog")), None)


def wait(scene: Scene) -> Move:
    """Wait for seconds, or for something to appear or go."""
    clause = scene.clause
    if not clause.items:
        if clause.value is None:
            return Next()  # every act waits until the screen has settled
        return Act(steps=({"kind": "wait", "seconds": max(0.1, min(60.0, float(clause.value)))},))
    item = clause.items[0]
    if _seen(scene.screen, item) == clause.on:
        return Next()
    if scene.memory.trouble:
        what = "appear" if clause.on else "go away"
        return Fail(result=f"I waited {WAIT_LIMIT} s for “{item.text}” to {what}; it did not.")
    state = "present" if clause.on else "absent"
    return Act(steps=({"kind": "wait", "for": _having(item), "state": state, "timeout": WAIT_LIMIT},))


def expect(scene: Scene) -> Move:
    """What has to be on the screen here; it becomes evidence."""
    item, screen = scene.clause.items[0], scene.screen
    if not _seen(screen, item):
        return Look(otherwise=Fail(result=f"“{item.text}” is not on the screen."))
    name = phrase_of(item).name
    return Next(said=f"“{name}” is shown", proof=(quote(name),) if screen.visible(name) else ())


def scroll(scene: Scene) -> Move:
    """Turn the wheel; "to X" turns it until X is there."""
    clause = scene.clause
    if clause.value in ("end", "start"):
        return _to_end(scene, clause.value)
    if clause.items:
        item = clause.items[0]
        if _seen(scene.screen, item):
            return Next()
        if scene.tried:
            wanted = phrase_of(item)
            return missing(scene, wanted, matching.Match(), matching.ANY, "scroll to")
        return Act(steps=({"kind": "scroll", "down": 5, "until": _having(item), "times": 20},))
    detents = 5 * clause.count if clause.value in ("down", "right") else -5 * clause.count
    step: Json = {"kind": "scroll", "right" if clause.value in ("left", "right") else "down": detents}
    return Act(steps=(step,))


_SCROLLS = {
    **dict.fromkeys(
        ("textbox", "list", "listbox", "region", "group", "table", "grid", "document", "article"), 0
    ),
    **dict.fromkeys(("paragraph", "text", "dialog", "tabpanel", "generic", "tree"), 1),
}


def _to_end(scene: Scene, end: str) -> Move:
    """Turn the wheel over what is named as far as it goes."""
    step: Json = {"kind": "scroll", "down": 100 if end == "end" else -100}
    if not scene.clause.items:
        return Act(steps=(step,))
    item = scene.clause.items[0]
    if is_here(item.text, scene.screen):
        return Act(steps=(step,))
    wanted = phrase_of(item)
    found = find(wanted, scene.screen, _SCROLLS)
    if len(found.nodes) > 1 and wanted.roles:
        large = [node for node in found.nodes if "multiline" in node.states]
        found = matching.Match(nodes=tuple(large) or found.nodes, fit=found.fit)
    if not found.nodes or len(found.nodes) > 1:
        return missing(scene, wanted, found, _SCROLLS, "scroll")
    return Act(steps=(step | {"target": found.nodes[0].ref},))


def _seen(screen: Screen, item: Item) -> bool:
    wanted = phrase_of(item)
    return screen.visible(wanted.whole) or find(wanted, screen, matching.ANY).fit >= LOOSE


def _having(item: Item) -> str:
    """A selector for anything that says this."""
    wanted = phrase_of(item)
    return f"*:has-text({quote(wanted.name or wanted.whole)})"
