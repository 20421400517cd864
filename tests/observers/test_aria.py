"""Reading Playwright's snapshot text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deskhand.observers.aria import parse_snapshot

SNAPSHOT = r"""- generic [active] [ref=e1] [box=8,8,1240,2317]:
  - heading "Order form" [level=1] [ref=e2] [box=8,8,1240,38]
  - text: "a: b"
  - 'button "a: \"b\" it''s" [ref=e3] [box=1,2,3,4]': "12"
  - textbox "Name" [ref=e5]:
    - /placeholder: full name
    - text: Ana
  - checkbox "x [y=z]" [checked=mixed] [disabled] [ref=e6]
  - combobox "Size" [ref=e9]:
    - option "S" [selected]
  - link "Terms" [ref=e14] [cursor=pointer]:
    - /url: https://example.com/x
  - paragraph [ref=e7]: "tab\there \x1b \"q\" \\ end"
  - iframe [ref=e18]:
    - button "In frame" [ref=f1e2]"""


def test_every_part_of_a_snapshot_is_read() -> None:
    (body,) = parse_snapshot(SNAPSHOT)
    heading, text, button, textbox, checkbox, combobox, link, paragraph, iframe = body.children
    assert (body.ref, body.box, "active" in body.attributes) == ("e1", (8, 8, 1240, 2317), True)
    assert (heading.name, heading.attributes["level"]) == ("Order form", "1")
    assert (text.role, text.name) == ("text", "a: b")
    assert (button.name, button.ref, button.text) == ('a: "b" it\'s', "e3", "12")
    assert (textbox.placeholder, textbox.children[0].name) == ("full name", "Ana")
    assert (checkbox.name, checkbox.attributes["checked"]) == ("x [y=z]", "mixed")
    assert combobox.children[0].attributes["selected"] == "true"
    assert link.url == "https://example.com/x"
    assert paragraph.text == 'tab\there \x1b "q" \\ end'
    assert iframe.children[0].ref == "f1e2"


def test_a_separator_of_lines_in_a_name_does_not_cut_the_line() -> None:
    (button,) = parse_snapshot('- button "one\u2028two" [ref=e1]')
    assert button.name == "one\u2028two"


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    assert isinstance(parse_snapshot(text), list)
    assert isinstance(parse_snapshot(f"- button {text}\n  - 'x {text}"), list)
