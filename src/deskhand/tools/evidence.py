"""Checking evidence on the live desktop without a model: selectors, quotes of visible text, and what must be gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from deskhand.errors import InvalidStep
from deskhand.messages import Node
from deskhand.observers.node import normalise, walk
from deskhand.observers.selector import parse_selector

_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "「": "」", "`": "`"}
_CONTROLS: Final = frozenset(
    "button checkbox radio switch link tab menuitem menuitemcheckbox menuitemradio option".split()
)
"""What can be pressed: its label says what could be done, not what was. It is no proof in a short quote."""

SHORT_QUOTE: Final = 3
"""Characters below which a quote must not be found on a control's label (``4`` is on the calculator's key, too), nor in
text that was read off a picture, where no one knows what is a control."""

_TELLING: Final = re.compile(
    r"""\[\s*(?:name|value|description|window|app|role)\s*[*^$~]?=\s*(?:"[^"]+"|'[^']+'|[^\s"'\]]+)"""
    r"""|:has-text\(\s*(?:"[^"]*\w[^"]*"|'[^']*\w[^']*')"""
    r"""|\[\s*(?:checked|selected|expanded|pressed|focused|modal|busy|disabled|invalid)\b"""
    r"""|^\s*[A-Za-z][A-Za-z _-]*:(?!has-text|nth|not|is|where|has)\s*\w"""
)


_ROLE_AND_NAME: Final = re.compile(r"\s*[A-Za-z][A-Za-z _-]*:\s*\w[^\[\]]*$")
"""A selector in gptme's spelling, ``push button:Save``; a page may say ``Status: packed``, too."""


def is_telling(selector: str) -> bool:
    """Whether a selector says something: a bare role (``button``, ``*``) holds on nearly any screen."""
    return _TELLING.search(selector) is not None


def holds(evidence: str, roots: Sequence[Node], titles: Sequence[str] = ()) -> bool:
    """Whether a piece of evidence is true of what is on the screen.

    ``absent:SELECTOR``: it must match nothing. A selector that tells something must match. Anything else is a quote: it
    must be visible text (whole words, white space and Unicode form aside), in any window or in the window ``titles``.
    Empty or meaningless evidence does not hold.
    """
    text = evidence.strip()
    if (gone := absent_selector(text)) is not None:
        return _absent(gone, roots)
    quoted = _unquoted(text)
    if quoted is None and is_telling(text):
        try:
            found = any(_is_visible(node) for node in parse_selector(text).match(roots))
        except InvalidStep:
            found = False  # not a selector after all: `Total [name=3]` may be what a page says
        if found or not _ROLE_AND_NAME.match(text):
            return found
    return _is_quoted(text if quoted is None else quoted, roots, titles)


def may_be_text(evidence: str) -> bool:
    """Whether text could say it: a quote, or a selector that may mean text."""
    gone = absent_selector(evidence)
    text = evidence.strip() if gone is None else gone
    if gone is None and (_unquoted(text) is not None or not is_telling(text) or _ROLE_AND_NAME.match(text)):
        return True
    try:
        return parse_selector(text).may_be("text")
    except InvalidStep:
        return gone is None


def absent_selector(evidence: str) -> str | None:
    """The selector of an ``absent:`` piece of evidence; None for any other kind."""
    text = evidence.strip()
    return text[7:].strip() if text[:7].lower() == "absent:" else None


def matches(selector: str, roots: Sequence[Node]) -> bool:
    """Whether a selector matches something. InvalidStep when it means nothing."""
    return bool(parse_selector(selector).match(roots))


def _absent(selector: str, roots: Sequence[Node]) -> bool:
    """Nothing on the screen may match, and the selector must be one that could: a typo is no proof."""
    if not is_telling(selector):
        return False
    try:
        return not any(_is_visible(node) for node in parse_selector(selector).match(roots))
    except InvalidStep:
        return False


def _unquoted(text: str) -> str | None:
    if len(text) >= 2 and _QUOTES.get(text[0]) == text[-1]:
        return text[1:-1]
    return None


def _is_quoted(quote: str, roots: Sequence[Node], titles: Sequence[str]) -> bool:
    wanted = normalise(quote)
    if not any(char.isalnum() for char in wanted):
        return False
    pattern = re.compile(_edge(wanted[0], before=True) + re.escape(wanted) + _edge(wanted[-1], before=False))
    short = len(wanted) < SHORT_QUOTE
    return any(pattern.search(normalise(text)) for text in (*_texts(roots, short=short), *titles))


def _edge(char: str, *, before: bool) -> str:
    """A quote starts and ends at word boundaries: ``40`` is not in ``408``."""
    if not char.isalnum():
        return ""
    return r"(?<!\w)" if before else r"(?!\w)"


def _texts(roots: Sequence[Node], *, short: bool) -> Iterator[str]:
    """Each visible text; then each container's text as one line, since a sentence may be cut into several elements."""
    for node in walk(roots):
        if not _is_visible(node) or (short and (node.role in _CONTROLS or node.source == "text")):
            continue
        if node.name:
            yield node.name
        if node.value and "password" not in node.states:
            yield node.value
        if len(node.children) > 1 and node.role not in ("application", "window", "frame", "document"):
            words = [child.name or child.value or "" for child in node.children if _is_visible(child)]
            if not short:
                yield " ".join(word for word in words if word)


def _is_visible(node: Node) -> bool:
    """Text without a place of its own (as in some trees) counts unless it is known to be off the screen.

    What a page has below the fold is there for who scrolls; what a page hides is not in its tree at all.
    """
    if node.source == "page":
        return True
    return "offscreen" not in node.states and (node.rect is None or node.rect.area > 0)
