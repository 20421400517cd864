"""Signs on the screen that something went wrong or is not over: refusals, questions, invalid fields, work."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

from deskhand.messages import Node
from deskhand.observers.node import comparable, quote, text_of, walk
from deskhand.orchestrator.phrases import alike, confirms, words

_FAILURE: Final = re.compile(
    r"""(?x)
    \b( error|fail(ed|ure|s)?|could\s?n[o']t|could\ not|can\s?not|can't|unable|refus\w+|denied
      | reject\w+|declined|invalid
      | not\ (be\ |been\ |yet\ )?(saved|sent|stored|changed|updated|created|deleted|removed|added|applied|accepted|found
                                |allowed|permitted|available|valid|possible|enabled|published|uploaded|completed|confirmed)
      | was\ not|were\ not|did\ not|didn't|wasn't|went\ wrong|try\ again|expired
      | is\ required|must\ (be|not)|no\ permission
      | already\ (exists|taken|in\ use|been|a\ member|subscribed|registered)|read-only|timed?\ ?out
      | out\ of\ stock|sold\ out|insufficient|conflict\w*|offline|oops|whoops|uh-oh|snag|glitch|trouble|sorry
      | unfortunately|regret|apologi[sz]e
      | aborted|cancell?ed|nothing\ (was|to)|unsaved|problems?|incorrect|wrong|missing|forbidden|unauthori[sz]ed|lost
      | (reached|over|above|exceed\w*)\ (\w+\ ){0,2}(limit|quota|maximum)
      | limit\ (was\ |is\ |has\ been\ )?(reached|exceeded)
      | quota|too\ (long|short|large|big|small|many|few|late|old|weak)|not\ enough|does\ ?n[o']t|doesn't|do\ not\ match
      | don't\ match|mismatch\w*|unknown|unrecogni[sz]ed|unsupported|unreachable|undone|reverted|rolled\ back|discarded
      | skipped|ignored|blocked|locked|suspended|restricted|interrupted|disconnected|dismissed|duplicate|no\ changes?
      | unchanged|no\ longer\ (available|valid|exists)|(a\ |as\ |to\ )drafts?|draft\ saved|saved\ locally
      | will\ (be\ )?(sync\w*|retr\w+)
      | (sign|log)\ ?in\ (to|again|first|before)|please\ (sign|log)\ in|session\ (has\ )?(ended|expired)
      | (please|must)\ (enter|choose|select|correct|fill|fix|provide|check|complete|confirm|verify|retry)
      | fehler\w*|fehlgeschlagen|ungültig\w*|nicht\ \w+|verweigert|konnte\w*
      | erreur|échou?é\w*|échec|impossible|refusée?|invalide|error\w*|falló|inválid\w+|no\ se\ (ha|pudo)\w*
      | errore|non\ riuscito|impossibile|erro|não\ foi|falhou )\b
    | 失败|错误|无效|无法|拒绝|失敗|エラー|できません|無効
    """,
    re.IGNORECASE,
)
_NO_FAILURE: Final = re.compile(
    r"\b(no|0|zero|without( any)?|keine?|ohne|aucune?|sans)\s+(errors?|problems?|failures?|fehler|erreurs?)\b"
)
_UNFINISHED: Final = re.compile(
    r"(?i)^(?:still |now |re)?[a-z]+ing\b.{0,60}(?:…|\.\.\.)$"
    r"|\b(saving|loading|sending|processing|working|submitting|uploading|deleting|publishing|updating|connecting|pending"
    r"|queued|in progress|please wait|one moment|bitte warten|wird \w+)\b.{0,40}(…|\.\.\.)?$|^(loading|please wait)\b"
)
_PARTS: Final = re.compile(
    r"\b(\d+)(?: (?:out )?of | ?/ ?| von | sur | de )(\d+)\b(?=.*\b(?:\w+(?:ed|t|en)|done|ok)\b)",
    re.IGNORECASE,
)
_LOG_IN: Final = re.compile(
    r"(?i)\b(log|sign|password|passphrase|passwort|kennwort|anmeld\w*|unlock|credentials|register|account|connexion"
    r"|contraseña|secret|pin)\b"
)
_LABELS: Final = frozenset(
    "button link tab menu menuitem menuitemcheckbox menuitemradio option checkbox radio switch treeitem".split()
)
_DIALOGS: Final = frozenset({"dialog", "alertdialog", "alert"})
_INLINE: Final = frozenset("text strong emphasis generic code link mark insertion deletion time".split())
_TELLING: Final = _DIALOGS | {"status", "heading", "log"}
_FEW_WORDS: Final = 60
_PIECES: Final = 8
_SAYS: Final = "it now says"
_SHORT: Final = 240
"""Characters of a message; longer text is something to read, which may speak of errors without being one."""

_DECLINES: Final = frozenset(
    "cancel no discard don't dont abort back abbrechen nein annuler non cancelar no annulla 取消 キャンセル".split()
) | {"go back", "close without saving", "don't save", "not now"}


def signature(node: Node) -> tuple[str, str, str]:
    """What makes a text the same text in two looks."""
    return node.role, comparable(node.name), comparable(node.value or "")


def seen_on(node: Node) -> bool:
    """Whether it can be seen (a page keeps nothing hidden in its tree)."""
    return node.source == "page" or "offscreen" not in node.states


def contradictions(
    before: Sequence[Node] | None,
    now: Sequence[Node],
    goal: str,
    passed: Container[tuple[str, str, str]] = (),
) -> list[str]:
    """What speaks against success, in words. ``before`` is the screen before the last act (None: not known).

    Only what is new counts, except for a question that still waits for its answer; ``passed`` are those (by their
    `signature`) that were left alone on the way. What the goal itself names (an error to be read out, a dialog to be
    opened) does not count.
    """
    old = {signature(node) for node in walk(before or ())}
    was_invalid = {signature(node)[:2] for node in walk(before or ()) if "invalid" in node.states}
    wanted = comparable(goal)
    found: list[str] = []
    strange = set() if before is None else _of_other_pages(before, now)
    for node in walk(now):
        if not seen_on(node) or id(node) in strange:
            continue
        if "invalid" in node.states and signature(node)[:2] not in was_invalid and before is not None:
            found.append(f"the field {quote(node.name, 60)} is marked as invalid")
        if (
            node.role in _DIALOGS
            and signature(node) not in passed
            and _waits_for_answer(node)
            and comparable(node.name or " ") not in wanted
        ):
            found.append(f"a {node.role} still waits for an answer: {quote(text_of(node), 120)}")
        if before is None:
            continue
        if signature(node) not in old:
            found.extend(_said_by(node, wanted))
        if 1 < len(node.children) <= _PIECES and node.role not in _LABELS:
            found.extend(_said_in_pieces(node, old, wanted))
    return list(dict.fromkeys(found))[:5]


def complaints(before: Sequence[Node] | None, then: Sequence[Node], goal: str) -> list[str]:
    """What was said to have failed at a moment that has passed: a message that has gone by now is still true."""
    return [said for said in contradictions(before, then, goal) if said.startswith(_SAYS)]


def _of_other_pages(before: Sequence[Node], now: Sequence[Node]) -> set[int]:
    """What a page that was not there before has to tell: it may speak of failures without being one.

    Its headings and messages count, and so does all of a page that has not much to say.
    """
    known = {root.url.partition("#")[0] for root in before if root.source == "page"}
    found: set[int] = set()
    for root in now:
        if root.source != "page" or root.url.partition("#")[0] in known:
            continue
        below = list(walk((root,)))[1:]
        if sum(len(node.name.split()) + len((node.value or "").split()) for node in below) > _FEW_WORDS:
            found |= {
                id(node) for node in below if node.role not in _TELLING and "password" not in node.states
            }
    return found


def _said_by(node: Node, goal: str) -> Iterator[str]:
    if "password" in node.states and not _LOG_IN.search(goal):
        yield "it now asks for a password"
    if "editable" in node.states or node.role in _LABELS or node.role in ("textbox", "searchbox"):
        return
    for text in (node.name, node.value or "", node.description):
        if not text or len(text) > _SHORT:
            continue
        if fails(text, goal) or _is_partial(text, goal):
            yield f"{_SAYS} {quote(text, 120)}"
        elif unfinished(text):
            yield f"it seems to be still at work: {quote(text, 80)}"
        elif node.role in ("alert", "alertdialog") and not confirms(text, goal):
            yield f"it now warns {quote(text, 120)}"
    if "busy" in node.states:
        yield f"{node.role} {quote(node.name, 60)} is busy"


def _said_in_pieces(node: Node, old: Container[tuple[str, str, str]], goal: str) -> Iterator[str]:
    """What a sentence says that is cut into several elements, one of them new."""
    if any(child.role not in _INLINE or child.children for child in node.children):
        return
    if all(signature(child) in old for child in node.children):
        return
    text = " ".join(filter(None, (child.name or child.value for child in node.children)))
    if len(text) <= _SHORT and (fails(text, goal) or _is_partial(text, goal)):
        yield f"{_SAYS} {quote(text, 120)}"


def _is_partial(text: str, goal: str) -> bool:
    """Whether it says that only a part of several things was done."""
    return any(
        int(some) < int(whole) and found not in goal
        for some, whole, found in ((match[1], match[2], match[0]) for match in _PARTS.finditer(text))
    )


def fails(text: str, goal: str = "") -> bool:
    """Whether a message tells of a failure that the goal does not speak of itself."""
    plain = _NO_FAILURE.sub(" ", comparable(text).replace("’", "'"))
    return any(not _named(match[0], goal) for match in _FAILURE.finditer(plain))


def unfinished(text: str) -> bool:
    """Whether a message says that something is still going on."""
    return _UNFINISHED.search(text.strip()) is not None


def _named(sign: str, goal: str) -> bool:
    """Whether the goal speaks of it itself (``cancelled``, where something was to be cancelled)."""
    if sign in goal:
        return True
    return " " not in sign and any(alike(sign, word) for word in words(goal))


def _waits_for_answer(dialog: Node) -> bool:
    """Whether one can still say no to it: then what it asks about has not happened."""
    labels = {
        comparable(node.name).rstrip("….")
        for node in walk((dialog,))
        if node.role == "button" and seen_on(node)
    }
    return len(labels) > 1 and bool(labels & _DECLINES)


def texts(nodes: Iterable[Node]) -> str:
    """All visible words, for searching."""
    parts: list[str] = []
    for node in walk(nodes):
        if seen_on(node):
            parts += [part for part in (node.name, node.value, node.description) if part]
    return comparable("\n".join(parts))
