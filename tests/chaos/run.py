"""Many trials: ``python tests/chaos/run.py --runs 500``. Exit status 1 when anything that must hold did not."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from chaos.faults import FAULTS
from chaos.trial import Outcome, try_once

TRIES = 6
"""Trials of one number at most until the fault strikes: some moments come after the end of the task."""


def _struck(seed: int, fault: str) -> Outcome:
    for again in range(TRIES):
        outcome = try_once(seed + again * 1_000_000, fault)
        if outcome.struck or outcome.violations:
            break
    return outcome


def main(argv: Sequence[str] | None = None) -> int:
    """Run them, each fault as often as the others; prints each trial, the counts, and one JSON line last."""
    for number in (signal.SIGINT, signal.SIGHUP):  # ignored in the background, which callers would inherit
        signal.signal(number, signal.SIG_DFL)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1, help="number of the first trial")
    parser.add_argument("--fault", action="append", choices=sorted(FAULTS), help="only this one")
    parser.add_argument("--jobs", type=int, default=1, help="trials at once")
    arguments = parser.parse_args(argv)
    names = arguments.fault or sorted(FAULTS)
    numbers = range(arguments.seed, arguments.seed + arguments.runs)
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for outcome in pool.map(lambda number: _struck(number, names[number % len(names)]), numbers):
            outcomes.append(outcome)
            print(outcome.line(), flush=True)
    struck = Counter(outcome.fault for outcome in outcomes if outcome.struck)
    violated = Counter(outcome.fault for outcome in outcomes if outcome.violations)
    print(f"\n{'fault':<36}struck  violations")
    for name in names:
        print(f"{name:<36}{struck[name]:>6}{violated[name]:>12}")
    print(
        json.dumps(
            {"chaos": arguments.runs, "struck": sum(struck.values()), "violations": sum(violated.values())}
        )
    )
    return 1 if violated else 0


if __name__ == "__main__":
    sys.exit(main())
