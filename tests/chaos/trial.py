"""One trial: a random task, one fault at a random moment, and what must hold however it ends."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from chaos.faults import FAULTS, Fault, at_once
from chaos.flows import FLOWS, Flow, act, finish
from chaos.stage import Run, Stage
from deskhand.audit.read import read_events
from deskhand.audit.verify import verify_log
from process_tree import left_alive

TIMEOUT = 15.0
"""Seconds that a task may take."""

SLACK = float(os.environ.get("CHAOS_SLACK", "3"))
"""Seconds that a status may come after the task's deadline, the start of the caller included, on a crowded machine."""

GONE = 3.0
"""Seconds after the end in which the last process must be gone."""

STATUSES = {
    "success": {None},
    "timeout": {"deadline"},
    "cancelled": {"stopped_by_person", "stopped_by_caller"},
    "clarification_needed": {"question", "consent", "not_understood", "nobody_answered"},
    "failure": {
        *("gave_up", "infeasible", "max_steps", "max_tokens", "max_cost", "stalled", "denied", "unverified"),
        *(
            "expectation_failed",
            "invalid_output",
            "model_error",
            "model_refused",
            "desktop_error",
            "computer_lost",
        ),
    },
}


@dataclass
class Outcome:
    """What came of a trial. ``struck`` is false when the task was over before the fault could strike."""

    seed: int
    fault: str
    flow: str
    moment: str = ""
    struck: bool = False
    ended: str = ""
    seconds: float = 0.0
    violations: list[str] = field(default_factory=list)

    def line(self) -> str:
        """For people."""
        where = f"{self.seed:>8}  {self.fault:<34} {self.flow:<11} {self.moment:<20}"
        said = f"{where} {self.ended:<32} {self.seconds:5.1f} s"
        return "\n".join([said, *(f"        VIOLATION {violation}" for violation in self.violations)])


def try_once(seed: int, fault_name: str | None = None) -> Outcome:
    """Run the trial of this number; the same number gives the same task, fault and moment."""
    rng = random.Random(seed)
    fault = FAULTS[fault_name or rng.choice(sorted(FAULTS))]
    flow = FLOWS[rng.choice(sorted(fault.flows or FLOWS))](rng)
    outcome = Outcome(seed, fault.name, flow.name)
    stage = Stage(rng, flow)
    try:
        fault.prepare(stage)
        _strike_and_end(stage, fault, outcome)
        if outcome.struck:
            _judge(stage, fault, outcome)
            fault.lift(stage)
            stage.prefix = []
            _next_task(stage, outcome)
        else:
            fault.lift(stage)
    finally:
        stage.close()
    return outcome


def _strike_and_end(stage: Stage, fault: Fault, outcome: Outcome) -> None:
    events, delay = stage.rng.randrange(0, 11), stage.rng.uniform(0, 0.8)
    outcome.moment = f"event {events} + {delay:.2f} s"
    run = stage.start(stage.flow, timeout=TIMEOUT, model=stage.model)
    over = stage.follow(run, run.began + TIMEOUT, events)
    over = over or stage.follow(run, time.monotonic() + delay)
    outcome.struck = fault.strike is at_once
    while not (over or outcome.struck):
        outcome.struck = fault.strike(stage, run)
        over = not outcome.struck and stage.follow(run, time.monotonic() + 0.1)
    struck = time.monotonic()
    if not over and not stage.follow(run, (run.told or run.began) + TIMEOUT + SLACK):
        if run.process.pid in _stopped(run):
            _ended_without(run, outcome)
        else:
            outcome.violations.append(f"no end within {time.monotonic() - run.began:.1f} s")
    outcome.seconds = (run.ended or time.monotonic()) - struck
    outcome.ended = _in_words(run)


