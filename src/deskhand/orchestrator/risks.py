"""Words of sensitive acts in several languages: on controls, in dialogs, and in what the caller asks for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of sensitive act: ``labels`` are words on controls that do it, ``asked`` more words that ask for it."""

    name: str
    labels: frozenset[str]
    asked: frozenset[str]


def _kind(name: str, labels: str, asked: str) -> Kind:
    return Kind(name=name, labels=frozenset(labels.split()), asked=frozenset(f"{labels} {asked}".split()))


KINDS: Final = (
    _kind(
        "paying or buying",
        """pay buy purchase order checkout donate transfer withdraw bid subscribe bezahlen kaufen bestellen überweisen
        payer acheter commander pagar comprar pedir pagare acquistare comprare ordinare pague compre 支付 购买 付款 下单
        購入 支払う 注文""",
        """paying buying bought paid purchasing ordering donation subscription bezahle kaufe bestelle überweise paie
        paye achète commande compra paga ordina sign-up upgrade""",
    ),
    _kind(
        "sending",
        """send reply-all forward-all submit-payment senden absenden verschicken envoyer enviar inviare spedire 发送
        送信""",
        """sending sent mail email e-mail message reply respond answer forward submit sende schicke schick antworte
        envoie réponds envía envia responde invia rispondi 回复 返信""",
    ),
    _kind(
        "publishing",
        """publish post tweet repost share-publicly go-live veröffentlichen posten publier publicar pubblicare 发布
        公開""",
        "publishing posting comment reply share announce veröffentliche poste publie publica pubblica",
    ),
    _kind(
        "deleting",
        """delete remove erase wipe format uninstall discard-all empty-trash move-to-trash trash shred deactivate
        löschen entfernen supprimer effacer désinstaller eliminar borrar suprimir excluir eliminare cancellare rimuovere
        删除 删掉 清空 削除 消去""",
        """deleting clear empty clean discard drop purge deletion lösche lösch entferne supprime efface elimina borra
        exclui cancella rimuovi""",
    ),
    _kind(
        "ending a membership or service",
        """unsubscribe close-account cancel-subscription cancel-account cancel-membership cancel-plan cancel-order
        cancel-booking terminate kündigen résilier""",
        "cancel close deactivate leave end kündige résilie",
    ),
    _kind(
        "changing who has access",
        """grant revoke invite make-public make-admin change-password reset-password add-member remove-member einladen
        inviter invitar invitare 邀请 招待""",
        "share access permission permissions public add remove password admin lade invite teile partage comparte",
    ),
)

_NOUNS: Final = frozenset(
    "order post transfer bid purchase format mail email message reply comment checkout share answer trash".split()
)
"""Words that as often name a thing as an act."""

_THINGS: Final = re.compile(
    r"(?i)\b(?:the|my|an?|this|that|these|last|latest|of|in|each|every|his|her|their|your|our|first|new|its|all|blog|any"
    r"|view|track|show|see|open|read|next|previous|sort|back to|'s)\s+(?:\w+\s+)?$"
)
_BEGINS: Final = re.compile(r"(?:^|[,.;:!?]|\b(?:and|then|please|to|und|dann|bitte|et|puis|y|e))\s*$")
"""What stands before a word that tells what to do."""

_OF_THINGS: Final = re.compile(
    r"(?i)^s?\s*(?:#|no\b|number|history|status|details?|summary|confirmation|tracking|list|date|id\b|\d|by\b|settings?"
    r"|options?|types?|fees?|painter)"
)
_ASKED_FOR: Final = (
    (
        0,
        re.compile(
            r"(?i)\b(place|submit|confirm|complete|make|send|finish)\b(\W+\w+){0,4}?\W+(order|purchase)\b"
        ),
    ),
    (
        0,
        re.compile(
            r"(?i)\b(check out|checkout|sign (\w+ )?up for|upgrade to|get (me|us) (\w+ ){0,3}tickets?)\b"
        ),
    ),
    (
        1,
        re.compile(
            r"(?i)\b(write|compose|drop)\b(\W+\w+){0,3}?\W+(mail|email|e-mail|message|note|line)\b.*\bto\b"
        ),
    ),
    (1, re.compile(r"(?i)\b(tell|say|ask|write|let)\b.*\b(chat|channel|thread|messenger|by e?-?mail)\b")),
    (1, re.compile(r"(?i)\b(fill (in|out)|complete)\b.*\bform\b.*\bto\b")),
    (
        2,
        re.compile(
            r"(?i)\b(add|leave|write|make|put)\b(\W+\w+){0,3}?\W+(comment|reply|post|review|tweet|answer)\b"
        ),
    ),
    (3, re.compile(r"(?i)\b(get rid of|take\b.*\b(off|out))\b")),
)
"""Ways to ask for a kind (by its place in `KINDS`) in several words."""

_NOT: Final = re.compile(
    r"(?i)\b(?:do not|don't|never|without|nicht|ne|sans|sin|senza|instead of|rather than)\s[^,.;:!?]*?"
    r"(?=[,.;:!?]|$|\b(?:but|and then|just|only|sondern|mais|pero)\b)"
)
"""What the caller rules out is not what the caller names."""

_ABOUT: Final = re.compile(
    r"(?i)\b(?:how (?:to|do i|can i|does one|i can)|whether|what happens (?:if|when)|can i)\s[^,.;:!?]*"
)
"""Nor is what the caller only wants to know about."""

