"""Which element a clause means: by role, by name from exact to forgiving, by order. Two equals are no match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from deskhand.messages import Node
from deskhand.orchestrator.models.embedded import lexicon
from deskhand.orchestrator.models.embedded.grammar import Item
from deskhand.orchestrator.models.embedded.lexicon import meaning, normal, without_article
from deskhand.orchestrator.models.embedded.screen import FIELDS, TOGGLES, Screen

# How well a name fits, best first.
EXACT, SAME, LOOSE, PART, TYPO, NONE = 6, 5, 4, 3, 2, 0

Pool: TypeAlias = Mapping[str, int]

# Pools: role → rank; among equally good names the lower rank is meant.
PRESS: Pool = {
    **dict.fromkeys(("button", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "tab"), 0),
    **dict.fromkeys(("checkbox", "radio", "switch", "option", "treeitem", "combobox"), 1),
    **dict.fromkeys(("listitem", "row", "cell", "gridcell", "img", "columnheader", *FIELDS), 2),
    **dict.fromkeys(("heading", "text", "paragraph", "generic"), 4),
}
FILL: Pool = {
    **dict.fromkeys(FIELDS, 0),
    **dict.fromkeys(("listbox", "radiogroup", "group", *TOGGLES), 1),
}
CHOOSE: Pool = {
    **dict.fromkeys(("radio", "option", "tab", "menuitemradio"), 0),
    **dict.fromkeys(("checkbox", "switch", "treeitem", "listitem", "row", "cell", "gridcell"), 1),
    **dict.fromkeys(("button", "menuitem", "link"), 2),
}
CHECK: Pool = {**dict.fromkeys(TOGGLES, 0), "radio": 1, "button": 2, "option": 2}
HOLD: Pool = {
    **dict.fromkeys(("combobox", "listbox", "radiogroup", "tree", "menu", "tablist"), 0),
    **dict.fromkeys(
        ("group", "list", "region", "form", "table", "grid", "toolbar", "tabpanel", "dialog", "row"), 1
    ),
}
ANY: Pool = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """What a clause calls an element. ``whole``: the name with its role noun; ``nth`` from 1, -1 is the last.

    ``several``: all that it fits are meant ("both fields"). Where any will do ("a checkbox"), ``nth`` is 1.
    """

    whole: str
    name: str
    roles: tuple[str, ...] = ()
    nth: int | None = None
    several: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """``nodes``: one when found, several when it cannot be told which, none when nothing fits."""

    nodes: tuple[Node, ...] = ()
    fit: int = NONE
    disabled: bool = False

    @property
    def node(self) -> Node | None:
        return self.nodes[0] if len(self.nodes) == 1 and not self.disabled else None


def phrase_of(item: Item) -> Phrase:
    """What an item of a clause calls an element."""
    return phrase(item.text, quoted=item.quoted, exact=item.exact)


def phrase(text: str, *, quoted: bool = False, exact: str = "") -> Phrase:
    """ "the second Delete button" → name "Delete", roles of a button, nth 2. A quoted text is a name as it stands.

    ``exact`` is a part of the text that was quoted, and in which no word is a role or a number.
    """
    if quoted:
        return Phrase(whole=text, name=text)
    if exact and exact in text:
        alone = re.compile(rf"(?<!\w){re.escape(exact)}(?!\w)")
        hidden = phrase(
            alone.sub(_HIDDEN, text, count=1) if alone.search(text) else text.replace(exact, _HIDDEN, 1)
        )
        if hidden.roles and hidden.name == _HIDDEN and hidden.roles == _ANYTHING:
            return _of_kind(hidden, exact)
        return replace(
            hidden, whole=hidden.whole.replace(_HIDDEN, exact), name=hidden.name.replace(_HIDDEN, exact)
        )
    bare = _BELOW.sub("", without_article(text))
    nth: int | None = None
    several = False
    if found := _QUANTIFIED.match(bare):
        several, bare = True, found["rest"]
    elif _ANY.match(text.strip()):
        nth = 1
    head, _, rest = bare.partition(" ")
    if rest and head.casefold() in lexicon.ORDINALS:
        nth, bare = lexicon.ORDINALS[head.casefold()], without_article(rest)
    whole = lexicon.ROLE_NOUNS.get(bare.casefold())
    if whole is None and (found := lexicon.ROLE_FIRST.match(bare)):
        roles = lexicon.ROLE_NOUNS[found["role"].casefold()]
        return Phrase(whole=bare, name=found["name"], roles=roles, nth=nth, several=several)
    last = lexicon.ROLE_LAST.match(bare) or (
        several and lexicon.ROLE_LAST.match(re.sub(r"(?:(?<=x)es|s)$", "", bare))
    )
    if (
        not last
        and (plural := lexicon.ROLE_LAST.match(re.sub(r"(?:(?<=x)es|s)$", "", bare)))
        and not plural["name"]
    ):
        several, last = True, plural
    if last:
        roles = lexicon.ROLE_NOUNS[last["role"].casefold()]
        name = without_article(last["name"] or "")
        return Phrase(whole=bare, name=name, roles=roles, nth=nth, several=several)
    if (found := _THING.match(bare)) and found["name"] == _HIDDEN:
        return Phrase(whole=bare, name=_HIDDEN, roles=_ANYTHING, nth=nth)
    return Phrase(whole=bare, name=bare, nth=nth if _ANY.match(text.strip()) is None else None)


_HIDDEN = "\uf8fe"
_ANYTHING = ("*",)
_BELOW = re.compile(r"(?<=\S)\s+(?:below|above|here|shown|on the (?:left|right|page|screen))$", re.I)
_ANY = re.compile(r"(?:an?|any)\s", re.I)
_QUANTIFIED = re.compile(
    r"^(?:both(?: of)?(?: the)?|all(?: of)?(?: the)?|each|every)\s+(?P<rest>\S.*)$", re.I
)
_THING = re.compile(rf"^(?P<name>\S+)\s+(?:{'|'.join(sorted(lexicon.ANYTHING))})$", re.I)


def _of_kind(hidden: Phrase, kind: str) -> Phrase:
    """A kind that was quoted: 'a "checkbox" widget'."""
    roles = lexicon.ROLE_NOUNS.get(kind.casefold(), (kind.casefold(),))
    if roles == ("text",):
        roles = ("textbox",)
    return Phrase(whole=kind, name="", roles=roles, nth=hidden.nth)


def find(wanted: Phrase, screen: Screen, pool: Pool, within: Iterable[int] | None = None) -> Match:
    """The elements of the pool (empty: any role) that the phrase means, out of ``within`` (all when None)."""
    scored: list[tuple[int, int]] = []
    for i in range(len(screen.nodes)) if within is None else within:
        node = screen.nodes[i]
        if (pool and node.role not in pool) or node.role in ("application", "document"):
            continue
        if (fit := _fit(wanted, node, screen.names(i), screen.hint(i))) and _sensible(node, fit):
            scored.append((fit, i))
    if not scored:
        return Match()
    best = max(fit for fit, _ in scored)
    chosen = _narrowed([i for fit, i in scored if fit == best], wanted, screen, pool)
    enabled = [i for i in chosen if "disabled" not in screen.nodes[i].states]
    nodes = tuple(screen.nodes[i] for i in enabled or chosen)
    if wanted.several:
        return Match(nodes=nodes, fit=best, disabled=not enabled)
    if wanted.nth is not None:
        place = wanted.nth - 1 if wanted.nth > 0 else len(nodes) - 1
        nodes = nodes[place : place + 1]
    return Match(nodes=nodes, fit=best, disabled=not enabled)


def fit_name(wanted: str, name: str) -> int:
    """How well one name fits another, from `NONE` to `EXACT`."""
    want, have = normal(wanted), normal(name)
    if not want or not have:
        return NONE
    if want == have:
        return EXACT
    if meaning(want) == meaning(have):
        return SAME
    if _part(want, have):
        return PART
    return TYPO if _typo(want, have) else NONE


def near(wanted: Phrase, screen: Screen, pool: Pool, count: int = 6) -> list[str]:
    """Names in the pool, the most similar first: what a person may have meant."""
    from rapidfuzz import fuzz

    names = {
        names[0]
        for i, node in enumerate(screen.nodes)
        if (not pool or node.role in pool) and (names := screen.names(i))
    }
    short = sorted(
        (name for name in names if len(name) <= 60), key=lambda n: (-fuzz.WRatio(wanted.name, n), n)
    )
    return short[:count]


def _fit(wanted: Phrase, node: Node, names: tuple[str, ...], hint: str) -> int:
    role_fits = not wanted.roles or node.role in wanted.roles
    if not wanted.name:
        return LOOSE if role_fits and wanted.roles else NONE
    best = NONE
    for name in (*names, hint):
        if normal(wanted.whole) == normal(name):
            fit = EXACT
        else:
            fit = fit_name(wanted.name, name)
            if not role_fits:  # the name without its role noun, on an element of another role
                fit = LOOSE if fit >= SAME else NONE
        if name is hint:
            fit = min(fit, SAME)  # a description says it less surely than a name
        best = max(best, fit)
    return best


def _sensible(node: Node, fit: int) -> bool:
    """Running text is what is meant only when it is all of it; a part of a sentence is no control."""
    return fit >= LOOSE or PRESS.get(node.role, 0) < 4


_LARGE = re.compile(r"text\s?area$", re.I)


def _narrowed(indices: list[int], wanted: Phrase, screen: Screen, pool: Pool) -> list[int]:
    """Of equally well named elements, those that a reader would mean."""

    def keep(test: list[int]) -> list[int]:
        return test or indices

    nodes = screen.nodes
    if wanted.roles:
        indices = keep([i for i in indices if nodes[i].role in wanted.roles])
    indices = keep([i for i in indices if screen.shown(i)])
    if _LARGE.search(wanted.whole):
        indices = keep([i for i in indices if "multiline" in nodes[i].states])
    elif wanted.roles and not wanted.name and "textbox" in wanted.roles:
        indices = keep([i for i in indices if "multiline" not in nodes[i].states])
    modal = [i for i, node in enumerate(nodes) if "modal" in node.states]
    if modal:
        indices = keep([i for i in indices if i in screen.inside(modal[-1])])
    active = [
        i for i, node in enumerate(nodes) if node.role in ("window", "dialog") and "active" in node.states
    ]
    if active:
        indices = keep([i for i in indices if any(i in screen.inside(a) for a in active)])
    if pool:
        rank = min(pool[nodes[i].role] for i in indices)
        indices = [i for i in indices if pool[nodes[i].role] == rank]
    if len(indices) > 1 and wanted.name:  # a name that differs in capitals only is the second choice
        indices = keep([i for i in indices if wanted.name in screen.names(i)])
    # an element inside another of the same name is the same thing to a reader
    return [i for i in indices if not any(above in indices for above in screen.above(i))]


_NEGATION = frozenset({"not", "no", "never", "without", "don't", "dont", "don’t", "un", "cancel", "undo"})


def _part(want: str, have: str) -> bool:
    """Whether the words of one name stand in the other in order, with nothing beside them that turns the meaning."""
    wanted, words = _tokens(want), _tokens(have)
    if (
        not wanted
        or len(wanted) >= len(words)
        or len(words) > 12
        or (len(wanted) == 1 and len(wanted[0]) < 2)
    ):
        return False
    for start in range(len(words) - len(wanted) + 1):
        if words[start : start + len(wanted)] == wanted:
            return not _NEGATION & {*words[:start], *words[start + len(wanted) :]}
    return False


def _tokens(text: str) -> list[str]:
    return re.findall(r"[\w’']+|[^\w\s]", text)


def _typo(want: str, have: str) -> bool:
    """A slip of one letter (two in long names), never in the first or in a digit, where it makes another word."""
    from rapidfuzz.distance import OSA

    if want[0] != have[0] or len(want) < 5 or re.findall(r"\d+", want) != re.findall(r"\d+", have):
        return False
    return OSA.distance(want, have, score_cutoff=2) <= (1 if len(want) < 8 else 2)
