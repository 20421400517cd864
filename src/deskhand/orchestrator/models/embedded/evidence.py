"""What proves a result: selectors and quotes that the planner itself sees hold on the last screen."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from deskhand.errors import InvalidStep
from deskhand.messages import Json, Node
from deskhand.observers.node import normalise, quote
from deskhand.observers.selector import parse_selector
from deskhand.orchestrator.models.embedded.grammar import Clause
from deskhand.orchestrator.models.embedded.matching import find, phrase_of
from deskhand.orchestrator.models.embedded.screen import FIELDS, TOGGLES, Screen, Written

_LONG = 400
"""Characters of a name or value that is still put into a selector."""

_HOLDERS = frozenset({"window", "dialog", "alertdialog", "document"})
_STATEFUL = dict.fromkeys((*TOGGLES, "radio", "option", "tab", "menuitemradio"), 0)


def quotes(lines: Sequence[str]) -> tuple[str, ...]:
    """Texts as verbatim quotes: quoted, so that none of them is taken for a selector."""
    plain = [normalise(line)[:200] for line in lines if re.search(r"\w", line)]
    return tuple(quote(line, 300) for line in plain[:4])


def selector(node: Node, *, value: str | None = None) -> str:
    """The element by role and name, with the value it has to have."""
    name = f"[name={quote(node.name, 2 * _LONG)}]" if node.name and len(node.name) < _LONG else ""
    plain = value is not None and len(value) < _LONG and "\n" not in value
    return f"{node.role}{name}" + (f"[value={quote(value or '', 2 * _LONG)}]" if plain else "")


def holds(proof: str, screen: Screen) -> bool:
    """Whether it holds on this screen."""
    if proof.startswith('"'):
        return screen.visible(re.sub(r"\\(.)", r"\1", proof[1:-1]))
    wanted = proof.removeprefix("absent:")
    try:
        return bool(parse_selector(wanted).match(screen.observation.roots)) == (wanted == proof)
    except InvalidStep:
        return False


def fingerprint(screen: Screen) -> list[str]:
    """What is written on the screen, in a form that is short and tells nothing."""
    return sorted({digest(each) for each in screen.written()})


def digest(written: Written) -> str:
    return hashlib.blake2b(written.key.encode(), digest_size=6).hexdigest()


def entered(steps: Sequence[Json], screen: Screen) -> list[str]:
    """The digests of what fields say once these steps were done: that is nothing that a press has brought."""
    by_ref = {node.ref: node for node in screen.nodes if node.ref}
    found = []
    for step in steps:
        text, node = step.get("text", step.get("option")), by_ref.get(str(step.get("target")))
        if text and node is not None:
            found.append(digest(Written(str(text), node, None, is_value=True)))
    return found


def holders(screen: Screen) -> list[str]:
    """Selectors of the windows and dialogs that are there."""
    named = [node for node in screen.nodes if node.role in _HOLDERS and node.name and len(node.name) < _LONG]
    return list(dict.fromkeys(f"{node.role}[name={quote(node.name, 2 * _LONG)}]" for node in named))


def of_state(clause: Clause, screen: Screen) -> list[str]:
    """Selectors for what a clause set, where it still shows."""
    found: list[str] = []
    if clause.verb in ("fill", "type") and clause.value:
        wanted = clause.value.strip()
        bearers = [
            n for n in screen.nodes if n.role in FIELDS and n.value is not None and n.value.strip() == wanted
        ]
        found += [selector(node, value=node.value) for node in bearers]
    if clause.verb in ("check", "choose"):
        for item in clause.items:
            bearer = find(phrase_of(item), screen, _STATEFUL).node
            if bearer is None:
                continue
            found += [
                f"{selector(bearer)}[{state}]" for state in ("checked", "selected") if state in bearer.states
            ]
            if clause.on is False and "checked" not in bearer.states:
                found.append(f"{selector(bearer)}[checked='false']")
    return [each for each in found[:3] if holds(each, screen)]


def of_change(screen: Screen, seen: Sequence[str], before: Sequence[str]) -> list[str]:
    """What the last act brought; else the windows and dialogs that it took away."""
    old = set(seen)
    fresh = [each for each in screen.written() if digest(each) not in old and normalise(each.text)]
    brought = [selector(e.node, value=e.text) if e.is_value else "".join(quotes([e.text])) for e in fresh]
    brought += [each for each in holders(screen) if each not in before]
    if any(brought):
        return [each for each in dict.fromkeys(brought) if each and holds(each, screen)][:3]
    now = holders(screen)
    return [f"absent:{each}" for each in before if each not in now][:3]
