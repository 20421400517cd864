"""What changed between two looks: what appeared, vanished and changed, by the elements' own identity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import Final

from deskhand.messages import Node
from deskhand.observers.node import quote, text_of, walk
from deskhand.observers.refs import ROWS
from deskhand.observers.serialize import describe, options, options_words, render
from deskhand.observers.worth import echoes, is_hidden, is_wrapper, repeats, tells_ref

LIMIT_CHARS: Final = 3_000
"""The default bound of a diff as text: about 750 tokens."""


_KNOWN: Final = 10
"""Characters from which on what stayed the same is not told again."""

_GONE: Final = 8
"""Things that are gone, on one line."""

_TYPED_INTO: Final = frozenset({"textbox", "searchbox", "combobox", "spinbutton"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """The difference of two forests, in document order.

    ``appeared`` and ``vanished`` are the topmost nodes (all below them is new or gone as well), each with the nearest
    named ancestor; ``changed`` pairs the node before with the node after.
    """

    appeared: tuple[tuple[Node, Node | None], ...] = ()
    vanished: tuple[tuple[Node, Node | None], ...] = ()
    changed: tuple[tuple[Node, Node], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.appeared or self.vanished or self.changed)


@dataclass(slots=True)
class _Entry:
    node: Node
    above: Hashable
    holder: Node | None
    """The nearest ancestor with a name."""
    place: int
    """Its place among the siblings of its role."""


def compare(old: Sequence[Node], new: Sequence[Node]) -> Delta:
    """What is different in ``new``. Elements are the same when source and handle are; without a handle, by place."""
    numbers: dict[Hashable, int] = {}  # flat keys: a path of keys would be as deep as the tree
    before, after = _index(old, numbers), _index(new, numbers)
    appeared = [key for key in after if key not in before]
    vanished = [key for key in before if key not in after]
    renamed = _renamed(before, after, vanished, appeared)
    gone, come = set(vanished) - {k for k, _ in renamed}, set(appeared) - {k for _, k in renamed}
    changed = [(before[key].node, after[key].node) for key in after if key in before]
    changed += [(before[was].node, after[now].node) for was, now in renamed]
    return Delta(
        appeared=tuple((e.node, e.holder) for k, e in after.items() if k in come and e.above not in come),
        vanished=tuple((e.node, e.holder) for k, e in before.items() if k in gone and e.above not in gone),
        changed=tuple((was, now) for was, now in changed if _differ(was, now)),
    )


def diff(old: Sequence[Node], new: Sequence[Node], *, limit_chars: int = LIMIT_CHARS) -> str:
    """`compare` as text with refs, at most ``limit_chars`` characters (at least 200); empty when nothing is different.

    ``+`` is new, ``~`` is changed (with what it was), ``gone:`` is no longer there.
    """
    delta = compare(old, new)
    replaced = [(was, now) for was, now in delta.changed if _is_other_row(was, now)]
    told = {id(each) for _, now in replaced for each in walk(now.children)}
    told |= {id(each) for was, _ in replaced for each in walk(was.children)}
    blocks: list[str] = []
    for was, now in delta.changed:
        if id(now) in told:
            continue
        row = _is_other_row(was, now)
        blocks.append(f"~ {render((now,)).removeprefix('- ') if row else _change(was, now)}")
    tops = {id(root) for root in (*old, *new)}
    appeared = [(node, holder) for node, holder in delta.appeared if id(node) not in told]
    for holder, nodes in _by_holder(appeared, tops):
        blocks.extend(_come(nodes, holder, max(200, limit_chars // 2)))
    vanished = [(node, holder) for node, holder in delta.vanished if id(node) not in told]
    for holder, nodes in _by_holder(vanished, tops):
        blocks.extend(_gone(nodes, holder))
    return _bounded(blocks, max(200, limit_chars))


def _by_holder(
    nodes: Sequence[tuple[Node, Node | None]], tops: set[int]
) -> Iterator[tuple[Node | None, list[Node]]]:
    """Neighbours that are in the same thing, together; None where that is the window or the page itself."""
    for _, group in groupby(nodes, lambda each: id(each[1])):
        listed = list(group)
        holder = listed[0][1]
        yield (None if id(holder) in tops else holder), [node for node, _ in listed]


def _come(nodes: Sequence[Node], holder: Node | None, limit: int) -> Iterator[str]:
    """What is new; several things in one holder stand below its name."""
    inset = "  " if holder is not None and len(nodes) > 1 else ""
    head = f"+ in {_named(holder)}:\n" if inset and holder is not None else ""
    for node in nodes:
        text = render((node,), limit_chars=limit)
        if not text:
            continue
        if inset:
            yield head + "\n".join(f"{inset}{line}" for line in text.split("\n"))
            head = ""
            continue
        first, *rest = text.split("\n")
        place = f" (in {_named(holder)})" if holder is not None else ""
        yield "\n".join([f"+ {first.removeprefix('- ')}{place}", *rest])


def _gone(nodes: Sequence[Node], holder: Node | None) -> Iterator[str]:
    """What is no longer there, a few to a line: what it held is of no use any more."""
    place = f" (in {_named(holder)})" if holder is not None else ""
    for start in range(0, len(nodes), _GONE):
        names = [_short(node) for node in nodes[start : start + _GONE]]
        yield f"gone: {', '.join(names)}{place}"


def _short(node: Node) -> str:
    name = node.name or (text_of(node) if node.role in ROWS else "")
    ref = f" [{node.ref}]" if tells_ref(node) else ""
    if node.role == "text" or not (name or ref):
        name = name or node.value or ""
    return f"{node.role}{' ' + quote(name, 40) if name else ''}{ref}"


def _named(holder: Node) -> str:
    return f"{holder.role} {quote(holder.name, 60)}"


def _is_other_row(was: Node, now: Node) -> bool:
    """Whether a row without a name of its own has other contents now, which say which one it is."""
    return now.role in ROWS and not now.name and bool(was.ref and now.ref) and was.ref != now.ref


def _bounded(blocks: Sequence[str], limit: int) -> str:
    out: list[str] = []
    size = 0
    for place, block in enumerate(blocks):
        left = len(blocks) - place
        notice = f"… {left} more changes; observe to see them"
        if size + len(block) + 1 > limit - (len(notice) + 1 if left > 1 else 0):
            out.append(notice)
            break
        out.append(block)
        size += len(block) + 1
    return "\n".join(out)


def _change(was: Node, now: Node) -> str:
    if (grown := _grown(was, now)) is not None:
        return grown
    line = describe(replace(now, states=now.states - (was.states & {"focused"})), brief=True)  # no news
    said: list[str] = []
    if was.role != now.role:
        said.append(was.role)
    if was.name != now.name:
        said.append(_before(was.name, now.name, 100))
    if was.value != now.value and "password" not in now.states:
        if was.value is None:
            said.append("no value")
        elif not (now.value or "").startswith(was.value):  # what was added to shows what it was
            said.append(f"{'value ' if said else ''}{_before(was.value, now.value or '', 60)}")
    if options(was) != options(now):
        line += options_words(now)
    lost = sorted(_visible_states(was) - now.states - {"focused"})
    # That the focus came is told of what is typed into, when it is all there is to tell.
    focus = {"focused"} if now.role not in _TYPED_INTO or was.value != now.value else set()
    new = _visible_states(now) - was.states - focus
    gained = [f"not {state}" for state in sorted(new)]
    if lost or gained:
        said.append(" ".join([*lost, *gained]))
    if was.description != now.description and not said:
        said.append(quote(was.description, 100))
    if not said and was.ref != now.ref and tells_ref(now):
        said.append(f"[{was.ref}]")
    return f"{line} (was {', '.join(said)})" if said else line


def _grown(was: Node, now: Node) -> str | None:
    """The change of a value to which something was added, by that alone; None for any other change."""
    if was.value is None or now.value is None or len(was.value) < 2 * _KNOWN or now.value == was.value:
        return None
    if replace(was, value=now.value, states=frozenset(), ref="") != replace(now, states=frozenset(), ref=""):
        return None
    if "password" in now.states or _visible_states(was) ^ _visible_states(now):
        return None
    head = describe(replace(now, value=None, states=now.states - {"focused"}), brief=True)
    if now.value.startswith(was.value):
        return f"{head}: … {quote(now.value[len(was.value) :], 400)} (added)"
    if now.value.endswith(was.value):
        return f"{head}: {quote(now.value[: -len(was.value)], 400)} … (added)"
    return None


def _before(was: str, now: str, limit: int) -> str:
    """What something was, without the words that it still begins with."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(was, now, strict=False))
    same = was.rfind(" ", 0, sum(1 for _ in alike)) + 1
    return quote(f"…{was[same:]}" if _KNOWN <= same < len(was) else was, limit)


