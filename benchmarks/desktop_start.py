"""How long from nothing to a private desktop that can be used, and to a child that has seen it.

``python benchmarks/desktop_start.py [--check] [--runs N]`` prints a table, then one JSON line. *import*: a new
interpreter until the package is loaded; *first*: from there until its first desktop is ready; *nothing*: import and
first; *next*: a second one in the same process; *close*: until everything of one is gone; *look*: from the call of
``computer_task`` until its child has made its first observation. ``--check`` exits 1 if the median of *nothing* is
0.5 s or more, or that of *look* 0.9 s or more.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from deskhand import computer_task
from deskhand.messages import ToolCall, ToolSpec, Transcript, Turn

BOUNDS = {"nothing": 0.5, "look": 0.9}

ONE_RUN = """
import asyncio, json, sys, time
from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend, private
loaded = time.time() - float(sys.argv[1])

async def timed():
    began = time.perf_counter()
    desktop = await open_desktop_backend("private", settings=load_settings())
    return desktop, time.perf_counter() - began

async def main():
    one, first = await timed()
    other, following = await timed()
    began = time.perf_counter()
    one.close()
    close = time.perf_counter() - began
    other.close()
    print(json.dumps({"import": loaded, "first": first, "next": following, "close": close}))

asyncio.run(main())
"""


def measure(runs: int) -> dict[str, list[float]]:
    """Seconds of each run, by what was measured."""
    found: dict[str, list[float]] = {
        name: [] for name in ("import", "first", "nothing", "next", "close", "look")
    }
    for _ in range(runs):
        began = str(time.time())
        done = subprocess.run(
            [sys.executable, "-c", ONE_RUN, began], stdout=subprocess.PIPE, check=True, timeout=60
        )
        for name, seconds in json.loads(done.stdout).items():
            found[name].append(seconds)
        found["nothing"].append(found["import"][-1] + found["first"][-1])
        found["look"].append(first_look())
    return found


def first_look() -> float:
    """Seconds from the call until the first observation, as the caller hears of it."""
    began, looks = time.perf_counter(), []

    def heard(event: dict[str, Any]) -> None:
        if event["kind"] == "observation" and not looks:
            looks.append(time.perf_counter() - began)

    status = computer_task("look", 30, GivesUp(), on_event=heard)
    if not looks:
        raise SystemExit(f"there was no observation: {status}")
    return looks[0]


class GivesUp:
    """A model that ends at once."""

    name = "gives-up"

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        end = {"status": "failure", "reason": "gave_up", "result": "seen"}
        return Turn(calls=(ToolCall(id="1", name="finish", arguments=end),), stop="calls")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", type=int, default=11)
    arguments = parser.parse_args()
    found = measure(arguments.runs)
    print(f"{'seconds':8}{'min':>8}{'median':>8}{'max':>8}")
    for name, seconds in found.items():
        print(f"{name:8}{min(seconds):8.3f}{statistics.median(seconds):8.3f}{max(seconds):8.3f}")
    medians = {name: round(statistics.median(seconds), 3) for name, seconds in found.items()}
    print(json.dumps({"benchmark": "desktop_start", "runs": arguments.runs, "bounds": BOUNDS, **medians}))
    missed = any(medians[name] >= bound for name, bound in BOUNDS.items())
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
