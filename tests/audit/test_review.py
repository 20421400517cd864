from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from deskhand.audit.export import export_task
from deskhand.audit.live import TaskView
from deskhand.audit.read import read_events
from deskhand.audit.review import AUDIT_COLUMNS, Reviewer, audit_line, describe_status
from deskhand.audit.show import describe_verification, show_json, show_lines, show_table
from deskhand.audit.table import Column, Table, cells, fit, printable, safe
from deskhand.audit.transcript import describe_entry
from deskhand.audit.verify import verify_log
from deskhand.audit.words import describe_step


def test_each_event_is_a_row_in_words(finished: Path) -> None:
    reviewer = Reviewer()
    rows = [reviewer.row(event) for event in read_events(finished)]
    action = rows[3]
    assert (action.step, action.what, action.target) == ("1.1", "click", "button “Save”")
    assert (action.outcome, action.risk, action.seconds) == ("done · settled", "write", 0.4)
    assert rows[0].what == "press Save"
    assert rows[2].target == "900 → 20 tokens"
    assert rows[4].outcome == "verified"
    assert rows[4].what == "check 1 of 1 hold"
    assert rows[5].outcome == "success"
    assert rows[5].what == "It is saved."


def test_actions_are_numbered_by_turn() -> None:
    reviewer = Reviewer()
    kinds = ["task_started", "model_call", "action", "action", "model_call", "action", "task_finished"]
    assert [reviewer.row({"kind": kind}).step for kind in kinds] == ["", "1", "1.1", "1.2", "2", "2.1", ""]


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "action", "step": "click", "target": 7, "settled": 3, "seconds": "long"},
        {"kind": "verification", "evidence": {"a": 1}, "passed": "yes"},
        {"kind": "model_call", "usage": [1], "input_tokens": "many"},
        {"kind": "desktop_ready", "size": None, "notes": 3},
        {"kind": "telepathy", "what": {"deep": []}},
        {"kind": "consent", "allowed": "perhaps", "step": None},
        {},
    ],
)
def test_an_event_of_any_shape_has_a_row(event: dict[str, object]) -> None:
    table = Table(AUDIT_COLUMNS, width=120)
    line = audit_line(table, Reviewer().row(event))
    assert "\n" not in line
    assert cells(line) <= 120


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"kind": "type", "text": "hello"}, "type “hello”"),
        ({"kind": "key", "keys": "ctrl+s"}, "key ctrl+s"),
        ({"kind": "click", "count": 2, "button": "right"}, "click ×2 right"),
        ({"kind": "scroll", "down": 3}, "scroll down 3"),
        ({"kind": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}, "drag over 2 points"),
        ({"kind": "menu", "path": ["File", "Save As…"]}, "menu File › Save As…"),
        ({"kind": "launch", "app": "mousepad"}, "launch mousepad"),
        ({"kind": "wait", "for": "dialog"}, "wait dialog"),
    ],
)
def test_a_step_is_told_in_a_few_words(step: dict[str, object], words: str) -> None:
    assert describe_step(step) == words


def test_a_hostile_name_cannot_reach_the_terminal() -> None:
    name = "Save\x1b[2J\x1b]0;owned\x07\u202egnp.exe\r\nnext\u200b" + "x" * 1_000_000
    line = audit_line(
        Table(AUDIT_COLUMNS, width=100, colour=False),
        Reviewer().row(
            {"kind": "action", "target": {"role": "button", "name": name}, "step": {"kind": "click"}}
        ),
    )
    assert cells(line) <= 100
    assert not set(line) & set("\x1b\x07\r\n\u202e\u200b")
    assert "\x1b" not in printable("a\x1b[31m\n\tb")
    assert printable("a\n  b") == "a\n  b"
    assert safe("a\u2028b\ud800c") == "a b c"


def test_columns_are_measured_in_cells() -> None:
    assert fit("日本語テキスト", 7) == "日本語…"
    assert fit("e\u0301tude", 7) == "e\u0301tude  "
    assert fit("12", 5, right=True) == "   12"
    table = Table([Column(heading="A", width=4), Column(heading="B", width=4, share=1)], width=20)
    assert table.row(["日本語", "b"]) == "日…   b"


