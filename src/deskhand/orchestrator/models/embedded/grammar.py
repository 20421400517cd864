"""The rules of single clauses: what stands after a verb, read into a `Clause`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from deskhand.orchestrator.models.embedded import lexicon
from deskhand.orchestrator.models.embedded.lexicon import Verb, without_article

Literal = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a clause names, as said. ``glue``: the separator in front of it (a name may itself contain "and")."""

    text: str
    quoted: bool = False
    glue: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One instruction.

    ``items`` are what it acts on; ``value`` the text or option it gives; ``place`` where, as said; ``on`` the wanted
    state of a check (None: flip); ``after`` further pairs that were said in the same breath; ``path`` marks ``items``
    as a path through menus.
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
    after: tuple[Clause, ...] = ()


_PLACE = re.compile(
    r"^(?P<body>.*\S)\s+(?:in|inside|within|on|using|with|from|of|at)\s+(?P<place>\S.*)$", re.I
)
_FIELD_FIRST = re.compile(
    r"^(?P<field>.+?)\s*(?:\s(?:to be|to|with|equal to|equals|as)\s|[=:](?!\S*//))\s*(?P<value>\S.*)$", re.I
)
_VALUE_FIRST = re.compile(r"^(?P<value>.*\S)\s+(?:into|inside|in|for|as|under|to)\s+(?P<field>\S.*)$", re.I)
_SAYING = re.compile(
    r"^(?:the\s+)?(?:(?:following\s+)?(?:text|words?|phrase|string|line|number|value)|following)\s*:?\s+",
    re.I,
)
_NUMBER_LIST = re.compile(r"^\S{1,2}(?:,\S{1,2})+$")
_SIGN = r"(?:[+*/×÷·⋅∕^%√()=xX−–-]|plus|minus|times|multiplied by|divided by|over|percent|to the power of|square root of)"
EXPRESSION = re.compile(rf"^{_SIGN}?\s*[\d.(√][\d.,]*\s*(?:{_SIGN}\s*|[\d.,]+\s*)+$", re.I)


def items(text: str, glue: str = "") -> tuple[Item, ...]:
    """The items of a list segment; short signs may stand without spaces (``1,2,×``)."""
    body = re.sub(r"^(?:both|the following|on|these)\s*:?\s+", "", text.strip(), flags=re.I).strip()
    if _NUMBER_LIST.match(body) and not re.fullmatch(r"\d{1,3}(?:,\d{3})+", body):
        pieces = body.split(",")
        return (Item(pieces[0], glue=glue), *(Item(piece, glue=",") for piece in pieces[1:]))
    return (Item(body, glue=glue),)


def plain_name(text: str) -> str:
    """A field's name as said, without article and role noun."""
    bare = without_article(text)
    if found := lexicon.ROLE_LAST.match(bare):
        return found["name"] or bare
    return bare


def pair(text: str, literal: Literal) -> Clause | None:
    """ "Email to a@b.c" or "30 for Age": the next field of a fill."""
    if found := _FIELD_FIRST.match(text):
        return Clause(verb="fill", said=text, items=(Item(found["field"]),), value=found["value"])
    if found := _VALUE_FIRST.match(text):
        return Clause(verb="fill", said=text, items=(Item(found["field"]),), value=found["value"])
    return None


def command(text: str) -> Clause:
    """A button said as a verb: "submit the form", "add to cart"."""
    name = re.sub(r"\s+(?:it|(?:the|this|my)\s+(?:form|page|dialog|order|changes?))$", "", text, flags=re.I)
    return Clause(verb="command", said=text, items=(Item(name),))


def _open(word: str, rest: str, literal: Literal) -> Clause | None:
    body = re.sub(
        r"\s+(?:in|with|using)\s+(?:the\s+|a\s+|my\s+)?(?:new\s+)?(?:web\s+)?(?:browser|tab|window|chromium)$",
        "",
        rest,
        flags=re.I,
    )
    body = re.sub(r"^(?:up|on)\s+", "", body)
    body = re.sub(
        r"^(?:the\s+)?(?:web\s*)?(?:page|site|website|url|address)\s+(?=[\ue000-\uf8ff]|\S+\.\S)",
        "",
        body,
        flags=re.I,
    )
    return Clause(verb="open", items=(Item(body),)) if body else None


def _press(word: str, rest: str, literal: Literal) -> Clause | None:
    button = "right" if word.startswith("right") else "left"
    count = 2 if word.startswith("double") else 1
    body = rest
    if found := re.match(r"^(?P<body>.+?)\s+(?:twice|two times|2 times)$", body, re.I):
        body, count = found["body"], 2
    if found := re.match(r"^(?P<body>.+?)\s+(?P<times>\d{1,2})\s+times$", body, re.I):
        body, count = found["body"], int(found["times"])
    if path := _path(body):
        return Clause(verb="press", items=path, path=True)
    return Clause(verb="press", items=items(body), button=button, count=count)


def _path(body: str) -> tuple[Item, ...]:
    steps = [step.strip() for step in re.split(r"\s*(?:\s>\s|→|›|»|\s->\s)\s*", body)]
    return tuple(Item(step) for step in steps) if len(steps) > 1 and all(steps) else ()


