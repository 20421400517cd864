"""Columns of text for terminals and pipes: measured in cells, cut with an ellipsis, and safe to print."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

# What could move the cursor, colour the screen or turn the reading direction: names and texts come from strangers.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_STYLES = {"dim": "2", "bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "magenta": "35"}
_GAP = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its heading, its least width in cells, and its share of what width is left (0: never wider)."""

    heading: str
    width: int
    share: int = 0
    right: bool = False


class Table:
    """Lays rows out in columns, one line a row, without knowing the rows that follow."""

    def __init__(self, columns: Sequence[Column], *, width: int, colour: bool = False) -> None:
        self.colour = colour
        spare = width - sum(column.width for column in columns) - len(_GAP) * (len(columns) - 1)
        shares = sum(column.share for column in columns) or 1
        self._columns = [
            (column, column.width + max(0, spare) * column.share // shares) for column in columns
        ]

    def header(self) -> str:
        """The line of headings."""
        return self.row([column.heading for column, _ in self._columns], ["dim"] * len(self._columns))

    def row(self, cells: Sequence[str], styles: Sequence[str] = ()) -> str:
        """One line. ``styles`` (``red``, ``dim``…, or empty) go with the cells; used only where there is colour."""
        parts = []
        for index, (column, width) in enumerate(self._columns):
            text = fit(cells[index] if index < len(cells) else "", width, right=column.right)
            if index == len(self._columns) - 1 and not column.right:
                text = text.rstrip()
            parts.append(self.paint(text, styles[index] if index < len(styles) else ""))
        return _GAP.join(parts).rstrip()

    def paint(self, text: str, style: str) -> str:
        """``text`` in a style, where there is colour."""
        if not self.colour or not style or not text.strip():
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def safe(text: str) -> str:
    """``text`` on one line, without anything that a terminal would obey."""
    return " ".join(_UNSAFE.sub(" ", text).split())


def printable(text: str) -> str:
    """``text`` with its lines and indents, but without anything else that a terminal would obey."""
    return "\n".join(_UNSAFE.sub(" ", line.expandtabs(4)) for line in text.split("\n"))


def cells(text: str) -> int:
    """How many terminal cells a safe text takes."""
    if text.isascii():
        return len(text)
    return sum(_cell(character) for character in text)


def fit(text: str, width: int, *, right: bool = False) -> str:
    """A safe form of ``text`` in exactly ``width`` cells, cut with an ellipsis."""
    text = safe(text[: width * 8])  # a name can be a megabyte long
    size = cells(text)
    if size > width:
        kept, size = [], 1
        for character in text:
            if size + _cell(character) > width:
                break
            kept.append(character)
            size += _cell(character)
        text = "".join(kept) + "…"
    padding = " " * (width - size)
    return padding + text if right else text + padding


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
