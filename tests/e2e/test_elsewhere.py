"""A computer of the settings' table: the task runs there, and its log, pictures and recording come back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand import Policy, computer_task
from deskhand.audit.read import read_events
from deskhand.audit.verify import verify_log
from deskhand.config import load_settings
from process_tree import left_alive
from watching import Script, Watch
from wire import Wire

CALCULATE = "In gnome-calculator compute 12 × 34 and tell me the result"


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer called lab: the same machine, with a home, a data directory and an environment of its own."""
    there = tmp_path / "lab"
    there.mkdir()
    words = ["env", "-i", f"HOME={there}", f"PATH={os.environ['PATH']}", f"DESKHAND_HOME={there}/data"]
    words += [f"PYTHONPATH={Path(__file__).parents[2] / 'src'}", sys.executable, "-m", "deskhand.cli"]
    config = tmp_path / "config.toml"
    listed = ", ".join(f'"{word}"' for word in words)
    config.write_text(
        f"[computers]\nlab = [{listed}]\nnowhere = 'no-such-program lab computer'\nbroken = 'false'\n"
        f"[computers.with-keys]\ncommand = [{listed}]\nkeys = 'caller'\n"
    )
    monkeypatch.setenv("DESKHAND_CONFIG", str(config))
    load_settings.cache_clear()
    return there


def test_a_task_there_brings_its_log_pictures_and_recording_back(
    lab: Path, watch: Watch, tmp_path: Path
) -> None:
    video = tmp_path / "there.mp4"
    done = computer_task(CALCULATE, 60, "embedded", computer="lab", record=str(video), on_event=watch)
    assert (done["status"], done["verified"], done["computer"]) == ("success", True, "lab"), done
    assert "408" in done["result"]
    here, there = Path(str(done["logdir"])), lab / "data" / "tasks" / done["conversation"]
    assert here != there
    assert (here / "audit.jsonl").read_bytes() == (there / "audit.jsonl").read_bytes()
    found = verify_log(here / "audit.jsonl", done["audit_hash"])
    assert found.intact
    assert found.found_expected
    assert Path(str(done["final_image"])).is_file()
    assert Path(str(done["final_image"])).parent == here / "images"
    assert done["recording"] == str(video)
    assert video.read_bytes()[4:8] == b"ftyp"
    assert [event["seq"] for event in watch.events] == list(range(len(watch.events)))
    assert left_alive(watch.seen, 2) == []


def test_a_question_from_there_is_answered_later_on_the_same_desktop(
    lab: Path, scripted: Script, watch: Watch
) -> None:
    launch = {"calls": [{"name": "act", "input": {"steps": [{"kind": "launch", "app": "mousepad"}]}}]}
    ask = {"calls": [{"name": "ask", "input": {"question": "Which word?"}}]}
    write = {
        "calls": [
            {"name": "act", "input": {"steps": [{"kind": "fill", "target": "textbox", "text": "blue"}]}}
        ]
    }
    end = {"calls": [{"name": "finish", "input": {"result": "blue", "evidence": ["textbox[value='blue']"]}}]}
    asked = computer_task(
        "write the word", 60, scripted([launch, ask, write, end]), computer="lab", on_event=watch
    )
    assert (asked["status"], asked["result"]) == ("clarification_needed", "Which word?"), asked
    done = computer_task("blue", 60, resume=asked["conversation"], on_event=watch)
    assert (done["status"], done["computer"]) == ("success", "lab"), done
    assert verify_log(Path(str(done["logdir"])) / "audit.jsonl", done["audit_hash"]).intact
    assert left_alive(watch.seen, 2) == []


def test_a_question_from_there_is_answered_by_the_callers_own_function(lab: Path, scripted: Script) -> None:
    ask = {"calls": [{"name": "ask", "input": {"question": "Which word?"}}]}
    end = {"calls": [{"name": "finish", "input": {"result": "no", "status": "failure", "reason": "gave_up"}}]}
    asked = []
    policy = Policy(confirm=lambda question: asked.append(question["question"]) or "blue")
    done = computer_task("write it", 60, scripted([ask, end]), computer="lab", policy=policy)
    assert (done["reason"], asked) == ("gave_up", ["Which word?"]), done


def test_a_broken_connection_ends_in_a_status_with_the_log_so_far(
    lab: Path, scripted: Script, watch: Watch
) -> None:
    launch = {"calls": [{"name": "act", "input": {"steps": [{"kind": "launch", "app": "mousepad"}]}}]}
    wait = {"calls": [{"name": "wait_for", "input": {"selector": "dialog[name='never']", "timeout": 50}}]}

    def cut(event: dict[str, object]) -> None:
        watch(event)
        if event["kind"] == "action":
            [relay] = subprocess.check_output(["pgrep", "-P", str(os.getpid()), "-f", "relay"]).split()
            os.kill(int(relay), 9)

    done = computer_task("write", 60, scripted([launch, wait]), computer="lab", on_event=cut)
    assert (done["status"], done["reason"]) == ("failure", "computer_lost"), done
    found = verify_log(Path(str(done["logdir"])) / "audit.jsonl", done["audit_hash"])
    assert found.intact
    assert found.found_expected
    kinds = [event["kind"] for event in read_events(Path(str(done["logdir"])) / "audit.jsonl")]
    assert kinds[0] == "task_started"
    assert kinds[-1] == "action"
    assert left_alive(watch.seen, 5) == []


@pytest.mark.long
def test_the_keys_there_count_unless_its_entry_sends_the_callers(lab: Path, wire: Wire) -> None:
    end = {"calls": [{"name": "finish", "input": {"result": "no", "status": "failure", "reason": "gave_up"}}]}
    wire.play([end])
    theirs = computer_task("do it", 20, "anthropic:claude-opus-4-6", computer="lab")
    assert (theirs["status"], theirs["reason"], wire.requests) == ("failure", "model_error", []), theirs
    assert "ANTHROPIC_API_KEY" in theirs["result"]
    ours = computer_task("do it", 20, "anthropic:claude-opus-4-6", computer="with-keys")
    assert (ours["reason"], len(wire.requests)) == ("gave_up", 1), ours


def test_a_computer_that_cannot_be_reached_is_named(lab: Path) -> None:
    with pytest.raises(
        ValueError, match="'nowhere' is reached by 'no-such-program', which is not on this machine"
    ):
        computer_task(CALCULATE, computer="nowhere")
    with pytest.raises(ValueError, match=r"table of computers \(broken, lab, nowhere, with-keys\)"):
        computer_task(CALCULATE, computer="elsewhere")
    with pytest.raises(ValueError, match="background"):
        computer_task(CALCULATE, computer="lab", background=True)
    lost = computer_task(CALCULATE, 20, "embedded", computer="broken")
    assert (lost["status"], lost["reason"]) == ("failure", "computer_lost")
