from __future__ import annotations

import fcntl
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskhand import cli
from deskhand.audit.chain import ZERO, seal
from deskhand.audit.log import AuditLog
from deskhand.audit.store import TaskStore
from deskhand.audit.verify import verify_log
from deskhand.terms import Private

COMMANDS = "task audit-log list stop transcript export record doctor demo mcp".split()

STATUS = {
    "status": "success",
    "reason": None,
    "result": "It is 408.",
    "verified": True,
    "evidence": [{"check": "text[name='408']", "holds": True}],
    "data": None,
    "agent_id": "c",
    "conversation": "c",
    "logdir": "/tmp/c",
    "recording": None,
    "final_image": None,
    "audit_hash": "0" * 64,
    "steps": 1,
    "seconds": 2.0,
    "usage": {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "images": 0, "cost_usd": 0.0},
    "model": "embedded",
    "computer": "private",
}


def computer(*words: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    command = [sys.executable, "-m", "deskhand.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **settings)


@pytest.fixture
def finished(deskhand_home: Path) -> Path:
    """The directory of a finished task with a log of three lines."""
    name, directory = TaskStore(deskhand_home).new()
    with AuditLog.create(directory, name) as log:
        log.write("task_started", goal="press Save", model="embedded")
        log.write("action", step={"kind": "click"}, target={"role": "button", "name": "Save"}, effect="done")
        log.write("task_finished", status="success", result="Saved.", seconds=1.0)
    return directory


@pytest.fixture
def run_task(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run ``computer task`` here with a double in place of the worker: (exit status, stdout, stderr, order)."""

    def run(*words: str, events: tuple[dict[str, Any], ...] = (), **status: Any) -> tuple[int, str, str, Any]:
        orders: list[Any] = []

        def double(order: Any, cancel: Any) -> dict[str, Any]:
            orders.append(order)
            for event in events:
                order.callbacks.on_event(event)
            return {**STATUS, **status}

        monkeypatch.setattr("deskhand.orchestrator.task.run_order", double)
        with pytest.raises(SystemExit) as left:
            cli.main(["task", *words])
        printed = capsys.readouterr()
        return int(str(left.value.code)), printed.out, printed.err, orders[0] if orders else None

    return run


def test_help_is_there_at_once() -> None:
    began = time.perf_counter()
    shown = computer("--help")
    took = [time.perf_counter() - began]
    for _ in range(2):
        began = time.perf_counter()
        computer("--help")
        took.append(time.perf_counter() - began)
    assert shown.returncode == 0
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", shown.stdout, re.MULTILINE)
    assert "worker" not in shown.stdout
    assert min(took) < 0.3


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples(command: str) -> None:
    shown = computer(command, "--help")
    assert shown.returncode == 0
    assert re.search(rf"Examples:\n  .*computer {command}", shown.stdout)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("success", 0),
        ("running", 0),
        ("failure", 1),
        ("clarification_needed", 3),
        ("timeout", 4),
        ("cancelled", 130),
    ],
)
def test_the_exit_status_says_how_the_task_ended(
    run_task: Callable[..., Any], status: str, code: int
) -> None:
    assert run_task("do it", status=status)[0] == code


def test_json_is_one_object_and_everything_else_goes_to_stderr(run_task: Callable[..., Any]) -> None:
    event = {"kind": "action", "step": {"kind": "click"}, "effect": "done"}
    code, out, err, _ = run_task("do it", "--json", events=(event,))
    assert (code, json.loads(out)) == (0, STATUS)
    assert "click: done" in err


def test_a_pipe_gets_plain_lines_and_the_result(run_task: Callable[..., Any]) -> None:
    event = {"kind": "action", "step": {"kind": "click"}, "effect": "done", "conversation": "c"}
    _, out, _, _ = run_task("do it", events=(event,))
    lines = out.splitlines()
    assert lines[0] == "  0.1  click: done"
    assert lines[1] == "success  It is 408."
    assert "holds      text[name='408']" in lines
    assert "\x1b" not in out


def test_options_reach_the_order(
    run_task: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SHOP", "s3cret")
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object"}')
    words = [
        "buy",
        "--model",
        "embedded",
        "--timeout",
        "9",
        "--input",
        "Name=Ana=Bea",
        "--secret",
        "password=SHOP",
    ]
    words += [
        "--expect",
        "text[name='a']",
        "--expect",
        "button",
        "--output",
        str(schema),
        "--share",
        f"{tmp_path}:rw",
    ]
    words += [
        "--network",
        "none",
        "--isolation",
        "display",
        "--keep",
        "5",
        "--verify",
        "off",
        "--max-steps",
        "3",
    ]
    words += ["--max-cost", "0.5", "--background", "--record"]
    brief = run_task(*words)[3].brief
    assert brief.goal == "buy"
    assert (brief.timeout, brief.inputs, brief.secrets) == (9, {"Name": "Ana=Bea"}, {"password": "s3cret"})
    assert (brief.expect, brief.output) == (("text[name='a']", "button"), {"type": "object"})
    assert brief.computer == Private(keep=5, share=(f"{tmp_path}:rw",), network="none", isolation="display")
    assert (brief.policy.verify, brief.limits.steps, brief.limits.cost) == ("off", 3, 0.5)
    assert (brief.background, brief.record) == (True, True)


def test_a_recording_can_be_named_or_left_to_us(run_task: Callable[..., Any], tmp_path: Path) -> None:
    path = str(tmp_path / "film.mp4")
    assert run_task("--record", path, "do it")[3].brief.record == path
    assert run_task("--record", "do it")[3].brief.record is True
    assert run_task("do it")[3].brief.record is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "needs a GOAL"),
        (["x", "--timeout", "0"], "timeout must be"),
        (["x", "--input", "Name"], "--input takes NAME=VALUE, not 'Name'"),
        (["x", "--secret", "pw=NOT_SET"], "the variable NOT_SET is not set"),
        (["x", "--output", "/nowhere.json"], "--output /nowhere.json"),
        (["x", "--model", "telepathy:1"], "telepathy"),
        (["x", "--expect", "button[["], "expect"),
        (["x", "--computer", "mainframe"], "computer must be"),
        (["x", "--computer", "display::9", "--keep", "5"], "--keep"),
        (["x", "--share", "/no/such/place"], "/no/such/place"),
        (["x", "--max-steps", "0"], "limits.steps must be positive"),
        (["x", "--network", "some"], "network"),
        (["--resume", "nobody"], "no conversation is called 'nobody'"),
        (["--resume", "../../etc"], "not the name of a conversation"),
    ],
)
def test_a_wrong_argument_is_named_before_anything_starts(
    run_task: Callable[..., Any], deskhand_home: Path, words: list[str], said: str
) -> None:
    code, out, err, order = run_task(*words)
    assert (code, out, order) == (2, "", None)
    assert said in err
    assert not list(deskhand_home.glob("tasks/*"))


def test_a_missing_part_is_named_with_the_command_that_brings_it(
    run_task: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "/nowhere")
    code, _, err, _ = run_task("x", "--model", "anthropic:claude-opus-5-5")
    assert code == 1
    assert "pip install 'deskhand[anthropic]'" in err


def test_a_resumed_task_is_collected_with_its_status(finished: Path) -> None:
    (finished / "result.json").write_text(json.dumps({**STATUS, "conversation": finished.name}))
    shown = computer("task", "--resume", finished.name, "--json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["conversation"] == finished.name


def test_the_last_log_is_shown_as_a_table(finished: Path) -> None:
    shown = computer("audit-log")
    lines = shown.stdout.splitlines()
    assert lines[0] == finished.name
    assert lines[1].split() == ["Time", "Step", "Kind", "What", "Target", "Effect/Verdict", "Risk"]
    assert re.match(r"\d\d:\d\d:\d\d +0\.1 +action +click +button “Save” +done", lines[3])
    assert len(lines) == 5


def test_a_log_is_named_by_conversation_end_or_path(finished: Path) -> None:
    outputs = {
        computer("audit-log", name, "--jsonl").stdout
        for name in (finished.name, finished.name[16:], str(finished), str(finished / "audit.jsonl"))
    }
    assert outputs == {(finished / "audit.jsonl").read_text()}


def test_json_and_jsonl_exclude_each_other_and_choose_kinds(finished: Path) -> None:
    refused = computer("audit-log", "--json", "--jsonl")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert [event["kind"] for event in json.loads(computer("audit-log", "--json").stdout)] == [
        "task_started",
        "action",
        "task_finished",
    ]
    chosen = computer("audit-log", "--jsonl", "--kind", "action", "--kind", "task_finished").stdout
    assert [json.loads(line)["kind"] for line in chosen.splitlines()] == ["action", "task_finished"]
    assert "no such kind: gossip" in computer("audit-log", "--kind", "gossip").stderr


def test_the_last_n_logs_are_shown_oldest_first(finished: Path, deskhand_home: Path) -> None:
    newer = deskhand_home / "tasks" / "20991231-000000-new-ant"
    with AuditLog.create(newer, newer.name) as log:
        log.write("task_started", goal="newer")
    events = json.loads(computer("audit-log", "--last", "5", "--json").stdout)
    assert [event["conversation"] for event in events] == [finished.name] * 3 + [newer.name]
    assert len(json.loads(computer("audit-log", "--json").stdout)) == 1


def test_verify_says_intact_broken_or_not_in_the_chain(finished: Path) -> None:
    head = verify_log(finished / "audit.jsonl").head
    intact = computer("audit-log", finished.name, "--verify", head)
    assert (intact.returncode, "intact, 3 lines" in intact.stdout) == (0, True)
    assert computer("audit-log", "--verify").returncode == 0
    stranger = computer("audit-log", "--verify", "f" * 64)
    assert (stranger.returncode, "NOT in this log" in stranger.stdout) == (1, True)
    assert computer("audit-log", "--verify", head[:20]).returncode == 2
    log = finished / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b"Save", b"Quit"))
    broken = computer("audit-log", "--verify")
    assert (broken.returncode, "BROKEN. line 1" in broken.stdout) == (1, True)
    assert json.loads(computer("audit-log", "--verify", "--json").stdout)[0]["bad_line"] == 1


def test_a_torn_last_line_is_reported_and_still_intact(finished: Path) -> None:
    with (finished / "audit.jsonl").open("ab") as log:
        log.write(b'{"v":1,"seq":3')
    checked = computer("audit-log", "--verify")
    assert (checked.returncode, "torn" in checked.stdout) == (0, True)
    assert computer("audit-log").stdout.count("\n") == 5


def test_a_log_can_be_followed_until_its_task_ends(finished: Path) -> None:
    command = [sys.executable, "-m", "deskhand.cli", "audit-log", "--follow", "--jsonl"]
    with (
        AuditLog.create(finished, finished.name, resume=True) as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following,
    ):
        assert following.stdout is not None
        seen = [json.loads(following.stdout.readline())["kind"] for _ in range(3)]
        log.write("observation")
        seen.append(json.loads(following.stdout.readline())["kind"])
        log.write("task_finished")
        log.close()
        seen += [json.loads(line)["kind"] for line in following.stdout]
        assert following.wait(10) == 0
    assert seen == ["task_started", "action", "task_finished", "observation", "task_finished"]


def _first_rows(count: int, *words: str) -> tuple[list[str], float]:
    """The first lines that ``computer audit-log`` prints, and the seconds until they were there."""
    best = 99.0
    for _ in range(8):
        began = time.perf_counter()
        command = [sys.executable, "-m", "deskhand.cli", "audit-log", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as shown:
            assert shown.stdout is not None
            rows = [shown.stdout.readline() for _ in range(count)]
            best = min(best, time.perf_counter() - began)
            shown.stdout.close()
            shown.kill()
        if best < 0.5:  # as soon as the machine does nothing else
            break
    return rows, best


def _long_log(lines: int) -> tuple[Path, str]:
    """A log of so many lines, sealed as the writer seals them, and the hash of the last."""
    name, directory = TaskStore(Path(os.environ["DESKHAND_HOME"])).new()
    head, data = ZERO, []
    for seq in range(lines):
        click = {"v": 1, "seq": seq, "kind": "action", "step": {"kind": "click", "target": f"e{seq}"}}
        line, head = seal({**click, "conversation": name, "t": seq / 10}, head)
        data.append(line)
    path = directory / "audit.jsonl"
    path.write_bytes(b"".join(data))
    return path, head


@pytest.mark.parametrize("lines", [1, 1000, 100_000])
def test_the_first_rows_of_a_log_of_any_length_are_there_at_once(lines: int) -> None:
    path, head = _long_log(lines)
    rows, took = _first_rows(2 + min(lines, 18), path.parent.name)
    assert [row.split()[-1] for row in rows[2:]] == [f"e{seq}" for seq in range(min(lines, 18))]
    assert took < 0.5
    assert verify_log(path, head).lines == lines
    rows, took = _first_rows(1, path.parent.name, "--jsonl", "--kind", "action")
    assert (json.loads(rows[0])["step"]["target"], took < 0.5) == ("e0", True)


def test_a_log_that_is_torn_is_being_written_or_is_of_a_newer_version_is_shown_as_far_as_it_goes() -> None:
    path, _ = _long_log(1000)
    newer = b'{"v":2,"seq":1000,"kind":"dream","t":"soon","shape":[1,{}],"prev":"?","hash":"?"}\n'
    with path.open("ab") as file:
        file.write(newer + b'{"v":1,"seq":1001,"kind":"act')
    rows = computer("audit-log", path.parent.name).stdout.splitlines()[2:]
    assert len(rows) == 1001
    assert "dream" in rows[-1]
    command = [sys.executable, "-m", "deskhand.cli", "audit-log", path.parent.name, "--follow", "--jsonl"]
    with (
        path.open("ab", buffering=0) as file,
        path.open("rb") as lock,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following,
    ):
        assert following.stdout is not None
        fcntl.flock(file, fcntl.LOCK_EX)
        for _ in range(1001):
            following.stdout.readline()
        file.write(b'ion","step":{"kind":"wait"},"prev":"?","hash":"?"}\n')
        assert json.loads(following.stdout.readline())["step"] == {"kind": "wait"}
        fcntl.flock(file, fcntl.LOCK_UN)
        assert following.wait(10) == 0
        assert lock.read().count(b"\n") == 1002


def test_no_tasks_at_all_is_not_an_error() -> None:
    empty = computer("audit-log")
    assert (empty.returncode, empty.stdout, empty.stderr) == (0, "", "no tasks yet\n")
    assert json.loads(computer("audit-log", "--json").stdout) == []
    assert json.loads(computer("list", "--json").stdout) == []
    assert computer("audit-log", "nobody").returncode == 2


def test_tasks_are_listed_with_their_state(finished: Path) -> None:
    row = json.loads(computer("list", "--json").stdout)[0]
    assert (row["conversation"], row["state"], row["status"]) == (finished.name, "finished", "success")
    lines = computer("list").stdout.splitlines()
    assert lines[1].split()[:2] == [finished.name, "success"]
    assert "press Save" in lines[1]


def test_a_task_that_is_over_cannot_be_stopped(finished: Path) -> None:
    refused = computer("stop", finished.name)
    assert refused.returncode == 1
    assert "is not running" in refused.stderr


def test_a_transcript_is_readable_or_json(finished: Path) -> None:
    assert "has no transcript" in computer("transcript", finished.name).stderr
    entry = {"type": "words", "role": "system", "text": "You are a hand."}
    (finished / "transcript.jsonl").write_text(json.dumps(entry) + '\n{"type": "tu')
    assert "You are a hand." in computer("transcript", finished.name).stdout
    assert json.loads(computer("transcript", finished.name, "--jsonl").stdout) == entry


def test_an_export_is_a_tar_of_the_task(finished: Path) -> None:
    command = [sys.executable, "-m", "deskhand.cli", "export", finished.name]
    done = subprocess.run(command, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        assert archive.getnames() == [f"{finished.name}/audit.jsonl"]
    assert subprocess.run(command[:-1], capture_output=True, check=True).stdout == done.stdout


def test_an_export_is_a_trajectory_when_asked_for(finished: Path, tmp_path: Path) -> None:
    made = json.loads(computer("export", finished.name, "--format", "atif").stdout)
    assert made["session_id"] == finished.name
    out = tmp_path / "trajectory.json"
    assert computer("export", "--format", "atif", "-o", str(out)).returncode == 0
    assert json.loads(out.read_text()) == made
    refused = computer("export", "--format", "zip")
    assert (refused.returncode, "tar or atif" in refused.stderr) == (2, True)
    nowhere = computer("export", "-o", str(tmp_path / "none" / "x"))
    assert (nowhere.returncode, "cannot write" in nowhere.stderr, "Traceback" in nowhere.stderr) == (
        2,
        True,
        False,
    )


def test_the_doctor_names_each_part_why_it_matters_and_what_brings_it() -> None:
    shown = computer("doctor", "--json", env={**os.environ, "DESKHAND_IMAGE_EDGE": "1024"})
    assert shown.returncode == 0, shown.stderr
    report = json.loads(shown.stdout)
    found = {(finding["group"], finding["name"]): finding for finding in report["findings"]}
    assert found["system", "Xvfb"]["state"] == "ok"
    assert found["isolation", "sandbox"]["why"]
    assert found["settings", "image_edge"]["detail"] == "1024 (DESKHAND_IMAGE_EDGE)"
    assert found["settings", "verify_model"]["detail"] == "None (default)"
    for finding in report["findings"]:
        assert finding["why"] or finding["group"] == "settings"
        assert finding["command"] or finding["state"] != "missing"
    assert "Tasks can run here." in computer("doctor").stdout


def test_the_doctor_says_which_setting_is_wrong_and_where_values_come_from(tmp_path: Path) -> None:
    config = Path(os.environ["DESKHAND_CONFIG"])
    config.write_text("image_edge = 900\n")
    assert f"image_edge           900 ({config})" in computer("doctor").stdout
    config.write_text("image_edge = 1\n")
    shown = computer("doctor")
    assert shown.returncode == 1
    assert "image_edge" in shown.stdout
    assert "Tasks cannot run here yet." in shown.stdout


def test_the_doctor_runs_the_fixes_and_looks_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mended = tmp_path / "mended"
    monkeypatch.setattr(
        "deskhand.doctor.fixes", lambda findings: [] if mended.exists() else [f"touch {mended}"]
    )
    with pytest.raises(SystemExit) as left:
        cli.main(["doctor", "--fix"])
    assert left.value.code == 0
    assert mended.exists()
    assert f"$ touch {mended}" in capsys.readouterr().err


def test_a_c_locale_does_not_end_anything(finished: Path) -> None:
    plain = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = computer("audit-log", env=plain)
    assert shown.returncode == 0
    assert "\\u201cSave\\u201d" in shown.stdout
