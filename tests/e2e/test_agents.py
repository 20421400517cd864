"""Command-line agents as the child: their program's own loop, behind our consent, limits, audit and verification."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskhand import Limits, MissingPart, Private, computer_task
from deskhand.audit.verify import verify_log
from deskhand.doctor import examine
from deskhand.orchestrator.order import prepare
from process_tree import left_alive
from watching import Watch
from wire import Wire

Json = dict[str, Any]
FAKE = Path(__file__).parents[1] / "fake_claude.py"
PROGRAMS = Path(__file__).parents[2] / ".cli-agents"
PACKAGES = ("@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.171.0")


def call(name: str, **arguments: Any) -> Json:
    return {"name": name, "input": arguments}


def act(*steps: Json) -> Json:
    return call("act", steps=list(steps))


LAUNCH = {"text": "I open it.", "calls": [act({"kind": "launch", "app": "mousepad"})]}
WRITE = {"calls": [act({"kind": "fill", "target": "textbox", "text": "blue"})]}
WRITE_AND_LOOK = {"calls": [*WRITE["calls"], call("observe")]}
WRONG = {"calls": [call("finish", result="written", evidence=["textbox[value='red']"])]}
WRITTEN = {"calls": [call("finish", result="written: blue", evidence=["textbox[value='blue']"])]}
ASK = {"calls": [call("ask", question="Which word?")]}
GOAL = "write the word blue into an editor"


class Fake:
    """A program `claude` on PATH that plays turns, and what it was given."""

    def __init__(self, directory: Path) -> None:
        self.script, self.kept = directory / "script.json", directory / "kept.jsonl"
        self.login = directory / "user" / ".claude" / ".credentials.json"
        self.login.parent.mkdir(parents=True)
        self.login.write_text('{"token": "of the user"}')
        program = directory / "bin" / "claude"
        program.parent.mkdir()
        words = " ".join(f"'{part}'" for part in (sys.executable, FAKE, self.script, self.kept))
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        program.chmod(0o755)

    def play(self, *turns: Json) -> None:
        self.script.write_text(json.dumps(turns))

    @property
    def lines(self) -> list[Json]:
        return [json.loads(line) for line in self.kept.read_text().splitlines()]

    @property
    def answers(self) -> list[str]:
        return [line["answer"][0]["text"] for line in self.lines if "answer" in line]


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return fake


def log_is_intact(status: Any) -> None:
    found = verify_log(Path(status["logdir"]) / "audit.jsonl", status["audit_hash"])
    assert found.intact, found
    assert found.found_expected


def nothing_is_left(watch: Watch) -> None:
    assert watch.seen, "the task's processes were never seen"
    assert left_alive(watch.seen, 2) == []


def test_an_agents_program_does_a_task_as_the_child(claude: Fake, watch: Watch) -> None:
    claude.play(LAUNCH, WRITE_AND_LOOK, {"text": "Hm."}, WRONG, WRITTEN)
    status = computer_task(GOAL, 60, "claude-code", on_event=watch)
    assert (status["status"], status["verified"], status["steps"]) == ("success", True, 5), status
    assert status["model"] == "claude-code:claude-opus-4-8"
    assert status["usage"]["input_tokens"] == 5 * 1000
    assert (status["usage"]["cached_tokens"], status["usage"]["output_tokens"]) == (5 * 900, 5 * 50)
    assert status["usage"]["cost_usd"]
    kinds = watch.kinds()
    assert (kinds.count("model_call"), kinds.count("action"), kinds.count("verification")) == (5, 2, 2)
    assert any("Not accepted" in answer for answer in claude.answers)
    words = [line["words"][0]["text"] for line in claude.lines if "words" in line]
    assert GOAL in words[0]
    assert words[1].startswith("Nothing happens without a tool call")
    log_is_intact(status)
    nothing_is_left(watch)


def test_the_program_has_only_our_tools_its_login_and_a_home_of_its_own(
    claude: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMETHING_OF_THE_USERS", "x")
    claude.play({"calls": [call("finish", status="failure", reason="gave_up", result="no")]})
    status = computer_task(GOAL, 60, "claude-code:opus")
    assert status["reason"] == "gave_up", status
    given = claude.lines[0]
    arguments, environ = given["arguments"], given["environ"]
    assert arguments[arguments.index("--tools") + 1] == ""
    assert arguments[arguments.index("--model") + 1] == "opus"
    assert GOAL not in " ".join(arguments)
    assert {tool["name"] for tool in given["tools"]} == {
        "observe", "act", "find", "wait_for", "finish", "ask",
    }  # fmt: skip
    assert all(len(tool["description"]) < 2048 for tool in given["tools"])
    assert given["login"] == claude.login.read_text()
    assert "SOMETHING_OF_THE_USERS" not in environ
    assert not Path(environ["HOME"]).exists()


def test_a_login_that_the_program_renews_goes_back_to_the_user(claude: Fake) -> None:
    claude.play({"renew": '{"token": "new"}', **LAUNCH}, {"fail": "enough"})
    status = computer_task(GOAL, 60, "claude-code")
    assert (status["reason"], "enough" in status["result"]) == ("model_error", True), status
    assert claude.login.read_text() == '{"token": "new"}'


def test_the_limit_of_turns_holds_before_the_next_model_call(claude: Fake, watch: Watch) -> None:
    claude.play(LAUNCH, WRITE, WRITE, WRITTEN)
    status = computer_task(GOAL, 60, "claude-code", limits=Limits(steps=2), on_event=watch)
    assert (status["reason"], status["steps"]) == ("max_steps", 2), status
    assert "your last turn" in claude.answers[0]
    assert len(claude.answers) == 1
    nothing_is_left(watch)


def test_a_program_that_dies_is_a_model_error_with_its_last_words(claude: Fake, watch: Watch) -> None:
    claude.play(LAUNCH, {"die": "out of luck"})
    status = computer_task(GOAL, 60, "claude-code", on_event=watch)
    assert (status["status"], status["reason"]) == ("failure", "model_error"), status
    assert "out of luck" in status["result"]
    nothing_is_left(watch)


def test_a_call_that_the_program_answers_itself_is_not_run(claude: Fake, watch: Watch) -> None:
    claude.play({"calls": [call("refused_by_the_program")]}, LAUNCH, WRITE, WRITTEN)
    status = computer_task(GOAL, 60, "claude-code", on_event=watch)
    assert status["status"] == "success", status
    transcript = (Path(str(status["logdir"])) / "transcript.jsonl").read_text()
    assert "No such tool" in transcript


def test_a_question_of_the_program_is_answered_where_it_waits(claude: Fake, watch: Watch) -> None:
    claude.play(LAUNCH, ASK, WRITE, WRITTEN)
    asked = computer_task(GOAL, 60, "claude-code", on_event=watch)
    assert (asked["reason"], asked["result"]) == ("question", "Which word?"), asked
    done = computer_task("blue", 60, resume=asked["conversation"], on_event=watch)
    assert done["status"] == "success", done
    assert "Answer: blue" in claude.answers[1]
    assert len([line for line in claude.lines if "arguments" in line]) == 1
    nothing_is_left(watch)


def test_a_fresh_program_is_told_what_had_happened(claude: Fake) -> None:
    claude.play(LAUNCH, ASK)
    asked = computer_task(GOAL, 60, "claude-code", limits=Limits(human_wait=0))
    claude.play(LAUNCH, WRITE, WRITTEN)
    done = computer_task("blue", 60, resume=asked["conversation"])
    assert done["status"] == "success", done
    history = [line["words"][0]["text"] for line in claude.lines if "words" in line][1]
    assert "Which word?" in history
    assert "Answer to ask: Answer: blue" in history
    assert "The desktop is a fresh one" in history


def test_consent_holds_for_an_agents_program_too(claude: Fake, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>p</title><button onclick=\"document.body.append('gone')\">Delete all</button>")
    claude.play(
        {"calls": [act({"kind": "launch", "app": page.as_uri()})]},
        {"calls": [act({"kind": "click", "target": "button"})]},
    )
    held = computer_task("tidy up", 60, "claude-code", computer=Private(share=(str(tmp_path),)))
    assert (held["status"], held["reason"]) == ("clarification_needed", "consent"), held
    assert "Delete all" in held["result"]


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_an_absent_program_is_a_missing_part_with_the_command_that_brings_it(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(MissingPart, match="npm install -g @"):
        computer_task(GOAL, 60, agent)


def test_a_task_without_a_model_names_the_agents_that_are_installed(
    claude: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DESKHAND_MODEL")
    prepare("frobnicate")
    assert "--model claude-code" in capsys.readouterr().err
    found = [finding for finding in examine() if finding.name == "claude-code"]
    assert [finding.state for finding in found] == ["ok"]


# --- the real programs -------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def programs() -> Path:
    """A directory with the real programs, installed from npm at the first time."""
    found = PROGRAMS / "node_modules" / ".bin"
    if not (found / "claude").exists() or not (found / "codex").exists():
        PROGRAMS.mkdir(exist_ok=True)
        (PROGRAMS / "package.json").write_text('{"private": true}')
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", *PACKAGES], cwd=PROGRAMS, check=True, timeout=600
        )
    return found


@pytest.fixture
def real(
    programs: Path, wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[str]]:
    """Put the real programs on PATH, in an empty home, and give their API's stand-in a script for an agent."""
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))

    def play(agent: str, *turns: Json) -> None:
        def spelled(one: Json) -> Json:
            if agent == "codex":
                return {**one, "namespace": "mcp__desk"}
            return {**one, "name": f"mcp__desk__{one['name']}"}

        wire.play([{**turn, "calls": [spelled(one) for one in turn.get("calls", [])]} for turn in turns])

    return play


