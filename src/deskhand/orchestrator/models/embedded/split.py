"""A goal's text → its segments, with quoted literals and addresses kept whole."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from deskhand.orchestrator.models.embedded.rewrites import rewritten

# Literals are swapped for one private-use character each, so that no rule of grammar can look into them.
_FIRST = 0xE000
_QUOTED = re.compile(
    r"""
    "(?P<double>[^"\n]+)" | “(?P<curly>[^”\n]+)” | «(?P<angle>[^»\n]+)» | `(?P<tick>[^`\n]+)` | ‘(?P<high>[^’\n]+)’
    | (?<![^\s(\[,:=]) ' (?P<single>[^'\n]+(?:(?<=\w)'(?=\w)[^'\n]+)*) ' (?!\w)
    """,
    re.X,
)
_ADDRESS = re.compile(
    r"<secret:[^<>\s]+>|(?:\b(?:https?|ftp)://|\bfile:///?|\b(?:about|data):)[^\s\ue000-\uf8ff]*[^\s\ue000-\uf8ff.,;:!?)\]}]"
)
_SEPARATOR = re.compile(
    r"""
    \s* (?: ; | ,(?=\s|$) | \n+ | (?<=\S)[.!?]+(?=\s|$) )
        \s* (?: (?:(?:and|but)\s+)? \b(?:then|finally|afterwards?|after\ that)\b ,? | and\b(?!\S) )? \s*
    | \s+ (?: (?:and|but)\s+(?:then|also|finally|afterwards?|after\ that) | then | and | & ) (?=\s) \s*,?\s*
    """,
    re.X | re.I,
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece between separators. ``before`` is the separator in front of it, as written; ``text`` is masked."""

    before: str
    text: str

    @property
    def opens(self) -> bool:
        """Whether it begins a sentence."""
        return not self.before or bool(_SENTENCE_END.search(self.before))


_SENTENCE_END = re.compile(r"[.;!?\n]")


@dataclass(slots=True)
class Masked:
    """A text whose literals are masked. `show` puts them back; `literal` says whether a piece is one literal."""

    text: str = ""
    literals: list[tuple[str, str]] = field(default_factory=list)

    def show(self, piece: str, *, quotes: bool = False) -> str:
        """The piece with its literals in place; with ``quotes``, as it was written."""
        return re.sub(
            "[\ue000-\uf8ff]",
            lambda found: self.literals[ord(found.group()) - _FIRST][1 if quotes else 0],
            piece,
        )

    def address(self, piece: str) -> bool:
        """Whether a piece is one literal that was not quoted: a URL."""
        return self.literal(piece) and len(set(self.literals[ord(piece) - _FIRST])) == 1

    def only(self, piece: str) -> str:
        """The one quoted literal within a piece; empty when there is none, or several."""
        found = re.findall("[\ue000-\uf8ff]", piece)
        return self.show(found[0]) if len(found) == 1 and not self.address(found[0]) else ""

    def literal(self, piece: str) -> bool:
        """Whether a piece is one literal."""
        return len(piece) == 1 and _FIRST <= ord(piece) < _FIRST + len(self.literals)


def mask(text: str) -> Masked:
    """The text with every quoted literal and every address replaced by one character."""
    masked = Masked()

    def swap(found: re.Match[str]) -> str:
        inner = next((group for group in found.groups() if group is not None), found.group())
        masked.literals.append((inner, found.group()))
        return chr(_FIRST + len(masked.literals) - 1)

    clean = re.sub("[\ue000-\uf8ff]", "", text)
    masked.text = _ADDRESS.sub(swap, _QUOTED.sub(swap, clean)).strip()
    return masked


_NUMBER = r"(?P<{}>[-−]?\d[\d.,]*)"
_ARITHMETIC = tuple(
    (re.compile(rf"\b{words.format(a=_NUMBER.format('a'), b=_NUMBER.format('b'))}(?![\w.,]*\d)", re.I), shape)
    for words, shape in (
        (r"add\s+{a}\s+(?:and|to|with|plus)\s+{b}", "compute {a} + {b}"),
        (r"subtract\s+{a}\s+from\s+{b}", "compute {b} − {a}"),
        (r"multiply\s+{a}\s+(?:by|with|and|times)\s+{b}", "compute {a} × {b}"),
        (r"divide\s+{a}\s+by\s+{b}", "compute {a} ÷ {b}"),
        (r"the\s+sum\s+of\s+{a}\s+and\s+{b}", "{a} + {b}"),
        (r"the\s+product\s+of\s+{a}\s+and\s+{b}", "{a} × {b}"),
        (r"the\s+difference\s+(?:between|of)\s+{a}\s+and\s+{b}", "{a} − {b}"),
    )
)
_FOLLOWED = re.compile(r",?\s+followed\s+by\s+(?:pressing\s+)?", re.I)


def plainly(masked: Masked) -> Masked:
    """The same with sums written as expressions, so that their "and" separates nothing."""
    literals = list(masked.literals)

    def recase(piece: str, upper: bool) -> str:
        inner, said = literals[ord(piece) - _FIRST]
        literals.append((inner.upper() if upper else inner.lower(), said))
        return chr(_FIRST + len(literals) - 1)

    text = _FOLLOWED.sub(", press ", rewritten(masked.text, recase))
    for pattern, shape in _ARITHMETIC:
        text = pattern.sub(lambda found, shape=shape: shape.format(**found.groupdict()), text)  # type: ignore[misc]
    return Masked(text, literals)


def segments(masked: Masked) -> list[Segment]:
    """The pieces between commas, semicolons, sentence ends, "and" and "then"."""
    found: list[Segment] = []
    before, start = "", 0
    for separator in _SEPARATOR.finditer(masked.text):
        if piece := masked.text[start : separator.start()].strip():
            found.append(Segment(before, piece))
            before = separator.group()
        else:
            before += separator.group()
        start = separator.end()
    if piece := masked.text[start:].strip():
        found.append(Segment(before, piece))
    return found
