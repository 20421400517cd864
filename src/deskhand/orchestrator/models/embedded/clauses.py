"""A goal's segments → clauses: what to do, with what, where. What fits no rule becomes ``unknown``, never a guess."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from deskhand.orchestrator.models.embedded import acting, finding, grammar, lexicon, other
from deskhand.orchestrator.models.embedded.finding import found_out_first, holding
from deskhand.orchestrator.models.embedded.grammar import Clause, Item, Rule
from deskhand.orchestrator.models.embedded.lexicon import Verb, normal, verb_of, without_article
from deskhand.orchestrator.models.embedded.split import Masked, Segment, mask, plainly, segments

_FILLER = re.compile(rf"^(?:(?:{lexicon.FILLERS})(?=[\s,:])[\s,:]*)+(?=\S)", re.I)
_PREPOSITION = re.compile(r"^(?:in|inside|within|on|using|use|with|from|at)\s+(?=\S)", re.I)
_LONGEST_PLACE = 5
"""Words of a place."""

_PLACE_NOUN = grammar.pattern(
    " (?:app|application|program|window|dialog|dialogue|form|page|section|group|panel|menu|tab|list|field|box|table|"
    "row|[\ue000-\uf8ff])$"
)
_ARTICLE = frozenset("the a an my this that its their your first second third last".split())
_NOUN_AFTER = re.compile(
    r"^\s+(?:box|field|dialog|window|page|form|button|bar|menu|tab|list|panel|section|area)\b", re.I
)
_NEEDS_OBJECT = frozenset(
    {
        "open",
        "press",
        "type",
        "fill",
        "choose",
        "check",
        "clear",
        "compute",
        "search",
        "expect",
        "focus",
        "expand",
        "find",
        "recall",
        "mark",
        "drag",
    }
)
_LISTS = frozenset({"press", "choose", "check", "read"})
_TURN = re.compile(r"^(?:turn|switch)\s+(?P<what>.+?)\s+(?P<way>on|off)$", re.I)
_CONDITION = re.compile(
    r"^(?:why|who|where|when|how|if|unless|until|while|except|only|without|instead|otherwise|but|not|never)\b",
    re.I,
)
# What nobody can follow word by word: questions beyond the screen, and conditions.
_FOR_FIRST = grammar.pattern(
    r"^(?:for|as) (?P<field>\S.*?) (?P<do>(?:choose|select|pick|enter|type|write|input) (?!for\b)\S.*)$"
)
_BARE_PAIR = grammar.pattern(
    r"^(?P<field>[^:=]{1,60}?)(?:\s*[:=]\s*| (?:should|must|shall) be )(?P<value>\S.*)$"
)
_AT_ADDRESS = grammar.pattern(
    "^(?P<what>.*\\S) (?:of|on|at|in|from|for) (?:(?:the|this) )?(?:(?:web )?(?:page|site) |website )?(?:at )?"
    "(?P<url>[\ue000-\uf8ff])$"
)

RULES: Mapping[Verb, Rule] = {
    "open": other.open_,
    "press": acting.press,
    "type": acting.type_,
    "fill": acting.fill,
    "choose": acting.choose,
    "check": acting.check,
    "clear": acting.clear,
    "search": acting.search,
    "save": other.save,
    "wait": other.wait,
    "read": other.read,
    "compute": other.compute,
    "close": other.close,
    "scroll": other.scroll,
    "focus": finding.focus,
    "expand": finding.expand,
    "find": finding.find,
    "recall": finding.recall,
    "mark": finding.mark,
    "drag": finding.drag,
    "expect": other.expect,
}


def parse_goal(goal: str, inputs: Mapping[str, str] | None = None) -> tuple[Clause, ...]:
    """The clauses of a goal, in order; ``inputs`` (value by field label) fill what the goal leaves open.

    A segment that no rule reads becomes a clause with the verb ``unknown`` and the segment as ``said``.
    """
    reader = _Reader(mask(goal), dict(inputs or {}))
    return reader.read()


@dataclass(slots=True)
class _Reader:
    masked: Masked
    inputs: dict[str, str]

    def read(self) -> tuple[Clause, ...]:
        clauses: list[Clause] = []
        self.masked = plainly(self.masked)
        for segment in segments(self.masked):
            text = _FILLER.sub("", segment.text).strip(" :,-–—")
            listing = clauses and clauses[-1].verb in _LISTS and not segment.opens
            if text and (listing or text.casefold() not in lexicon.COUNTING):
                self._segment(text, segment, clauses)
        return _rounded(self._with_inputs([self._shown(clause) for clause in clauses]))

    def _segment(self, text: str, segment: Segment, clauses: list[Clause]) -> None:
        text = _FOR_FIRST.sub(r"\g<do> for \g<field>", text)
        if (place := self._leading_place(text)) is not None:
            where, rest = place
            if not self._is_place(where):
                clauses.append(Clause(verb="unknown", said=text))
                return
            clauses.append(Clause(verb="within", said=where if rest else text, items=(Item(where),)))
            text = _FILLER.sub("", rest).strip(" :,-–—")
            if not text:
                return
        elif clauses and (longer := self._continued(clauses[-1], text, segment)):
            clauses[-1] = longer
            return
        clause = finding.through(text) or self._clause(text)
        if clause.verb == "read" and (split := self._read_elsewhere(clause)) is not None:
            clauses.append(split[0])
            clause = split[1]
        clauses.extend(found_out_first(clause, self.masked.literal))

    def _read_elsewhere(self, clause: Clause) -> tuple[Clause, Clause] | None:
        """ "the heading of http://…" is to open that page and to read the heading."""
        found = _AT_ADDRESS.match(clause.items[0].text)
        if found is None or not self.masked.address(found["url"]):
            return None
        opened = Clause(verb="open", said=found["url"], items=(Item(found["url"]),))
        return opened, replace(clause, items=(Item(found["what"]), *clause.items[1:]))

    def _is_place(self, where: str) -> bool:
        """One word, an address, or several that are marked as a name: by an article, capitals or a noun of places.

        "editor frobnicate" is none: what nobody understood must not become a part of a command line.
        """
        words = without_article(where).split()
        marked = where != without_article(where) or all(word[0].isupper() for word in words)
        return len(words) == 1 or (
            len(words) <= _LONGEST_PLACE and (marked or bool(_PLACE_NOUN.search(where)))
        )

    def _leading_place(self, text: str) -> tuple[str, str] | None:
        """("editor", "press 1") of "in editor press 1"; an empty rest when there is no verb."""
        opening = _PREPOSITION.match(text)
        if not opening:
            return None
        body = text[opening.end() :]
        candidates = []
        for found in re.finditer(r"(?<=\s)\S", body):
            verb = lexicon.VERB.match(body, found.start()) or _TURN.match(body, found.start())
            word_before = body[: found.start()].split()[-1].casefold()
            if verb and word_before not in _ARTICLE and not _NOUN_AFTER.match(body[verb.end() :]):
                candidates.append(found.start())
        lower = [start for start in candidates if body[start].islower()]
        if not (lower or candidates):
            return body, ""
        start = (lower or candidates)[0]
        where = re.sub(
            r"[\s,:]*(?:\b(?:to|and|please|you should|you can|,))?[\s,:]*$", "", body[:start], flags=re.I
        )
        return (where, body[start:]) if where else None

    def _clause(self, text: str) -> Clause:
        """The clause of a segment that stands by itself."""
        unknown = Clause(verb="unknown", said=text)
        if turned := _TURN.match(text):
            way = turned["way"].casefold() == "on"
            return Clause(verb="check", said=text, items=grammar.items(turned["what"]), on=way)
        found = lexicon.VERB.match(text)
        if found is not None:
            word, rest = found.group(), text[found.end() :].strip(" :")
            verb = verb_of(word)
            made = (
                RULES[verb](word.casefold(), rest, self.masked.literal)
                if rest or verb not in _NEEDS_OBJECT
                else None
            )
            if made is None and lexicon.COMMANDS.match(text):
                made = acting.command(text)
            return replace(made, said=text) if made else unknown
        if _CONDITION.match(text):
            return unknown
        if lexicon.COMMANDS.match(text):
            return acting.command(text)
        pair = _BARE_PAIR.match(text)
        return (
            Clause(verb="fill", said=text, items=(Item(pair["field"]),), value=pair["value"])
            if pair
            else unknown
        )

    def _continued(self, previous: Clause, text: str, segment: Segment) -> Clause | None:
        """The clause before with this segment as its next item, pair or piece of text; None when it is none."""
        if segment.opens or _CONDITION.match(text) or _TURN.match(text):
            return None
        verb = lexicon.VERB.match(text)
        bare = verb is not None and not text[verb.end() :].strip(" :")
        # a verb alone can be a name in a list: "press File, Open"
        named = bare and previous.verb in _LISTS and (verb_of(text) in _NEEDS_OBJECT or text[0].isupper())
        if (verb is not None and not named) or (lexicon.COMMANDS.match(text) and text[0].islower()):
            return None
        before, said = segment.before, f"{previous.said}{segment.before}{text}"
        if previous.verb == "choose" and not previous.place and (placed := acting.from_list(text)):
            item, place = placed
            return replace(
                previous, said=said, items=(*previous.items, replace(item, glue=before)), place=place
            )
        if previous.verb in _LISTS:
            return replace(previous, said=said, items=previous.items + grammar.items(text, glue=before))
        pairs = previous.verb == "fill" or (previous.verb == "type" and previous.items)
        if pairs and (pair := grammar.pair(text, value_first=previous.verb == "type")):
            return replace(previous, said=said, after=(*previous.after, pair))
        last = previous.after[-1] if previous.after else previous
        open_text = (
            last.verb in ("type", "fill") and last.value is not None and not self.masked.literal(last.value)
        )
        if not open_text or text[0].islower() or "then" in before:
            return None  # "12 Main St, Springfield" goes on; in lower case it may be a command
        grown = replace(last, value=f"{last.value}{before}{text}")
        if previous.after:
            return replace(previous, said=said, after=(*previous.after[:-1], grown))
        return replace(grown, said=said)

    def _shown(self, clause: Clause) -> Clause:
        """The clause with its literals in place."""
        show = self.masked.show
        return replace(
            clause,
            said=show(clause.said, quotes=True),
            items=tuple(
                replace(
                    item,
                    text=show(item.text),
                    quoted=item.quoted or self.masked.literal(item.text),
                    exact=self.masked.only(item.text),
                )
                for item in clause.items
            ),
            value=None if clause.value is None else self._filled(show(clause.value)),
            place=show(clause.place),
            after=tuple(self._shown(each) for each in clause.after),
        )

    def _filled(self, value: str) -> str:
        """``{Label}`` in a value stands for that input."""
        return re.sub(r"\{([^{}]+)\}", lambda found: self.inputs.get(found[1].strip(), found[0]), value)

    def _with_inputs(self, clauses: list[Clause]) -> tuple[Clause, ...]:
        """Pairs of one clause become clauses of their own; inputs that no clause names are filled where it fits."""
        by_label = {normal(label): value for label, value in self.inputs.items()}
        used: set[str] = set()
        flat: list[Clause] = []
        form = -1
        for clause in (each for whole in clauses for each in (replace(whole, after=()), *whole.after)):
            if clause.verb == "fill" and not clause.items and clause.value is None:
                form = len(flat)  # "fill in the form": the inputs go here
                if not self.inputs:
                    flat.append(Clause(verb="unknown", said=clause.said))
                continue
            if clause.verb in ("fill", "type", "choose", "check") and clause.items:
                label = normal(grammar.plain_name(clause.items[0].text))
                if label in by_label:
                    used.add(label)
                    if clause.verb == "fill" and clause.value is None:
                        clause = replace(clause, value=by_label[label])
            flat.append(clause)
        rest = [
            Clause(verb="fill", said=f"{label}: {value}", items=(Item(label, quoted=True),), value=value)
            for label, value in self.inputs.items()
            if normal(label) not in used and f"{{{label}}}" not in self.masked.text
        ]
        at = form if form >= 0 else _before_the_end(flat)
        return tuple(flat[:at] + rest + flat[at:])


def _rounded(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """A place said last belongs to what was said before it, and what is computed is wanted back."""
    clauses = holding(clauses)
    if len(clauses) > 1 and clauses[-1].verb == "within" and not clauses[-2].place:
        clauses = (*clauses[:-2], replace(clauses[-2], place=clauses[-1].items[0].text))
    for i, (place, typing) in enumerate(pairwise(clauses)):
        if place.verb == "within" and typing.verb == "type" and not (typing.items or typing.place):
            # "in the Name field type Ana"; for a window or an app the place will be no field
            clauses = (*clauses[: i + 1], replace(typing, place=place.items[0].text), *clauses[i + 2 :])
    computed = max((i for i, clause in enumerate(clauses) if clause.verb == "compute"), default=-1)
    if computed >= 0 and not any(clause.verb == "read" for clause in clauses[computed:]):
        clauses = (*clauses, Clause(verb="read", said=clauses[computed].said, items=(Item("result"),)))
    return clauses


def _before_the_end(clauses: list[Clause]) -> int:
    """Where inputs that nobody placed go: before the last press or save, else before the reading at the end."""
    acting = [i for i, clause in enumerate(clauses) if clause.verb in ("press", "command", "save")]
    if acting:
        return acting[-1]
    end = len(clauses)
    while end and clauses[end - 1].verb in ("read", "expect", "wait", "close"):
        end -= 1
    return end
