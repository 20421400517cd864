"""All that the goal names must have been dealt with, and nothing else in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from deskhand.messages import Node
from deskhand.observers.node import comparable, flatten, quote, text_of, walk
from deskhand.orchestrator.phrases import alike, words
from deskhand.orchestrator.signs import seen_on, signature, texts
from deskhand.orchestrator.witness import Act, Scene, Witness, around

QUOTED: Final = re.compile(r"""["“„«]([^"”“»]{1,200})["”“»]|(?<!\w)['‘]([^'’]{1,200})['’](?!\w)""")
"""A name in quotes, of whatever language."""

_CODES: Final = re.compile(r"[\w.+-]+@[\w.-]+|(?<![\w.-])[\w-]+\.[a-z]\w{0,4}(?![\w-])")
"""Addresses and file names, which stand without quotes."""

_FIELDS: Final = frozenset(
    "textbox searchbox combobox checkbox radio switch spinbutton slider option".split()
)
_SIGNS: Final = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_LOOKED_AROUND: Final = 20
"""Elements of the evidence whose surroundings are read."""

_ROWS: Final = frozenset("row listitem treeitem article".split())
_DERIVED: Final = re.compile(
    r"(?i)\b(totals?|sum|subtotal|balance|count|results?|remaining|average|how (many|much)|summe|gesamt\w*|saldo"
    r"|ergebnis|montant|somme|solde|saldo|suma|importe)\b"
)
_MOVES_ONLY: Final = frozenset({"launch", "navigate", "tab", "window"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is claimed, and by what the caller's own words are known."""

    goal: str
    inputs: tuple[tuple[str, str], ...] = ()
    result: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def wanted(self) -> str:
        return " ".join([self.goal, *(part for pair in self.inputs for part in pair)])


def literals(claim: Claim) -> list[str]:
    """What the caller's words name verbatim: quotes, inputs, numbers, file names, and names with a capital."""
    found = names(claim.goal) + [value for _, value in claim.inputs]
    rest = QUOTED.sub(" ", _without_places(claim.goal))
    found += re.findall(r"(?<![\w.-])\d+(?:[.,:]\d+)*(?![\w-]|\.\w)", rest)
    found += re.findall(r"(?<=[\w,;:)] )[A-ZÀ-ÖØ-Þ][\w’'-]*[a-zà-ÿ][\w’'-]*", rest)
    found += [code.rstrip(".") for code in _CODES.findall(rest)]
    return list(dict.fromkeys(found))


def names(text: str) -> list[str]:
    """What stands in quotes."""
    return [next(part for part in match.groups() if part) for match in QUOTED.finditer(_without_places(text))]


def _without_places(goal: str) -> str:
    return re.sub(r"\b[a-z][a-z0-9+.-]*://\S+|(?<!\w)[~.]?/\S+", " ", goal)


def covered(literal: str, haystack: str) -> bool:
    """Whether a text has to do with a name: it stands in it, or more than half of its words do."""
    wanted = comparable(literal)
    if wanted in comparable(haystack):
        return True
    parts, known = words(literal), words(haystack)
    hits = [word for word in parts if any(alike(word, other) for other in known)]
    return bool(parts) and 2 * len(hits) > len(parts)


def left_out(claim: Claim, witness: Witness, now: Scene, matched: Sequence[Node]) -> list[str]:
    """What the goal names and neither act nor screen has to do with; and fields written to in place of named ones."""
    done = [act for act in witness.acts if not act.failed]
    if not done:
        return []
    since = witness.befores()
    fresh = {signature(node) for node in walk(now.roots)} - {
        signature(node) for node in walk(since[0].roots if since else ())
    }
    news = [" ".join(each[1:]) for each in fresh if each[0] != "textbox"]
    parts = [act.words() for act in done] + list(claim.evidence) + [_text(node) for node in matched] + news
    parts += (
        [around(node, now.roots) for node in matched[:_LOOKED_AROUND]] + list(now.titles) + _titles(witness)
    )
    haystack = comparable(" ".join(parts))
    joined = re.sub(r"\s", "", "".join(_entered(act) for act in done))
    missing = [
        literal
        for literal in literals(claim)
        if not covered(literal, haystack) and re.sub(r"\s", "", comparable(literal)) not in comparable(joined)
    ]
    found = [f"nothing that was done or shown has to do with {literal!r}" for literal in missing[:3]]
    return [*found, *_other_fields(claim, done, matched), *_other_things(claim, done, now)]


def _titles(witness: Witness) -> list[str]:
    return [title for act in witness.acts if act.before for title in act.before.titles]


def _entered(act: Act) -> str:
    name = act.target.name if act.target is not None and act.kind in ("click", "invoke") else ""
    count = int(act.step.get("times") or 1)
    return (name or str(act.step.get("text") or act.step.get("keys") or "")) * count


def _other_fields(claim: Claim, done: Sequence[Act], matched: Sequence[Node]) -> list[str]:
    """Fields that were written to although the goal names others that were there and left alone."""
    wanted = f" {' '.join(_SIGNS.findall(comparable(claim.wanted)))} "
    touched = {comparable(act.target.name).rstrip(":* ") for act in done if act.target is not None}
    touched |= {comparable(node.name).rstrip(":* ") for node in matched}
    strange = [
        act.target.name
        for act in done
        if act.target is not None
        and act.target.role in _FIELDS
        and act.target.name
        and act.kind in ("fill", "type", "select", "toggle", "click", "invoke")
        and not _is_in(act.target.name, wanted)
        and not (act.kind == "select" and _is_in(str(act.step.get("option") or ""), wanted))
    ]
    if not strange:
        return []
    left = {
        node.name
        for act in done
        if act.before is not None
        for node in walk(act.before.roots)
        if node.role in _FIELDS
        and node.name
        and seen_on(node)
        and _is_in(node.name, wanted)
        and comparable(node.name).rstrip(":* ") not in touched
    }
    return (
        [f"{strange[-1]!r} was changed, which the goal does not name, and {sorted(left)[0]!r} was not"]
        if left
        else []
    )


def _is_in(name: str, goal: str) -> bool:
    said = " ".join(_SIGNS.findall(comparable(name)))
    return bool(said) and f" {said} " in goal


def _other_things(claim: Claim, done: Sequence[Act], now: Scene) -> Iterator[str]:
    """What was acted on, or is told of, in place of what the goal names."""
    for act in done:
        if act.target is not None and act.kind in ("click", "invoke", "toggle", "select") and act.before:
            yield from other_than_named(claim.wanted, act.around, act.before.roots)


def other_than_named(wanted: str, about: str, roots: Sequence[Node]) -> Iterator[str]:
    """How the row or dialog that an act is in is not about what the caller's words name, although something else is.

    ``about`` is the text of the row or dialog. It must name something itself, in quotes, that the caller does not name;
    or what the caller names must stand in another row.
    """
    named = names(wanted)
    if not about or any(covered(each, about) for each in named):
        return
    strangers = [each for each in names(about) if not covered(each, wanted)]
    if strangers and (named or not any(covered(each, wanted) for each in names(about))):
        yield f"it is about {quote(strangers[0], 60)}, which the goal does not name"
        return
    flat = flatten(roots)
    rows = [text_of(node) for node in flat.nodes if node.role in _ROWS and seen_on(node)]
    if any(about == row for row in rows):
        for each in named:
            if any(covered(each, row) for row in rows):
                yield f"it is about {quote(about, 60)}, and {quote(each, 60)} stands in another row"
                return


def unread(claim: Claim, witness: Witness, now: Scene) -> list[str]:
    """Numbers of the result that were on no screen, and what should follow from the acts and was there before them."""
    loose = set(re.findall(r"\d+", claim.result)) - set(re.findall(r"\d+", comparable(claim.wanted)))
    loose -= set(re.findall(r"\d+", f"{texts(now.roots)} {' '.join(now.titles)}"))
    for act in witness.acts:
        if loose and act.before is not None:
            loose -= set(re.findall(r"\d+", texts(act.before.roots)))
    if loose:
        return [f"the result says {sorted(loose)[0]}, which was nowhere to be seen"]
    return _stale(claim, witness, now)


def _stale(claim: Claim, witness: Witness, now: Scene) -> list[str]:
    """A total or the like that stands there as it did before anything was changed."""
    changed = [act for act in witness.acts if act.commits and not act.failed and act.kind not in _MOVES_ONLY]
    if not changed or changed[0].before is None or _DERIVED.search(claim.goal) is None:
        return []
    old = {signature(node) for node in walk(changed[0].before.roots)}
    if not old:
        return []
    answers = set(re.findall(r"\d+(?:[.,]\d+)*", claim.result)) - set(
        re.findall(r"\d+(?:[.,]\d+)*", claim.wanted)
    )
    fresh = " ".join(_text(node) for node in walk(now.roots) if signature(node) not in old and seen_on(node))
    if answers and not any(answer in fresh for answer in answers):
        return [f"{sorted(answers)[0]} was there before anything was done"]
    return []


def _text(node: Node) -> str:
    return " ".join(part for part in (node.name, node.value, node.description) if part)
