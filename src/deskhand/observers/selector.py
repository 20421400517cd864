"""The selector grammar: CSS, read by cssselect2's parser, over roles and accessible attributes.

Why cssselect2 (on tinycss2): it is maintained, tiny, pure Python, and its tokens know their line and column, so that
an error can point at the character. soupsieve reports no positions and needs an HTML library. Matching is ours, because
the tree is not HTML.

Beyond CSS: a role may be spelled as AT-SPI spells it (``push button[name='Save']``), a whole selector may be gptme's
``push button:Save`` (role, colon, name; case does not matter), ``\\n`` and ``\\t`` in a string are a line break and a
tab, and ``window`` means the dialogs that are windows of their own as well.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Never

import tinycss2
from cssselect2 import parser as css

from deskhand.errors import InvalidStep
from deskhand.messages import Node
from deskhand.observers.match import STATE_NAMES, Roles, select
from deskhand.observers.node import Flat, flatten, normalise
from deskhand.observers.roles import ROLES, spellings

MAX_LENGTH: Final = 20_000
"""Characters a selector may have (a name can be 10,000 long)."""

ATTRIBUTES: Final = ("name", "description", "value", "role", "app", "window")
_NOT_NAMES: Final = frozenset(
    "active checked disabled enabled expanded first-child focus focused hover last-child selected visible".split()
)
"""What after a colon is meant as a CSS pseudo-class, not as gptme's name: said to be unknown, not looked for."""
_OPERATORS: Final = ("=", "^=", "$=", "*=", "~=")
_ONE_WORD: Final = {"radio button"}
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_MARK: Final = "\ufdd0"
"""Stands in for a backslash where CSS would drop it; no text has it (a noncharacter of Unicode)."""
_GPTME: Final = re.compile(r"\s*([A-Za-z][A-Za-z _-]*?)\s*:(?!:)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Selector:
    """A parsed selector. ``text`` is what it was parsed from."""

    text: str
    _alternatives: tuple[Any, ...]

    def match(self, roots: Iterable[Node]) -> list[Node]:
        """Every node that matches, in document order."""
        flat = flatten(roots)
        return [flat.nodes[index] for index in self.indices(flat)]

    def indices(self, flat: Flat) -> list[int]:
        """Like `match`, on a forest that was laid out already: indices into ``flat.nodes``."""
        found: set[int] = set()
        for alternative in self._alternatives:
            found.update(select(alternative, flat))
        return sorted(found)

    def may_be(self, role: str) -> bool:
        """Whether what it matches could be of this role, by the role that it names, if it names one."""
        return any(_may_be(each, role) for each in self._alternatives)

    def __str__(self) -> str:
        return self.text


def _may_be(tree: Any, role: str) -> bool:
    last = tree.right if isinstance(tree, css.CombinedSelector) else tree
    for simple in last.simple_selectors:
        if isinstance(simple, Roles) and role not in simple.roles:
            return False
        if isinstance(simple, css.LocalNameSelector) and simple.lower_local_name != role:
            return False
    return True


def parse_selector(text: str) -> Selector:
    """Parse a selector. InvalidStep says what is wrong, at which character (from 1), and what would be right."""
    if not text.strip():
        raise InvalidStep("empty selector: write a role and what tells it apart, such as button[name='Save']")
    if len(text) > MAX_LENGTH:
        raise InvalidStep(
            f"selector of {len(text)} characters: at most {MAX_LENGTH}; match a part with name^='…'"
        )
    if (spoken := _gptme(text)) is not None:
        return Selector(text, (spoken,))
    source = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    try:
        tokens = _checked(_tokens(source), source)
        parsed = [each.parsed_tree for each in css.parse(tokens)]
    except css.SelectorError as error:
        token, message = (*error.args, "")[:2]
        _fail(source, token if hasattr(token, "source_line") else None, _plainer(str(message)))
    except RecursionError:
        raise InvalidStep("selector is nested too deeply") from None
    return Selector(text, tuple(parsed))


def selector_for(node: Node, roots: Sequence[Node]) -> str:
    """A selector that finds this very node and no other, if attributes or place can tell it apart; else the narrowest.

    Prefers what survives a re-layout: role and name first, then a named ancestor, then ``:nth``.
    """
    flat = flatten(roots)
    index = next((i for i, other in enumerate(flat.nodes) if other is node), None)
    simple = _simple(node)
    if index is None:
        return simple
    matches = parse_selector(simple).indices(flat)
    if matches == [index]:
        return simple
    for above in flat.path(index):
        holder = flat.nodes[above]
        if not holder.name:
            continue
        scoped = f"{_simple(holder)} {simple}"
        found = parse_selector(scoped).indices(flat)
        if found == [index]:
            return scoped
    return f"{simple}:nth({bisect_left(matches, index) + 1})"


# --- making -------------------------------------------------------------------------------------------------------


def _simple(node: Node) -> str:
    role = node.role if node.role in ROLES else f"[role={_string(node.role)}]"
    if node.name and normalise(node.name):
        shown = node.name if len(node.name) <= 1000 else None
        return f"{role}[name={_string(shown)}]" if shown else f"{role}[name^={_string(node.name[:200])}]"
    if normalise(node.description) and len(node.description) <= 200:
        return f"{role}[description={_string(node.description)}]"
    return role


def _string(text: str) -> str:
    return "'" + "".join(c if c not in "'\\" and c.isprintable() else f"\\{ord(c):x} " for c in text) + "'"


# --- reading ------------------------------------------------------------------------------------------------------


def _tokens(source: str) -> list[Any]:
    """The tokens of a selector whose strings may say ``\\n`` and ``\\t``; CSS alone reads these as plain letters."""
    marked = _ESCAPE.sub(lambda found: _MARK + found[1] if found[1] in "nt" else found[0], source)
    tokens: list[Any] = tinycss2.parse_component_value_list(marked, skip_comments=True)
    stack = list(tokens)
    while stack:
        token = stack.pop()
        if token.type == "string":
            token.value = token.value.replace(_MARK + "n", "\n").replace(_MARK + "t", "\t")
        stack.extend(getattr(token, "content", None) or getattr(token, "arguments", None) or ())
    return tokens


def _gptme(text: str) -> Any | None:
    """gptme's ``role:name``, as the tree that `css` would build, or None when ``text`` is not of that form."""
    found = _GPTME.fullmatch(text)
    if found is None:
        return None
    roles, name = spellings(found[1]), found[2].strip()
    if roles is None or not name or name in _NOT_NAMES or re.match(r"[a-z-]+\s*[\[(]", name):
        return None
    return css.CompoundSelector([Roles(roles), css.AttributeSelector("", ("name", "name"), "=", name, False)])


def _checked(tokens: Sequence[Any], source: str) -> list[Any]:
    """Refuse words that mean nothing here while their place is known, and join AT-SPI's two-word roles."""
    out: list[Any] = []
    rest = list(tokens)
    while rest:
        token = rest.pop(0)
        before = out[-1] if out else None
        if token.type == "error":
            _fail(source, token, f"{token.message}; inside quotes write \\n for a line break")
        elif token.type == "ident" and before != ":":
            token = _role_word(token, rest, source)
        elif token.type == "[] block":
            _check_attribute(token, source)
        elif before == ":":
            _check_pseudo(token, source)
        elif token.type == "literal" and token.value not in (">", "*", ",", ":"):
            _fail(
                source,
                token,
                f"{token.value!r} is not used; combine with a space (inside) or '>' (directly inside)",
            )
        elif token.type not in ("whitespace", "literal"):
            _fail(source, token, "write a role, then [name='…'] or [state]")
        out.append(token)
    return out


def _role_word(token: Any, rest: list[Any], source: str) -> Any:
    """The role token at this place, with the words of an AT-SPI spelling joined and translated."""
    words, used = [token.value], 0
    for length in (3, 2):
        following = rest[: 2 * length - 2]
        if len(following) == 2 * length - 2 and all(
            each.type == ("ident" if place % 2 else "whitespace") for place, each in enumerate(following)
        ):
            joined = " ".join([token.value, *(each.value for each in following[1::2])]).lower()
            first, last = token.value.lower(), following[-1].value.lower()
            if spellings(joined) and (joined in _ONE_WORD or not (first in ROLES and last in ROLES)):
                words, used = [joined], 2 * length - 2
                break
    del rest[:used]
    word = words[0]
    lower = word.lower()
    if lower in ROLES:
        canonical = lower
    elif (roles := spellings(word)) is not None:
        canonical = sorted(roles)[0]
    else:
        canonical = lower
        _check_role(token, lower, source)
    if canonical == token.value:
        return token
    return tinycss2.ast.IdentToken(token.source_line, token.source_column, canonical)


def _check_role(token: Any, word: str, source: str) -> None:
    import difflib

    near = difflib.get_close_matches(word, ROLES, n=1, cutoff=0.6)
    hint = (
        f"did you mean {near[0]!r}?"
        if near
        else "use an ARIA role (button, textbox, checkbox, menuitem, dialog…)"
    )
    _fail(source, token, f"{word!r} is no role; {hint}")


def _check_attribute(block: Any, source: str) -> None:
    inner = [each for each in block.content if each.type != "whitespace"]
    if not inner or inner[0].type != "ident":
        _fail(source, inner[0] if inner else block, "write [name='…'] or a state such as [checked]")
    name = inner[0]
    known = name.lower_value in ATTRIBUTES or name.lower_value in STATE_NAMES or name.lower_value == "level"
    if not known:
        _fail(source, name, f"no attribute {name.value!r}: there are {', '.join(ATTRIBUTES)} and the states")
    if len(inner) == 1:
        if name.lower_value not in STATE_NAMES and name.lower_value not in (
            "description",
            "value",
            "name",
            "url",
        ):
            _fail(source, name, f"{name.value} needs a value: [{name.value}='…']")
        return
    operator = inner[1]
    if operator.type != "literal" or operator.value not in _OPERATORS:
        _fail(source, operator, f"use one of {' '.join(_OPERATORS)} after {name.value}")
    if len(inner) < 3:
        _fail(source, operator, f"a quoted value is missing after {operator.value}")
    value = inner[2]
    if value.type == "error":
        _fail(source, value, f"{value.message}; inside quotes write \\n for a line break")
    if value.type == "number":
        place = block.content.index(value)
        block.content[place] = tinycss2.ast.StringToken(
            value.source_line, value.source_column, value.representation, f"'{value.representation}'"
        )
    elif value.type not in ("ident", "string"):
        _fail(source, value, "put the value in quotes")
    if name.lower_value in STATE_NAMES and block.content and value.type in ("ident", "string"):
        allowed = ("true", "false", "mixed") if name.lower_value == "checked" else ("true", "false")
        if operator.value != "=" or value.value.lower() not in allowed:
            _fail(source, value, f"{name.value} is a state: [{name.value}] or [{name.value}='false']")


def _check_pseudo(token: Any, source: str) -> None:
    if token.type == "ident":
        _fail(source, token, f"no ':{token.value}': states are written in brackets, as [{token.value}]")
    if token.type != "function":
        _fail(source, token, "after ':' comes nth(n), has-text('…') or not(…)")
    name = token.lower_name
    arguments = [each for each in token.arguments if each.type != "whitespace"]
    if name == "nth":
        ok = len(arguments) == 1 and arguments[0].type == "number" and arguments[0].is_integer
        if not ok or arguments[0].int_value < 1:
            _fail(
                source, arguments[0] if arguments else token, "nth counts from 1: :nth(1) is the first match"
            )
    elif name == "has-text":
        if len(arguments) != 1 or arguments[0].type != "string" or not normalise(arguments[0].value):
            _fail(source, arguments[0] if arguments else token, "write :has-text('some words')")
    elif name in ("not", "is", "where", "has"):
        token.arguments[:] = _checked(token.arguments, source)
        if any(each.type == "function" and each.lower_name == "nth" for each in token.arguments):
            _fail(source, token, f"nth cannot be used inside {name}()")
    else:
        _fail(source, token, f"no ':{token.name}()': there are :nth(n), :has-text('…') and :not(…)")


def _plainer(message: str) -> str:
    if "compound selector" in message:
        return "a role, '*' or [attribute] is missing here"
    return message.replace("<", "").replace(">", "") or "cannot be read"


def _fail(source: str, token: Any, message: str) -> Never:
    """Raise InvalidStep with the place of the token; the end of the text when there is none."""
    if token is None:
        place = len(source)
    else:
        lines = source.split("\n")
        place = sum(len(line) + 1 for line in lines[: token.source_line - 1]) + token.source_column - 1
    around = source[max(0, place - 20) : place] + "▶" + source[place : place + 20]
    raise InvalidStep(f"selector, character {place + 1}: {message} (at ▶ in {around!r})")
