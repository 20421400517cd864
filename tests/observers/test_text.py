"""Trees as text, differences as text, refs, masks and pictures: what a model is told of what is there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from deskhand.desktop.base import Frame
from deskhand.errors import TargetError
from deskhand.messages import Node, Rect
from deskhand.observers.diff import compare, diff
from deskhand.observers.mask import mask_text, mask_tree
from deskhand.observers.node import clean_name, walk
from deskhand.observers.page_tree import PageHandle
from deskhand.observers.refs import RefTable
from deskhand.observers.screen import picture
from deskhand.observers.serialize import render
from trees import forests, n, numbered, only

FORM = numbered(
    (
        n(
            "window",
            "Order",
            n("generic", "", n("text", "Name"), n("textbox", "Name", value="Ana", states="focused")),
            n("generic", "", n("generic", "", n("button", "Send", n("text", "Send"), states="disabled"))),
            n("textbox", "Pass", value="hunter2", states="password"),
            n(
                "menuitem",
                "File",
                n("menuitem", "Open", states="offscreen"),
                n("menuitem", "Quit", states="offscreen"),
            ),
        ),
    )
)


def shown(roots: tuple[Node, ...] = FORM) -> tuple[Node, ...]:
    return RefTable().show(roots)


def test_a_tree_is_one_line_an_element_without_wrappers_and_repeats() -> None:
    assert render(shown()).split("\n") == [
        '- window "Order" [e1]',
        '  - textbox "Name" [e2] focused: "Ana"',
        '  - button "Send" [e3] disabled',
        '  - textbox "Pass" [e4] password',
        '  - menuitem "File" [e5] (2 items)',
    ]


def test_what_can_be_pressed_is_shown_also_inside_a_text() -> None:
    assert render((n("text", "", n("button", "Save")),)) == '- button "Save"'
    shown = render((n("window", "Save", n("text", "Save", n("button", "More"))),))
    assert '- button "More"' in shown


def test_a_long_list_is_cut_and_counted_and_keeps_what_is_selected() -> None:
    rows = [n("listitem", f"row {i}", states="selected" if i == 900 else "") for i in range(1000)]
    text = render((n("list", "Rows", *rows),))
    assert "row 24" in text
    assert "row 25" not in text
    assert '- listitem "row 900" selected' in text
    assert "… 974 more listitem, query to narrow" in text


@pytest.mark.parametrize("name", ["a\nb", '"] [e9] "', "\u202egnp.exe", "x" * 10_000, "\x1b[2Jboo", "\ud800"])
def test_no_name_can_break_out_of_its_line(name: str) -> None:
    text = render((n("window", "w", n("button", clean_name(name)), n("button", "next")),))
    lines = text.split("\n")
    assert len(lines) == 3
    assert len(text) < 400
    assert lines[1].startswith("  - button")
    assert lines[1].encode("utf-8", "strict").isascii() or lines[1].isprintable()


@given(forests)
@settings(deadline=None)
def test_any_tree_serializes_within_its_bound(forest: tuple[Node, ...]) -> None:
    for limit in (200, 500):
        assert len(render(shown(forest), limit_chars=limit)) <= limit


def test_a_deep_tree_needs_no_deep_stack() -> None:
    node = n("button", "bottom")
    for _ in range(5000):
        node = n("group", "g", node)
    forest = mask_tree(shown((node,)), {})
    assert len(render(forest)) <= 12_000
    assert len(list(walk(forest))) == 5001
    assert diff(forest, forest) == ""


# --- differences --------------------------------------------------------------------------------------------------


def edited(roots: tuple[Node, ...], role: str, name: str, new: Node | None) -> tuple[Node, ...]:
    """The forest with one node replaced (keeping its handle), or taken out."""
    old = only(roots, role, name)

    def edit(node: Node) -> Node | None:
        if node is old:
            return (
                None
                if new is None
                else replace(new, handle=old.handle, children=new.children or old.children)
            )
        return replace(
            node, children=tuple(kept for child in node.children if (kept := edit(child)) is not None)
        )

    return tuple(kept for root in roots if (kept := edit(root)) is not None)


def test_a_diff_tells_what_changed_with_what_it_was() -> None:
    new = edited(FORM, "textbox", "Name", n("textbox", "Name", value="Zoë", states="invalid"))
    assert diff(shown(FORM), new) == '~ textbox "Name" invalid: "Zoë" (was "Ana", not invalid)'


def test_a_diff_tells_what_appeared_and_where() -> None:
    window = FORM[0]
    dialog = n("dialog", "Sure?", n("button", "Yes", handle=101), n("button", "No", handle=102), handle=100)
    new = (replace(window, children=(*window.children, dialog)),)
    assert diff(FORM, new).split("\n") == [
        '+ dialog "Sure?"',
        '  - button "Yes"',
        '  - button "No"',
    ]


def test_a_diff_tells_what_vanished_once() -> None:
    assert diff(FORM, edited(FORM, "menuitem", "File", None)) == 'gone: menuitem "File"'


def test_a_renamed_element_without_identity_is_a_change_not_two() -> None:
    old, new = (n("status", "", n("text", "0 items")),), (n("status", "", n("text", "1 item")),)
    assert diff(old, new) == '~ text "1 item" (was "0 items")'


def test_a_row_of_a_page_is_one_line_and_told_whole_when_its_contents_are_others() -> None:
    def table(paid: str, handle: int) -> tuple[Node, ...]:
        cells = (n("cell", "1001"), n("cell", "Ana"), n("cell", "", n("button", paid, handle=handle + 1)))
        page = [replace(each, source="page") for each in cells]
        return (n("table", "", n("row", "", *page, source="page", handle=handle), handle=1),)

    table_of_refs = RefTable()
    old, new = table_of_refs.show(table("Pay", 10)), table_of_refs.show(table("Paid", 20))
    assert render(old).split("\n")[1:] == ['  - row: 1001 | Ana | button "Pay" [e3]']
    assert diff(old, new) == '~ row: 1001 | Ana | button "Paid" [e5]'


def page(role: str, name: str = "", *children: Node, handle: object = None, **fields: object) -> Node:
    return n(role, name, *children, source="page", handle=handle, **fields)


def test_what_is_only_read_on_a_page_is_told_without_refs_labels_and_boxes() -> None:
    choices = [page("option", each, handle=PageHandle(1, "d", "s", each)) for each in ("S", "M")]
    form = page(
        "document",
        "Order",
        page("heading", "Your order", handle=2),
        page(
            "paragraph",
            "",
            page("generic", "", page("text", "Gift"), page("checkbox", "Gift", handle=4)),
            handle=3,
        ),
        page(
            "paragraph",
            "",
            page("text", "Size"),
            page("combobox", "Size", *choices, value="S", handle=6),
            handle=5,
        ),
        page("listitem", "", page("text", "Ana:"), page("link", "Mail", handle=8), handle=7),
        page("listitem", "", page("text", "more"), handle=9, actions=("click",)),
        handle=1,
    )
    table = RefTable()
    told = table.show((form,))
    assert render(told).split("\n") == [
        '- document "Order" [e1]',
        '  - heading "Your order"',
        '  - checkbox "Gift" [e4]',
        '  - combobox "Size" [e6]: "S" (options "S" | "M")',
        '  - listitem: "Ana:"',
        '    - link "Mail" [e10]',
        '  - listitem [e11]: "more"',
    ]
    assert '- heading "Your order" [e2]' in render(told, detail=True)
    chosen = edited((form,), "combobox", "Size", page("combobox", "Size", *choices, value="M"))
    assert diff(told, table.show(chosen)) == '~ combobox "Size" [e6]: "M" (was "S")'
    other = edited((form,), "combobox", "Size", page("combobox", "Size", choices[0], value="S"))
    assert diff(told, table.show(other)) == '~ combobox "Size" [e6]: "S" (options "S")'


def test_a_cell_that_could_be_taken_for_an_element_stands_in_quotes() -> None:
    cells = ("40 EUR", 'button "Pay" [e1]', "a | b", "", "[e2]", "…", "x" * 100)
    row = page("row", "", *(page("cell", each) for each in cells))
    said = render((row,)).removeprefix("- row: ")
    assert said.startswith('40 EUR | "button \\"Pay\\" [e1]" | "a | b" | "" | "[e2]" | "…" | "xx')


def test_new_things_are_told_below_what_they_are_in_and_gone_ones_on_one_line() -> None:
    def mail(*inside: Node) -> tuple[Node, ...]:
        region = page("region", "Message", *inside, handle=2)
        return (page("document", "Mail", region, page("button", "New", handle=3), handle=1),)

    words = page("paragraph", value="The code is 7026.", handle=5)
    full = mail(page("heading", "Parcel", handle=4), words, page("button", "Send", handle=6))
    table = RefTable()
    old, new = table.show(mail()), table.show(full)
    assert diff(old, new).split("\n") == [
        '+ in region "Message":',
        '  - heading "Parcel"',
        '  - paragraph: "The code is 7026."',
        '  - button "Send" [e6]',
    ]
    assert diff(new, old) == (
        'gone: heading "Parcel", paragraph "The code is 7026.", button "Send" [e6] (in region "Message")'
    )


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("", "milk\n", '"milk\\n"'),
        ("milk\nbread\nbutter\ncoffee\n", "milk\nbread\nbutter\ncoffee\nrice\n", '… "rice\\n" (added)'),
        ("milk\nbread\nbutter\ncoffee\n", "To buy\nmilk\nbread\nbutter\ncoffee\n", '"To buy\\n" … (added)'),
        ("paid so far: 40 EUR", "paid so far: 154 EUR", '"paid so far: 154 EUR" (was "…40 EUR")'),
        ("Ana", "Zoë", '"Zoë" (was "Ana")'),
    ],
)
def test_of_a_value_what_is_known_already_is_not_told_again(was: str, now: str, told: str) -> None:
    old, new = ((n("textbox", "Notes", value=value, handle=1),) for value in (was, now))
    assert diff(old, new) == f'~ textbox "Notes": {told}'


def test_a_focus_that_stays_is_no_news() -> None:
    new = edited(FORM, "textbox", "Name", n("textbox", "Name", value="Zoë", states="focused"))
    assert diff(shown(FORM), new) == '~ textbox "Name": "Zoë" (was "Ana")'


def test_losing_the_focus_is_no_change_of_its_own() -> None:
    new = edited(FORM, "textbox", "Name", n("textbox", "Name", value="Ana"))
    assert diff(FORM, new) == ""


def test_a_diff_never_shows_a_password() -> None:
    new = edited(FORM, "textbox", "Pass", n("textbox", "Pass", value="other", states="password"))
    text = diff(FORM, new)
    assert "other" not in text
    assert "hunter2" not in text


@given(forests, forests)
@settings(deadline=None)
def test_a_diff_is_bounded_and_empty_only_for_what_looks_the_same(
    old: tuple[Node, ...], new: tuple[Node, ...]
) -> None:
    assert len(diff(old, new, limit_chars=300)) <= 300
    assert not compare(old, old)


# --- refs ---------------------------------------------------------------------------------------------------------


def test_refs_stay_while_the_element_lives_and_keeps_its_name() -> None:
    table = RefTable()
    first = table.show(FORM)
    again = table.show(edited(FORM, "button", "Send", n("button", "Sent")))
    assert only(again, "textbox", "Name").ref == only(first, "textbox", "Name").ref
    assert only(again, "button", "Sent").ref not in {node.ref for node in walk(first)}
    assert table.lookup("e2").name == "Name"


def test_a_window_keeps_its_ref_when_its_title_changes() -> None:
    table = RefTable()
    (first,) = table.show(FORM)
    (again,) = table.show((replace(FORM[0], name="*Order"),))
    assert again.ref == first.ref


def test_an_unknown_ref_is_refused_with_the_range_that_there_is() -> None:
    table = RefTable()
    with pytest.raises(TargetError, match="nothing has been observed") as error:
        table.lookup("e1")
    assert error.value.effect == "not_found"
    table.show(FORM)
    with pytest.raises(TargetError, match="e1–e7"):
        table.lookup("e99")


# --- masks and pictures -------------------------------------------------------------------------------------------


def test_passwords_and_secrets_are_masked_everywhere_in_a_tree() -> None:
    tree = (
        n(
            "window",
            "Hello s3cret!",
            n("textbox", "Key", value="the key is s3cret!"),
            n("textbox", "Pass", n("text", "•••"), value="hunter2", states="password"),
        ),
    )
    masked = mask_tree(tree, {"key": "s3cret!"})
    assert masked[0].name == "Hello <secret:key>"
    assert only(masked, "textbox", "Key").value == "the key is <secret:key>"
    password = only(masked, "textbox", "Pass")
    assert (password.value, password.children) == (None, ())


def test_the_longest_secret_is_masked_first() -> None:
    assert mask_text("abcdef abc", {"a": "abc", "b": "abcdef"}) == "<secret:b> <secret:a>"


def test_a_picture_is_scaled_and_maps_back_to_the_screen() -> None:
    pixels = np.zeros((800, 1280), np.uint32)
    pixels[300:310, 600:610] = 0x00FF0000
    image = picture(Frame(pixels=pixels, rect=Rect(100, 50, 1280, 800)), edge=640, id="i1")
    assert (image.width, image.height, image.id) == (640, 400, "i1")
    point = image.to_screen(302, 152)
    assert abs(point.x - 705) <= 1
    assert abs(point.y - 355) <= 1
    with pytest.raises(ValueError, match="x must be 0–639"):
        image.to_screen(640, 0)


def test_a_small_picture_is_not_enlarged() -> None:
    image = picture(Frame(pixels=np.zeros((30, 40), np.uint32), rect=Rect(0, 0, 40, 30)), edge=1280)
    assert (image.width, image.height, image.scale) == (40, 30, (1.0, 1.0))
