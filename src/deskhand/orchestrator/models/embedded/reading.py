"""Reading back: which of the words on the screen a clause asks for, and what proves them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from deskhand.observers.node import normalise
from deskhand.orchestrator.models.embedded import matching
from deskhand.orchestrator.models.embedded.evidence import digest, quotes, selector
from deskhand.orchestrator.models.embedded.grammar import Item, pattern
from deskhand.orchestrator.models.embedded.lexicon import HERE, normal, without_article
from deskhand.orchestrator.models.embedded.matching import LOOSE, PART, Phrase, find, phrase
from deskhand.orchestrator.models.embedded.screen import FIELDS, Screen, Written, texts

# Words for "what came of it": whatever the last act brought to the screen answers them.
_OUTCOME = frozenset(
    "result results answer outcome confirmation message status response reply output notification feedback reaction "
    "success it display happens happened appears appeared comes says shows total sum code number reference new news "
    "changed".split()
)
_SHOWN_IN_FIELDS = frozenset("result results answer display value sum output shows".split())
_CONTENT = frozenset("text content contents document note".split())
_OF = pattern(
    r"^(?:current )?(?:text|value|contents?|number|words?|message|state|label) (?:of|in|from|on|shown (?:in|on|by)) "
    r"(?P<what>\S.*)$"
)
_IN = re.compile(r"^(?P<what>.*\S)\s+(?:on|in|from|of|at)\s+(?:the\s+)?(?P<place>\S.*)$", re.I)
EMPTY = "(empty)"
"""What is reported for a field that holds nothing."""

_LIMIT = 600
"""Characters of what is reported for one thing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, and selectors or quotes that hold where it was read."""

    text: str
    proof: tuple[str, ...]


def read(item: Item, screen: Screen, seen: AbstractSet[str], *, acted: bool) -> Reading | None:
    """What the item asks for, or None when it is not on the screen (yet).

    ``seen`` holds the digests of what was written before the last act; ``acted`` says whether there was one.
    """
    asked = without_article(item.text)
    if inner := _OF.match(asked):
        asked = without_article(inner["what"])
    wanted = phrase(asked, quoted=item.quoted)
    words = set(re.findall(r"\w+", normal(asked)))
    if normal(asked) in HERE:
        return (_news(words, screen, seen) if acted else None) or _everything(screen)
    if words and words <= _CONTENT and (written := _document(screen)) is not None:
        return written
    outcome = bool(words & _OUTCOME)
    if outcome and acted and (news := _news(words, screen, seen)):
        return news
    return (
        _named(wanted, screen)
        or _stated(wanted, screen)
        or _placed(asked, screen)
        or (_news(words, screen, seen) if outcome and not acted else None)
    )


def _document(screen: Screen) -> Reading | None:
    """What stands in the text that is being written: the focused large field, or the only one."""
    large = [
        node
        for i, node in enumerate(screen.nodes)
        if node.role == "textbox" and "multiline" in node.states and node.value and screen.shown(i)
    ]
    focused = [node for node in large if "focused" in node.states]
    for nodes in (focused, large):
        if len(nodes) == 1 and nodes[0].value:
            return Reading(nodes[0].value[:_LIMIT], (selector(nodes[0], value=nodes[0].value),))
    return None


def _named(wanted: Phrase, screen: Screen) -> Reading | None:
    """An element of that name: a field's value, an element's state, or the text that follows a label."""
    found = find(
        wanted,
        screen,
        dict.fromkeys([*FIELDS, "progressbar", "meter", "status", "alert", "heading", "region", "log"], 0),
    )
    node = found.node
    if node is not None and found.fit >= PART:
        if node.value and "password" not in node.states:
            return Reading(node.value, (selector(node, value=node.value),))
        if node.role not in FIELDS and (text := texts(node)):
            return Reading(text[:_LIMIT], quotes([text]))
        if node.role in FIELDS:
            return Reading(EMPTY, (selector(node),))
    toggle = find(wanted, screen, {**matching.CHECK})
    if toggle.node is not None and toggle.fit >= LOOSE and toggle.node.role != "button":
        state = "checked" if "checked" in toggle.node.states else "not checked"
        test = "[checked]" if state == "checked" else "[checked='false']"
        return Reading(state, (f"{selector(toggle.node)}{test}",))
    return None


def _stated(wanted: Phrase, screen: Screen) -> Reading | None:
    """ "Total: $ 12" in one text, or "$ 12" right after the text "Total"."""
    name = normal(wanted.name)
    written = screen.written()
    for place, each in enumerate(written):
        if each.is_value:
            continue
        head, colon, tail = each.text.partition(":")
        if colon and tail.strip() and normal(head) == name:
            return Reading(tail.strip()[:_LIMIT], quotes([each.text]))
        if normal(each.text) == name and place + 1 < len(written):
            after = _beside(each, written) or written[place + 1]
            return Reading(after.text[:_LIMIT], quotes([after.text]))
    return None


def said_of(label: str, screen: Screen) -> str:
    """What a table or a list of terms says of a label; empty when it says nothing, or two things."""
    name = normal(label)
    written = screen.written()
    found: dict[str, None] = {}
    for each in written:
        if each.is_value or normal(each.text) != name or each.node.role not in _TERMS:
            continue
        after = _beside(each, written)
        place = written.index(each) + 1
        after = after or (written[place] if place < len(written) else None)
        if after is not None and not after.is_value and after.node.role in _TERMS:
            found[normalise(after.text)] = None
    return next(iter(found)) if len(found) == 1 else ""


_TERMS = frozenset({"cell", "gridcell", "rowheader", "columnheader", "term", "definition"})


def _beside(label: Written, written: Sequence[Written]) -> Written | None:
    """The text to the right of a label, in its row."""
    if label.node.rect is None:
        return None
    row = label.node.rect
    right = [
        other
        for other in written
        if other.node.rect is not None and other is not label and other.node.rect.x >= row.right - 4
        and min(other.node.rect.bottom, row.bottom) - max(other.node.rect.y, row.y) > row.height / 2
    ]  # fmt: skip
    return min(right, key=lambda other: other.node.rect.x if other.node.rect else 0, default=None)


def _placed(asked: str, screen: Screen) -> Reading | None:
    """ "the price in the first row": the words of a named or numbered place."""
    parts = _IN.match(asked)
    if parts and normal(parts["place"]) in HERE:
        inner = phrase(parts["what"])
        return _named(inner, screen) or _stated(inner, screen) or _roles(inner, screen)
    return _roles(phrase(asked), screen)


def _roles(wanted: Phrase, screen: Screen) -> Reading | None:
    """ "the heading": the only one of a role (or the one that is counted)."""
    if not wanted.roles or wanted.name:
        return None
    node = find(wanted, screen, dict.fromkeys(wanted.roles, 0)).node
    text = (node.value or texts(node)) if node is not None else ""
    return Reading(text[:_LIMIT], quotes([text])) if text else None


def _news(words: set[str], screen: Screen, seen: AbstractSet[str]) -> Reading | None:
    """What the last act brought: a live region first, then a field's new value, then new headings and texts."""
    fresh = [each for each in screen.written() if digest(each) not in seen and normalise(each.text)]
    if not fresh:
        return None
    live = [
        each
        for each in fresh
        if each.block is not None and each.block.role in ("alert", "status", "log", "alertdialog", "dialog")
    ]
    spoken = _in_block(live, screen) if live else None
    if spoken is not None:
        return spoken
    values = [each for each in fresh if each.is_value and each.node.role in FIELDS]
    told = [each for each in fresh if not each.is_value and each.node.role not in ("link", "img", "option")]
    focused = [each for each in values if "focused" in each.node.states]
    if values and (not told or words & _SHOWN_IN_FIELDS or (focused and "it" in words)):
        best = (focused or values)[-1]
        return Reading(best.text[:_LIMIT], (selector(best.node, value=best.text),))
    fitting = [each for each in told if _mentions(each.text, words)]
    chosen = (told if len(told) <= 4 else fitting or told[:4]) if told else values
    lines = _distinct([each.text for each in chosen])
    return Reading(" ".join(lines)[:_LIMIT].strip(), quotes(lines)) if lines else None


def _distinct(texts_: Sequence[str]) -> list[str]:
    """Each text once, and none that stands in a longer one."""
    lines = list(dict.fromkeys(normalise(each) for each in texts_))
    return [line for line in lines if not any(line != other and line in other for other in lines)]


def _in_block(live: Sequence[Written], screen: Screen) -> Reading | None:
    lines = _distinct([each.text for each in live])
    text = " ".join(lines)
    return Reading(text[:_LIMIT], quotes(lines)) if text else None


def _mentions(text: str, words: set[str]) -> bool:
    """Whether a text speaks of one of the words, in whichever form ("confirmation": "confirmed")."""
    stems = {word[:6] for word in words if len(word) >= 5}
    return any(token.startswith(stem) for token in re.findall(r"\w+", normal(text)) for stem in stems)


def _everything(screen: Screen) -> Reading | None:
    """The page's own words, from the top."""
    lines = list(dict.fromkeys(normalise(each.text) for each in screen.written()))
    text = " ".join(lines)
    return Reading(text[:_LIMIT], quotes(lines[:3])) if text else None
