"""What the provider sees: words, few pictures, one whole tree, and a beginning that rests between shortenings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from deskhand.messages import Entry, Image, Observation, Results, ToolResult, Turn, Words
from deskhand.orchestrator.codec import entry_from_json, entry_to_json
from deskhand.orchestrator.context import (
    KEEP_IMAGES,
    RECENT_LEAST,
    RECENT_MOST,
    REPORT_CHARACTERS,
    TREE_CHARACTERS,
    view,
)

RULES = Words(role="system", text="rules")
BRIEF = Words(role="user", text="goal", goal="goal")
TREE = "x" * (TREE_CHARACTERS + 1)


def pictured(name: str, *, part: bool = False) -> Image:
    return Image(data=b"x", width=10, height=5 if part else 10, id=name)


def answer(step: int, seen: str = "", *, whole: bool = False, images: Sequence[Image] = ()) -> Results:
    """The result of one call: a report, then what was seen."""
    text = f"step {step} was done\n{seen}"
    span = (len(text) - len(seen), len(text)) if seen else (0, 0)
    return Results(
        results=(
            ToolResult(
                call_id=str(step),
                name="act",
                text=text,
                seen=span,
                whole=whole,
                images=tuple(images),
                observation=Observation(text=seen),
            ),
        )
    )


def steps(*answers: Results) -> list[Entry]:
    entries: list[Entry] = [RULES, BRIEF]
    for number, each in enumerate(answers):
        entries += [Turn(text=f"turn {number}"), each]
    return entries


def with_everything(count: int) -> list[Entry]:
    return steps(*(answer(n, f"{n} {TREE}", whole=True, images=[pictured(f"i{n}")]) for n in range(count)))


def results(entries: Sequence[Entry]) -> list[ToolResult]:
    return [result for entry in entries if isinstance(entry, Results) for result in entry.results]


def pictures(entries: Sequence[Entry]) -> list[str]:
    return [image.id for result in results(entries) for image in result.images]


def shortenings(whole: Sequence[Entry]) -> list[int]:
    """The lengths at which the beginning is not what it was one turn before."""
    ends = range(2, len(whole) + 1, 2)
    return [end for end in ends if view(whole[: end - 2]) != view(whole[:end])[: end - 2]]


def test_there_are_never_more_than_three_pictures_and_one_tree() -> None:
    for count in range(40):
        shown = view(with_everything(count))
        assert len(pictures(shown)) <= KEEP_IMAGES
        assert sum(TREE in result.text for result in results(shown)) == min(count, 1)


def test_the_newest_picture_and_tree_are_always_there() -> None:
    for count in range(1, 20):
        newest = results(view(with_everything(count)))[-1]
        assert [image.id for image in newest.images] == [f"i{count - 1}"]
        assert TREE in newest.text


def test_the_words_of_every_turn_and_the_report_of_every_result_are_kept() -> None:
    shown = view(with_everything(60))
    assert [entry.text for entry in shown if isinstance(entry, Turn)] == [f"turn {n}" for n in range(60)]
    assert all(f"step {n} was done" in result.text for n, result in enumerate(results(shown)))


def test_the_newest_picture_of_the_whole_screen_stays_while_parts_of_it_are_looked_at() -> None:
    looks = [answer(0, images=[pictured("whole")])]
    looks += [answer(n, images=[pictured(f"part{n}", part=True)]) for n in range(1, 12)]
    for count in range(1, 13):
        assert "whole" in pictures(view(steps(*looks[:count])))


def test_a_short_tree_is_not_dropped_for_another_one() -> None:
    shown = view(steps(answer(0, "dialog", whole=True), answer(1, TREE, whole=True)))
    assert results(shown)[0].text.endswith("dialog")


def test_differences_stay_with_the_tree_that_they_are_told_of() -> None:
    answers = [answer(0, TREE, whole=True), *(answer(n, f"changed {n}") for n in range(1, RECENT_MOST))]
    shown = results(view(steps(*answers)))
    assert TREE in shown[0].text
    assert [f"changed {n}" in shown[n].text for n in range(1, RECENT_MOST)] == [True] * (RECENT_MOST - 1)


def test_old_results_keep_the_beginning_of_their_report_and_lose_what_was_seen() -> None:
    long = "y" * 5000
    shown = results(view(steps(*(answer(n, f"seen {n} and more {long}") for n in range(100)))))
    full = [n for n, result in enumerate(shown) if long in result.text]
    assert RECENT_LEAST <= len(full) <= RECENT_MOST
    assert full == list(range(100 - len(full), 100))
    assert all(len(result.text) < REPORT_CHARACTERS for result in shown[: full[0]])


def test_the_tree_of_the_brief_goes_when_there_is_a_newer_one_and_the_goal_stays() -> None:
    brief = Words(role="user", text=f"goal\n{TREE}\nend", seen=(5, 5 + len(TREE)), whole=True)
    entries: list[Entry] = [RULES, brief, Turn(text="t"), answer(0, TREE, whole=True)]
    assert view(entries[:2])[1] == brief
    shown = view(entries)[1]
    assert isinstance(shown, Words)
    assert shown.text.startswith("goal\n[an older tree")
    assert shown.text.endswith("\nend")


def test_a_beginning_rests_for_many_turns_between_two_shortenings() -> None:
    diffs = [answer(n, f"changed {n} {'z' * 600}") for n in range(100)]
    at = shortenings(steps(*diffs))
    assert len(at) <= 100 / (RECENT_MOST - RECENT_LEAST) + 1
    mixed = [
        answer(n, TREE, whole=True, images=[pictured(f"i{n}")]) if n % 10 == 0 else answer(n, f"changed {n}")
        for n in range(100)
    ]
    assert len(shortenings(steps(*mixed))) <= 10


def test_what_is_shortened_reaches_no_further_back_than_the_last_tree_or_the_recent_results() -> None:
    mixed = [
        answer(n, TREE, whole=True, images=[pictured(f"i{n}")]) if n % 10 == 0 else answer(n, f"changed {n}")
        for n in range(100)
    ]
    whole = steps(*mixed)
    for end in shortenings(whole):
        before, after = view(whole[: end - 2]), view(whole[:end])
        same = next(n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
        assert end - same <= 2 * RECENT_MOST + 2


def test_turns_from_before_the_last_shortening_are_told_from_those_after_it() -> None:
    entries = steps(
        answer(0, TREE, whole=True),
        answer(1, "a"),
        answer(2, TREE, whole=True),
        answer(3, "b"),
        answer(4, "c"),
    )
    turns = [entry for entry in view(entries) if isinstance(entry, Turn)]
    assert [turn.outdated for turn in turns] == [True, True, True, False, False]
    assert not any(turn.outdated for turn in view(entries[:6]) if isinstance(turn, Turn))


def test_a_transcript_read_from_its_file_is_shown_as_it_was() -> None:
    whole = with_everything(30)
    again = [entry_from_json(json.loads(json.dumps(entry_to_json(entry)))) for entry in whole]
    assert view(again) == view(whole)


def test_a_summary_takes_the_place_of_what_it_stands_for() -> None:
    entries = steps(*(answer(n, "a") for n in range(10)))
    summary = Words(role="user", text="what I did", replaces=14)
    shown = view([*entries, summary, Words(role="user", text="now")])
    assert [entry for entry in shown if isinstance(entry, Words)][:3] == [RULES, BRIEF, summary]
    turns = [entry for entry in shown if isinstance(entry, Turn)]
    assert [(turn.text, turn.outdated) for turn in turns] == [
        ("turn 7", True),
        ("turn 8", True),
        ("turn 9", True),
    ]
    assert shown[-1] == Words(role="user", text="now")


def test_the_transcript_itself_is_not_changed() -> None:
    whole = with_everything(20)
    copy: list[Any] = list(whole)
    view(whole)
    assert whole == copy
