"""Six tasks as a person played them by hand, played again: each ends in verified success, in few turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskhand import Private, computer_task
from hand_played import NAMES, Mailbox, pages
from process_tree import left_alive
from watching import Watch
from wire import Wire

QUICK = ("calculator", "visa")
"""One native and one on a page for every run of the suite."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in NAMES]
)
def test_what_a_hand_played_ends_in_verified_success(
    name: str, wire: Wire, watch: Watch, tmp_path: Path
) -> None:
    share = tmp_path / "shared"
    share.mkdir()
    with pages() as web:
        box = Mailbox(name, web=web, share=share)
        task = box.task
        for file, text in task.get("files", {}).items():
            (share / file).write_text(text)
        wire.play(box)
        done = computer_task(
            task["goal"],
            120,
            task["model"],
            inputs=task.get("inputs"),
            computer=Private(share=(f"{share}:rw",)),
            on_event=watch,
        )
        turns = done["steps"]
        for answer in task.get("answers", []):
            assert (done["status"], done["reason"]) == ("clarification_needed", "question"), done
            done = computer_task(answer, 120, resume=done["conversation"], on_event=watch)
            turns += done["steps"]
    assert (done["status"], done["verified"]) == ("success", True), done
    assert box.left == []
    assert turns == len(box.replies)
    assert all(word in done["result"] for word in task.get("result", []))
    assert {file: (share / file).read_text() for file in task.get("then", {})} == task.get("then", {})
    assert left_alive(watch.seen, 2) == []


def test_together_they_took_at_most_a_third_of_the_turns_of_one_action_each(tmp_path: Path) -> None:
    boxes = [Mailbox(name, web="http://127.0.0.1", share=tmp_path) for name in NAMES]
    assert len(boxes) == 6
    assert sum(len(box.replies) for box in boxes) <= sum(box.actions for box in boxes) / 3