_WEIGHTY: Final = tuple(
    frozenset(group.split())
    for group in (
        "all every everything everyone everybody alle alles allen tout toute tous toutes todo todos todas tutto 全部",
        "account profile konto compte cuenta conta 账户 アカウント",
        "history verlauf historique historial",
        "database datenbank",
        "disk drive volume partition festplatte disque disco",
        "workspace organization organisation company",
        "repository repo",
        "site website domain server",
        "backup backups",
        "subscription membership premium plan insurance abo abonnement",
        "money payment",
        "public publicly öffentlich",
        "admin administrator owner",
    )
)
"""Things so weighty that to name the act alone does not allow it: each group is one thing in several words."""

_UNDOES: Final = re.compile(
    r"(?i)^(?:undo|cancel(?!\W+(?:\w+\W+)?(?:account|subscription|membership|plan|order|booking))|keep|restore|no\b|stop|abbrechen|annuler|cancelar|annulla)"
)
_LIGHT: Final = re.compile(
    r"(?i)\b(filters?|formatting|highlights?|search|selection|sort\w*|zoom|tooltip|bookmark"
    r"|from (cart|basket|bag|list))\b"
)
_FUTURE: Final = re.compile(
    r"(?i)[?？]|\b(will|about to|going to|permanently|cannot be undone|can't be undone|irreversib\w+|sure"
    r"|to continue|(click|press|choose|select) (ok|okay|yes|continue|confirm)|endgültig|unwiderruflich|définitivement"
    r"|werden|wird)\b"
)


def plain_words(text: str) -> list[str]:
    """The words of a text in order, as they are compared."""
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())


def same(word: str, other: str) -> bool:
    """The same word or a form of it: ``delete``, ``deleting``."""
    return word == other or (
        len(word) > 3 and other.startswith(word[:-1]) and 0 <= len(other) - len(word) <= 3
    )


def kinds_on(label: str, *, is_link: bool = False) -> list[Kind]:
    """The kinds of act that pressing a control with this label is. A link must begin with the word, or be short."""
    found = plain_words(label)
    if not found or _UNDOES.match(label.strip()) or re.search(r"(?i)n['’]t\b|\bnot\b", label):
        return []
    kinds = []
    for kind in KINDS:
        hits = [
            word for word in found if word in kind.labels and _is_act(word, label, found, is_link=is_link)
        ]
        phrases = [word for word in kind.labels if "-" in word and set(plain_words(word)) <= set(found)]
        scripts = [
            word for word in kind.labels if not word.isascii() and len(word) > 1 and word in label.casefold()
        ]
        if is_link and hits and len(found) > 3 and found[0] not in hits and found[1] not in hits:
            hits = []
        if (hits or phrases or scripts) and not (kind.name == "deleting" and _LIGHT.search(label)):
            kinds.append(kind)
    return kinds


def kinds_threatened(text: str) -> list[Kind]:
    """The kinds of act that a dialog with this text is about to do when one agrees."""
    kinds = []
    for sentence in re.split(r"(?<=[.!?？。])\s*|\n", text):
        if _FUTURE.search(sentence) is None:
            continue
        found = plain_words(sentence)
        for kind in KINDS:
            plain = kind.labels - _NOUNS
            if any(same(word, other) for word in plain if "-" not in word for other in found) or any(
                word in sentence for word in kind.labels if not word.isascii() and len(word) > 1
            ):
                kinds.append(kind)
    return list(dict.fromkeys(kinds))


def _is_act(word: str, label: str, found: list[str], *, is_link: bool) -> bool:
    """Whether a word that may be a noun is the act here: alone or in front, and not followed by what belongs to it."""
    if word not in _NOUNS:
        return True
    if word == "format":
        return bool(set(found) & {"disk", "drive", "volume", "partition", "card", "stick"})
    before, _, after = label.casefold().partition(word)
    if not before.strip() and not is_link and re.match(r"\s*\W*\d", after):
        return True  # `Transfer 200`
    if _OF_THINGS.match(after) is not None:
        return False
    return not before.strip() or _THINGS.search(before) is None


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller's own words ask for."""

    kinds: frozenset[str]
    words: frozenset[str]

    def names(self, word: str) -> bool:
        """Whether they have a word, in one form or another."""
        return any(same(word, other) for other in self.words)

    def weighty(self, label: str) -> str:
        """A weighty thing on a label that the caller's words do not have; empty when there is none."""
        for word in plain_words(label):
            for group in _WEIGHTY:
                if word in group and not any(self.names(each) or each in self.words for each in group):
                    return word
        return ""


def asked_for(texts: Iterable[str]) -> Asked:
    """What these words of the caller ask for; what they rule out or only ask about is left out."""
    kinds: set[str] = set()
    words: set[str] = set()
    for text in texts:
        meant = _ABOUT.sub(" ", _NOT.sub(" ", text))
        words |= set(plain_words(meant))
        kinds |= {KINDS[place].name for place, pattern in _ASKED_FOR if pattern.search(meant)}
        kinds |= {kind.name for kind in KINDS if _asks_for(kind, meant)}
    if "publishing" in kinds:
        kinds.add("sending")  # what is to be posted in a chat is sent there
    return Asked(frozenset(kinds), frozenset(words))


def _asks_for(kind: Kind, text: str) -> bool:
    folded = unicodedata.normalize("NFKC", text).casefold()
    for found in re.finditer(r"[\w-]+", folded):
        for word in kind.asked:
            if not same(word, found[0]):
                continue
            if word not in _NOUNS:
                return True
            before, after = folded[: found.start()], folded[found.end() :]
            if _BEGINS.search(before):
                return True
            if _THINGS.search(before) is None and _OF_THINGS.match(after) is None:
                return True
    return any(word in folded for word in kind.asked if not word.isascii() and len(word) > 1)


def is_custom(label: str, extra: Iterable[str]) -> str:
    """The first of the user's own risk words that a label carries; empty when it carries none."""
    found = set(plain_words(label))
    return next((word for word in extra if set(plain_words(word)) <= found and plain_words(word)), "")
