"""What a claim of success is worth, told without a model: by what changed, what was typed, what the goal names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from deskhand.errors import InvalidStep
from deskhand.messages import Node
from deskhand.observers.node import comparable, normalise, text_of, walk
from deskhand.observers.selector import parse_selector
from deskhand.orchestrator.kept import taken_back
from deskhand.orchestrator.named import Claim, covered, left_out, literals, unread
from deskhand.orchestrator.phrases import COMMON, common_words, confirms, is_open, negated, words
from deskhand.orchestrator.signs import complaints, contradictions, fails, seen_on, signature, unfinished
from deskhand.orchestrator.witness import Act, Scene, Witness
from deskhand.tools.evidence import absent_selector, holds, is_telling

_ASKS: Final = re.compile(
    r"\b(compute|calculate|work out|tell|report|what|which|how (many|much|long|old)|read|find out|look|check|see|verify"
    r"|give me|return|list|name the|who|when|where|is|are|does|show|sag|nenne|welche\w*|wie|was|dis"
    r"|quel\w*|combien|di(me)?|cu[aá]l|cu[aá]nto\w*|qual\w*)\b",
    re.IGNORECASE,
)
_COMMITS: Final = re.compile(
    r"\b(save|submit|send|press|click|apply|confirm|order|buy|pay|post|publish|log ?in|sign|search|register|book"
    r"|subscribe|add|create|delete|remove|transfer|move|rename|export|import|upload|invite|share|comment|reply|answer"
    r"|donate|bid|checkout|join|reserve|schedule|assign|archive|approve|store|speicher\w*|drücke|sende\w*|enregistre\w*|envoie\w*|guarda\w*|pulsa\w*|salva\w*|invia\w*)\b",
    re.IGNORECASE,
)
_ANSWERS_IT: Final = re.compile(
    r"(?i)\b(press|click|hit|push|confirm|accept|ok|okay|close|dismiss|cancel|quit|exit|answer|drücke|bestätige\w*"
    r"|schließe\w*|klicke\w*|clique\w*|ferme\w*|pulsa\w*|cierra\w*)\b"
)
_FIELDS: Final = frozenset("textbox searchbox combobox spinbutton".split())
_PARTS: Final = frozenset(
    """
listitem row cell gridcell rowheader columnheader heading document window treeitem option tab tabpanel article link img
table list tree grid checkbox radio switch menuitemcheckbox menuitemradio slider spinbutton combobox textbox searchbox
application frame term definition figure button caption
""".split()
)
"""Roles of what shows a thing itself; anything else is taken for a message about it."""

_CONTROLS: Final = frozenset(
    "checkbox radio switch menuitemcheckbox menuitemradio slider spinbutton combobox tab option button window".split()
)
"""Roles whose state is what was wanted; a window's title says whether it was saved."""


def asks(goal: str) -> bool:
    """Whether the goal wants something to be told."""
    return _ASKS.search(goal) is not None


def doubts(claim: Claim, witness: Witness, now: Scene, since: Sequence[Scene] = ()) -> list[str]:
    """What leaves the claim in doubt; empty when what is on the screen makes it good.

    Every piece of ``claim.evidence`` is taken to hold now. It is good when one piece came about by the last act, says
    more than what was typed, and has to do with the goal; when nothing that was seen ``since``, or is there now, speaks
    against it; when what was entered is still there; and when all that the goal names was dealt with.
    """
    befores = witness.befores()
    found = [f"the last step was not done ({act.effect})" for act in _last(witness.acts) if act.failed]
    wanted = f"{claim.wanted} {claim.result}" if asks(claim.goal) else claim.wanted
    # What was shown before the task's first look counts for nothing: a screen is judged by what the task did to it.
    first = befores[0].roots if befores else (witness.first.roots if witness.first else None)
    found += contradictions(first, now.roots, wanted, witness.passed_by())
    for scene in since:
        found += complaints(first, scene.roots, wanted)
    found += [f"it said {said!r}" for said in witness.dismissed() if fails(said, comparable(wanted))]
    found += taken_back(witness.acts, now)
    if not any(_is_good(piece, claim, witness, befores, now) for piece in claim.evidence):
        found.append(_why_thin(befores))
    matched = [node for piece in claim.evidence for node in matches(piece, now)]
    found += left_out(claim, witness, now, matched)
    if asks(claim.goal):
        found += unread(claim, witness, now)
    return list(dict.fromkeys(found))