def _type(word: str, rest: str, literal: Literal) -> Clause | None:
    body = _SAYING.sub("", rest)
    body = re.sub(r"\s+(?:in|into)\s+(?:it|there|here)$", "", body, flags=re.I)
    if not body:
        return None
    found = _VALUE_FIRST.match(body)
    if (
        found
        and re.search(r"\s(?:to|as|for)\s", body[len(found["value"]) : len(found["value"]) + 4])
        and not (
            literal(found["value"])
            or re.match(r"(?:the|my)\s", found["field"], re.I)
            or word not in ("type", "write")
        )
    ):
        found = None  # "type letter to Ana": those prepositions belong to the text
    if found:
        return Clause(verb="type", items=(Item(found["field"]),), value=_SAYING.sub("", found["value"]))
    if word in ("enter", "input") and (
        labelled := re.match(r"^(?P<field>[^:=]+?)\s*[:=]\s*(?P<value>\S.*)$", body)
    ):
        return Clause(verb="type", items=(Item(labelled["field"]),), value=labelled["value"])
    if word in ("enter", "input") and (
        described := re.match(r"^(?:the|a|an|my)\s+(?P<field>\w[\w -]*?)\s+(?P<value>[\ue000-\uf8ff])$", body)
    ):
        return Clause(verb="type", items=(Item(described["field"]),), value=described["value"])
    return Clause(verb="type", value=body)


def _fill(word: str, rest: str, literal: Literal) -> Clause | None:
    if form := re.match(
        r"^(?:in\s+|out\s+)?(?:the|this)\s+(?:\w+\s+)?form(?:\s+(?:with|using)\s+(?P<more>.+))?$", rest, re.I
    ):
        more = form["more"] or ""
        if not more or re.match(
            r"^(?:the\s+)?(?:(?:given|following|provided)\s+)?(?:inputs?|values?|data|details)$", more, re.I
        ):
            return Clause(verb="fill")
        return pair(more, literal)
    value_first = _VALUE_FIRST.match(rest)
    if word == "put" or (
        word.startswith("fill")
        and value_first
        and (literal(value_first["value"]) or not re.search(r"\swith\s", rest))
    ):
        if value_first:
            return Clause(verb="fill", items=(Item(value_first["field"]),), value=value_first["value"])
        if word == "put":
            return None
    if found := _FIELD_FIRST.match(rest):
        return Clause(verb="fill", items=(Item(found["field"]),), value=found["value"])
    if word.startswith("fill") or word in ("set", "update"):
        return Clause(verb="fill", items=(Item(rest),))
    return None


def _choose(word: str, rest: str, literal: Literal) -> Clause | None:
    if re.fullmatch(r"(?:all|everything|all (?:the )?text)", rest, re.I):
        return Clause(verb="press", items=(Item("ctrl+a"),))
    if path := _path(rest):
        return Clause(verb="press", items=path, path=True)
    for words in ("from|out of", "as|for|under", "in|within|inside"):
        if found := re.match(rf"^(?P<value>.*\S)\s+(?:{words})\s+(?P<field>\S.*)$", rest, re.I):
            return Clause(verb="choose", items=(Item(found["value"]),), place=found["field"])
    return Clause(verb="choose", items=items(rest))


def _check(word: str, rest: str, literal: Literal) -> Clause | None:
    body = re.sub(
        r"^(?:the\s+)?(?:check\s*|tick\s*)?box(?:es)?\s+(?:for|next to|beside|labell?ed|called|named|of|that says|saying)\s+",
        "", rest, flags=re.I,
    )  # fmt: skip
    on = None if word == "toggle" else word not in lexicon.OFF
    return Clause(verb="check", items=items(body), on=on)


def _clear(word: str, rest: str, literal: Literal) -> Clause | None:
    return Clause(verb="fill", items=(Item(rest),), value="")


_FOLDER = r"(?:in|into|to|under|inside)\s+(?P<folder>\S.*)"
_SAVE = re.compile(
    rf"^(?:(?:it|this|that|(?:the|my)\s+(?:file|document|text|note|changes?|page|drawing|image|sheet|work))\b)?\s*"
    rf"(?:(?:as|under the name|with the name|named|called|to|in)\s+(?P<name>\S+?(?:\.\w+)?))?(?:\s+{_FOLDER})?$",
    re.I,
)


def _save(word: str, rest: str, literal: Literal) -> Clause | None:
    found = _SAVE.match(rest)
    if not found:
        return None
    name, folder = found["name"] or "", found["folder"] or ""
    if name.casefold() in ("my", "the", "home"):
        found = re.match(rf"^.*?{_FOLDER}$", rest, re.I)
        name, folder = "", found["folder"] if found else ""
    return Clause(verb="save", value=name or None, place=folder)


