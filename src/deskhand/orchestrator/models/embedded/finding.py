"""How clauses are read that find something out, go through things, or act on a text: find, copy, solve, focus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from deskhand.orchestrator.models.embedded.grammar import SUPERLATIVE, Clause, Item, Literal, pattern
from deskhand.orchestrator.models.embedded.lexicon import normal, without_article

_TO_BE_FOUND_OUT = pattern(
    r"^(?:the )?(?:(?:\w+ )?(?:word|line|number|character|letter)s? (?:in|of|on|from) |"
    r"(?:text|contents?|words?|value|number|answer|name) (?:(?:of|in|from|for|on|next to|beside|under|inside) |"
    r"(?:below|above|shown)\b)|"
    r"(?:\w+ )?(?:math(?:s|ematical)?|arithmetic) (?:problem|question|exercise)|equation|sum below)"
)
_EACH_LABEL = pattern(
    r"^(?:the )?(?:right |correct )?(?:values?|texts?|entry|entries) (?:that |which )?"
    r"(?:corresponds?|corresponding|belongs?|belonging|matche?s?|matching|goes|go) (?:with|to) (?:each|every|the) "
    r"(?:labels?|fields?|names?)$"
)
_HELD = frozenset(
    normal(each)
    for each in "it that this them the answer|your answer|the result|the word|that word|the text|its value|the value|"
    "the number|the solution|your solution".replace(" them ", "|them|").split("|")
) | {"it", "that", "this", "them"}
_THROUGH = pattern(
    r"^(?:(?:navigate|go|look|browse|click|search|page) through|switch between|go over|use the feedback) "
    r"(?P<what>(?:the )?.{0,60})$"
)
_PLACE = pattern(r"^(?P<what>.+?) (?:in|on|within|among|inside) (?P<place>the .+)$")


def through(text: str) -> Clause | None:
    """ "Switch between the tabs": nothing by itself, but what comes next may be behind them."""
    found = _THROUGH.match(text)
    if found is None or pattern(r"\bto (?!the\b)").search(found["what"].removeprefix("below to find")):
        return None if found is None or not text.casefold().startswith("use the feedback") else _through(text)
    return _through(text)


def _through(text: str) -> Clause:
    return Clause(verb="find", said=text, how="through")


def find(word: str, rest: str, literal: Literal) -> Clause | None:
    """Find a thing, so that it can be seen; or find out what the screen says."""
    if _TO_BE_FOUND_OUT.match(rest) or (word == "find" and pattern(r"^the \S+ words?\b").match(rest)):
        return Clause(verb="recall", items=(Item(rest),))
    if SUPERLATIVE.match(rest):
        return None
    if placed := _PLACE.match(rest):
        return Clause(verb="find", items=(Item(placed["what"]),), place=placed["place"], how="through")
    return Clause(verb="find", items=(Item(rest),), how="through")


def recall(word: str, rest: str, literal: Literal) -> Clause | None:
    """Keep a text of the screen, or what comes out of a problem on it, for what is typed next."""
    if word.startswith("solve"):
        unknown = without_article(rest)
        return Clause(
            verb="recall", items=(Item(rest),), how="solve", value=unknown if len(unknown) == 1 else None
        )
    return Clause(verb="recall", items=(Item(rest),)) if _TO_BE_FOUND_OUT.match(rest) else None


def focus(word: str, rest: str, literal: Literal) -> Clause | None:
    return Clause(verb="focus", items=(Item(pattern(r"^(?:into|in|on) ").sub("", rest)),))


def expand(word: str, rest: str, literal: Literal) -> Clause | None:
    plain = normal(without_article(rest)).removesuffix(" below").removesuffix(" above")
    if plain.endswith("s") and plain.rsplit(" ", 1)[-1] in (
        "sections",
        "panels",
        "items",
        "folders",
        "nodes",
        "groups",
    ):
        return Clause(verb="find", how="through")
    return Clause(verb="expand", items=(Item(rest),))


def mark(word: str, rest: str, literal: Literal) -> Clause | None:
    bare = pattern(r"^(?:(?:all|the) )*(?:text|words|contents?) (?:in|of|inside|from) ").sub("", rest)
    return Clause(verb="mark", items=(Item(bare),))


_DROPPED = pattern(r"^(?P<what>.+?) (?:to|onto|into|on) (?P<where>(?:the |a )?\S.*)$")
_BY = pattern(
    r"^(?P<what>.+?) (?P<way>up|down) (?:by )?(?P<n>one|two|three|four|five|\d+)"
    r"(?: (?:positions?|places?|rows?|items?))?$"
)
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}


def drag(word: str, rest: str, literal: Literal) -> Clause | None:
    if found := _BY.match(rest):
        count = _COUNTS.get(found["n"].casefold()) or int(found["n"])
        return Clause(verb="drag", items=(Item(found["what"]),), value=found["way"].casefold(), count=count)
    if found := _DROPPED.match(rest):
        return Clause(verb="drag", items=(Item(found["what"]),), place=found["where"])
    return None


def found_out_first(clause: Clause, literal: Literal) -> Iterator[Clause]:
    """A value that is described rather than said ("the value of X") is found out before it is entered."""
    value = clause.value or ""
    if clause.verb in ("type", "fill") and clause.items and value and not literal(value):
        if _EACH_LABEL.match(value):
            yield replace(clause, verb="fill", value="", how="labels")
            return
        if _TO_BE_FOUND_OUT.match(value) or _TO_BE_FOUND_OUT.match(f"value {value}"):
            yield Clause(
                verb="recall",
                said=clause.said,
                items=(Item(value if _TO_BE_FOUND_OUT.match(value) else f"value {value}"),),
            )
            yield replace(clause, how="held")
            return
    yield clause


def holding(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """ "…, type it into the box": the value is what was found out before, where something was."""
    found, out = False, []
    for clause in clauses:
        if (
            found
            and clause.verb in ("type", "fill")
            and normal(clause.value or "") in _HELD
            and not clause.how
        ):
            clause = replace(clause, how="held")
        found = found or clause.verb in ("recall", "compute", "read")
        out.append(clause)
    return tuple(out)
