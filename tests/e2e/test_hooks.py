"""Commands of the user's run when a task starts, asks and ends."""

from __future__ import annotations

import json
import os
import select
from pathlib import Path
from typing import Any

import pytest

from deskhand import Policy, computer_task
from deskhand.config import load_settings
from watching import Script

ASK = {"calls": [{"name": "ask", "input": {"question": "Which word?"}}]}
END = {"calls": [{"name": "finish", "input": {"result": "no", "status": "failure", "reason": "gave_up"}}]}


def _lines(fifo: int, count: int) -> list[dict[str, Any]]:
    """So many JSON lines from a pipe that hooks write to."""
    text = b""
    while text.count(b"\n") < count:
        assert select.select([fifo], [], [], 20)[0], text
        text += os.read(fifo, 1 << 16)
    return [json.loads(line) for line in text.splitlines()]


def test_hooks_are_told_of_the_start_the_question_and_the_end(
    scripted: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "told"
    os.mkfifo(pipe)
    fifo = os.open(pipe, os.O_RDWR)
    config = tmp_path / "config.toml"
    config.write_text(
        f"[hooks]\nstart = ['sh', '-c', 'cat > {pipe}']\nquestion = \"sh -c 'cat > {pipe}'\"\n"
        f"end = ['sh', '-c', 'cat > {pipe}']\n"
    )
    monkeypatch.setenv("DESKHAND_CONFIG", str(config))
    load_settings.cache_clear()
    policy = Policy(confirm=lambda question: "blue")
    done = computer_task("write it", 60, scripted([ASK, END]), policy=policy, secrets={"pin": "4711-hidden"})
    told = {line["hook"]: line for line in _lines(fifo, 3)}
    os.close(fifo)
    assert {line["conversation"] for line in told.values()} == {done["conversation"]}
    assert told["start"]["goal"] == "write it"
    assert (told["question"]["question"], told["question"]["kind"]) == ("Which word?", "question")
    assert (told["end"]["status"], told["end"]["reason"]) == ("failure", "gave_up")
    assert "4711-hidden" not in json.dumps(told)


def test_a_question_that_nobody_is_there_for_is_told_to_the_hook(
    scripted: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "told"
    os.mkfifo(pipe)
    fifo = os.open(pipe, os.O_RDWR)
    (tmp_path / "config.toml").write_text(f"[hooks]\nquestion = ['sh', '-c', 'cat > {pipe}']\n")
    monkeypatch.setenv("DESKHAND_CONFIG", str(tmp_path / "config.toml"))
    load_settings.cache_clear()
    assert computer_task("write it", 60, scripted([ASK]))["reason"] == "question"
    [told] = _lines(fifo, 1)
    os.close(fifo)
    assert (told["hook"], told["question"]) == ("question", "Which word?")


def test_a_hook_that_cannot_run_does_not_harm_the_task(
    scripted: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[hooks]\nstart = 'no-such-program'\nend = 'false'\n")
    monkeypatch.setenv("DESKHAND_CONFIG", str(config))
    load_settings.cache_clear()
    done = computer_task("write it", 60, scripted([END]))
    assert (done["status"], done["reason"]) == ("failure", "gave_up")
