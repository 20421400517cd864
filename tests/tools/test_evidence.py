"""Evidence is never true by accident."""

from __future__ import annotations

import pytest

from deskhand.messages import Node, Rect
from deskhand.tools.evidence import holds

HERE = Rect(0, 0, 10, 10)
ROOTS = (
    Node(
        role="window",
        name="Shop – Order",
        rect=HERE,
        children=(
            Node(role="heading", name="Thank you, Zoë!", rect=HERE),
            Node(role="text", name="Order number", rect=HERE),
            Node(role="text", name="A-1042", rect=HERE),
            Node(role="textbox", name="Total", value="408", rect=HERE),
            Node(role="textbox", name="Code", value="hidden", states=frozenset({"password"}), rect=HERE),
            Node(role="button", name="5", rect=HERE),
            Node(role="checkbox", name="Gift wrap", states=frozenset({"checked"}), rect=HERE),
            Node(role="text", name="Not on screen", states=frozenset({"offscreen"})),
            Node(
                role="paragraph",
                rect=HERE,
                children=(Node(role="text", name="Your order"), Node(role="text", name="is on its way")),
            ),
        ),
    ),
)


@pytest.mark.parametrize(
    "evidence",
    [
        "heading[name^='Thank you']",
        "checkbox[name='Gift wrap'][checked]",
        "checkbox[checked]",
        "textbox[value='408']",
        "window[name*='Order']",
        "*:has-text('A-1042')",
        "push button:5",
        "Thank you, Zoë!",
        '"Thank   you, Zoe\u0308!"',
        "“A-1042”",
        "408",
        "Your order is on its way",
        "'Order number'",
        "absent:dialog[name='Error']",
    ],
)
def test_what_is_there_holds(evidence: str) -> None:
    assert holds(evidence, ROOTS)


@pytest.mark.parametrize(
    "evidence",
    [
        "",
        "   ",
        '""',
        "''",
        "*",
        "button",
        "window button",
        "*[name*='']",
        "*:has-text('')",
        "*[enabled]",
        "button:nth(1)",
        "absent:",
        "absent:nonsense",
        "absent:dialog",
        "absent:button[",
        "absent:heading[name^='Thank']",
        "heading[name='Thank you']",
        "checkbox[name='Gift wrap'][checked='false']",
        "40",
        "5",
        "Thank yo",
        "hidden",
        "Not on screen",
        "text[name='Not on screen']",
        "…",
        "!",
        "button[name='x'",
    ],
)
def test_what_is_not_there_or_says_nothing_does_not_hold(evidence: str) -> None:
    assert not holds(evidence, ROOTS)


def test_a_window_title_is_visible_text() -> None:
    assert holds("note.txt - Mousepad", (), ["note.txt - Mousepad"])
    assert not holds("note.txt", (), ["other"])
