"""What must not reach the log is replaced here, in every string of an event, just before it is written."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

_HASH = re.compile(r"[0-9a-f]{64}")
_URL_SAFE = str.maketrans("+/", "-_")
_NESTED = 5
_SHORTEST_BASE64 = 6
"""Characters of base64 below which what looks like a secret is more likely chance."""
_SHORT = 3
"""Typed texts below this many characters are replaced where they were asked for, but not hunted elsewhere."""


class Scrubber:
    """Replaces secrets by ``<secret:name>`` and, with ``lengths_only``, typed text by ``<N characters>``.

    Secrets are also found in the forms that other texts carry them in, such as percent-encoded or base64. Typed text
    is remembered, so that a later event that quotes it is cleaned too.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None, *, lengths_only: bool = False) -> None:
        self._lengths_only = lengths_only
        self._replacements: dict[str, str] = {}
        for name, value in (secrets or {}).items():
            for form in _forms(value):
                self._replacements[form] = f"<secret:{name}>"
        self._compile()

    def clean(self, kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields (JSON-ready values) without what must not be kept."""
        if self._lengths_only and kind == "action":
            self._learn(_typed_texts(fields.get("step")))
        cleaned = {key: self.value(value) for key, value in fields.items()}
        if self._lengths_only and kind == "action" and "step" in cleaned:
            cleaned["step"] = _without_text(cleaned["step"])
        return cleaned

    def _learn(self, texts: Iterable[str]) -> None:
        for text in texts:
            if len(text) >= _SHORT:
                for form in _forms(text):
                    self._replacements.setdefault(form, f"<{len(text)} characters>")
        self._compile()

    def _compile(self) -> None:
        # One pass, longest first: a secret inside another one, or inside a placeholder, must not spoil either.
        ordered = sorted(self._replacements, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(form) for form in ordered))

    def _replacement(self, found: re.Match[str]) -> str:
        return self._replacements[found.group()]

    def text(self, text: str) -> str:
        """One string without what must not be kept. A hash loses no digits to a short secret."""
        if _HASH.fullmatch(text):
            return self._replacements.get(text, text)
        return self._pattern.sub(self._replacement, text) if self._replacements else text

    def value(self, value: Any) -> Any:
        """JSON-ready data without what must not be kept, in any of its strings."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return value


def _forms(value: str) -> set[str]:
    """The value as other texts carry it: as it is, escaped for JSON, HTML and addresses, and inside base64."""
    forms: set[str] = set()
    # A name on the screen has its white space joined, and its letters composed or not.
    for spelling in {
        value,
        " ".join(value.split()),
        *(unicodedata.normalize(f, value) for f in ("NFC", "NFD")),
    }:
        bare = html.escape(spelling, quote=False)
        for text in (spelling, bare, html.escape(spelling), bare.replace('"', "&quot;")):
            forms |= set(_escaped(text))
        forms.add(repr(spelling)[1:-1])
        with contextlib.suppress(UnicodeEncodeError):  # a lone surrogate has no bytes
            forms |= set(_encoded(spelling))
    return forms - {""}


def _escaped(text: str) -> Iterator[str]:
    """Escaped for JSON, and that again: what a page shows as JSON is quoted in a line that is quoted in a log."""
    for ascii_only in (True, False):
        form = text
        for _ in range(_NESTED):
            yield form
            form = json.dumps(form, ensure_ascii=ascii_only)[1:-1]


def _encoded(text: str) -> Iterator[str]:
    for safe in ("", "/", "!'()*~", "!'()*~;,/?:@&=+$#", "*-._"):
        for form in (quote(text, safe=safe), quote_plus(text, safe=safe)):
            yield form
            yield re.sub(r"%[0-9A-F]{2}", lambda code: code[0].lower(), form)
    data = text.encode()
    for before in range(3):
        # The characters that depend on nothing but the text, wherever it stands in what was encoded.
        whole = base64.b64encode(bytes(before) + data).decode()
        inner = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        if len(inner) >= _SHORTEST_BASE64:
            yield from (inner, inner.translate(_URL_SAFE))


def _typed_texts(step: Any) -> Iterable[str]:
    if isinstance(step, dict):
        if isinstance(text := step.get("text"), str):
            yield text
        if isinstance(keys := step.get("keys"), str):
            yield from (part[2:] for part in keys.split(";") if part.startswith("t:"))


def _without_text(step: Any) -> Any:
    if not isinstance(step, dict):
        return step
    step = dict(step)
    if isinstance(text := step.get("text"), str) and not text.startswith("<secret:"):
        step["text"] = text if text.endswith(" characters>") else f"<{len(text)} characters>"
    if isinstance(keys := step.get("keys"), str):
        step["keys"] = ";".join(_sequence_part(part) for part in keys.split(";"))
    return step


def _sequence_part(part: str) -> str:
    if not part.startswith("t:") or part.endswith((" characters>", ">")):
        return part
    return f"t:<{len(part) - 2} characters>"
