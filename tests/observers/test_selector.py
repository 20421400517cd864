"""The selector grammar: what it finds, what it refuses and where it points, and selectors made from nodes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskhand.errors import InvalidStep
from deskhand.messages import Node
from deskhand.observers.node import quote, walk
from deskhand.observers.selector import parse_selector, selector_for
from trees import forests, n, only

TREE = (
    n(
        "window",
        "Notes",
        n(
            "menubar",
            "",
            n("menuitem", "File", n("menuitem", "Save", states="offscreen"), n("menuitem", "Save As…")),
        ),
        n("button", "Save", states="disabled"),
        n("dialog", "Sure?", n("button", "Save"), n("button", "Cancel"), states="modal"),
        n("group", "Form", n("textbox", "Name:", value="Ana María"), n("checkbox", "Gift", states="checked")),
        n("heading", "Total", level=2),
        n("radio", "Blue"),
        app="mousepad",
    ),
)


def found(selector: str, tree: tuple[Node, ...] = TREE) -> list[str]:
    return [f"{node.role} {node.name}".strip() for node in parse_selector(selector).match(tree)]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("button", ["button Save", "button Save", "button Cancel"]),
        ("button[name='Cancel']", ["button Cancel"]),
        ('button[name="Cancel"]', ["button Cancel"]),
        ("[name^='Can']", ["button Cancel"]),
        ("[name$='cel']", ["button Cancel"]),
        ("[name*='anc']", ["button Cancel"]),
        ("[value~='María']", ["textbox Name:"]),
        ("[name='cancel' i]", ["button Cancel"]),
        ("[role='button'][name='Cancel']", ["button Cancel"]),
        ("[app='mousepad']", ["window Notes"]),
        ("heading[level=2]", ["heading Total"]),
        ("button[enabled]", ["button Save", "button Cancel"]),
        ("button[enabled='false']", ["button Save"]),
        ("button[disabled]", ["button Save"]),
        ("checkbox[checked]", ["checkbox Gift"]),
        ("checkbox[checked='false']", []),
        ("dialog[modal] button", ["button Save", "button Cancel"]),
        ("window > button", ["button Save"]),
        ("window button:nth(2)", ["button Save"]),
        ("button:nth(3)", ["button Cancel"]),
        ("button:nth(4)", []),
        ("menuitem:nth(1) > menuitem", ["menuitem Save", "menuitem Save As…"]),
        ("group:has-text('ana maría')", ["group Form"]),
        ("window > *:has(checkbox)", ["group Form"]),
        ("button:not([disabled])", ["button Save", "button Cancel"]),
        ("button[name='Cancel'], heading", ["button Cancel", "heading Total"]),
        ("menuitem[visible='false']", ["menuitem Save"]),
        ("textbox[name='Name']", ["textbox Name:"]),
        ("menuitem[name='Save As']", ["menuitem Save As…"]),
        ("push button[name='Cancel']", ["button Cancel"]),
        ("push-button", ["button Save", "button Save", "button Cancel"]),
        ("radio button", ["radio Blue"]),
        ("window check box", ["checkbox Gift"]),
        ("push button:Cancel", ["button Cancel"]),
        ("Push Button: cancel ", ["button Cancel"]),
        ("menu item:Save", ["menuitem Save"]),
        ("entry:name", ["textbox Name:"]),
        ("label", []),
    ],
)
def test_a_selector_finds_what_it_says(selector: str, expected: list[str]) -> None:
    assert found(selector) == expected


def test_an_exact_name_wins_over_one_that_differs_in_punctuation() -> None:
    tree = (n("menu", "", n("menuitem", "Save"), n("menuitem", "Save…")),)
    assert found("menuitem[name='Save']", tree) == ["menuitem Save"]


def test_a_match_is_the_very_node_of_the_tree() -> None:
    (match,) = parse_selector("button[name='Cancel']").match(TREE)
    assert match is only(TREE, "button", "Cancel")


@pytest.mark.parametrize(
    ("selector", "character", "hint"),
    [
        ("", None, "empty"),
        ("buton", 1, "did you mean 'button'"),
        ("button[nam='x']", 8, "no attribute 'nam'"),
        ("button[name='x", 13, ""),
        ("button[name=]", 12, "value is missing"),
        ("button[name|='x']", 12, "use one of"),
        ("button[checked='maybe']", 16, "is a state"),
        ("dialog button:nth(0)", 19, "counts from 1"),
        ("button:enabled", 8, "[enabled]"),
        ("button:first[name='x']", 8, "no ':first'"),
        ("button:hover(x)", 8, "nth(n)"),
        ("button:has-text()", 8, "has-text('some words')"),
        ("button + text", 8, "not used"),
        ("#save", 1, "role"),
        (".save", 1, "not used"),
        ("button >", 9, "missing here"),
        ("dialog\n  [nope='x']", 11, "no attribute"),
        ("button::before", 8, "after ':'"),
        ("button[name='a\nb']", 13, "line break"),
    ],
)
def test_an_error_points_at_the_character(selector: str, character: int | None, hint: str) -> None:
    with pytest.raises(InvalidStep) as error:
        parse_selector(selector)
    assert hint in str(error.value)
    if character is not None:
        assert f"character {character}:" in str(error.value)


def test_what_is_shown_in_quotes_can_be_put_into_a_selector() -> None:
    for name in (
        "it's",
        'say "hi"',
        "back\\slash",
        "bidi \u202e exe",
        "tab and\u2028line",
        "back\\next",
        "emoji 👩\u200d💻",
    ):
        tree = (n("button", name),)
        assert found(f"button[name={quote(name)}]", tree) == [f"button {name}"]


def test_line_breaks_and_tabs_are_written_as_letters_in_quotes_and_shown_so() -> None:
    tree = (
        n(
            "group",
            "",
            n("textbox", "List", value="milk\na\tbread"),
            n("textbox", "Other", value="milknatbread"),
        ),
    )
    assert quote("milk\na\tbread") == r'"milk\na\tbread"'
    assert found(r"textbox[value='milk\na\tbread']", tree) == ["textbox List"]
    assert found(r"group:has-text('milk\na')", tree) == ["group"]
    assert found(r"textbox:not([value*='a\tb'])", tree) == ["textbox Other"]
    assert found(r"textbox[value*='k\a a']", tree) == ["textbox List"]


def test_a_dialog_that_is_a_window_of_its_own_is_a_window() -> None:
    tree = (n("window", "Notes", n("dialog", "Inside")), n("dialog", "Save?"), n("alertdialog", "Sure?"))
    assert found("window", tree) == ["window Notes", "dialog Save?", "alertdialog Sure?"]
    assert found("window[name='Save?']", tree) == ["dialog Save?"]
    assert found("dialog", tree) == ["dialog Inside", "dialog Save?"]


def test_a_selector_too_long_to_mean_anything_is_refused() -> None:
    with pytest.raises(InvalidStep, match="at most"):
        parse_selector("button" * 10_000)


def test_deep_nesting_is_refused_and_does_not_crash() -> None:
    with pytest.raises(InvalidStep):
        parse_selector(":not(" * 900 + "button" + ")" * 900)


def test_twins_are_told_apart_by_where_they_are() -> None:
    inside = only(TREE[0].children[2].children, "button", "Save")
    assert selector_for(inside, TREE) == "dialog[name='Sure?'] button[name='Save']"


@given(forests)
@settings(deadline=None)
def test_a_selector_made_from_a_node_finds_exactly_it(forest: tuple[Node, ...]) -> None:
    for node in walk(forest):
        (match,) = parse_selector(selector_for(node, forest)).match(forest)
        assert match is node


@given(st.one_of(st.text(max_size=80), st.text("button[]()'\"=^$*~:>, \\nthas-\n", max_size=60)))
@settings(deadline=None, max_examples=400)
def test_parsing_never_crashes_on_any_text(text: str) -> None:
    try:
        matches = parse_selector(text).match(TREE)
    except InvalidStep:
        matches = []
    assert all(isinstance(match, Node) for match in matches)
