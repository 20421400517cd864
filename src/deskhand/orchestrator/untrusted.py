"""The envelope: what was read from a screen reaches a model between two marks that nothing inside can imitate."""

from __future__ import annotations

import re
from typing import Final

OPEN: Final = "<screen>"
CLOSE: Final = "</screen>"

_FORGED: Final = re.compile(
    r"[<＜﹤‹⟨〈&]\s*(?:lt;)?\s*([/／⁄∕\\]?)\s*(?=s\W{0,2}c\W{0,2}r\W{0,2}e\W{0,2}e\W{0,2}n)", re.IGNORECASE
)
"""A bracket before the mark's word, however it is spelt: it becomes a parenthesis."""


def envelope(text: str) -> str:
    """``text`` between the marks."""
    return f"{OPEN}\n{harmless(text)}\n{CLOSE}"


def harmless(text: str) -> str:
    """``text`` as it stands in an envelope."""
    return _FORGED.sub(lambda found: "(" + found[1], text)