@pytest.mark.long
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_real_program_does_a_task_as_the_child(
    agent: str, real: Callable[..., None], wire: Wire, watch: Watch, tmp_path: Path
) -> None:
    real(agent, LAUNCH, WRITE_AND_LOOK, {"text": "Hm."}, WRONG, WRITTEN)
    status = computer_task(GOAL, 90, agent, on_event=watch)
    assert (status["status"], status["verified"], status["steps"]) == ("success", True, 5), status
    assert len(wire.requests) == 5
    kinds = watch.kinds()
    assert (kinds.count("model_call"), kinds.count("action"), kinds.count("verification")) == (5, 2, 2)
    first = json.dumps(wire.bodies[0])
    assert GOAL in first
    assert "Stop the batch here unless the selector matches" in first  # the tools' words arrive whole
    assert "Bash" not in first
    assert "apply_patch" not in first
    log_is_intact(status)
    nothing_is_left(watch)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".c")] == []


@pytest.mark.long
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_real_program_is_held_by_limits_and_questions(
    agent: str, real: Callable[..., None], wire: Wire, watch: Watch
) -> None:
    real(agent, LAUNCH, ASK, WRITE, WRITE, WRITTEN)
    asked = computer_task(GOAL, 90, agent, on_event=watch)
    assert (asked["reason"], asked["result"]) == ("question", "Which word?"), asked
    ended = computer_task("blue", 90, resume=asked["conversation"], limits=Limits(steps=1), on_event=watch)
    assert (ended["reason"], ended["steps"]) == ("max_steps", 1), ended
    assert len(wire.requests) == 3
    log_is_intact(ended)
    nothing_is_left(watch)


@pytest.mark.long
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_refused_login_of_the_real_program_is_a_model_error(
    agent: str, real: Callable[..., None], wire: Wire, watch: Watch
) -> None:
    wire.play([{"http": 401, "message": "bad key"}] * 20)
    status = computer_task(GOAL, 60, agent, on_event=watch)
    assert (status["status"], status["reason"]) == ("failure", "model_error"), status
    nothing_is_left(watch)
