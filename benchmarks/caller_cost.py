"""What a task of 20 steps puts into the caller's context, against what its child read.

``python benchmarks/caller_cost.py [--check]`` prints a table, then one JSON line. ``--check`` exits 1 when the caller's
dict is over its bound of 400 tokens. A token is ceil(bytes of compact JSON / 4); a picture counts 1,500, as in the
row for a caller who drives the desktop itself and gets a screenshot with every step.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from deskhand import computer_task
from deskhand.orchestrator.result import TOKEN_BOUND, tokens

PICTURE = 1500
STEPS = 20


def script() -> list[dict[str, Any]]:
    """Twenty acts in an editor, one a turn, then the end."""
    act = [{"kind": "launch", "app": "mousepad"}]
    turns = [{"calls": [{"name": "act", "input": {"steps": act}}]}]
    for number in range(1, STEPS):
        step = {"kind": "type", "text": f"line {number}", "enter": True}
        turns.append({"calls": [{"name": "act", "input": {"steps": [step]}}]})
    end = {"result": f"{STEPS - 1} lines were written", "evidence": [f"line {STEPS - 1}"]}
    return [*turns, {"calls": [{"name": "finish", "input": end}]}]


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "turns.json")
        path.write_text(json.dumps(script()))
        status = computer_task("write lines into an editor", 120, f"scripted:{path}")
    if status["status"] != "success":
        raise SystemExit(f"the task did not succeed: {status}")
    transcript = Path(str(status["logdir"]), "transcript.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in transcript]
    child = sum(tokens(entry) for entry in entries)
    return {
        "steps": status["steps"],
        "caller_tokens": tokens(status),
        "child_tokens": child,
        "screenshots_tokens": status["steps"] * PICTURE,
        "bound": TOKEN_BOUND,
    }


def main() -> int:
    found = measure()
    print(f"{'what':44} tokens")
    print(f"{'the caller, all of it':44} {found['caller_tokens']:6}")
    print(f"{'the child, once':44} {found['child_tokens']:6}")
    print(f"{'a caller that takes a screenshot each step':44} {found['screenshots_tokens']:6}")
    print(json.dumps({"benchmark": "caller_cost", **found}))
    return int("--check" in sys.argv and found["caller_tokens"] > TOKEN_BOUND)


if __name__ == "__main__":
    sys.exit(main())
