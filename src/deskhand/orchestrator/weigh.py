"""What a claim of success is worth, told without a model: by what changed, what was typed, what the goal names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from deskhand.errors import InvalidStep
from deskhand.messages import Node
from deskhand.observers.node import comparable, walk
from deskhand.observers.selector import parse_selector
from deskhand.orchestrator.signs import contradictions, fails, seen_on, signature, texts
from deskhand.orchestrator.witness import Act, Scene, Witness, around
from deskhand.tools.evidence import absent_selector, holds, is_telling

_ASKS: Final = re.compile(
    r"\b(compute|calculate|work out|tell|report|what|which|how (many|much|long|old)|read|find out|look|check|see|verify"
    r"|give me|return|list|name the|who|when|where|is|are|does|show|sag|nenne|welche\w*|wie|was|dis"
    r"|quel\w*|combien|di(me)?|cu[aá]l|cu[aá]nto\w*|qual\w*)\b",
    re.IGNORECASE,
)
_COMMITS: Final = re.compile(
    r"\b(save|submit|send|press|click|apply|confirm|order|buy|pay|post|publish|log ?in|sign|search|register|book"
    r"|subscribe|add|create|delete|remove|speicher\w*|drücke|sende\w*|enregistre\w*|envoie\w*|guarda\w*|pulsa\w*|salva\w*|invia\w*)\b",
    re.IGNORECASE,
)
_SUCCESS: Final = """
thank thanks success successful successfully done complete completed confirm confirmed confirmation danke
gespeichert erfolgreich merci succès gracias éxito grazie obrigado sucesso 成功 完了
""".split()
_ANSWERS: Final[tuple[tuple[str, str], ...]] = (
    ("save store keep write export", "saved stored kept written exported"),
    ("send submit mail message reply", "sent submitted received delivered"),
    ("delete remove erase clear trash", "deleted removed erased cleared gone empty trashed"),
    (
        "order buy purchase checkout pay book reserve",
        "order ordered bought purchased paid booked reserved receipt",
    ),
    ("add create new make insert register", "added created made inserted registered welcome"),
    (
        "change update set edit rename switch turn enable disable choose",
        "changed updated set edited renamed on off enabled",
    ),
    ("publish post share", "published posted shared live"),
    ("log login sign", "welcome logged signed logout account"),
    ("upload attach download", "uploaded attached downloaded"),
    ("subscribe join", "subscribed joined"),
)
_FIELDS: Final = frozenset(
    "textbox searchbox combobox checkbox radio switch spinbutton slider option".split()
)
_WORD: Final = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_QUOTED: Final = re.compile(r"""["“„«]([^"”“»]{1,200})["”“»]|(?<!\w)['‘]([^'’]{1,200})['’](?!\w)""")


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


def doubts(claim: Claim, witness: Witness, now: Scene) -> list[str]:
    """What leaves the claim in doubt; empty when what is on the screen makes it good.

    Every piece of ``claim.evidence`` is taken to hold now. It is good when one piece came about by the last act, says
    more than what was typed, and has to do with the goal; when nothing new speaks against it; and when all that the
    goal names was dealt with.
    """
    befores = witness.befores()
    found = [f"the last step was not done ({act.effect})" for act in _last(witness.acts) if act.failed]
    # What was shown before the task's first look counts for nothing: a screen is judged by what the task did to it.
    since = befores[0].roots if befores else (witness.first.roots if witness.first else None)
    found += contradictions(since, now.roots, claim.wanted)
    if not any(_is_good(piece, claim, witness, befores, now) for piece in claim.evidence):
        found.append(_why_thin(claim, befores))
    found += _unnamed(claim, witness, now)
    if _asks(claim.goal):
        found += _unread(claim, witness, now)
    return found


def _last(acts: Sequence[Act]) -> Sequence[Act]:
    counted = [act for act in acts if act.commits]
    return counted[-1:]


def _why_thin(claim: Claim, befores: Sequence[Scene]) -> str:
    if not befores:
        return "nothing was done, and the evidence does not answer what was asked"
    return "none of the evidence came about by the last act, goes beyond what was typed and bears on the goal"


# --- one piece of evidence ---------------------------------------------------------------------------------------


def _is_good(piece: str, claim: Claim, witness: Witness, befores: Sequence[Scene], now: Scene) -> bool:
    matched = _matched(piece, now)
    if any(fails(_text(node), comparable(claim.wanted)) for node in matched):
        return False
    if not befores:  # nothing was done: only what was asked for can be good
        return _asks(claim.goal) and _shares_news(piece, matched, claim)
    if not any(_is_new(piece, matched, before, now) for before in befores):
        return False
    if _is_echo(piece, matched, claim, witness):
        return False
    if all(
        act.kind in ("launch", "navigate", "tab") for act in witness.acts if act.commits and not act.failed
    ):
        return not _asks(claim.goal) or _shares_news(piece, matched, claim) or _bears(piece, matched, claim)
    if _is_of_last(piece, matched, witness, befores):
        return True
    return _bears(piece, matched, claim)


