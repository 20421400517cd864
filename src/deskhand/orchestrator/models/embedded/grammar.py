"""What a goal is read into (`Clause`, `Item`), and the pieces of grammar that several rules share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from deskhand.orchestrator.models.embedded import lexicon
from deskhand.orchestrator.models.embedded.lexicon import Verb, without_article

Literal = Callable[[str], bool]
"""Says whether a piece of masked text is one quoted literal or address."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a clause names, as said. ``glue``: the separator before it (a name may itself hold an "and").

    ``quoted``: it is all a literal; ``exact``: the literal within it ("the 'Menu' button").
    """

    text: str
    quoted: bool = False
    glue: str = ""
    exact: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One instruction.

    ``items`` are what it acts on; ``value`` the text or option it gives; ``place`` where, as said; ``on`` the wanted
    state of a check (None: flip); ``path`` marks the items as a way through menus; ``after`` holds further pairs that
    were said in the same breath. ``how``: ``held`` (the value is what was found out before), ``labels`` (each field
    gets what the screen says of its label), ``solve``, ``through`` (it may be behind tabs, in sections, on further
    pages).
    """

    verb: Verb
    said: str = ""
    items: tuple[Item, ...] = ()
    value: str | None = None
    place: str = ""
    on: bool | None = None
    count: int = 1
    button: str = "left"
    path: bool = False
    how: str = ""
    after: tuple[Clause, ...] = ()


Rule = Callable[[str, str, Literal], "Clause | None"]
"""From the verb as said, what follows it, and what is a literal, to the clause; None when it cannot be read."""


def pattern(text: str) -> re.Pattern[str]:
    """A pattern without case, in which a blank stands for any white space."""
    return re.compile(text.replace(" ", r"\s+"), re.I)


FIELD_FIRST = pattern(
    r"^(?P<field>.+?)(?: (?:to be|to|with|equal to|equals|as|should be) |\s*[=:](?!\S*//)\s*)(?P<value>\S.*)$"
)
VALUE_FIRST = pattern(r"^(?P<value>.*\S) (?:into|inside|in|for|as|under|to) (?P<field>\S.*)$")
SUPERLATIVE = pattern(
    r"^(?:the )?(?P<word>(?!(?:test|rest|guest|request|interest|best|west|forest|contest)\b)\w+est|most|least)\b"
)
_SHORT_LIST = re.compile(r"^\S{1,2}(?:,\S{1,2})+$")
_THOUSANDS = re.compile(r"^\d{1,3}(?:,\d{3})+$")
_LIST_HEAD = pattern(r"^(?:both|the following|on|these)(?: |\s*:\s*)")
_SIGNS = pattern(
    r"[\d.,]+|[+*/×÷·⋅∕^%√()=xX−–-]"
    r"|(?:plus|minus|times|multiplied by|divided by|over|percent|to the power of|square root of)\b"
)


def items(text: str, glue: str = "") -> tuple[Item, ...]:
    """The items of a list segment; short signs may stand without spaces (``1,2,×``)."""
    body = _LIST_HEAD.sub("", text.strip()).strip()
    if _SHORT_LIST.match(body) and not _THOUSANDS.match(body):
        first, *others = body.split(",")
        return (Item(first, glue=glue), *(Item(each, glue=",") for each in others))
    return (Item(body, glue=glue),)


def menu_path(text: str) -> tuple[Item, ...]:
    """The steps of "File > Save As"; nothing when it is no path."""
    bare = re.match(r"[^\s<>=]+(?:>[^\s<>=]+)+$", text)
    steps = [step.strip() for step in re.split(r">" if bare else r"\s>\s|\s->\s|\s*[→›»]\s*", text)]
    return tuple(Item(step) for step in steps) if len(steps) > 1 and all(steps) else ()


def plain_name(text: str) -> str:
    """A field's name as said, without article and role noun."""
    bare = without_article(text)
    found = lexicon.ROLE_LAST.match(bare)
    return (found["name"] or bare) if found else bare


DESCRIBED = pattern("^(?:the|a|an|my) (?P<field>\\w[\\w -]*?) (?P<value>[\ue000-\uf8ff])$")


def pair(text: str, *, value_first: bool = False) -> Clause | None:
    """The next field of a fill: "Email to a@b.c" or "30 for Age"; which comes first where both could be ("as")."""
    if found := DESCRIBED.match(text):
        return Clause(verb="fill", said=text, items=(Item(found["field"]),), value=found["value"])
    first, second = (VALUE_FIRST, FIELD_FIRST) if value_first else (FIELD_FIRST, VALUE_FIRST)
    found = first.match(text) or second.match(text)
    return (
        Clause(verb="fill", said=text, items=(Item(found["field"]),), value=found["value"]) if found else None
    )


def is_expression(text: str) -> bool:
    """Whether a text is arithmetic: numbers and signs, at least one of each, and nothing else."""
    numbers = signs = at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _SIGNS.match(text, at)
        if token is None:
            return False
        if token.group()[0].isdigit() or (token.group()[0] in ".," and len(token.group()) > 1):
            numbers += 1
        else:
            signs += 1
        at = token.end()
    return bool(numbers and signs)