def _wait(word: str, rest: str, literal: Literal) -> Clause | None:
    if seconds := re.match(r"^(?:for\s+)?(?P<n>\d+(?:\.\d+)?)\s*(?:s|secs?|seconds?)?$", rest, re.I):
        return Clause(verb="wait", value=seconds["n"])
    body = re.sub(r"^(?:for|until|till)\s+", "", rest, flags=re.I)
    if not body or re.match(
        r"^(?:it|the page|the window|the app\w*|everything|that|a (?:bit|moment|while))\b(?!.*\b(?:disappears?|is gone|vanish))",
        body,
        re.I,
    ):
        return Clause(verb="wait")
    gone = re.search(
        r"\s+(?:to\s+)?(?:disappears?|vanish(?:es)?|be gone|is gone|goes away|go away|closes?)$", body, re.I
    )
    if gone:
        return Clause(verb="wait", items=(Item(body[: gone.start()]),), on=False)
    body = re.sub(
        r"\s+(?:to\s+)?(?:appears?|shows?(?: up)?|is (?:shown|visible|there|displayed)|be (?:shown|visible|there|displayed)|comes? up|loads?|opens?)$",
        "",
        body,
        flags=re.I,
    )
    return Clause(verb="wait", items=(Item(body),), on=True)


def _read(word: str, rest: str, literal: Literal) -> Clause | None:
    body = re.sub(r"^(?:back|out|to me|me|that)\b\s*", "", rest, flags=re.I).strip(" :")
    body = re.sub(r"\s+(?:to me|back|please|back to me)$", "", body, flags=re.I)
    if re.match(r"^(?:why|who|where|when|how|whether|if)\b", body, re.I):
        return None
    if said := re.match(r"^(?:what|which)\s+(?:is\s+|are\s+|does\s+)?(?P<x>.+)$", body, re.I):
        body = said["x"]
    body = re.sub(
        r"\s+(?:is|are|says?|shows?|reads?|displays?|was|were|contains?|it (?:says|shows|gives))$",
        "",
        body,
        flags=re.I,
    )
    if EXPRESSION.match(
        without_article(re.sub(r"^(?:the\s+)?(?:result|answer|value)\s+(?:of|to)\s+", "", body, flags=re.I))
    ):
        return _compute(
            word, re.sub(r"^(?:the\s+)?(?:result|answer|value)\s+(?:of|to)\s+", "", body, flags=re.I), literal
        )
    return Clause(verb="read", items=(Item(body or "result"),))


def _compute(word: str, rest: str, literal: Literal) -> Clause | None:
    body, place = re.sub(r"\s*=\s*\??$", "", rest), ""
    if not EXPRESSION.match(body) and (found := _PLACE.match(body)):
        body, place = re.sub(r"\s*=\s*$", "", found["body"]), found["place"]
    if not EXPRESSION.match(body):
        return None
    return Clause(verb="compute", value=body, place=place)


def _close(word: str, rest: str, literal: Literal) -> Clause | None:
    return Clause(verb="close", items=(Item(rest or "it"),))


def _scroll(word: str, rest: str, literal: Literal) -> Clause | None:
    found = re.match(
        r"^(?:the\s+\S+\s+)?(?P<way>down|up|left|right)(?:\s+a (?:bit|little))?(?:\s+(?P<n>\d{1,2})\s*(?:times)?)?$",
        rest,
        re.I,
    )
    if found:
        return Clause(verb="scroll", value=found["way"].casefold(), count=int(found["n"] or 1))
    if found := re.match(
        r"^(?:(?:down|up)\s+)?(?:to|until)\s+(?:you (?:see|find)\s+)?(?P<what>\S.*)$", rest, re.I
    ):
        return Clause(verb="scroll", items=(Item(found["what"]),))
    return None


def _expect(word: str, rest: str, literal: Literal) -> Clause | None:
    body = re.sub(
        r"\s+(?:is|are)\s+(?:shown|visible|displayed|there|present|on (?:the )?screen)$", "", rest, flags=re.I
    )
    if found := re.match(
        r"^(?:(?:it|the\s+\S+)\s+)(?:says|shows|contains|reads|displays)\s+(?P<what>\S.*)$", body, re.I
    ):
        body = found["what"]
    if re.match(r"^(?:not|no)\b|.*\b(?:not|n't|never)\b", body, re.I):
        return None
    return Clause(verb="expect", items=(Item(body),))


def _search(word: str, rest: str, literal: Literal) -> Clause | None:
    body = re.sub(r"^for\s+", "", rest, flags=re.I)
    if found := re.match(r"^(?P<value>.*\S)\s+(?:in|on|using|with)\s+(?P<place>\S.*)$", body, re.I):
        return Clause(verb="search", value=found["value"], place=found["place"])
    return Clause(verb="search", value=body)


def _none(word: str, rest: str, literal: Literal) -> Clause | None:
    return None


RULES: dict[Verb, Callable[[str, str, Literal], Clause | None]] = {
    "open": _open,
    "within": _none,
    "press": _press,
    "type": _type,
    "fill": _fill,
    "choose": _choose,
    "check": _check,
    "clear": _clear,
    "save": _save,
    "wait": _wait,
    "read": _read,
    "compute": _compute,
    "close": _close,
    "scroll": _scroll,
    "expect": _expect,
    "search": _search,
    "command": _none,
    "unknown": _none,
}