def test_a_log_is_printed_as_table_as_json_and_as_its_own_lines(finished: Path) -> None:
    text, array, lines = io.StringIO(), io.StringIO(), io.StringIO()
    show_table(finished, text)
    show_json([finished], array)
    show_lines(finished, lines)
    assert text.getvalue().count("\n") == 8
    assert [event["kind"] for event in json.loads(array.getvalue())] == [
        event["kind"] for event in read_events(finished)
    ]
    assert lines.getvalue().encode() == finished.read_bytes()


def test_events_are_chosen_by_kind_and_keep_their_step(finished: Path) -> None:
    text, array, lines = io.StringIO(), io.StringIO(), io.StringIO()
    show_table(finished, text, kinds={"action"})
    show_json([finished], array, kinds={"question"})
    show_lines(finished, lines, kinds={"action"})
    assert "1.1  action" in text.getvalue()
    assert "task_started" not in text.getvalue()
    assert json.loads(array.getvalue()) == []
    assert lines.getvalue().encode() == finished.read_bytes().split(b"\n")[3] + b"\n"


def test_a_verification_is_told_in_a_sentence(finished: Path) -> None:
    checked = verify_log(finished)
    assert f"intact, 6 lines, last hash {checked.head}" in describe_verification(finished, checked, None)
    missing = "0" * 64
    assert "NOT in this log" in describe_verification(finished, verify_log(finished, missing), missing)
    finished.write_bytes(finished.read_bytes().replace(b"Saved", b"Saver"))
    assert "BROKEN. line 5" in describe_verification(finished, verify_log(finished), None)


def test_a_task_is_shown_as_plain_lines_in_a_pipe(finished: Path) -> None:
    out = io.StringIO()
    with TaskView(out) as view:
        for event in read_events(finished):
            view(event)
    assert out.getvalue().splitlines() == [
        "  1.1  click → button “Save”: done · settled, 0.4s",
        "    1  check 1 of 1 hold: verified",
    ]


def test_a_task_is_shown_as_a_table_on_a_terminal(finished: Path) -> None:
    out = io.StringIO()
    with TaskView(out, terminal=True, width=100) as view:
        for event in read_events(finished):
            view(event)
    shown = out.getvalue()
    assert "Verdict" in shown
    assert "button “Save”" in shown
    assert "920" in shown  # the tokens of the turn that led to it
    assert "\x1b[32m" in shown


def test_a_status_is_told_in_lines() -> None:
    status = {
        "status": "failure",
        "reason": "unverified",
        "result": "Two lines\nof text",
        "evidence": [{"check": "text[name='x']", "holds": False}],
        "data": {"n": 1},
        "usage": {"input_tokens": 1000, "output_tokens": 34, "cost_usd": None},
        "steps": 3,
        "seconds": 4.2,
        "model": "m",
        "computer": "private",
        "conversation": "c",
        "logdir": None,
        "recording": None,
        "audit_hash": "h",
    }
    lines = describe_status(status)
    assert lines[0] == "failure (unverified)  Two lines\nof text"
    assert lines[1:] == [
        'data       {"n": 1}',
        "FAILS      text[name='x']",
        "spent      3 turns, 4.2 s, 1,034 tokens, cost unknown · m on private",
        "task       c",
        "hash       h",
    ]


def test_a_transcript_entry_is_readable_and_inert() -> None:
    turn = {
        "type": "turn",
        "model": "m",
        "text": "hi\x1b[2J",
        "calls": [{"name": "act", "arguments": {"steps": []}}],
    }
    assert describe_entry(turn).splitlines()[1:] == ["hi [2J", '→ act {"steps": []}']
    result = {
        "name": "act",
        "text": "done",
        "images": [{"id": "i1", "width": 2, "height": 3, "sha256": "ab"}],
    }
    assert "[picture i1 2×3 ab]" in describe_entry({"type": "results", "results": [result]})
    assert "mystery" in describe_entry({"type": "mystery"})


def test_an_export_holds_what_the_task_left_and_no_links(finished: Path) -> None:
    directory = finished.parent
    (directory / "images").mkdir()
    (directory / "images" / "a.png").write_bytes(b"p")
    (directory / "passwd").symlink_to("/etc/passwd")
    (directory / ".result.json.77").write_bytes(b"half")
    stream = io.BytesIO()
    export_task(directory, stream)
    stream.seek(0)
    with tarfile.open(fileobj=stream) as archive:
        names = archive.getnames()
        content = archive.extractfile(f"{directory.name}/audit.jsonl")
        assert content is not None
        assert content.read() == finished.read_bytes()
    assert names == [f"{directory.name}/audit.jsonl", f"{directory.name}/images/a.png"]
