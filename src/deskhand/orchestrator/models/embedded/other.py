"""How clauses are read about windows, time and words: open, save, close, wait, scroll, read, expect, compute."""

from __future__ import annotations

import re

from deskhand.orchestrator.models.embedded.grammar import Clause, Item, Literal, is_expression, pattern
from deskhand.orchestrator.models.embedded.lexicon import without_article

_BROWSER = pattern(r" (?:in|with|using) (?:(?:the|a|my) )?(?:new )?(?:web )?(?:browser|tab|window)$")
_SITE = pattern("^(?:the )?(?:web\\s*)?(?:page|site|website|url|address) (?=[\ue000-\uf8ff]|\\S+\\.\\S)")


def open_(word: str, rest: str, literal: Literal) -> Clause | None:
    body = _SITE.sub("", _BROWSER.sub("", rest))
    return Clause(verb="open", items=(Item(body),)) if body else None


_DOCUMENT = pattern(
    r"^(?:it|this|that|(?:the|my|this) (?:file|document|text|note|changes?|page|drawing|image|sheet|work))(?= |$)"
)
_NAMED = pattern(r" (?:as|under the name|with the name|named|called) (?P<name>\S+)(?= |$)")
_FOLDER = pattern(r" (?:in|into|to|under|inside) (?P<folder>\S.*)$")


def save(word: str, rest: str, literal: Literal) -> Clause | None:
    """Save [it] [as NAME] [in FOLDER], the last two in either order; "save to a.txt" names the file."""
    body = " " + _DOCUMENT.sub("", rest).strip()
    name = ""
    if named := _NAMED.search(body):
        name, body = named["name"], body[: named.start()] + body[named.end() :]
    folder = found["folder"] if (found := _FOLDER.search(body)) else ""
    body = _FOLDER.sub("", body)
    if body.strip():
        return None
    if folder and not name and " " not in folder and (literal(folder) or re.search(r"\.\w+$", folder)):
        name, folder = folder, ""
    return Clause(verb="save", value=name or None, place=folder)


def close(word: str, rest: str, literal: Literal) -> Clause | None:
    return Clause(verb="close", items=(Item(rest or "it"),))


_SECONDS = pattern(r"^(?:for )?(?P<n>\d+(?:\.\d+)?)\s*(?:s|secs?|seconds?)?$")
_FOR = pattern(r"^(?:for|until|till) (?:(?:it (?:says|shows)|you see|there is|the \S+ (?:says|shows)) )?")
_GONE = pattern(
    r" (?:(?:to )?(?:disappears?|vanish|vanishes|closes?)|(?:to be|is) gone|goes away|to go away)$"
)
_THERE = pattern(
    r" (?:(?:to )?(?:appears?|shows?|shows? up|comes? up|loads?|opens?)"
    r"|(?:is|to be) (?:shown|visible|there|displayed|ready))$"
)
_NOTHING_NAMED = pattern(
    r"^(?:it|that|everything|(?:the )?(?:page|window|app|application)|a (?:bit|moment|while|second))$"
)


def wait(word: str, rest: str, literal: Literal) -> Clause | None:
    if seconds := _SECONDS.match(rest):
        return Clause(verb="wait", value=seconds["n"])
    body = _FOR.sub("", rest)
    gone = bool(_GONE.search(body))
    what = _THERE.sub("", _GONE.sub("", body))
    if not what or (_NOTHING_NAMED.match(what) and not gone):
        return Clause(verb="wait")
    return Clause(verb="wait", items=(Item(what),), on=not gone)


_WAY = pattern(
    r"^(?:the \S+ )?(?P<way>down|up|left|right)(?: a (?:bit|little))?(?: (?P<n>\d{1,2})(?: times)?)?$"
)
_TO_END = pattern(
    r"^(?:down |up )?(?:(?P<what>(?:the|this) \S.*?) )?(?:all the way )?(?:down |up )?to (?:the|its) (?:very )?"
    r"(?P<end>bottom|end|top|beginning|start)(?: of (?P<of>\S.*))?$"
)
_UNTIL = pattern(r"^(?:(?:down|up) )?(?:to|until) (?:you (?:see|find) )?(?P<what>\S.*)$")


def scroll(word: str, rest: str, literal: Literal) -> Clause | None:
    if found := _WAY.match(rest):
        return Clause(verb="scroll", value=found["way"].casefold(), count=int(found["n"] or 1))
    if found := _TO_END.match(rest):
        far = "end" if found["end"].casefold() in ("bottom", "end") else "start"
        what = found["what"] or found["of"]
        return Clause(verb="scroll", value=far, items=(Item(what),) if what else ())
    if found := _UNTIL.match(rest):
        return Clause(verb="scroll", items=(Item(found["what"]),))
    return None


_TO_ME = pattern(r"^(?:back|out|to me|me|that)(?: |$|\s*:)| (?:to me|back|back to me|please)$")
_WHAT = pattern(r"^(?:what|which) (?:(?:is|are|does) )?")
_IS = pattern(r" (?:is|are|says?|shows?|reads?|displays?|was|were|contains?|it (?:says|shows|gives))$")
_RESULT_OF = pattern(r"^(?:the )?(?:result|answer|value) (?:of|to) ")
_NOT_READ = pattern(r"^(?:why|who|where|when|how|whether|if)\b")


def read(word: str, rest: str, literal: Literal) -> Clause | None:
    body = _TO_ME.sub("", _TO_ME.sub("", rest)).strip(" :")
    if _NOT_READ.match(body):
        return None
    if what := _WHAT.match(body):
        body = _IS.sub("", body[what.end() :])
    if (sum_ := compute(word, _RESULT_OF.sub("", body), literal)) is not None:
        return sum_
    if word.startswith("how"):
        return None
    return Clause(verb="read", items=(Item(body or "result"),))


_SOMEWHERE = pattern(r"^(?P<body>.*\S) (?:in|with|using|on|by|from) (?P<place>\S.*)$")
_WHAT_IT_IS = pattern(r"^what (?:is )?| (?:is|equals|makes|gives)$")
_EQUALS = re.compile(r"\s*=\s*$")


def compute(word: str, rest: str, literal: Literal) -> Clause | None:
    rest = _WHAT_IT_IS.sub("", _WHAT_IT_IS.sub("", rest))
    body, place = _EQUALS.sub("", without_article(rest)), ""
    if not is_expression(body) and (found := _SOMEWHERE.match(rest)):
        body, place = _EQUALS.sub("", found["body"]), found["place"]
    return Clause(verb="compute", value=body, place=place) if is_expression(body) else None


_IS_SHOWN = pattern(r" (?:is|are) (?:shown|visible|displayed|there|present|on (?:the )?screen)$")
_SAYS = pattern(r"^(?:it|the \S+) (?:says|shows|contains|reads|displays) (?P<what>\S.*)$")
_NEGATED = pattern(r"\b(?:not|no|never)\b|n't\b")


_IS_ON = pattern(
    r"^(?P<what>\S.*) (?:is|are) (?P<off>un|not )?(?:selected|chosen|checked|ticked|on|enabled)$"
)


def expect(word: str, rest: str, literal: Literal) -> Clause | None:
    if (state := _IS_ON.match(rest)) and word.startswith(("make sure", "ensure", "see that")):
        return Clause(verb="check", items=(Item(state["what"]),), on=not state["off"])
    body = _IS_SHOWN.sub("", rest)
    found = _SAYS.match(body)
    body = found["what"] if found else body
    return None if _NEGATED.search(body) else Clause(verb="expect", items=(Item(body),))
