"""Goals in plain words become clauses; what fits no rule is named, not guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.orchestrator.models.embedded.clauses import parse_goal
from deskhand.orchestrator.models.embedded.grammar import Clause


def short(clause: Clause) -> str:
    """A clause on one line: verb, items, value, place."""
    parts: list[str] = [clause.verb]
    if clause.items:
        parts.append("[" + " | ".join(item.text for item in clause.items) + "]")
    if clause.value is not None:
        parts.append(f"={clause.value!r}")
    if clause.place:
        parts.append(f"@{clause.place}")
    if clause.verb == "check":
        parts.append({True: "on", False: "off", None: "flip"}[clause.on])
    if clause.verb == "wait" and clause.items:
        parts.append("there" if clause.on else "gone")
    if clause.count > 1:
        parts.append(f"x{clause.count}")
    if clause.path:
        parts.append("path")
    return " ".join(parts)


GOALS = {
    "in gnome-calculator press 1, 2, ×, 3, 4, = and tell me the result": (
        "within [gnome-calculator]",
        "press [1 | 2 | × | 3 | 4 | =]",
        "read [the result]",
    ),
    "Open gnome-calculator. Press 1, then 2, then ×, then 3, 4 and =. Tell me what the display shows.": (
        "open [gnome-calculator]",
        "press [1 | 2 | × | 3 | 4 | =]",
        "read [the display]",
    ),
    "press 1,2,×,3": ("press [1 | 2 | × | 3]",),
    "Compute 12 × 34 in the calculator and tell me the result": (
        "compute ='12 × 34' @the calculator",
        "read [the result]",
    ),
    "Use the calculator to work out 12 * 34": (
        "within [the calculator]",
        "compute ='12 * 34'",
        "read [result]",
    ),
    "What is 12 times 34? Use the calculator.": ("compute ='12 times 34' @the calculator", "read [result]"),
    "open http://127.0.0.1:8000/a?b=1,2, set Name to Ana, choose Blue, press Buy, and report the confirmation": (
        "open [http://127.0.0.1:8000/a?b=1,2]",
        "fill [Name] ='Ana'",
        "choose [Blue]",
        "press [Buy]",
        "read [the confirmation]",
    ),
    "Please fill in Name with Ana, Email with ana@example.com and Age with 3, then click on Submit": (
        "fill [Name] ='Ana'",
        "fill [Email] ='ana@example.com'",
        "fill [Age] ='3'",
        "press [Submit]",
    ),
    "enter Ana for Name, 30 for Age": ("type [Name] ='Ana'", "fill [Age] ='30'"),
    "Type 'Ana' into the Name field, 'Silva' into the Surname field, press OK": (
        "type [the Name field] ='Ana'",
        "fill [the Surname field] ='Silva'",
        "press [OK]",
    ),
    "set Address to 12 Main St, Springfield, and press Save": (
        "fill [Address] ='12 Main St, Springfield'",
        "press [Save]",
    ),
    "in mousepad type 'hello' and save it as note.txt in my home": (
        "within [mousepad]",
        "type ='hello' @mousepad",
        "save ='note.txt' @my home",
    ),
    'In mousepad, type "hello, world. And more; press x" and save it as "my note.txt" in Documents.': (
        "within [mousepad]",
        "type ='hello, world. And more; press x' @mousepad",
        "save ='my note.txt' @Documents",
    ),
    "type 'it's' and press Enter": ('type ="it\'s"', "press [Enter]"),
    "save as /tmp/x.txt": ("save ='/tmp/x.txt'",),
    "save it to my home as a.txt": ("save ='a.txt' @my home",),
    "Save it": ("save",),
    "select Express from Shipping, check 'I agree', uncheck Newsletter": (
        "choose [Express] @Shipping",
        "check [I agree] on",
        "check [Newsletter] off",
    ),
    "choose Blue as the color": ("choose [Blue] @the color",),
    "check Terms and Conditions": ("check [Terms | Conditions] on",),
    "tick the box next to Gift": ("check [Gift] on",),
    "turn Dark mode off": ("check [Dark mode] off",),
    "turn on Wi-Fi": ("check [Wi-Fi] on",),
    "press Ctrl+S": ("press [Ctrl+S]",),
    "press File > Save As…": ("press [File | Save As…] path",),
    "double-click report.pdf": ("press [report.pdf] x2",),
    "press Tab 3 times": ("press [Tab] x3",),
    "press File, Open": ("press [File | Open]",),
    "press File and open http://x.test/": ("press [File]", "open [http://x.test/]"),
    "In the search box type cats and press Enter": (
        "within [the search box]",
        "type ='cats' @the search box",
        "press [Enter]",
    ),
    "In the Save dialog press OK": ("within [the Save dialog]", "press [OK]"),
    "wait for 'Done' to appear and tell me the total and the tax": (
        "wait [Done] there",
        "read [the total | the tax]",
    ),
    "wait until the spinner disappears": ("wait [the spinner] gone",),
    "wait 3 seconds": ("wait ='3'",),
    "submit the form": ("command [submit]",),
    "search for red shoes in the shop": ("search ='red shoes' @the shop",),
    "make sure it says 'Saved'": ("expect [Saved]",),
    "scroll down": ("scroll ='down'",),
    "close the window": ("close [the window]",),
    "set Password to <secret:pw> and log in": ("fill [Password] ='<secret:pw>'", "command [log in]"),
    "clear the Name field": ("fill [the Name field] =''",),
    "Name: Ana. Colour: Blue. Press Buy.": ("fill [Name] ='Ana'", "fill [Colour] ='Blue'", "press [Buy]"),
    "First, type Ana in Name. Second, choose Blue. Finally press Buy.": (
        "type [Name] ='Ana'",
        "choose [Blue]",
        "press [Buy]",
    ),
    "enter ana as username and secret as password": ("type [username] ='ana'", "fill [password] ='secret'"),
    "for the colour select Blue": ("choose [Blue] @the colour",),
    "make sure Blue is selected": ("check [Blue] on",),
    "Add 17 and 25 in the calculator and tell me the sum": (
        "compute ='17 + 25' @the calculator",
        "read [the sum]",
    ),
    "Use sum-app to subtract 8 from 50": ("within [sum-app]", "compute ='50 − 8'", "read [result]"),
    "enter 12*34 followed by Enter": ("type ='12*34'", "press [Enter]"),
    "choose Italy in the Country list, then press Back, Next": (
        "choose [Italy] @the Country list",
        "press [Back | Next]",
    ),
    "What is the heading on http://x.test/?": ("open [http://x.test/]", "read [the heading]"),
    "type 'x' in Name and confirm with OK": ("type [Name] ='x'", "press [OK]"),
    "run zenity --forms --add-entry=Name": ("open [zenity --forms --add-entry=Name]",),
}


@pytest.mark.parametrize(("goal", "clauses"), GOALS.items(), ids=list(GOALS))
def test_a_literal_goal_is_read_clause_by_clause(goal: str, clauses: tuple[str, ...]) -> None:
    assert tuple(short(clause) for clause in parse_goal(goal)) == clauses


@pytest.mark.parametrize(
    ("goal", "strange"),
    [
        ("summarise the page", "summarise the page"),
        ("do not press Buy", "do not press Buy"),
        ("open http://x.test/ and dance", "dance"),
        ("press OK, unless it is red", "unless it is red"),
        ("find the cheapest flight", "find the cheapest flight"),
        ("tell me why it failed", "tell me why it failed"),
        ("set Name to Ana and haggle over the price", "haggle over the price"),
        ("type hello, then shout", "shout"),
        ("Fill in the form", "Fill in the form"),
    ],
)
def test_what_fits_no_rule_is_named_as_it_was_said(goal: str, strange: str) -> None:
    clauses = parse_goal(goal)
    unclear = [clause.said for clause in clauses if clause.verb == "unknown"]
    if unclear:
        assert unclear == [strange]
    else:
        assert strange in [item.text for clause in clauses for item in clause.items]


def test_inputs_fill_a_form_where_the_goal_says_so() -> None:
    clauses = parse_goal(
        "Open http://x.test/, fill in the form and press Send", {"Name": "Ana", "City": "Rome"}
    )
    assert [short(clause) for clause in clauses][1:] == [
        "fill [Name] ='Ana'",
        "fill [City] ='Rome'",
        "press [Send]",
    ]


def test_inputs_that_the_goal_does_not_place_are_filled_before_the_last_press() -> None:
    clauses = parse_goal("Open http://x.test/, press New, and press Send", {"Name": "Ana"})
    assert [short(clause) for clause in clauses][1:] == ["press [New]", "fill [Name] ='Ana'", "press [Send]"]


def test_an_input_is_taken_for_a_field_that_is_named_without_a_value() -> None:
    clauses = parse_goal("fill in Name and set City to {Town}", {"Name": "Ana", "Town": "Rome"})
    assert [short(clause) for clause in clauses] == ["fill [Name] ='Ana'", "fill [City] ='Rome'"]


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for clause in parse_goal(text):
        assert clause.said or clause.items


@given(
    st.text(
        alphabet=st.characters(blacklist_characters='"\n\r\ue000\ue001', blacklist_categories=("Cs", "Co")),
        min_size=1,
    )
)
def test_a_quoted_text_is_typed_as_it_stands(text: str) -> None:
    clauses = parse_goal(f'type "{text}" and press OK')
    assert clauses[0].value == text
    assert [clause.verb for clause in clauses] == ["type", "press"]
