"""What holds for any tree, native or of a page: it is told bounded and whole, and can be pointed at again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.messages import Node
from deskhand.observers.aria import Aria, parse_snapshot
from deskhand.observers.diff import compare, diff
from deskhand.observers.node import quote, walk
from deskhand.observers.refs import RefTable
from deskhand.observers.selector import parse_selector, selector_for
from deskhand.observers.serialize import render
from deskhand.observers.worth import echoes, is_hidden, is_wrapper, repeats, tells_ref
from trees import forests

steady = settings(derandomize=True, deadline=None, max_examples=100)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Two moments of one screen: elements stay, move, change, go and come under identities of their own."""
    old, other = draw(forests), draw(forests)
    ids = [node.handle for node in walk(old)]
    new_ids = iter(draw(st.permutations(range(len(ids) + 60))))

    def numbered(node: Node) -> Node:
        return replace(node, handle=next(new_ids), children=tuple(map(numbered, node.children)))

    return old, tuple(map(numbered, other))


def told(roots: tuple[Node, ...]) -> Iterator[Node]:
    """The elements that a text of the forest names."""
    stack: list[tuple[Node, Node | None]] = [(root, None) for root in reversed(roots)]
    while stack:
        node, holder = stack.pop()
        if is_hidden(node) or repeats(node, holder):
            continue
        if not is_wrapper(node):
            yield node
        below = node if node.name else holder
        said = echoes(node.children)
        stack.extend((child, below) for child in reversed(node.children) if id(child) not in said)


def said(node: Node) -> tuple[object, ...]:
    """What of a node a difference tells; where it stands and that it lost the focus are none."""
    silent = {"offscreen", "editable", "multiline", "active", "focused"}
    return node.role, node.name, node.value, node.description, node.states - silent


def known(roots: tuple[Node, ...]) -> dict[object, tuple[object, ...]]:
    return {(node.source, node.handle): said(node) for node in told(roots)}


@given(pairs())
@steady
def test_a_difference_applied_to_the_old_gives_the_new(
    pair: tuple[tuple[Node, ...], tuple[Node, ...]],
) -> None:
    old, new = pair
    delta = compare(old, new)
    screen = known(old)
    for was, _ in delta.changed:
        screen.pop((was.source, was.handle))
    for node, _ in delta.vanished:
        for key in known((node,)):
            screen.pop(key, None)
    for _, now in delta.changed:
        screen[now.source, now.handle] = said(now)
    for node, _ in delta.appeared:
        screen.update(known((node,)))
    assert Counter(screen.values()) == Counter(known(new).values())
    assert bool(diff(old, new)) is bool(delta)


@given(forests)
@steady
def test_refs_name_one_element_each_and_the_same_ones_again(forest: tuple[Node, ...]) -> None:
    table = RefTable()
    shown = table.show(forest)
    refs = [node.ref for node in walk(shown) if node.ref]
    assert len(refs) == len(set(refs))
    assert [node.ref for node in walk(table.show(forest)) if node.ref] == refs
    assert all(table.lookup(ref).ref == ref for ref in refs)


@given(forests, st.integers(200, 3_000), st.booleans())
@steady
def test_any_tree_serializes_within_its_bound(forest: tuple[Node, ...], limit: int, detail: bool) -> None:
    text = render(RefTable().show(forest), limit_chars=limit, detail=detail)
    assert len(text) <= limit
    assert all(line.lstrip().startswith(("- ", "…")) for line in text.split("\n") if line)


@given(forests)
@steady
def test_what_can_be_pressed_is_told_with_its_ref_however_short_the_text(forest: tuple[Node, ...]) -> None:
    shown = RefTable().show(forest)
    text = render(shown, limit_chars=1_000_000)
    for node in told(shown):
        empty = not (node.name or node.value or node.description or node.children)
        if tells_ref(node) and not (empty and node.role in ("cell", "paragraph")):
            assert f"[{node.ref}]" in text


@given(forests)
@steady
def test_a_selector_made_from_a_node_finds_it_and_so_does_its_name_as_shown(forest: tuple[Node, ...]) -> None:
    for node in walk(forest):
        (match,) = parse_selector(selector_for(node, forest)).match(forest)
        assert match is node
        if node.name:
            named = parse_selector(f"*[name={quote(node.name, 20_000)}]").match(forest)
            assert any(each is node for each in named)


snapshot_lines = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.builds(
            lambda depth, role, name, rest: f"{'  ' * depth}- {role} {name}{rest}",
            st.integers(0, 6),
            st.sampled_from(["button", "iframe", "text:", "textbox", "combobox", "'x", "/url:", ""]),
            st.one_of(st.text(max_size=12), st.text(max_size=12).map(lambda text: f'"{text}"')),
            st.sampled_from(
                ["", ":", " [ref=e1]", " [ref=f1e2] [box=1,2,3,4]:", " [box=a,b]", " [checked=mixed]"]
            ),
        ),
    ),
    max_size=20,
).map("\n".join)


@given(snapshot_lines)
@steady
def test_any_text_of_a_page_is_read_and_none_is_deeper_than_its_lines(text: str) -> None:
    stack = [(element, 1) for element in parse_snapshot(text)]
    count = 0
    while stack:
        element, depth = stack.pop()
        assert isinstance(element, Aria)
        assert element.box is None or len(element.box) == 4
        count += 1
        assert depth <= count + len(stack) + 20
        stack.extend((child, depth + 1) for child in element.children)
    assert count <= text.count("\n") + 1
