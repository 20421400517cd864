"""A task that asked goes on with the answer, from any process, on its desktop or on a fresh one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from deskhand import Limits, Private, computer_task
from deskhand.audit.films import films_of
from deskhand.audit.store import TaskStore
from deskhand.audit.verify import verify_log
from deskhand.desktop.recording import duration_of
from deskhand.orchestrator.control import NotRunning, send
from process_tree import descendants, left_alive
from watching import Script, Watch

LAUNCH = {"calls": [{"name": "act", "input": {"steps": [{"kind": "launch", "app": "mousepad"}]}}]}
ASK = {"calls": [{"name": "ask", "input": {"question": "Which word?"}}]}
LOOK = {"calls": [{"name": "observe", "input": {}}]}
WRITE = {
    "calls": [{"name": "act", "input": {"steps": [{"kind": "fill", "target": "textbox", "text": "blue"}]}}]
}
WRITTEN = {
    "calls": [{"name": "finish", "input": {"result": "written: blue", "evidence": ["textbox[value='blue']"]}}]
}


def texts(logdir: str | None) -> str:
    return Path(str(logdir), "transcript.jsonl").read_text()


def test_an_answer_finds_the_child_and_its_desktop_where_they_were(scripted: Script, watch: Watch) -> None:
    model = scripted([LAUNCH, ASK, WRITE, WRITTEN])
    asked = computer_task("write the word", 60, model, record=True, on_event=watch)
    assert (asked["status"], asked["reason"], asked["result"]) == (
        "clarification_needed",
        "question",
        "Which word?",
    )
    done = computer_task("blue", 60, resume=asked["conversation"], on_event=watch)
    assert (done["status"], done["verified"]) == ("success", True), done
    assert done["conversation"] == asked["conversation"]
    assert "fresh desktop" not in done["result"]
    assert "Answer: blue" in texts(done["logdir"])
    films = films_of(Path(str(done["logdir"])) / "audit.jsonl")
    assert [film.path.name for film in films] == ["recording.mp4", "recording-2.mp4"]
    assert [str(film.path) for film in films] == [asked["recording"], done["recording"]]
    assert all(duration_of(str(film.path)) for film in films)
    found = verify_log(Path(str(done["logdir"])) / "audit.jsonl", done["audit_hash"])
    assert found.intact
    assert left_alive(watch.seen, 2) == []


def test_an_answer_works_from_another_process(scripted: Script) -> None:
    asked = computer_task("write the word", 60, scripted([LAUNCH, ASK, WRITE, WRITTEN]))
    script = "import sys, json; from deskhand import computer_task; "
    script += "print(json.dumps(computer_task('blue', 60, resume=sys.argv[1])))"
    answered = subprocess.run(
        [sys.executable, "-c", script, asked["conversation"]], capture_output=True, text=True, check=True
    )
    assert json.loads(answered.stdout)["status"] == "success"


def test_after_the_lease_the_child_goes_on_from_its_transcript_twice(scripted: Script, watch: Watch) -> None:
    limits = Limits(human_wait=0)
    asked = computer_task("write the word", 60, scripted([LAUNCH, ASK]), limits=limits, on_event=watch)
    assert asked["status"] == "clarification_needed"
    assert left_alive(watch.seen, 2) == []
    again = computer_task("the one of the sky", 60, scripted([ASK]), resume=asked["conversation"])
    assert (again["status"], again["reason"]) == ("clarification_needed", "question")
    assert "fresh desktop" in again["result"]
    done = computer_task("blue", 60, scripted([LAUNCH, WRITE, WRITTEN]), resume=asked["conversation"])
    assert done["status"] == "success", done
    words = texts(done["logdir"])
    assert words.count("The desktop is a fresh one") == 2
    assert "Answer: the one of the sky" in words
    assert verify_log(Path(str(done["logdir"])) / "audit.jsonl", done["audit_hash"]).intact


def test_a_kept_desktop_is_handed_to_the_next_task(
    scripted: Script, watch: Watch, deskhand_home: Path
) -> None:
    first = computer_task(
        "write", 60, scripted([LAUNCH, WRITE, WRITTEN]), computer=Private(keep=60), on_event=watch
    )
    assert first["status"] == "success", first
    watch.look()
    second = computer_task("look", 60, scripted([LOOK, WRITTEN]), computer=first["conversation"])
    assert second["status"] == "success", second
    assert second["conversation"] != first["conversation"]
    assert "desktop_ready" not in Path(str(second["logdir"]), "audit.jsonl").read_text()
    third = computer_task("look", 60, scripted([LOOK, WRITTEN]), computer=second["conversation"])
    assert third["status"] == "success", third
    assert "desktop_ready" not in Path(str(third["logdir"]), "audit.jsonl").read_text()
    send(TaskStore(deskhand_home).path(third["conversation"]), {"command": "stop"})
    assert left_alive(watch.seen, 2) == []


def test_stop_ends_a_lease_and_its_desktop(scripted: Script, watch: Watch, deskhand_home: Path) -> None:
    asked = computer_task("write the word", 60, scripted([LAUNCH, ASK]), on_event=watch)
    directory = TaskStore(deskhand_home).path(asked["conversation"])
    watch.look()
    assert send(directory, {"command": "status"})["state"] == "waiting"
    send(directory, {"command": "stop"})
    assert left_alive(watch.seen, 2) == []
    try:
        send(directory, {"command": "status"})
        raise AssertionError("the worker still listens")
    except NotRunning:
        pass


def test_consent_that_nobody_could_give_is_given_by_resuming(scripted: Script, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<title>p</title><button onclick=\"document.body.append('tidy: gone for good')\">Delete all</button>"
    )
    open_page = {"calls": [{"name": "act", "input": {"steps": [{"kind": "launch", "app": page.as_uri()}]}}]}
    press = {"calls": [{"name": "act", "input": {"steps": [{"kind": "click", "target": "button"}]}}]}
    gone = {"calls": [{"name": "finish", "input": {"result": "done", "evidence": ["tidy: gone for good"]}}]}
    model = scripted([open_page, press, press, gone])
    held = computer_task("tidy up", 60, model, computer=Private(share=(str(tmp_path),)))
    assert (held["status"], held["reason"]) == ("clarification_needed", "consent"), held
    assert "Delete all" in held["result"]
    done = computer_task("yes", 60, resume=held["conversation"])
    assert done["status"] == "success", done


def test_nothing_of_a_lease_outlives_a_killed_worker(scripted: Script, watch: Watch) -> None:
    import os
    import signal

    computer_task("write the word", 60, scripted([LAUNCH, ASK]), on_event=watch)
    worker = watch.find("deskhand.orchestrator.worker")
    below = descendants(worker.pid)
    os.kill(worker.pid, signal.SIGKILL)
    assert left_alive({worker, *below}, 2) == []


def test_a_background_task_that_asks_is_collected_with_its_question(scripted: Script, watch: Watch) -> None:
    started = computer_task("write the word", 60, scripted([LAUNCH, ASK, WRITE, WRITTEN]), background=True)
    assert started["status"] == "running"
    asked = computer_task(None, 30, resume=started["conversation"])
    assert (asked["status"], asked["result"]) == ("clarification_needed", "Which word?"), asked
    assert computer_task(None, 30, resume=started["conversation"])["result"] == "Which word?"
    done = computer_task("blue", 60, resume=started["conversation"], on_event=watch)
    assert done["status"] == "success", done