def _last(acts: Sequence[Act]) -> Sequence[Act]:
    return [act for act in acts if act.commits][-1:]


def _why_thin(befores: Sequence[Scene]) -> str:
    if not befores:
        return "nothing was done, and the evidence does not answer what was asked"
    return "none of the evidence came about by the last act, goes beyond what was typed and bears on the goal"


# --- one piece of evidence ---------------------------------------------------------------------------------------


def _is_good(piece: str, claim: Claim, witness: Witness, befores: Sequence[Scene], now: Scene) -> bool:
    matched = matches(piece, now)
    if any(fails(_text(node), comparable(claim.wanted)) or unfinished(_text(node)) for node in matched):
        return False
    if not befores:  # nothing was done: only what was asked for can be good
        return asks(claim.goal) and bool(_news(piece, matched, claim))
    if absent_selector(piece) is not None:
        new = any(_is_new(piece, before) for before in befores)
        return new and _is_well_gone(piece, claim, witness, befores, now)
    if not any(_is_new(piece, before) for before in befores):
        matched = [node for before in befores for node in _new_nodes(piece, matched, before)]
        if not matched:
            return False
    if _is_echo(matched, claim, witness):
        return False
    if _is_of_last(piece, matched, witness):
        return True
    if asks(claim.goal) and _news(piece, matched, claim):
        return True
    moves = [act for act in witness.acts if act.commits and not act.failed]
    if all(act.kind in ("launch", "navigate", "tab") for act in moves):
        return not asks(claim.goal) or _shows(piece, matched, claim, witness, now)
    return _shows(piece, matched, claim, witness, now)


def matches(piece: str, scene: Scene) -> list[Node]:
    """The nodes that a piece of evidence speaks of; none for what must be gone, or for a window's title.

    A quote that is cut into several elements speaks of the smallest one that holds them all.
    """
    if (gone := absent_selector(piece)) is not None:
        return _select(gone, scene.roots)
    text = piece.strip()
    if is_telling(text) and (found := _select(text, scene.roots)):
        return found
    found = [
        node
        for node in walk(scene.roots)
        if (node.name or node.value) and holds(piece, (replace(node, children=()),))
    ]
    return found or _pieced(text, scene.roots)


def _pieced(text: str, roots: Sequence[Node]) -> list[Node]:
    """The innermost element whose text, all in all, holds the quote; as one node of that text."""
    wanted = normalise(text.strip("\"'“”„‘’«»"))
    holders = [
        node for node in walk(roots) if node.children and seen_on(node) and wanted in normalise(text_of(node))
    ]
    if not holders:
        return []
    inner = min(holders, key=lambda node: len(text_of(node)))
    return [replace(inner, value=text_of(inner), name="", children=())]


def _select(selector: str, roots: Sequence[Node]) -> list[Node]:
    try:
        return [node for node in parse_selector(selector).match(roots) if seen_on(node)]
    except InvalidStep:
        return []


def _is_new(piece: str, before: Scene) -> bool:
    """Whether it did not hold before."""
    return not holds(piece, before.roots, before.titles)


def _new_nodes(piece: str, matched: Sequence[Node], before: Scene) -> list[Node]:
    """The nodes that it speaks of and that were not there, or did not say so, before."""
    old = {_key(piece, node) for node in matches(piece, before)}
    return [node for node in matched if _key(piece, node) not in old]


def _key(piece: str, node: Node) -> tuple[str, ...]:
    """What of a node a piece of evidence is about: a field's name stays when its value changes."""
    whole = signature(node)
    if is_telling(piece):
        return whole if "value" in piece else whole[:2]
    return whole[:2] if node.name and holds(piece, (replace(node, value=None, children=()),)) else whole


def _is_echo(matched: Sequence[Node], claim: Claim, witness: Witness) -> bool:
    """Whether it only repeats what was entered. That is the act itself where the goal wants no more than entering."""
    if not matched or not all(node.role in _FIELDS and node.value for node in matched):
        return False
    last = _last(witness.acts)
    if last and last[0].enters_text and not last[0].failed:
        pressed = any(
            not act.enters_text and not act.failed and act.kind != "launch"
            for act in witness.acts
            if act.commits
        )
        return bool(_COMMITS.search(claim.goal)) and not pressed
    typed = comparable(_typed(witness.acts))
    return any(comparable(node.value or "") in typed for node in matched)


def _typed(acts: Sequence[Act]) -> str:
    return " ".join(str(act.step.get("text") or act.step.get("keys") or "") for act in acts)


