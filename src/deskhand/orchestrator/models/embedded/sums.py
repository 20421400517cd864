"""Arithmetic and equations in one unknown, as they are written on a screen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

_SIGNS = str.maketrans(
    {"×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "∕": "/", "−": "-", "–": "-", ":": "/"}
)
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z])(?![A-Za-z])|([-+*/()]))")


@dataclass(frozen=True, slots=True)
class Linear:
    """``factor`` · x + ``rest``."""

    factor: Fraction
    rest: Fraction


def evaluate(text: str) -> Fraction | None:
    """What "7 + 3 =" comes to; None when it is no sum, is cut off, or divides by zero."""
    body = re.sub(r"\s*=\s*\??\s*$", "", text.strip())
    body = re.sub(r"(?<=[\d)])\s*[xX]\s*(?=[\d(-])", "*", body)
    if not re.search(r"\d\s*[-+*/×÷·⋅−–]\s*\(?-?\d", body.translate(_SIGNS)) or "=" in body:
        return None
    value = _parsed(body, "")
    return value.rest if value is not None else None


def solve(text: str, unknown: str) -> Fraction | None:
    """The value of the unknown in "x + 7 = 5"; None when it is no equation that has exactly one."""
    left, equals, right = text.partition("=")
    if not equals or "=" in right or not right.strip():
        return None
    one, other = _parsed(left, unknown), _parsed(right, unknown)
    if one is None or other is None or one.factor == other.factor:
        return None
    return (other.rest - one.rest) / (one.factor - other.factor)


def _parsed(text: str, unknown: str) -> Linear | None:
    tokens = _tokens(text.translate(_SIGNS))
    if not tokens:
        return None
    reader = _Reader(tokens, unknown.casefold())
    try:
        value = reader.sum()
    except (ValueError, IndexError, ZeroDivisionError):
        return None
    return value if reader.at == len(tokens) else None


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return []
        found.append(token.group().strip())
        at = token.end()
    return found


class _Reader:
    """Recursive descent: sums of products of signed atoms; "3x" and "3(x + 1)" are products."""

    def __init__(self, tokens: list[str], unknown: str) -> None:
        self.tokens, self.unknown, self.at = tokens, unknown, 0

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def sum(self) -> Linear:
        value = self.product()
        while (sign := self._next()) in ("+", "-") and sign:
            self.at += 1
            other = self.product()
            way = 1 if sign == "+" else -1
            value = Linear(value.factor + way * other.factor, value.rest + way * other.rest)
        return value

    def product(self) -> Linear:
        value = self.atom()
        while (sign := self._next()) and (sign in "*/(" or sign.isalpha()):
            if sign in "*/":
                self.at += 1
            other = self.atom()
            if sign == "/":
                if other.factor:
                    raise ValueError("an unknown below a fraction")
                value = Linear(value.factor / other.rest, value.rest / other.rest)
            elif value.factor and other.factor:
                raise ValueError("not linear")
            else:
                value = Linear(value.factor * other.rest + other.factor * value.rest, value.rest * other.rest)
        return value

    def atom(self) -> Linear:
        token = self.tokens[self.at]
        self.at += 1
        if token == "-":
            inner = self.atom()
            return Linear(-inner.factor, -inner.rest)
        if token == "+":
            return self.atom()
        if token == "(":
            inner = self.sum()
            if self._next() != ")":
                raise ValueError("not closed")
            self.at += 1
            return inner
        if token.casefold() == self.unknown and self.unknown:
            return Linear(Fraction(1), Fraction(0))
        return Linear(Fraction(0), Fraction(token))
