"""What a message says: that something was done, that it was not, that it may be; and when two words are the same."""

from __future__ import annotations

import re
from typing import Final

from deskhand.observers.node import comparable

COMMON: Final = frozenset(
    """
the a an is are of in on to and it its says shows there for with was has this that my your all from as at by not no
text window button please then into i me we you set put make
""".split()
)
"""Words that two texts have in common by chance."""

_SUCCESS: Final = frozenset(
    """
thank thanks success successful successfully done complete completed confirm confirmed confirmation congratulations
welcome danke gespeichert gesendet gelöscht erfolgreich fertig willkommen merci succès réussi réussie enregistré envoyé
supprimé bienvenue gracias éxito guardado enviado eliminado listo bienvenido grazie salvato inviato obrigado sucesso
成功 完了 完成
""".split()
)
_SUCCESS_PHRASES: Final = re.compile(
    r"\b(all set|on (its|their) way|you(['’]re| are) (in|on)\b|(is|are|went) (now|live)\b"
    r"|(turned|switched|is|now) (on|off)\b|no longer|see you|in touch)"
)
_ANSWERS: Final[tuple[tuple[frozenset[str], frozenset[str]], ...]] = tuple(
    (frozenset(verbs.split()), frozenset(answers.split()))
    for verbs, answers in (
        ("save store keep write", "saved stored kept written"),
        ("export download", "exported downloaded saved"),
        ("send submit mail email message reply forward", "sent submitted received delivered forwarded"),
        (
            "delete remove erase clear trash drop discard",
            "deleted removed erased cleared emptied trashed gone",
        ),
        (
            "order buy purchase checkout pay book reserve donate",
            "ordered bought purchased paid booked reserved donated receipt placed",
        ),
        (
            "add create new make insert register put place append enter open",
            "added created made inserted registered placed opened",
        ),
        (
            "change update set edit rename correct replace turn switch choose select pick apply",
            "changed updated set edited renamed corrected replaced saved applied enabled disabled",
        ),
        ("enable activate allow start", "enabled activated allowed started active running"),
        ("disable deactivate stop block", "disabled deactivated stopped blocked inactive"),
        ("publish post share comment", "published posted shared"),
        ("log login sign logon", "logged signed logout account"),
        ("upload attach", "uploaded attached"),
        ("subscribe join follow enrol enroll", "subscribed joined following enrolled"),
        ("move transfer copy import", "moved transferred copied imported"),
        ("invite add share grant", "invited added shared granted"),
        ("cancel", "cancelled canceled"),
        ("reset undo restore", "reset undone restored"),
    )
)
_NEGATION: Final = re.compile(
    r"(?i)\b(not|never|none|nothing|neither|nor|cannot|\w+n['’]t|unable|nicht|kein\w*|nie|nichts|pas|aucun\w*|jamais|nunca"
    r"|ning[uú]n\w*|non|nessun\w*|não|nenhum\w*)\b|不|没|未|ない|ません"
)
_MAY_BE: Final = re.compile(
    r"(?i)\b(please|will|would|can|could|should|must|may|might|want|need|needs|until|before|once|if|when|unless"
    r"|ready to|about to|to be|enter|verify|check your|confirm your|waiting|bitte|wird|werden|muss|kann|wenn|veuillez"
    r"|pourra|debe|puede)\b"
)
_WORD: Final = re.compile(r"[^\W_]+(?:[.'’@-][^\W_]+)*")
_PARTICIPLE: Final = re.compile(
    r"(?:ed|en|wn|nt|pt|ght|ut|it|adas?|idos?|idas?|ados?|ée?s?)$|^ge\w+(?:t|en)$"
)


def words(text: str) -> set[str]:
    """The words of a text, as they are compared."""
    return set(_WORD.findall(comparable(text)))


def alike(one: str, other: str) -> bool:
    """The same word, or two forms of it (``order``, ``ordered``)."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    stem = short if len(short) < 5 else short[: max(4, len(short) - 2)]
    return len(short) >= 4 and long.startswith(stem) and len(long) - len(stem) <= 5


def common_words(text: str, wanted: str) -> set[str]:
    """The words of a text that the caller's words have, too, in one form or another."""
    known = {word for word in words(wanted) - COMMON if len(word) > 2}
    return {word for word in words(text) - COMMON if any(alike(word, other) for other in known)}


def negated(text: str) -> bool:
    """Whether it says of something that it is not so."""
    return _NEGATION.search(text) is not None


def is_open(text: str) -> bool:
    """Whether it asks, or says what may come to be."""
    return text.rstrip().endswith(("?", "？")) or _MAY_BE.search(text) is not None


def confirms(text: str, wanted: str) -> bool:
    """Whether a message says that what the caller ``wanted`` was done."""
    said = words(text)
    if negated(text) or text.rstrip().endswith(("?", "？")):
        return False
    if said & _SUCCESS or _SUCCESS_PHRASES.search(comparable(text)):
        return True
    if is_open(text):
        return False
    goal = words(wanted)
    asked = [answers for verbs, answers in _ANSWERS if any(alike(v, word) for v in verbs for word in goal)]
    if any(said & answers for answers in asked):
        return True
    if any(
        _PARTICIPLE.search(word) and any(word != verb and alike(word, verb) for verb in goal) for word in said
    ):
        return True
    return not asked and any(said & answers for _, answers in _ANSWERS)