def _is_of_last(piece: str, matched: Sequence[Node], witness: Witness) -> bool:
    """Whether it is what the last act entered, in the field that it was aimed at."""
    last = _last(witness.acts)
    target = last[0].target if last else None
    if target is None or not last[0].enters_text:
        return False
    aimed = [node for node in matched if (node.role, node.name) == (target.role, target.name) and node.value]
    return any(is_telling(piece) or holds(piece, (replace(node, name="", children=()),)) for node in aimed)


def _is_well_gone(piece: str, claim: Claim, witness: Witness, befores: Sequence[Scene], now: Scene) -> bool:
    """Whether its being gone is what was wanted.

    A dialog that was answered is gone whether or not it did what it was for: what was typed into it must then be seen
    elsewhere, unless the goal wants no more than an answer.
    """
    gone = absent_selector(piece) or ""
    was = [node for before in befores for node in _select(gone, before.roots)]
    last = _last(witness.acts)
    target = last[0].target if last else None
    answered = target is not None and any(
        (node.role, node.name) == (target.role, target.name) or node.name == target.window for node in was
    )
    if not answered and not common_words(
        " ".join([_plain(piece), *(_text(node) for node in was)]), claim.wanted
    ):
        return False
    if _ANSWERS_IT.search(claim.goal) or not any(_is_closed(node, now) for node in was):
        return True
    wanted, typed = comparable(claim.wanted), comparable(_typed(witness.acts))
    entered = [literal for literal in literals(claim) if comparable(literal) in typed]
    texts = [str(act.step.get("text") or "") for act in witness.acts if act.enters_text]
    entered += [text for text in texts if text and comparable(text) in wanted]
    shown = " ".join([*(_text(node) for node in walk(now.roots) if node.role not in _FIELDS), *now.titles])
    return not entered or any(covered(literal, shown) for literal in entered)


def _is_closed(node: Node, now: Scene) -> bool:
    """Whether it was a dialog or a window that is there no more, by another title neither (``*Notes``, ``Notes``)."""
    if node.role not in ("dialog", "alertdialog", "window"):
        return False
    return not any(root.role == node.role and words(root.name) & words(node.name) for root in now.roots)


def _shows(piece: str, matched: Sequence[Node], claim: Claim, witness: Witness, now: Scene) -> bool:
    """Whether it says that the goal is reached, or is itself what the goal wants to be there."""
    if not matched:  # a window's title
        said = _plain(piece)
        if confirms(said, claim.wanted) or any(covered(literal, said) for literal in literals(claim)):
            return True
        on_page = any(root.source == "page" for root in now.roots)
        return not (on_page and _COMMITS.search(claim.goal)) and bool(common_words(said, claim.wanted))
    return any(_node_shows(node, piece, claim, witness) for node in matched)


def _node_shows(node: Node, piece: str, claim: Claim, witness: Witness) -> bool:
    text = _text(node)
    if confirms(text, claim.wanted):
        return True
    if text.rstrip().endswith(("?", "？")):
        return False
    plain = f"{text} {_plain(piece)}"
    entered = [value for act in witness.acts if (value := str(act.step.get("text") or ""))]
    named = any(covered(literal, text) for literal in (*literals(claim), *entered))
    if node.role in _PARTS and len(text.split()) <= _SHORT_PART:
        # What only has a word of the goal may as well say that it was not done, where something was to be done.
        tells = node.role in _CONTROLS or not _COMMITS.search(claim.goal)
        return named or (tells and bool(common_words(plain, claim.wanted))) or _has_figures(node, claim)
    return named and not negated(text) and not is_open(text)


_SHORT_PART: Final = 12


def _has_figures(node: Node, claim: Claim) -> bool:
    return any(char.isdigit() for word in words(_text(node)) - words(claim.wanted) for char in word)


def _news(piece: str, matched: Sequence[Node], claim: Claim) -> set[str]:
    """What evidence and result have in common that the goal did not say already."""
    said = words(" ".join([_plain(piece), *(_text(node) for node in matched)]))
    return (said & words(claim.result)) - words(claim.wanted) - COMMON


def _plain(piece: str) -> str:
    """The words of a selector or a quote, without the roles and attributes of the grammar."""
    quoted = re.findall(r"""["']([^"']+)["']""", piece)
    return " ".join(quoted) if is_telling(piece) and quoted else piece


def _text(node: Node) -> str:
    return " ".join(part for part in (node.name, node.value, node.description) if part)