def _matched(piece: str, scene: Scene) -> list[Node]:
    """The nodes that a piece of evidence speaks of; none for what must be gone, or for a window's title."""
    if (gone := absent_selector(piece)) is not None:
        return _select(gone, scene.roots)
    text = piece.strip()
    if is_telling(text) and (found := _select(text, scene.roots)):
        return found
    return [node for node in walk(scene.roots) if (node.name or node.value) and holds(piece, (_alone(node),))]


def _select(selector: str, roots: Sequence[Node]) -> list[Node]:
    try:
        return [node for node in parse_selector(selector).match(roots) if seen_on(node)]
    except InvalidStep:
        return []


def _alone(node: Node) -> Node:
    from dataclasses import replace

    return replace(node, children=())


def _is_new(piece: str, matched: Sequence[Node], before: Scene, now: Scene) -> bool:
    """Whether it is the act that made it true: by a node that was not there, or by not holding at all before."""
    if absent_selector(piece) is not None:
        return not holds(piece, before.roots, before.titles)
    if not holds(piece, before.roots, before.titles):
        return True
    about_value = "value" in piece or not is_telling(piece)
    key: Callable[[Node], tuple[str, ...]] = signature if about_value else (lambda node: signature(node)[:2])
    return bool({key(node) for node in matched} - {key(node) for node in _matched(piece, before)})


def _is_echo(piece: str, matched: Sequence[Node], claim: Claim, witness: Witness) -> bool:
    """Whether it only repeats what was entered. That is the act itself where the goal wants no more than entering."""
    if not matched or absent_selector(piece) is not None:
        return False
    if not all(
        node.role in ("textbox", "searchbox", "combobox", "spinbutton") and node.value for node in matched
    ):
        return False
    last = _last(witness.acts)
    if last and last[0].enters_text and not last[0].failed:
        pressed = any(
            not act.enters_text and not act.failed and act.kind != "launch"
            for act in witness.acts
            if act.commits
        )
        return bool(_COMMITS.search(claim.goal)) and not pressed
    typed = comparable(
        " ".join(str(act.step.get("text") or act.step.get("keys") or "") for act in witness.acts)
    )
    return any(comparable(node.value or "") in typed for node in matched)


def _is_of_last(piece: str, matched: Sequence[Node], witness: Witness, befores: Sequence[Scene]) -> bool:
    """Whether it is the very thing that the last act was aimed at: the field that was filled, the dialog answered."""
    last = _last(witness.acts)
    target = last[0].target if last else None
    if target is None:
        return False
    if (gone := absent_selector(piece)) is not None:
        was = [node for before in befores for node in _select(gone, before.roots)]
        return any(
            (node.role, node.name) == (target.role, target.name) or node.name == target.window for node in was
        )
    return last[0].enters_text and any(
        (node.role, node.name) == (target.role, target.name) for node in matched
    )


def _bears(piece: str, matched: Sequence[Node], claim: Claim) -> bool:
    """Whether it has to do with the goal: by a word of it, by what answers its verb, or by what it asks for."""
    said = _words(" ".join([_plain(piece), *(_text(node) for node in matched)]))
    wanted = _words(claim.wanted) - _COMMON
    if said & set(_SUCCESS) or any(_alike(one, other) for one in said for other in wanted if len(other) > 2):
        return True
    for verbs, answers in _ANSWERS:
        if any(_alike(verb, word) for verb in verbs.split() for word in wanted) and said & set(
            answers.split()
        ):
            return True
    news = _news(piece, matched, claim)
    return any(char.isdigit() for word in news for char in word) or (_asks(claim.goal) and bool(news))


def _shares_news(piece: str, matched: Sequence[Node], claim: Claim) -> bool:
    """Whether evidence and result have something in common that the goal did not say already."""
    return bool(_news(piece, matched, claim))


def _news(piece: str, matched: Sequence[Node], claim: Claim) -> set[str]:
    said = _words(" ".join([_plain(piece), *(_text(node) for node in matched)]))
    return (said & _words(claim.result)) - _words(claim.wanted) - _COMMON


_COMMON: Final = frozenset(
    """
the a an is are of in on to and it its says shows there for with was has this that my your all from as at by not no
text window button
""".split()
)


# --- all that the goal names -------------------------------------------------------------------------------------


