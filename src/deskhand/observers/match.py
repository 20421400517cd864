"""Evaluating a parsed selector on a forest of `Node`s."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from cssselect2 import parser as css

from deskhand.errors import InvalidStep
from deskhand.messages import Node
from deskhand.observers.node import STATES, Flat, comparable, normalise, text_of
from deskhand.observers.roles import spellings

STATE_NAMES: Final = frozenset(STATES | {"enabled", "visible"})
"""What may stand alone in brackets."""

_OWN_WINDOWS: Final = frozenset({"dialog", "alertdialog"})

_Test: TypeAlias = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Roles:
    """A role word that may stand for several roles; takes the place of a type selector."""

    roles: frozenset[str]


def select(tree: Any, flat: Flat) -> list[int]:
    """The indices that a selector tree matches, in document order."""
    if isinstance(tree, css.CombinedSelector):
        left = select(tree.left, flat)
        if tree.combinator == ">":
            inside = set(left)
            candidates: Iterable[int] = (i for i, above in enumerate(flat.parent) if above in inside)
        else:
            candidates = _descendants(left, flat)
        return _narrow(tree.right, candidates, flat)
    return _narrow(tree, range(len(flat.nodes)), flat)


def _descendants(of: Sequence[int], flat: Flat) -> Iterable[int]:
    reached = 0
    for index in of:
        start = max(index + 1, reached)
        yield from range(start, flat.end[index])
        reached = max(reached, flat.end[index])


def _narrow(compound: Any, candidates: Iterable[int], flat: Flat) -> list[int]:
    found = list(candidates)
    for simple in compound.simple_selectors:
        if isinstance(simple, css.FunctionalPseudoClassSelector) and simple.name == "nth":
            n = next(each.int_value for each in simple.arguments if each.type == "number")
            found = found[n - 1 : n]
        elif _is_exact_name(simple):
            found = _named(simple, found, flat)
        elif not isinstance(simple, css.NamespaceSelector):
            test = _test(simple, flat)
            found = [index for index in found if test(index)]
    return found


def _is_exact_name(simple: Any) -> bool:
    return isinstance(simple, css.AttributeSelector) and (simple.lower_name, simple.operator) == ("name", "=")


def _named(simple: Any, candidates: list[int], flat: Flat) -> list[int]:
    """Those of exactly this name; if there are none, those that differ by a label's punctuation only.

    ``Name:`` is a field called Name, ``Save As…`` a menu item called Save As.
    """
    exact = _attribute_test(simple)
    if found := [index for index in candidates if exact(flat.nodes[index])]:
        return found
    fold = comparable if simple.case_sensitive is False else normalise
    wanted = _bare(fold(simple.value))
    if not wanted:
        return []
    return [i for i in candidates if flat.nodes[i].name and _bare(fold(flat.nodes[i].name)) == wanted]


def _bare(name: str) -> str:
    return name.removesuffix("…").removesuffix("...").removesuffix(":").rstrip()


def _test(simple: Any, flat: Flat) -> _Test:
    """One condition as a function of an index. The parser has already refused conditions that do not exist."""
    nodes = flat.nodes
    match simple:
        case css.LocalNameSelector():
            return _role_test(frozenset({simple.lower_local_name}), flat)
        case Roles():
            return _role_test(simple.roles, flat)
        case css.AttributeSelector():
            holds = _attribute_test(simple)
            return lambda i: holds(nodes[i])
        case css.FunctionalPseudoClassSelector():
            words = comparable(next(each.value for each in simple.arguments if each.type == "string"))
            return lambda i: words in comparable(text_of(nodes[i]))
        case css.NegationSelector():
            excluded = _any(simple, flat)
            return lambda i: i not in excluded
        case css.RelationalSelector():
            return _holders(simple, flat).__contains__
        case css.MatchesAnySelector() | css.SpecificityAdjustmentSelector():
            return _any(simple, flat).__contains__
    raise InvalidStep(f"selector: {simple!r} is not used here")


def _role_test(roles: frozenset[str], flat: Flat) -> _Test:
    """Whether a node is of one of these roles. A dialog that is a window of its own is a window, too."""
    nodes, parent = flat.nodes, flat.parent
    if "window" in roles:
        return lambda i: nodes[i].role in roles or (parent[i] < 0 and nodes[i].role in _OWN_WINDOWS)
    return lambda i: nodes[i].role in roles


def _any(simple: Any, flat: Flat) -> set[int]:
    return {index for each in simple.selector_list for index in select(each.parsed_tree, flat)}


def _holders(simple: Any, flat: Flat) -> set[int]:
    """The nodes that ``:has(…)`` is true of."""
    holders: set[int] = set()
    for relative in simple.selector_list:
        for found in select(relative.selector.parsed_tree, flat):
            above = flat.path(found)
            holders.update(list(above)[:1] if relative.combinator == ">" else above)
    return holders


def _attribute_test(simple: Any) -> Callable[[Node], bool]:
    name = simple.lower_name
    if name in STATE_NAMES:
        return _state_test(name, simple.value)
    read = _reader(name)
    if simple.operator is None:
        return lambda node: bool(read(node))
    fold = comparable if simple.case_sensitive is False else normalise
    if name == "role" and simple.operator == "=" and (roles := spellings(simple.value)):
        return lambda node: node.role in roles
    compare = _compare(simple.operator, fold(simple.value))
    return lambda node: (has := read(node)) is not None and compare(fold(has))


def _compare(operator: str, wanted: str) -> Callable[[str], bool]:
    if operator == "=":
        return lambda has: has == wanted
    if not wanted:  # as in CSS: a part that is empty matches nothing
        return lambda has: False
    return {
        "^=": lambda has: has.startswith(wanted),
        "$=": lambda has: has.endswith(wanted),
        "*=": lambda has: wanted in has,
        "~=": lambda has: wanted in has.split(),
    }[operator]


def _reader(name: str) -> Callable[[Node], str | None]:
    if name == "level":
        return lambda node: None if node.level is None else str(node.level)
    return lambda node: getattr(node, name)


def _state_test(name: str, value: str | None) -> Callable[[Node], bool]:
    if name == "checked" and value == "mixed":
        return lambda node: "mixed" in node.states
    opposite = {"enabled": "disabled", "visible": "offscreen"}.get(name)
    state, positive = (opposite, False) if opposite else (name, True)
    if value is not None and value.lower() == "false":
        positive = not positive
    return lambda node: (state in node.states) is positive