def _visible_states(node: Node) -> frozenset[str]:
    return node.states - {"offscreen", "editable", "multiline", "active"}


def _differ(was: Node, now: Node) -> bool:
    """Whether there is something to tell. The focus counts where it is gained, and where typing goes to it."""
    if "focused" in now.states and now.role in _TYPED_INTO:
        return _look(was) != _look(now)
    if was.ref and now.ref and was.ref != now.ref and (tells_ref(now) or _is_other_row(was, now)):
        return True  # another one in its place, and its ref has to be told
    unfocused = replace(now, states=now.states - {"focused"} | (was.states & {"focused"}))
    return _look(was) != _look(unfocused)


def _look(node: Node) -> tuple[object, ...]:
    """What of a node is worth telling about. Where it stands is not: a scrolled list would be all changes."""
    return node.role, node.name, node.value, node.description, _visible_states(node), options(node)


def _index(roots: Sequence[Node], numbers: dict[Hashable, int]) -> dict[Hashable, _Entry]:
    """Every node that is shown, by its identity."""
    entries: dict[Hashable, _Entry] = {}
    counts: Counter[Hashable] = Counter()
    stack: list[tuple[Node, Hashable, Node | None]] = [(root, None, None) for root in reversed(roots)]
    while stack:
        node, above, holder = stack.pop()
        if is_hidden(node):
            continue
        key = above
        if repeats(node, holder):
            continue
        if not is_wrapper(node):
            counts[(above, node.role)] += 1
            place = counts[(above, node.role)]
            key = (node.source, node.handle)
            if node.handle is None:
                counts[(above, node.role, node.name)] += 1
                path = (above, node.role, node.name, counts[(above, node.role, node.name)])
                key = numbers.setdefault(path, len(numbers))
            if key not in entries:
                entries[key] = _Entry(node, above, holder, place)
        if options(node):
            continue
        below = node if node.name else holder
        said = echoes(node.children)
        stack.extend((child, key, below) for child in reversed(node.children) if id(child) not in said)
    return entries


def _renamed(
    before: dict[Hashable, _Entry],
    after: dict[Hashable, _Entry],
    vanished: Sequence[Hashable],
    appeared: Sequence[Hashable],
) -> list[tuple[Hashable, Hashable]]:
    """Pairs that are one element under a new identity: same parent, same role, same place among those.

    Pages give an element that is renamed a new identity, and text has none of its own.
    """
    places: dict[Hashable, Hashable] = {}
    for key in vanished:
        entry = before[key]
        places[(entry.above, entry.node.role, entry.place)] = key
    pairs: list[tuple[Hashable, Hashable]] = []
    for key in appeared:
        entry = after[key]
        was = places.pop((entry.above, entry.node.role, entry.place), None)
        if was is not None:
            pairs.append((was, key))
    return pairs
