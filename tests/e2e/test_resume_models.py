"""A real provider's child goes on in another process and on another desktop with all that it was sent and said."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from deskhand import Limits, computer_task
from process_tree import left_alive
from watching import Watch
from wire import Json, Wire

LAUNCH = {"name": "act", "input": {"steps": [{"kind": "launch", "app": "mousepad"}]}}
ASK = {"name": "ask", "input": {"question": "Which word?"}}
LOOK = {"name": "observe", "input": {"screenshot": True}}
END = {"name": "finish", "input": {"status": "failure", "reason": "gave_up", "result": "enough"}}
AGAIN = "import sys; from deskhand import computer_task; print(computer_task('blue', 60, resume=sys.argv[1])['reason'])"


def said(body: Json) -> list[Any]:
    """The messages or items of a request, as text without marks for the cache."""
    items = body.get("input") or body["messages"]
    return [json.dumps(item).replace(', "cache_control": {"type": "ephemeral"}', "") for item in items]


@pytest.mark.parametrize(
    "model",
    [
        "anthropic:claude-opus-4-6",
        *(pytest.param(other, marks=pytest.mark.long) for other in ("openai:gpt-5.6-sol", "openai-chat:any")),
    ],
)
def test_the_transcript_is_replayed_to_the_letter_in_another_process_after_the_desktop_is_gone(
    model: str, wire: Wire, watch: Watch
) -> None:
    wire.play(
        [
            {"thinking": "First I start it.", "text": "Starting.", "calls": [LAUNCH, LOOK]},
            {"thinking": "Not said.", "text": "A question.", "calls": [ASK]},
            {"thinking": "Now I know.", "calls": [END]},
        ]
    )
    asked = computer_task("write the word", 60, model, limits=Limits(human_wait=0), on_event=watch)
    assert asked["reason"] == "question", asked
    assert left_alive(watch.seen, 2) == []
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, asked["conversation"]], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "gave_up"
    first, before, after = wire.bodies
    assert said(after)[: len(said(before))] == said(before)
    assert said(before)[: len(said(first))] == said(first)
    rest = "".join(said(after)[len(said(before)) :])
    assert "Answer: blue" in rest
    assert "The desktop is a fresh one" in rest
    assert "Not said." in rest
    assert "image/png" in json.dumps(after)
