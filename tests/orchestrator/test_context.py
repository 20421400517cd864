"""What the provider sees: all words, few pictures, one whole tree, and a prefix that stays put."""

from __future__ import annotations

from deskhand.messages import Entry, Image, Observation, Results, ToolResult, Turn, Words
from deskhand.orchestrator.context import BATCH, KEEP_IMAGES, KEEP_TREES, view


def transcript(steps: int) -> list[Entry]:
    entries: list[Entry] = [Words(role="system", text="rules"), Words(role="user", text="goal", goal="goal")]
    for step in range(steps):
        image = Image(data=b"x", width=10, height=10, id=f"i{step}")
        result = ToolResult(
            call_id=str(step), name="observe", text=f"tree {step} " + "x" * 2000, images=(image,),
            observation=Observation(text="t"),
        )  # fmt: skip
        entries += [Turn(text=f"turn {step}"), Results(results=(result,))]
    return entries


def shown(entries: list[Entry]) -> tuple[int, int]:
    results = [result for entry in entries if isinstance(entry, Results) for result in entry.results]
    return sum(len(result.images) for result in results), sum("x" * 2000 in result.text for result in results)


def test_pictures_and_trees_do_not_pile_up() -> None:
    for steps in range(60):
        images, trees = shown(view(transcript(steps)))
        assert images < KEEP_IMAGES + BATCH
        assert trees < KEEP_TREES + BATCH


def test_all_words_are_kept() -> None:
    words = [entry.text for entry in view(transcript(40)) if isinstance(entry, Turn | Words)]
    assert [text for text in words if text.startswith("turn")] == [f"turn {step}" for step in range(40)]


def test_the_newest_picture_and_tree_are_always_there() -> None:
    last = view(transcript(31))[-1]
    assert isinstance(last, Results)
    assert last.results[0].images
    assert "x" * 2000 in last.results[0].text


def test_the_prefix_changes_only_once_in_a_batch() -> None:
    changes = 0
    for steps in range(10, 50):
        before, after = view(transcript(steps)), view(transcript(steps + 1))
        changes += before != after[: len(before)]
    assert changes <= 2 * (40 // BATCH + 1)


def test_the_transcript_itself_is_not_changed() -> None:
    whole = transcript(20)
    copy = list(whole)
    view(whole)
    assert whole == copy
