"""The export as an ATIF trajectory: valid by its specification, and nothing is lost."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory
from PIL import Image as Picture

from deskhand.audit.atif import trajectory
from deskhand.audit.chain import ZERO, seal
from deskhand.audit.log import AuditLog
from deskhand.audit.transcript import read_transcript
from deskhand.messages import Entry, Image, Results, ToolCall, ToolResult, Turn, Usage, Words
from deskhand.orchestrator.record import Record

NEWER = (
    b'{"v":9,"seq":3,"kind":"dream","shape":[1,{}]}\n'
    b'{"v":9,"seq":4,"ts":"soon","kind":"model_call","input_tokens":"many","cost_usd":"much","calls":8}\n'
    b'{"v":9,"seq":5,"ts":7,"kind":"action","step":"jump","before":[]}\n'
)
HOSTILE = 'a\u202eb"}]\x00</script>\U0001f600 {"steps": []}'


def _png(colour: str) -> Image:
    out = io.BytesIO()
    Picture.new("RGB", (64, 40), colour).save(out, "PNG")
    return Image(data=out.getvalue(), width=64, height=40, id="i1")


def _turn(text: str, *calls: ToolCall, tokens: int = 100) -> Turn:
    usage = Usage(input_tokens=tokens, output_tokens=7, cached_tokens=40, cost_usd=0.001)
    return Turn(text=text, calls=calls, usage=usage, stop="calls", model="m-1", raw=[{"type": "text"}])


def _task(directory: Path) -> Path:
    """Two turns, a summary between them and a second look at the end, in two runs."""
    with_picture = ToolResult(call_id="c1", name="act", text="done", images=(_png("red"),), seen=(0, 4))
    invalid = ToolCall(id="c1", name="act", invalid="{steps:")
    record = Record(AuditLog.create(directory, directory.name))
    record.log.write("task_started", goal=f"say {HOSTILE}", model="anthropic:m-1", computer="private")
    say(record, Words(role="system", text="You are a hand."))
    say(
        record,
        Words(role="user", text=f"say {HOSTILE}", images=(_png("blue"),), goal="say", inputs=(("a", "b"),)),
    )
    call = ToolCall(id="c1", name="act", arguments={"steps": [{"kind": "click", "target": HOSTILE}]})
    think(record, _turn("I click.", call, invalid))
    record.log.write("action", step={"kind": "click"}, effect="done", before=record.store(_png("red")))
    say(
        record,
        Results(results=(with_picture, ToolResult(call_id="c1", name="act", text="no JSON", is_error=True))),
    )
    record.model_call("anthropic:m-1", _turn("in short", tokens=55), 0.5)
    say(record, Words(role="user", text="In short: in short", replaces=2))
    record.log.write(
        "task_started", goal=f"say {HOSTILE}", model="anthropic:m-1", computer="private", resumed=True
    )
    think(record, _turn("It is said.", ToolCall(id="c2", name="finish", arguments={})))
    record.model_call("anthropic:m-1 (verification)", _turn("yes", tokens=30), 0.5)
    record.log.write("task_finished", status="success", reason=None, result="said", evidence=[])
    record.close()
    return directory


def say(record: Record, entry: Entry) -> None:
    record.entry(entry)


def think(record: Record, turn: Turn) -> None:
    record.model_call("anthropic:m-1", turn, 1.0)
    record.entry(turn)


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return _task(tmp_path / "20261201-000000-calm-otter")


def _valid(made: dict[str, Any]) -> Trajectory:
    """As a reader of the format gets it."""
    return Trajectory.model_validate_json(json.dumps(made))


def _log_of(made: dict[str, Any]) -> bytes:
    """The log, spelled again from a trajectory."""
    events = [event for step in made["steps"] for event in step["extra"]["events"]]
    data, head = b"", ZERO
    for event in sorted(events, key=lambda each: each["seq"]):
        body = {key: value for key, value in event.items() if key not in ("prev", "hash")}
        line, head = seal(body, head)
        data += line
    return data


def _entry_of(step: dict[str, Any]) -> list[dict[str, Any]]:
    """What the transcript held of a step."""
    rest = {key: value for key, value in step["extra"].items() if key != "events"}
    if step["source"] != "agent":
        return [{"type": "words", "role": step["source"], "text": _words(step["message"]), **rest}]
    calls = []
    for call in step.get("tool_calls", ()):
        extra = dict(call["extra"])
        calls.append({"name": call["function_name"], "arguments": call["arguments"], **extra})
    turn = {"type": "turn", "text": step["message"], "model": step["model_name"], "calls": calls, **rest}
    results = [
        {"text": _words(result["content"]), **result["extra"]}
        for result in step.get("observation", {}).get("results", ())
    ]
    return [turn, {"type": "results", "results": results}] if results else [turn]


def _words(content: Any) -> Any:
    return content if isinstance(content, str) else content[0]["text"]


def test_the_trajectory_is_valid_and_the_log_and_the_transcript_can_be_had_back_from_it(task: Path) -> None:
    made = json.loads(json.dumps(trajectory(task)))
    _valid(made)
    assert _log_of(made) == (task / "audit.jsonl").read_bytes()
    assert [entry for step in made["steps"] for entry in _entry_of(step)] == list(
        read_transcript(task / "transcript.jsonl")
    )


def test_each_turn_is_a_step_with_its_own_cost_and_what_came_of_its_calls(task: Path) -> None:
    read = _valid(trajectory(task))
    assert [step.source for step in read.steps] == ["system", "user", "agent", "user", "agent"]
    first, last = read.steps[2], read.steps[4]
    assert first.metrics is not None
    assert (first.metrics.prompt_tokens, first.metrics.cached_tokens) == (100, 40)
    assert (first.llm_call_count, last.llm_call_count) == (1, 1)
    calls = [call.tool_call_id for call in first.tool_calls or ()]
    assert len(set(calls)) == 2
    assert first.observation is not None
    assert first.observation.results[0].source_call_id in calls
    kinds = [[event["kind"] for event in (step.extra or {})["events"]] for step in (first, last)]
    assert kinds == [
        ["model_call", "action", "model_call", "task_started"],
        ["model_call", "model_call", "task_finished"],
    ]
    assert read.final_metrics is not None
    assert read.final_metrics.total_prompt_tokens == 100 + 55 + 100 + 30
    assert read.final_metrics.total_cost_usd == pytest.approx(0.004)


def test_pictures_are_named_from_where_the_trajectory_lies(task: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "out"
    elsewhere.mkdir()
    for beside in (elsewhere, None):
        read = _valid(trajectory(task, beside=beside))
        named = _pictures(read)
        assert len(named) == 2
        assert all(((beside or Path("/")) / name).is_file() for name in named)


def _pictures(read: Trajectory) -> list[str]:
    contents: list[Any] = []
    for step in read.steps:
        contents.append(step.message)
        contents += [result.content for result in (step.observation.results if step.observation else ())]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [part.source.path for part in parts if part.source is not None]


def test_a_task_that_no_model_did_is_marked_as_such(finished: Path) -> None:
    made = trajectory(finished.parent)
    read = _valid(made)
    assert _log_of(made) == finished.read_bytes()
    agent = [step for step in read.steps if step.source == "agent"]
    assert [call.function_name for step in agent for call in step.tool_calls or ()] == ["click"]
    with pytest.raises(FileNotFoundError):
        trajectory(finished.parent / "none")


def test_half_a_character_of_a_title_leaves_json_that_strict_readers_take(tmp_path: Path) -> None:
    log = AuditLog.create(tmp_path / "20261201-000000-calm-otter", "20261201-000000-calm-otter")
    log.write("task_started", goal="\ud83d and \U0001f600", **{"\udc00": 1})
    log.close()
    message = _valid(trajectory(log.directory)).steps[0].message
    assert message == "\ufffd and \U0001f600"


def test_what_was_torn_or_written_by_a_newer_version_is_still_a_valid_trajectory(task: Path) -> None:
    log, transcript = task / "audit.jsonl", task / "transcript.jsonl"
    whole = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(whole[:3]) + NEWER + whole[-1][:-9])
    transcript.write_bytes(
        b'{"type":"dream"}\n{"type":"turn","calls":[7,{"id":"x"}],"usage":8,"stop":[]}\n{"type":"results","results":[3,{}]}\n'
        + transcript.read_bytes()[:-30]
    )
    made = trajectory(task)
    _valid(made)
    assert (made["extra"]["log"]["lines"], made["extra"]["log"]["torn"]) == (3, True)
    transcript.unlink()
    _valid(trajectory(task))
    log.write_bytes(b"")
    _valid(trajectory(task))