def _stopped(run: Run) -> set[int]:
    state = Path(f"/proc/{run.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
    return {run.process.pid} if state == "T" else set()


def _ended_without(run: Run, outcome: Outcome) -> None:
    """The caller is stopped: its worker must have ended by itself; then the caller goes too."""
    if left := left_alive(run.seen, GONE):
        outcome.violations.append(f"works on though its caller is stopped: {left}")
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()
    run.ended = time.monotonic()


def _in_words(run: Run) -> str:
    if run.status is not None:
        return f"{run.status['status']} {run.status['reason'] or ''}".strip()
    return f"raised {run.raised}" if run.raised else f"exit status {run.process.returncode}"


def _judge(stage: Stage, fault: Fault, outcome: Outcome) -> None:
    run = stage.runs[0]
    wrong = outcome.violations
    if run.status is not None:
        wrong += _of_status(run, fault)
    elif run.raised:
        if not fault.refused or run.events:
            wrong.append(f"raised {run.raised}: {stage.said(run)[-600:]}")
    elif not fault.silent:
        wrong.append(f"no status; exit status {run.process.returncode}; it said: {stage.said(run)[-1200:]}")
    wrong += _of_log(stage, run, fault)
    if left := left_alive(run.seen, GONE):
        wrong.append(f"still alive: {left}")
    if run.status is not None and (left := stage.left()):
        wrong.append(f"left behind: {left[:8]}")


def _of_status(run: Run, fault: Fault) -> list[str]:
    status = run.status
    assert status is not None
    wrong = []
    if status["reason"] not in STATUSES.get(status["status"], ()):
        wrong.append(f"no status of the contract: {status['status']} {status['reason']}")
    if status["status"] == "success" and status["verified"] is not True:
        wrong.append("success that was not verified")
    if len(json.dumps({key: value for key, value in status.items() if key != "data"})) > 1700:
        wrong.append("a status of more than 400 tokens")
    if not status["result"]:
        wrong.append("a status without a word")
    usual = {None, "deadline", "gave_up", "unverified", "question", "consent", "stalled"}
    if status["reason"] not in {*usual, *fault.ends}:
        wrong.append(f"{status['status']} {status['reason']} because of that: {status['result'][:300]}")
    return wrong


def _of_log(stage: Stage, run: Run, fault: Fault) -> list[str]:
    logs = stage.logs()
    if not logs:
        return ["no log"] if run.events else []
    wrong = []
    expected = run.status["audit_hash"] if run.status else None
    checked = verify_log(logs[0], expected)
    if not checked.intact:
        wrong.append(f"the log is broken: {checked.why} in line {checked.bad_line}")
    elif expected and not checked.found_expected:
        wrong.append("the hash that the caller holds is not in the log")
    if run.status is not None and not fault.unlogged:
        last = list(read_events(logs[0]))[-1]
        lost = run.status["reason"] in ("computer_lost", "deadline")
        if last["kind"] != "task_finished" and not lost:
            wrong.append(f"the log ends with {last['kind']}")
        elif last["kind"] == "task_finished" and (last["status"], last["reason"]) != (
            run.status["status"],
            run.status["reason"],
        ):
            wrong.append(f"the log says {last['status']} {last['reason']}")
    return wrong


AFTERWARDS = Flow(
    "afterwards",
    "Start zenity with a dialog 'Greeting' that says 'Hello'",
    [
        act({"kind": "launch", "app": "zenity --info --title=Greeting --text=Hello"}),
        finish("It is shown.", "dialog[name='Greeting']", "text[name='Hello']"),
    ],
)


def _next_task(stage: Stage, outcome: Outcome) -> None:
    run = stage.start(AFTERWARDS, timeout=20)
    if not stage.follow(run, run.began + 25):
        outcome.violations.append("the next task does not end")
    elif run.status is None or run.status["status"] != "success":
        outcome.violations.append(f"the next task: {_in_words(run)}: {run.status or stage.said(run)[-800:]}")
    if left := left_alive(run.seen, GONE):
        outcome.violations.append(f"still alive after the next task: {left}")
    if left := stage.left():
        outcome.violations.append(f"left behind after the next task: {left[:8]}")
