"""Where an act takes place: the dialog that it answers, the form that it sends, what is selected, whose page it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from deskhand.messages import Json, Node, Target
from deskhand.observers.node import Flat, comparable, flatten, text_of
from deskhand.orchestrator.commands import TERMINALS
from deskhand.orchestrator.signs import seen_on

_DIALOGS: Final = frozenset({"dialog", "alertdialog", "alert"})
_ROWS: Final = frozenset("row listitem treeitem article option".split())
_ITEMS: Final = _ROWS | frozenset("cell gridcell icon list table tree grid listbox img".split())
_TEXT_FIELDS: Final = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "terminal"})
_MESSAGE: Final = 400
"""Characters of a message with its buttons; more text is a page or a form."""

_AGREES: Final = re.compile(
    r"(?i)^(?:ok|okay|yes|continue|confirm|proceed|accept|allow|apply|agree|submit|i agree|i understand|ja|weiter"
    r"|bestätigen|zustimmen|fortfahren|oui|continuer|confirmer|accepter|valider|sí|si|aceptar|confirmar|continuar|sì|conferma|continua"
    r"|sim|确定|是|确认|はい|続行|確認)\b[\s.!,]*"
)
_DECLINES: Final = re.compile(
    r"(?i)^(?:no\b|cancel|close|keep|back|go back|not now|later|skip|help|details|more|learn|abort|stop|undo|don['’]t|×"
    r"|x$|nein|abbrechen|schließen|zurück|hilfe|non\b|annuler|fermer|cancelar|cerrar|annulla|chiudi|取消|キャンセル)"
)
_SENDS: Final = re.compile(r"(?i)\b(ctrl|control|cmd|super|alt)\+(return|enter|kp_enter|s?end)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What is around an act. Texts are those of the screen; empty where there is nothing of the kind.

    ``dialog``: the message that the control belongs to; ``row``: the text of the row or item; ``submit``: the label of
    the button that Return would press; ``selected``: the items that Delete would delete; ``address``: the page's.
    """

    dialog: str = ""
    row: str = ""
    submit: str = ""
    selected: tuple[str, ...] = ()
    address: str = ""
    app: str = ""
    in_terminal: bool = False
    in_text: bool = False
    roots: tuple[Node, ...] = field(default=(), repr=False)


def agrees(label: str) -> bool:
    """Whether a control says no more than yes: then what it agrees to is said by the dialog."""
    return _AGREES.match(label.strip()) is not None


def declines(label: str) -> bool:
    """Whether a control says no, or nothing to the matter."""
    return _DECLINES.match(label.strip()) is not None


def place_of(
    step: Json, target: Target | None, node: Node | None, roots: Sequence[Node], app: str = ""
) -> Place:
    """The place of a step aimed at ``node`` (for keys: what has the keyboard). ``app`` is the active window's."""
    if step.get("kind") == "dialog":
        asked = next((each for each in _all(roots) if each.role == "dialog" and each.source == "page"), None)
        said = text_of(asked) if asked is not None else ""
        return Place(dialog=said, address=_address(roots), app=app, roots=tuple(roots))
    used = (target.app if target is not None and target.app else "") or app
    terminal = _is_terminal(node, used)
    if node is None:
        return Place(
            selected=_selected(roots),
            address=_address(roots),
            app=used,
            in_terminal=terminal,
            roots=tuple(roots),
        )
    flat = flatten(roots)
    index = _index(node, flat)
    if index is None:
        return Place(
            address=_address(roots) if node.source == "page" else "",
            app=used,
            in_terminal=terminal,
            roots=tuple(roots),
        )
    above = [flat.nodes[each] for each in flat.path(index)]
    return Place(
        dialog=_message(node, above),
        row=next((text_of(each) for each in above if each.role in _ROWS), ""),
        submit=_submit(index, flat) if node.role in _TEXT_FIELDS else "",
        selected=_selected(roots) if node.role in _ITEMS or node.role not in _TEXT_FIELDS else (),
        address=_address(roots) if node.source == "page" else "",
        app=used,
        in_terminal=terminal,
        in_text=node.role in _TEXT_FIELDS,
        roots=tuple(roots),
    )


def sends_by_key(step: Json, node: Node | None) -> bool:
    """Whether a step presses Return (or what sends a message) in the field that has the keyboard."""
    kind = step.get("kind")
    single = node is not None and "multiline" not in node.states
    if kind == "type":
        return bool(step.get("enter")) or (single and "\n" in str(step.get("text", "")))
    if kind != "key":
        return False
    last = str(step.get("keys", "")).split(";")[-1].strip()
    if _SENDS.search(last):
        return True
    return last.casefold() in ("return", "enter", "kp_enter", "kp:return", "kp:enter", "kp:kp_enter") and (
        node is None or single
    )


def deletes_by_key(step: Json) -> bool:
    """Whether a step presses Delete, by itself or with modifiers."""
    if step.get("kind") != "key":
        return False
    strokes = [part.strip().casefold().removeprefix("kp:") for part in str(step.get("keys", "")).split(";")]
    return any(
        stroke.rsplit("+", 1)[-1] in ("delete", "del", "kp_delete")
        or stroke in ("ctrl+backspace", "cmd+backspace", "super+backspace")
        for stroke in strokes
        if not stroke.startswith("t:")
    )


def _all(roots: Sequence[Node]) -> Sequence[Node]:
    return flatten(roots).nodes


def _index(node: Node, flat: Flat) -> int | None:
    """The place of a node in a later look at the same trees."""
    same = [
        index
        for index, other in enumerate(flat.nodes)
        if (other.handle == node.handle if node.handle is not None else other is node or other == node)
        and other.role == node.role
    ]
    return same[0] if same else None


def _message(node: Node, above: Sequence[Node]) -> str:
    """The text of the dialog around a control; without one, of the nearest small group that says something."""
    for each in above:
        if each.role in _DIALOGS and len(text := text_of(each)) <= 4 * _MESSAGE:
            return text
    if not agrees(node.name):
        return ""
    for each in above:
        text = text_of(each)
        if len(text) > _MESSAGE:
            return ""
        if text.replace(node.name, "").strip():
            others = [other for other in _all((each,)) if other.role == "text" or len(other.name.split()) > 3]
            if others or len(text.split()) > 5:
                return text
    return ""


def _submit(index: int, flat: Flat) -> str:
    """The button that a form of this field is sent by: the next one after it, within the nearest group that has one."""
    for above in (*flat.path(index), -1):
        end = flat.end[above] if above >= 0 else len(flat.nodes)
        buttons = [
            other.name
            for other in flat.nodes[index + 1 : end]
            if other.role == "button" and other.name and seen_on(other) and "disabled" not in other.states
        ]
        if buttons:
            return buttons[0]
    return ""


def _selected(roots: Sequence[Node]) -> tuple[str, ...]:
    found = [
        node for node in _all(roots) if "selected" in node.states and node.role in _ITEMS and seen_on(node)
    ]
    return tuple(dict.fromkeys(text_of(node)[:120] for node in found if text_of(node)))[:20]


def _address(roots: Sequence[Node]) -> str:
    return next((root.url for root in roots if root.source == "page"), "")


def _is_terminal(node: Node | None, app: str) -> bool:
    if node is not None and node.role == "terminal":
        return True
    return comparable(app.rsplit("/", 1)[-1]) in TERMINALS
