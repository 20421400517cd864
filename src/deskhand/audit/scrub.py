"""What must not reach the log is replaced here, in every string of an event, just before it is written."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

_HASH = re.compile(r"[0-9a-f]{64}")
_SHORT = 3
"""Typed texts below this many characters are replaced where they were asked for, but not hunted elsewhere."""


class Scrubber:
    """Replaces secrets by ``<secret:name>`` and, with ``lengths_only``, typed text by ``<N characters>``.

    Secrets are also found in the forms that other texts carry them in: JSON-escaped and percent-encoded. Typed text
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
    escaped = json.dumps(value)[1:-1]
    forms = {value, escaped, json.dumps(escaped)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    with contextlib.suppress(UnicodeEncodeError):  # a lone surrogate has no percent-encoding
        forms.add(quote(value, safe=""))
    return forms - {""}


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
