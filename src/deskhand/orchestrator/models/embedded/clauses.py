"""A goal's segments → clauses: what to do, with what, where. What fits no rule becomes ``unknown``, never a guess."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from deskhand.orchestrator.models.embedded import acting, grammar, lexicon, other
from deskhand.orchestrator.models.embedded.grammar import Clause, Item, Rule
from deskhand.orchestrator.models.embedded.lexicon import Verb, normal, verb_of
from deskhand.orchestrator.models.embedded.split import Masked, mask, segments

_FILLER = re.compile(rf"^(?:(?:{lexicon.FILLERS})(?=[\s,:]|$)[\s,:]*)+", re.I)
_PREPOSITION = re.compile(r"^(?:in|inside|within|on|using|use|with|from|at)\s+(?=\S)", re.I)
_ARTICLE = frozenset("the a an my this that its their your first second third last".split())
_NOUN_AFTER = re.compile(
    r"^\s+(?:box|field|dialog|window|page|form|button|bar|menu|tab|list|panel|section|area)\b", re.I
)
_NEEDS_OBJECT = frozenset(
    {"open", "press", "type", "fill", "choose", "check", "clear", "compute", "search", "expect"}
)
_LISTS = frozenset({"press", "choose", "check", "read"})
_TURN = re.compile(r"^(?:turn|switch)\s+(?P<what>.+?)\s+(?P<way>on|off)$", re.I)
_CONDITION = re.compile(
    r"^(?:why|who|where|when|how|if|unless|until|while|except|only|without|instead|otherwise|but|not|never)\b",
    re.I,
)
# What nobody can follow word by word: questions beyond the screen, and conditions.


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
        for segment in segments(self.masked):
            self._segment(_FILLER.sub("", segment.text).strip(" :,-–—"), segment.before, clauses)
        return _rounded(self._with_inputs([self._shown(clause) for clause in clauses]))

    def _segment(self, text: str, before: str, clauses: list[Clause]) -> None:
        if not text:
            return
        if (place := self._leading_place(text)) is not None:
            where, rest = place
            clauses.append(Clause(verb="within", said=text if not rest else where, items=(Item(where),)))
            text, before = _FILLER.sub("", rest).strip(" :,-–—"), ""
            if not text:
                return
        previous = clauses[-1] if clauses else None
        clause = self._clause(text, previous)
        if clause is None and previous is not None and (longer := self._continued(previous, text, before)):
            clauses[-1] = longer
        else:
            clauses.append(clause or Clause(verb="unknown", said=text))

    def _leading_place(self, text: str) -> tuple[str, str] | None:
        """("gnome-calculator", "press 1") of "in gnome-calculator press 1"; an empty rest when there is no verb."""
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

    def _clause(self, text: str, previous: Clause | None) -> Clause | None:
        if _CONDITION.match(text):
            return Clause(verb="unknown", said=text)
        if turned := _TURN.match(text):
            way = turned["way"].casefold() == "on"
            return Clause(verb="check", said=text, items=grammar.items(turned["what"]), on=way)
        found = lexicon.VERB.match(text)
        if found is None:
            named = lexicon.COMMANDS.match(text)
            return acting.command(text) if named else None
        word, rest = found.group(), text[found.end() :].strip(" :")
        verb = verb_of(word)
        listing = previous is not None and previous.verb in _LISTS
        if not rest and listing and (verb in _NEEDS_OBJECT or word[0].isupper()):
            return None
        if not rest and verb in _NEEDS_OBJECT:
            return Clause(verb="unknown", said=text)
        made = RULES[verb](word.casefold(), rest, self.masked.literal)
        return replace(made, said=text) if made else Clause(verb="unknown", said=text)

    def _continued(self, previous: Clause, text: str, before: str) -> Clause | None:
        """The clause before with this verbless segment as its next item, pair or piece of text."""
        said = f"{previous.said}{before}{text}"
        if previous.verb in _LISTS:
            more = grammar.items(text, glue=before)
            return replace(previous, said=said, items=previous.items + more, after=previous.after)
        pairs = previous.verb == "fill" or (previous.verb == "type" and previous.items)
        if pairs and (pair := grammar.pair(text, self.masked.literal)):
            return replace(previous, said=said, after=(*previous.after, pair))
        last = previous.after[-1] if previous.after else previous
        open_text = (
            last.verb in ("type", "fill") and last.value is not None and not self.masked.literal(last.value)
        )
        if (
            open_text and not text[0].islower()
        ):  # "12 Main St, Springfield"; in lower case it may be a command
            grown = replace(last, value=f"{last.value}{before}{text}")
            if previous.after:
                return replace(previous, said=said, after=(*previous.after[:-1], grown))
            return replace(grown, said=said)
        return None

    def _shown(self, clause: Clause) -> Clause:
        """The clause with its literals in place."""
        show = self.masked.show
        return replace(
            clause,
            said=show(clause.said, quotes=True),
            items=tuple(
                replace(item, text=show(item.text), quoted=item.quoted or self.masked.literal(item.text))
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
    if len(clauses) > 1 and clauses[-1].verb == "within" and not clauses[-2].place:
        clauses = (*clauses[:-2], replace(clauses[-2], place=clauses[-1].items[0].text))
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
