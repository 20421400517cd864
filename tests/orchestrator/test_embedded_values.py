"""What the planner works out itself: dates, times, sums, equations, measures; and that it knows no page by heart."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deskhand.orchestrator.models.embedded as embedded
from deskhand.messages import Observation
from deskhand.orchestrator.models.embedded.choices import choose_extreme, extreme, in_order
from deskhand.orchestrator.models.embedded.clauses import parse_goal
from deskhand.orchestrator.models.embedded.dates import as_date, as_time
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.orchestrator.models.embedded.sums import evaluate, solve
from planner_world import node


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2031-04-09", date(2031, 4, 9)),
        ("04/09/2031", date(2031, 4, 9)),
        ("29/04/2031", date(2031, 4, 29)),
        ("9. 4. 2031", date(2031, 4, 9)),
        ("April 9, 2031", date(2031, 4, 9)),
        ("9 Apr 2031", date(2031, 4, 9)),
        ("the 3rd of May 2031", None),
        ("3rd of May 2031", date(2031, 5, 3)),
        ("02/30/2031", None),
        ("12", None),
    ],
)
def test_a_date_is_read_as_people_write_it(text: str, meant: date | None) -> None:
    assert as_date(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("7:05 PM", (19, 5)),
        ("12 am", (0, 0)),
        ("12:30 p.m.", (12, 30)),
        ("23:59", (23, 59)),
        ("25:00", None),
        ("13 pm", None),
    ],
)
def test_a_time_is_read_as_people_write_it(text: str, meant: tuple[int, int] | None) -> None:
    assert as_time(text) == meant


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2100, 1, 1)))
def test_every_date_is_read_back_from_the_forms_it_is_written_in(day: date) -> None:
    for form in ("%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%B %d, %Y", "%d %b %Y"):
        assert as_date(day.strftime(form)) == day


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("7 + 3 =", 10),
        ("12 × 4 = ?", 48),
        ("3 x 5 =", 15),
        ("2 + 3 * 4", 14),
        ("-(2 - 5) - 1", 2),
        ("room 12", None),
        ("7 / 0 =", None),
        ("8 +", None),
        ("2031-04-09x", None),
    ],
)
def test_a_sum_on_the_screen_is_worked_out(text: str, result: int | None) -> None:
    assert evaluate(text) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("x + 7 = 5", -2),
        ("3x - 2 = 10", 4),
        ("20 = 2(x + 4)", 6),
        ("x / 4 = 3", 12),
        ("x = x", None),
        ("x * x = 4", None),
        ("x =", None),
    ],
)
def test_an_equation_in_one_unknown_is_solved(text: str, result: int | None) -> None:
    assert solve(text, "x") == result


@given(a=st.integers(-99, 99).filter(bool), b=st.integers(-99, 99), c=st.integers(-99, 99))
def test_every_linear_equation_has_its_solution(a: int, b: int, c: int) -> None:
    assert solve(f"{a}*x + {b} = {c}", "x") == Fraction(c - b, a)


@given(st.text(max_size=60))
def test_no_text_breaks_what_works_things_out(text: str) -> None:
    evaluate(text), solve(text, "x"), as_date(text), as_time(text), extreme(text)


def screen(*nodes: object) -> Screen:
    from dataclasses import replace

    numbered = tuple(replace(each, ref=f"e{i}") for i, each in enumerate(nodes))  # type: ignore[type-var]
    return Screen(Observation(text="", roots=(node("document", "Page", *numbered),), kind="page"))


def rooms() -> Screen:
    return screen(
        node("text", "2 h 10 min walk"), node("button", "Take for $80"),
        node("text", "55 min walk"), node("button", "Take for $120"),
        node("text", "3 h walk"), node("button", "Take for $75"),
        node("button", "Leave"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("the room with the lowest price", "Take for $75"),
        ("the cheapest room", "Take for $75"),
        ("the room with the highest price", "Take for $120"),
        ("the room with the shortest time", "Take for $120"),
        ("the room with the longest duration", "Take for $75"),
    ],
)
def test_what_is_meant_by_its_measure_is_found(said: str, name: str) -> None:
    wanted = extreme(said)
    assert wanted is not None
    assert [each.name for each in choose_extreme(wanted, rooms(), "take")] == [name]


def test_of_two_with_the_same_measure_none_is_guessed() -> None:
    wanted = extreme("the cheapest room")
    assert wanted is not None
    twins = screen(
        node("button", "Take for $5"), node("button", "Take for $5"), node("button", "Take for $9")
    )
    assert len(choose_extreme(wanted, twins, "take")) == 2


def test_numbers_are_taken_in_the_order_that_is_said() -> None:
    there = screen(node("text", "12"), node("text", "3"), node("text", "word"), node("text", "-4"))
    assert [each.name for each in in_order("the numbers in descending order", there)] == ["12", "3", "-4"]
    assert in_order("the numbers", there) == []


READINGS = {
    "Use the search box to enter 'owl' and press Look": ("type", "press"),
    "Find and press the link 'More'": ("press",),
    "Open the settings, then find and click on 'Sound'": ("open", "press"),
    "Close the dialog by clicking 'Later'": ("press",),
    "Type 'owl' in all capitals into the Name field": ("type",),
    "Find the 3rd word in the paragraph, enter it into the Guess field and press Send": (
        "recall",
        "type",
        "press",
    ),
    "Copy the text in the Notes field and paste it into the Summary field": ("recall", "type"),
    "Enter the value of Colour into the Answer field": ("recall", "type"),
    "Solve for y and type your answer into the box": ("recall", "type"),
    "Put the cursor in the second field": ("focus",),
    "Expand the Advanced section and tick Beta": ("expand", "check"),
    "Go through the tabs to find and press 'Delete account'": ("find", "press"),
    "Highlight the text in the second paragraph": ("mark",),
    "Drag Milk to the 2nd position": ("drag",),
    "Scroll the list to the bottom then press Accept": ("scroll", "press"),
    "Enter the name 'Ana' and the town 'Rome' into the fields and press Save when done": (
        "type",
        "fill",
        "press",
    ),
}


@pytest.mark.parametrize(("goal", "verbs"), READINGS.items(), ids=list(READINGS))
def test_a_goal_in_other_words_is_read_into_the_same_clauses(goal: str, verbs: tuple[str, ...]) -> None:
    assert tuple(clause.verb for clause in parse_goal(goal)) == verbs


def test_a_text_is_put_into_capitals_where_the_goal_says_so() -> None:
    (clause,) = parse_goal("Type 'owl' in all capitals into the Name field")
    assert (clause.value, clause.items[0].text) == ("OWL", "the Name field")


_BENCHMARKS = re.compile(
    r"(?i)miniwob|\bwob\b|webarena|osworld|query_?selector|get_?element|class_?name|\bxpath\b|#[a-z][\w]*-[\w-]+|data-\w+="
    r"|gnome-|mousepad|pcmanfm|thunar|libreoffice|zenity|chromium|firefox|127\.0\.0\.1(?!\\)"
)


def test_the_planner_knows_no_benchmark_no_application_and_no_page_by_heart() -> None:
    """Words of benchmarks, of applications, and of what pages are made of (ids, classes) are in no rule."""
    found = []
    for path in sorted(Path(embedded.__file__).parent.glob("*.py")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if hit := _BENCHMARKS.search(line):
                found.append(f"{path.name}:{number}: {hit.group()}")
    assert found == []
    assert _BENCHMARKS.search("if task == 'miniwob'")
