"""Many tasks from a file: each done once, its result kept at once, whatever ends the batch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from deskhand import computer_tasks
from deskhand.audit.verify import verify_log
from deskhand.orchestrator.batch.lines import check_lines, read_lines
from deskhand.orchestrator.batch.results import Results
from process_tree import descendants, left_alive
from watching import Script

GIVE_UP = {
    "calls": [{"name": "finish", "input": {"status": "failure", "reason": "gave_up", "result": "no way"}}]
}
SHOW = {
    "calls": [{"name": "act", "input": {"steps": [{"kind": "launch", "app": "zenity --info --text=Hello"}]}}]
}
SHOWN = {"calls": [{"name": "finish", "input": {"result": "Hello", "evidence": ["text[name='Hello']"]}}]}


def _file(tmp_path: Path, lines: list[dict[str, Any]]) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _results(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]


def _start(path: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "deskhand.cli", "batch", str(path), "-o", str(out), "--workers", "2", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2: not JSON"),
        ("[1]", "line 2: the whole"),
        ('{"goal": 5}', "line 2: goal"),
        ('{"goal": "x", "color": "red"}', "line 2: color"),
        ('{"goal": "x", "timeout": -1}', "line 2: timeout"),
        ('{"goal": "x", "expect": ["button[["]}', "line 2: expect"),
        ('{"goal": "x", "private": {"size": [1, 1]}}', "line 2: size"),
        ('{"goal": "x", "limits": {"steps": 0}}', "line 2: limits.steps"),
        ('{"goal": "x", "model": "nobody:x"}', "line 2"),
        ('{"goal": "x", "id": "one"}', "line 2: id 'one'"),
    ],
)
def test_a_wrong_line_is_named_before_anything_starts(
    line: str, words: str, tmp_path: Path, deskhand_home: Path
) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"goal": "first", "id": "one"}\n' + line + "\n")
    with pytest.raises(ValueError, match=r"tasks\.jsonl") as error:
        read_lines(path)
    assert words in str(error.value)
    assert list(deskhand_home.glob("tasks/*")) == []


def test_the_same_task_has_the_same_name_in_every_file() -> None:
    given: list[tuple[str, Any]] = [("1", "Do it"), ("2", {"goal": "Do it"}), ("3", {"goal": "Do more"})]
    one, same, other = (line.id for line in check_lines(given))
    assert same == f"{one}-2"
    assert other != one
    assert [line.id for line in check_lines(given[2:])] == [other]


def test_results_come_in_order_with_their_logs_and_a_second_call_does_only_what_is_missing(
    tmp_path: Path, scripted: Script
) -> None:
    out = tmp_path / "out"
    tasks: list[Any] = [
        {"goal": "Say Hello with zenity", "model": scripted([SHOW, SHOWN])},
        {"goal": "Fail", "model": scripted([GIVE_UP]), "retries": 1, "id": "fails"},
    ]
    told: list[str] = []
    found = computer_tasks(tasks, workers=2, out=out, on_result=lambda result: told.append(result["id"]))
    assert [(result["status"], result["attempts"]) for result in found] == [("success", 1), ("failure", 2)]
    assert sorted(told) == sorted(result["id"] for result in found)
    for result in found:
        assert Path(result["logdir"]).is_relative_to(out)
        checked = verify_log(Path(result["logdir"], "audit.jsonl"), result["audit_hash"])
        assert checked.ok
    tasks.append({"goal": "Fail too", "model": tasks[1]["model"]})
    again = computer_tasks(tasks, workers=2, out=out)
    assert again[:2] == found
    assert len(_results(out)) == 3


def test_nothing_starts_after_the_budget_is_used_up(tmp_path: Path, scripted: Script) -> None:
    costly = {**GIVE_UP, "usage": {"input_tokens": 10, "output_tokens": 10, "cost_usd": 0.5}}
    tasks = [{"goal": f"Fail {number}", "model": scripted([costly])} for number in range(3)]
    found = computer_tasks(tasks, workers=1, cost=0.4)
    assert [result["usage"]["cost_usd"] for result in found] == [0.5]


def test_a_result_that_was_cut_short_by_a_kill_is_done_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "results.jsonl").write_text('{"id": "a", "status": "success"}\n{"id": "b", "sta')
    results = Results(out)
    assert set(results.found) == {"a"}
    with pytest.raises(ValueError, match="another batch is at work"):
        Results(out)
    results.add({"id": "b", "status": "failure"})
    results.close()
    assert [result["id"] for result in _results(out)] == ["a", "b"]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_batch_that_was_ended_goes_on_and_each_task_has_one_result(
    number: signal.Signals, tmp_path: Path, scripted: Script
) -> None:
    out, model = tmp_path / "out", scripted([SHOW, SHOWN])
    path = _file(
        tmp_path, [{"goal": "Say Hello with zenity", "id": f"{n}", "model": model} for n in range(3)]
    )
    run = _start(path, out)
    while not (out / "results.jsonl").exists() or not _results(out):
        assert run.poll() is None, run.communicate()
        time.sleep(0.05)
    below = descendants(run.pid)
    run.send_signal(number)
    _, errors = run.communicate(timeout=30)
    assert run.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 130), errors
    assert left_alive(below, 5) == []
    assert len(_results(out)) < 3
    fresh = _start(path, out)
    _, refused = fresh.communicate(timeout=30)
    assert fresh.returncode == 2
    assert "--resume" in refused
    again = _start(path, out, "--resume", "--json")
    said, errors = again.communicate(timeout=90)
    assert again.returncode == 0, errors
    summary = json.loads(said)
    assert (summary["tasks"], summary["by_status"], summary["not_done"]) == (3, {"success": 3}, 0)
    assert sorted(result["line"] for result in _results(out)) == [1, 2, 3]
    assert os.stat(out / "results.jsonl").st_mode & 0o077 == 0
