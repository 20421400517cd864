"""Signs on the screen that something went wrong or is not over: refusals, questions, invalid fields, work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from deskhand.messages import Node
from deskhand.observers.node import comparable, quote, text_of, walk

_FAILURE: Final = re.compile(
    r"""(?x)
    \b( error|fail(ed|ure|s)?|could\s?n[o']t|could\ not|can\s?not|can't|unable|refus\w+|denied
      | reject\w+|declined|invalid
      | not\ (be\ |been\ |yet\ )?(saved|sent|stored|changed|updated|created|deleted|removed|added|applied|accepted|found
                                |allowed|permitted|available|valid|possible|enabled|published|uploaded|completed|confirmed)
      | was\ not|were\ not|did\ not|didn't|wasn't|went\ wrong|try\ again|expired
      | is\ required|must\ (be|not)|no\ permission
      | already\ (exists|taken|in\ use)|read-only|timed?\ ?out|out\ of\ stock|sold\ out|insufficient|conflict|offline
      | aborted|cancell?ed|nothing\ (was|to)|unsaved|problem|incorrect|wrong|missing|forbidden|unauthori[sz]ed|lost
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
    r"(?i)(\b(saving|loading|sending|processing|working|submitting|uploading|deleting|publishing|updating|connecting|pending"
    r"|queued|please wait|one moment|bitte warten|wird \w+)\b.{0,40}(…|\.\.\.)?$)|^(loading|please wait)\b"
)
_LABELS: Final = frozenset(
    "button link tab menu menuitem menuitemcheckbox menuitemradio option checkbox radio switch treeitem".split()
)
_SHORT: Final = 240
"""Characters of a message; longer text is something to read, which may speak of errors without being one."""

_DIALOGS: Final = frozenset({"dialog", "alertdialog", "alert"})
_DECLINES: Final = frozenset(
    "cancel no discard don't dont abort back abbrechen nein annuler non cancelar no annulla 取消 キャンセル".split()
) | {"go back", "close without saving", "don't save", "not now"}


def signature(node: Node) -> tuple[str, str, str]:
    """What makes a text the same text in two looks."""
    return node.role, comparable(node.name), comparable(node.value or "")


def seen_on(node: Node) -> bool:
    """Whether it can be seen (a page keeps nothing hidden in its tree)."""
    return node.source == "page" or "offscreen" not in node.states


def contradictions(before: Sequence[Node] | None, now: Sequence[Node], goal: str) -> list[str]:
    """What speaks against success, in words. ``before`` is the screen before the last act (None: not known).

    Only what is new counts, except for a question that still waits for its answer. What the goal itself names (an
    error to be read out, a dialog to be opened) does not count.
    """
    old = {signature(node) for node in walk(before or ())}
    was_invalid = {signature(node)[:2] for node in walk(before or ()) if "invalid" in node.states}
    wanted = comparable(goal)
    found: list[str] = []
    for node in walk(now):
        if not seen_on(node):
            continue
        if "invalid" in node.states and signature(node)[:2] not in was_invalid and before is not None:
            found.append(f"the field {quote(node.name, 60)} is marked as invalid")
        if node.role in _DIALOGS and _waits_for_answer(node) and comparable(node.name or " ") not in wanted:
            found.append(f"a {node.role} still waits for an answer: {quote(text_of(node), 120)}")
        if before is None or signature(node) in old:
            continue
        found.extend(_said_by(node, wanted))
    return list(dict.fromkeys(found))[:5]


def _said_by(node: Node, goal: str) -> Iterator[str]:
    if "editable" in node.states or node.role in _LABELS or node.role in ("textbox", "searchbox"):
        return
    for text in (node.name, node.value or "", node.description):
        if not text or len(text) > _SHORT:
            continue
        if fails(text, goal):
            yield f"it now says {quote(text, 120)}"
        elif _UNFINISHED.search(text.strip()):
            yield f"it seems to be still at work: {quote(text, 80)}"
    if "busy" in node.states:
        yield f"{node.role} {quote(node.name, 60)} is busy"


def fails(text: str, goal: str = "") -> bool:
    """Whether a message tells of a failure that the goal does not speak of itself."""
    plain = _NO_FAILURE.sub(" ", comparable(text).replace("’", "'"))
    return any(match[0] not in goal for match in _FAILURE.finditer(plain))


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
