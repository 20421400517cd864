"""Which of several alike is meant by what it measures: "the cheapest ticket", "the numbers in ascending order"."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from deskhand.messages import Node
from deskhand.orchestrator.models.embedded.grammar import SUPERLATIVE, pattern
from deskhand.orchestrator.models.embedded.matching import PRESS
from deskhand.orchestrator.models.embedded.screen import Screen

_WITH = pattern(r"^(?:the )?(?P<noun>\S.*?) (?:with|that has|which has|of) (?P<most>the \S+ .*)$")
_ORDERED = pattern(
    r"^(?:all )?(?:the )?numbers in (?P<way>ascending|descending|increasing|decreasing) order$"
)
_LEAST = frozenset("cheapest lowest smallest least fewest shortest earliest youngest minimum".split())
_MOST = frozenset("greatest largest biggest highest most longest latest oldest maximum dearest".split())
_MONEY = re.compile(r"[$€£¥]\s?(\d[\d,]*(?:\.\d+)?)|(\d[\d,]*(?:\.\d+)?)\s?(?:USD|EUR|GBP|€|\$)")
_DURATION = re.compile(r"(?:(\d+)\s?h(?:ours?|rs?)?)?\s?(?:(\d+)\s?m(?:in(?:utes?|s)?)?)?\b", re.I)
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?![\w.]*\w)")
_PRICE = re.compile(r"\b(?:price|cost|fare|fee|cheapest|expensive)\b", re.I)
_TIME = re.compile(r"\b(?:duration|time|shortest|longest|quickest|fastest|flight|trip)\b", re.I)


@dataclass(frozen=True, slots=True)
class Extreme:
    """ "the ticket with the lowest price": what it is, what is measured, and which end is meant."""

    noun: str
    measure: str
    least: bool


def extreme(text: str) -> Extreme | None:
    """The superlative that a text says; None when it is none that can be measured."""
    noun, most = "", text
    if found := _WITH.match(text):
        noun, most = found["noun"], found["most"]
    word = SUPERLATIVE.match(most)
    if word is None:
        return None
    said = word["word"].casefold()
    if said not in _LEAST | _MOST:
        return None
    rest = most[word.end() :].strip()
    return Extreme(noun or rest, f"{said} {rest}", said in _LEAST)


def choose_extreme(wanted: Extreme, screen: Screen, verb: str = "") -> list[Node]:
    """The one of a family that is furthest in its measure; several when they tie, none when it cannot be told."""
    measured = [
        (value, node)
        for node, text in _family(screen, wanted, verb)
        if (value := _measure(text, wanted)) is not None
    ]
    if len(measured) < 2:
        return []
    best = (min if wanted.least else max)(value for value, _ in measured)
    return [node for value, node in measured if value == best]


def in_order(text: str, screen: Screen) -> list[Node]:
    """The numbers of the screen in the order that a text says; empty when it says none."""
    found = _ORDERED.match(text)
    if found is None:
        return []
    numbers = [
        node
        for node in screen.nodes
        if re.fullmatch(r"-?\d+(?:\.\d+)?", node.name or "") and node.rect is not None
    ]
    down = found["way"].casefold().startswith("de")
    return sorted(numbers, key=lambda node: float(node.name), reverse=down)


def _family(screen: Screen, wanted: Extreme, verb: str) -> list[tuple[Node, str]]:
    """Elements that differ in figures only, each with its own words and those since the one before."""
    families: defaultdict[str, list[int]] = defaultdict(list)
    for i, node in enumerate(screen.nodes):
        if node.role in PRESS and node.ref and screen.shown(i) and "disabled" not in node.states:
            name = (screen.names(i) or ("",))[0] or (node.value or "")
            if name:
                families[f"{node.role}:{re.sub(r'[-+]?[0-9][0-9,.]*', '#', name)}"].append(i)
    alike = [members for members in families.values() if len(members) > 1]
    named = [
        m
        for m in alike
        if any(_stem(word) in _words(screen, m[0]) for word in (verb, *wanted.noun.split()) if word)
    ]
    chosen = max(named or alike, key=len, default=[])
    before, found = 0, []
    for i in chosen:
        words = [n.name or n.value or "" for n in screen.nodes[before : screen.flat.end[i]]]
        found.append((screen.nodes[i], " ".join(words)))
        before = screen.flat.end[i]
    return found


def _words(screen: Screen, index: int) -> str:
    return " ".join(screen.names(index)).casefold()


def _stem(word: str) -> str:
    return word.casefold()[:5]


def _measure(text: str, wanted: Extreme) -> float | None:
    """The figure that is compared; None when the text has none, or several and nothing says which."""
    about = f"{wanted.measure} {wanted.noun}"
    if _PRICE.search(about):
        found = {float((a or b).replace(",", "")) for a, b in _MONEY.findall(text)}
    elif _TIME.search(wanted.measure):
        found = {int(h or 0) * 60 + int(m or 0) for h, m in _DURATION.findall(text) if h or m}
    else:
        found = {float(each.replace(",", "")) for each in _NUMBER.findall(text)}
    return found.pop() if len(found) == 1 else None
