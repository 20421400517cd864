"""What a goal wants found out before it goes on: a text of the screen, a word of it, what comes out of a problem."""

from __future__ import annotations

import re
from fractions import Fraction

from deskhand.messages import Node
from deskhand.orchestrator.models.embedded import reading
from deskhand.orchestrator.models.embedded.grammar import Item, pattern
from deskhand.orchestrator.models.embedded.lexicon import ORDINALS, without_article
from deskhand.orchestrator.models.embedded.matching import find, phrase
from deskhand.orchestrator.models.embedded.moves import Fail, Look, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import FIELDS, Screen, texts
from deskhand.orchestrator.models.embedded.sums import evaluate, solve

_WORD = pattern(
    r"^(?P<nth>\S+) (?P<unit>word|line|character|letter|number) (?:in|of|on|from|below)(?: (?P<place>\S.*))?$"
)
_TEXT = pattern(
    r"^(?:all )?(?:(?:the )?(?:text|contents?|words?) )(?:(?:in|of|from|inside|on) )?(?P<place>\S.*)?$"
)
_VALUE = pattern(r"^(?:value|number|answer|name|text) (?:of|for|next to|beside|under) (?P<what>\S.*)$")
_PROBLEM = pattern(r"\b(?:problem|question|exercise|equation|sum)\b")
_TEXTS = {
    **dict.fromkeys(("paragraph", "textbox", "blockquote", "code", "article", "region", "group"), 0),
    **dict.fromkeys(("listitem", "cell", "heading", "text"), 1),
}


def recall(scene: Scene) -> Move:
    """Find it out and hold it."""
    clause, screen = scene.clause, scene.screen
    said = without_article(clause.items[0].text)
    if clause.how == "solve" or _PROBLEM.search(said):
        found = _solved(screen, clause.value)
    elif word := _WORD.match(said):
        found = _part(screen, word["nth"], word["unit"].casefold(), word["place"] or "text")
    elif value := _VALUE.match(said):
        found = _told(scene, value["what"])
    elif text := _TEXT.match(said):
        found = _text_of(screen, text["place"] or "")
    else:
        found = _told(scene, said)
    if not found:
        return Look(otherwise=Fail(result=f"I see nothing on the screen that tells me “{said}”."))
    return Next(held=found, said=f"found “{found[:80]}” for “{said}”")


def _told(scene: Scene, what: str) -> str:
    """What a table says of it, else whatever else on the screen does; an empty field says nothing."""
    if said := reading.said_of(without_article(what), scene.screen):
        return said
    found = reading.read(Item(what), scene.screen, frozenset(), acted=False)
    return found.text if found is not None and found.text != reading.EMPTY else ""


def _text_of(screen: Screen, place: str) -> str:
    """The text in a place; of several places of a kind, the only one that says something."""
    bare = re.sub(r"^(?:below|above|here|on the (?:page|screen))$", "", place.strip(), flags=re.I)
    if not bare:
        return _only_text(screen)
    wanted = phrase(bare)
    found = find(wanted, screen, _TEXTS)
    nodes = [node for node in found.nodes if _said(node, screen)]
    if len(found.nodes) > 1 and _large(bare):
        nodes = [node for node in nodes if "multiline" in node.states] or nodes
    return _said(nodes[0], screen) if len(nodes) == 1 else ""


def _large(place: str) -> bool:
    """Whether a place's name is that of a field for several lines."""
    return re.search(r"text\s?area|editor", place, re.I) is not None


def _said(node: Node, screen: Screen) -> str:
    return (node.value or "") if node.role in FIELDS else (node.value or texts(node))


def _only_text(screen: Screen) -> str:
    """The page's text where it is all in one place."""
    plain = [
        node for node in screen.nodes if node.role in ("text", "paragraph") and (node.name or node.value)
    ]
    distinct = [
        node for node in plain if not any(other is not node and node in other.children for other in plain)
    ]
    if len(distinct) == 1:
        return distinct[0].name or distinct[0].value or ""
    letters = [node.name or node.value or "" for node in distinct]
    return "" if any(len(letter) != 1 for letter in letters) else "".join(letters)


def _part(screen: Screen, nth: str, unit: str, place: str) -> str:
    """The third word of a text."""
    place_number = ORDINALS.get(nth.casefold())
    text = _text_of(screen, place)
    if place_number is None or not text:
        return ""
    if unit == "line":
        parts = [line for line in text.splitlines() if line.strip()]
    elif unit in ("character", "letter"):
        parts = list(text)
    elif unit == "number":
        parts = re.findall(r"-?\d+(?:\.\d+)?", text)
    else:
        parts = [bare for word in text.split() if (bare := re.sub(r"^\W+|\W+$", "", word))]
    index = place_number - 1 if place_number > 0 else len(parts) - 1
    return parts[index] if 0 <= index < len(parts) else ""


def _solved(screen: Screen, unknown: str | None) -> str:
    """What comes out of the only problem that is written on the screen."""
    answers: set[Fraction] = set()
    for each in screen.written():
        text = each.text
        answer = solve(text, unknown) if unknown else evaluate(text)
        if answer is not None:
            answers.add(answer)
    if len(answers) != 1:
        return ""
    answer = answers.pop()
    return str(answer.numerator) if answer.denominator == 1 else f"{float(answer):g}"