def _unnamed(claim: Claim, witness: Witness, now: Scene) -> list[str]:
    """What the goal names and neither act nor evidence has to do with; and fields written to in place of named ones."""
    done = [act for act in witness.acts if not act.failed]
    if not done:
        return []
    matched = [node for piece in claim.evidence for node in _matched(piece, now)]
    since = witness.befores()
    fresh = {signature(node) for node in walk(now.roots)} - {
        signature(node) for node in walk(since[0].roots if since else ())
    }
    news = [" ".join(each[1:]) for each in fresh if each[0] != "textbox"]
    parts = [act.words() for act in done] + list(claim.evidence) + [_text(node) for node in matched] + news
    parts += [around(node, now.roots) for node in matched] + list(now.titles) + _titles(witness)
    haystack = comparable(" ".join(parts))
    joined = re.sub(r"\s", "", "".join(_entered(act) for act in done))
    missing = [
        literal
        for literal in literals(claim)
        if not _covered(literal, haystack)
        and re.sub(r"\s", "", comparable(literal)) not in comparable(joined)
    ]
    found = [f"nothing that was done or shown has to do with {literal!r}" for literal in missing[:3]]
    return found + _other_fields(claim, done, matched)


def _titles(witness: Witness) -> list[str]:
    return [title for act in witness.acts if act.before for title in act.before.titles]


def _entered(act: Act) -> str:
    name = act.target.name if act.target is not None and act.kind in ("click", "invoke") else ""
    count = int(act.step.get("times") or 1)
    return (name or str(act.step.get("text") or act.step.get("keys") or "")) * count


def literals(claim: Claim) -> list[str]:
    """What the caller's words name verbatim: quotes, inputs, numbers, and names written with a capital."""
    goal = re.sub(r"\b[a-z][a-z0-9+.-]*://\S+|(?<!\w)[~.]?/\S+", " ", claim.goal)
    found = [next(part for part in match.groups() if part) for match in _QUOTED.finditer(goal)]
    found += [value for _, value in claim.inputs]
    rest = _QUOTED.sub(" ", goal)
    found += re.findall(r"(?<![\w.])\d+(?:[.,:]\d+)*(?![\w.])", rest)
    found += re.findall(r"(?<=[\w,;:)] )[A-ZÀ-ÖØ-Þ][\w’'-]*[a-zà-ÿ][\w’'-]*", rest)
    return list(dict.fromkeys(found))


def _covered(literal: str, haystack: str) -> bool:
    wanted = comparable(literal)
    if wanted in haystack:
        return True
    words, known = _words(literal), _words(haystack)
    hits = [word for word in words if any(_alike(word, other) for other in known)]
    return bool(words) and 2 * len(hits) > len(words)


def _other_fields(claim: Claim, done: Sequence[Act], matched: Sequence[Node]) -> list[str]:
    """Fields that were written to although the goal names others that were there and left alone."""
    wanted = f" {' '.join(_WORD.findall(comparable(claim.wanted)))} "
    touched = {comparable(act.target.name).rstrip(":* ") for act in done if act.target is not None}
    touched |= {comparable(node.name).rstrip(":* ") for node in matched}
    strange = [
        act.target.name
        for act in done
        if act.target is not None
        and act.target.role in _FIELDS
        and act.target.name
        and act.kind in ("fill", "type", "select", "toggle", "click", "invoke")
        and not _named(act.target.name, wanted)
        and not (act.kind == "select" and _named(str(act.step.get("option") or ""), wanted))
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
        and _named(node.name, wanted)
        and comparable(node.name).rstrip(":* ") not in touched
    }
    return (
        [f"{strange[-1]!r} was changed, which the goal does not name, and {sorted(left)[0]!r} was not"]
        if left
        else []
    )


def _named(name: str, goal: str) -> bool:
    words = " ".join(_WORD.findall(comparable(name)))
    return bool(words) and f" {words} " in goal


def _unread(claim: Claim, witness: Witness, now: Scene) -> list[str]:
    """Numbers of the result that were on no screen."""
    shown = texts(now.roots) + " " + " ".join(now.titles)
    shown += " ".join(texts(act.before.roots) for act in witness.acts if act.before is not None)
    known = set(re.findall(r"\d+", shown)) | set(re.findall(r"\d+", comparable(claim.wanted)))
    loose = [number for number in re.findall(r"\d+", claim.result) if number not in known]
    return [f"the result says {loose[0]}, which was nowhere to be seen"] if loose else []


def _asks(goal: str) -> bool:
    return _ASKS.search(goal) is not None


def _plain(piece: str) -> str:
    """The words of a selector or a quote, without the roles and attributes of the grammar."""
    quoted = re.findall(r"""["']([^"']+)["']""", piece)
    return " ".join(quoted) if is_telling(piece) and quoted else piece


def _text(node: Node) -> str:
    return " ".join(part for part in (node.name, node.value, node.description) if part)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(comparable(text)))


def _alike(one: str, other: str) -> bool:
    """The same word, or two forms of it (``order``, ``ordered``)."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    stem = short if len(short) < 5 else short[: max(4, len(short) - 2)]
    return len(short) >= 4 and long.startswith(stem) and len(long) - len(stem) <= 5
