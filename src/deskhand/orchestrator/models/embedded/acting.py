"""How clauses are read that act on elements: press, type, fill, choose, check, clear, search."""

from __future__ import annotations

import re

from deskhand.orchestrator.models.embedded import lexicon
from deskhand.orchestrator.models.embedded.grammar import (
    DESCRIBED,
    FIELD_FIRST,
    SUPERLATIVE,
    VALUE_FIRST,
    Clause,
    Item,
    Literal,
    items,
    menu_path,
    pair,
    pattern,
)

_TWICE = pattern(r"^(?P<body>.+?) (?:twice|(?P<times>\d{1,2}|two|three|four|five) times)$")
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
_OBJECT = pattern(r" (?:it|(?:the|this|my) (?:form|page|dialog|order|changes?))$")


_MEANS = pattern(r"^\S+(?: it)? (?:(?:by|with) (?:pressing|clicking)|with|by) (?P<button>\S.*)$")


def command(text: str) -> Clause:
    """A button said as a verb: "submit the form", "add to cart", "confirm with OK"."""
    if means := _MEANS.match(text):
        return Clause(verb="press", said=text, items=(Item(means["button"]),))
    return Clause(verb="command", said=text, items=(Item(_OBJECT.sub("", text)),))


def press(word: str, rest: str, literal: Literal) -> Clause | None:
    button = "right" if word.startswith("right") else "left"
    count = 2 if word.startswith("double") else 1
    if found := _TWICE.match(rest):
        rest, times = found["body"], found["times"]
        count = 2 if times is None else _NUMBERS.get(times.casefold()) or int(times)
    if path := menu_path(rest):
        return Clause(verb="press", items=path, path=True)
    return Clause(verb="press", items=items(rest), button=button, count=count)


_KIND_OF_TEXT = pattern(
    r"^(?:the )?(?:following(?: (?:text|words?|lines?))?|text|words?|phrase|string|line|number|value)(?: |\s*:\s*)"
    r"(?!(?:of|in|from|below|above|that|for|shown)\b)"
)
_HERE = pattern(r" (?:(?:in|into) (?:it|there|here)|there)$")
_TO = pattern(r"^(?:to|as|for) ")
_LABELLED = re.compile(r"^(?P<field>[^:=]+?)\s*[:=]\s*(?P<value>\S.*)$")


def type_(word: str, rest: str, literal: Literal) -> Clause | None:
    body = _HERE.sub("", _KIND_OF_TEXT.sub("", rest))
    if not body:
        return None
    found = VALUE_FIRST.match(body)
    if found and not literal(found["value"]) and word not in ("enter", "input"):
        # in "type a letter to Ana" the words after "to" belong to the text; "into the Name field" never does
        between = body[found.end("value") : found.start("field")].strip()
        if _TO.match(f"{between} ") and not re.match(r"(?:the|my)\s", found["field"], re.I):
            found = None
    if found is None and word in ("enter", "input"):
        found = _LABELLED.match(body) or DESCRIBED.match(body)
    if found:
        value = _KIND_OF_TEXT.sub("", found["value"])
        if described := DESCRIBED.match(value):  # "the password 'x' into both fields"
            value = described["value"]
        return Clause(verb="type", items=(Item(found["field"]),), value=value)
    return Clause(verb="type", value=body)


_FORM = pattern(r"^(?:(?:in|out) )?(?:the|this) (?:\w+ )?form(?: (?:with|using) (?P<more>.+))?$")
_GIVEN = pattern(r"^(?:the )?(?:(?:given|following|provided) )?(?:inputs?|values?|data|details)$")
_WITH = pattern(" with ")


def fill(word: str, rest: str, literal: Literal) -> Clause | None:
    if form := _FORM.match(rest):
        more = form["more"] or ""
        return Clause(verb="fill") if not more or _GIVEN.match(more) else pair(more)
    filling = word.startswith("fill")
    if word == "put" or (filling and not (_WITH.search(rest) and not literal(rest[0]))):
        if found := VALUE_FIRST.match(rest):
            return Clause(verb="fill", items=(Item(found["field"]),), value=found["value"])
        if word == "put":
            return None
    if found := FIELD_FIRST.match(rest):
        return Clause(verb="fill", items=(Item(found["field"]),), value=found["value"])
    return Clause(verb="fill", items=(Item(rest),)) if filling or word in ("set", "update") else None


_ALL = pattern(r"^(?:all|everything|all (?:the )?text)$")
_FROM = tuple(
    pattern(rf"^(?P<value>.*\S) (?:{words}) (?P<field>\S.*)$")
    for words in ("from|out of", "with|using", "as|for|under", "in|within|inside")
)


def from_list(text: str) -> tuple[Item, str] | None:
    """The last of several options, with the list that they are all from."""
    found = _FROM[0].match(text)
    return (Item(found["value"]), found["field"]) if found else None


def choose(word: str, rest: str, literal: Literal) -> Clause | None:
    if _ALL.match(rest):
        return Clause(verb="press", items=(Item("ctrl+a"),))
    if path := menu_path(rest):
        return Clause(verb="press", items=path, path=True)
    for each in _FROM:
        if (found := each.match(rest)) and not SUPERLATIVE.match(found["field"]):
            return Clause(verb="choose", items=(Item(found["value"]),), place=found["field"])
    return Clause(verb="choose", items=items(rest))


_BOX_FOR = pattern(
    r"^(?:the )?(?:(?:check|tick)\s*)?box(?:es)? (?:(?:for|next to|beside|labell?ed|called|named|of|that says|saying) |"
    "(?=[\ue000-\uf8ff]))"
)


def check(word: str, rest: str, literal: Literal) -> Clause | None:
    on = None if word == "toggle" else word not in lexicon.OFF
    return Clause(verb="check", items=items(_BOX_FOR.sub("", rest)), on=on)


def clear(word: str, rest: str, literal: Literal) -> Clause | None:
    return Clause(verb="fill", items=(Item(rest),), value="")


_SEARCHED = pattern(r"^(?P<value>.*\S) (?:in|on|using|with) (?P<place>\S.*)$")


def search(word: str, rest: str, literal: Literal) -> Clause | None:
    if found := _SEARCHED.match(rest):
        return Clause(verb="search", value=found["value"], place=found["place"])
    return Clause(verb="search", value=rest)
