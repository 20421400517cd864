"""How long from nothing to a private desktop that can be used.

``python benchmarks/desktop_start.py [--check] [--runs N]`` prints a table, then one JSON line. ``--check`` exits 1 if
the median of *first* is 0.5 s or more. *import*: a new interpreter until the package is loaded; *first*: from there
until its first desktop is ready; *next*: a second one in the same process; *close*: until everything of one is gone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

BOUND = 0.5

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
    found: dict[str, list[float]] = {"import": [], "first": [], "next": [], "close": []}
    for _ in range(runs):
        began = str(time.time())
        done = subprocess.run(
            [sys.executable, "-c", ONE_RUN, began], stdout=subprocess.PIPE, check=True, timeout=60
        )
        for name, seconds in json.loads(done.stdout).items():
            found[name].append(seconds)
    return found


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
    print(json.dumps({"benchmark": "desktop_start", "runs": arguments.runs, "bound": BOUND, **medians}))
    return 1 if arguments.check and medians["first"] >= BOUND else 0


if __name__ == "__main__":
    sys.exit(main())
