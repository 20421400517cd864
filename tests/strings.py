"""Random text in all scripts, as people could paste it."""

from __future__ import annotations

import random
import unicodedata

SCRIPTS: tuple[tuple[str, range], ...] = (
    ("ASCII", range(0x20, 0x7F)),
    ("Latin", range(0xC0, 0x250)),
    ("Greek", range(0x370, 0x400)),
    ("Cyrillic", range(0x400, 0x530)),
    ("Armenian", range(0x531, 0x590)),
    ("Hebrew", range(0x5D0, 0x5EB)),
    ("Arabic", range(0x620, 0x64B)),
    ("Devanagari", range(0x904, 0x970)),
    ("Bengali", range(0x985, 0x9B0)),
    ("Tamil", range(0xB85, 0xBBA)),
    ("Thai", range(0xE01, 0xE3B)),
    ("Georgian", range(0x10D0, 0x10FB)),
    ("Ethiopic", range(0x1200, 0x1240)),
    ("Cherokee", range(0x13A0, 0x13F5)),
    ("Khmer", range(0x1780, 0x17B4)),
    ("punctuation", range(0x2010, 0x2028)),
    ("currency", range(0x20A0, 0x20BF)),
    ("mathematics", range(0x2200, 0x2300)),
    ("box drawing", range(0x2500, 0x2580)),
    ("kana", range(0x3041, 0x30FF)),
    ("Han", range(0x4E00, 0x9FD0)),
    ("Hangul", range(0xAC00, 0xD7A4)),
    ("fullwidth", range(0xFF01, 0xFF5F)),
)
BEYOND: tuple[tuple[str, range], ...] = (
    ("Gothic", range(0x10330, 0x1034B)),
    ("Deseret", range(0x10400, 0x10450)),
    ("letters of mathematics", range(0x1D400, 0x1D455)),
    ("emoji", range(0x1F600, 0x1F645)),
    ("Han, extension B", range(0x20000, 0x20100)),
)
EMOJI = (
    "👩‍🔬", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇯🇵", "👍🏽", "1️⃣", "❤️", "🧑🏿‍🚀", "🐻‍❄️",
)  # fmt: skip
MARKED = (
    "e\u0301",
    "n\u0303",
    "a\u0323\u0302",
    "o\u0308\u0304",
    "क\u094d\u0937",
    "ש\u05c1",
    "ب\u064e",
    "Z\u0351\u036b",
)


def strings(count: int, *, bmp_line: bool = False, seed: int = 1) -> list[str]:
    """``count`` strings, the same each time; ``bmp_line``: one line of the Basic Multilingual Plane each."""
    chance = random.Random(seed)
    return [_string(chance, bmp_line) for _ in range(count)]


def _string(chance: random.Random, bmp_line: bool) -> str:
    scripts = SCRIPTS if bmp_line else SCRIPTS + BEYOND
    parts = []
    for _ in range(chance.randint(1, 5)):
        kind = chance.random()
        if kind < 0.1 and not bmp_line:
            parts.append(chance.choice(EMOJI))
        elif kind < 0.2 and not bmp_line:
            parts.append(chance.choice(("\n", "\t", "\n\t", "\n\n")))
        elif kind < 0.35:
            parts.append(chance.choice(MARKED))
        else:
            letters = [chr(code) for code in chance.choice(scripts)[1] if _is_text(chr(code))]
            parts.append("".join(chance.choice(letters) for _ in range(chance.randint(1, 12))))
    # A text that is only white space could not be told from none where each text ends.
    return f"{chance.choice('aZß9')}{''.join(parts)}{chance.choice('bYø0')}"


def _is_text(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
