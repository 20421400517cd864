"""Runs the harness's catalogs side by side, each on a desktop of its own, and prints one table of what passed."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ADAPTERS = Path(__file__).with_name("adapter.py")
CATALOGS = ("keys", "typing", "clicks", "scrolls", "drags", "sequences")
"""The longest first, so that none runs alone at the end."""
ENTRIES = 100
"""How many entries the catalogs have: a run in which some could not be measured is no pass."""

Report = dict[str, Any]


def run_catalog(name: str, options: argparse.Namespace, out: Path) -> Report | None:
    """Run one catalog; its report, None when there is none (its log says why)."""
    catalog = files("autoharness").joinpath("catalogs", "runner", f"{name}.json")
    argv = [f"{sys.prefix}/bin/autoharness", "test", "--adapter", f"{ADAPTERS}:{options.adapter}"]
    argv += ["--catalog", str(catalog), "--reps", str(options.reps), "--no-tui", "--out", str(out / name)]
    argv += ["--entries", options.entries] if options.entries else []
    with open(out / f"{name}.log", "w") as log:
        subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
    Console(stderr=True).print(f"{name}: done")
    written = out / name / "report.json"
    return json.loads(written.read_text()) if written.exists() else None


def passes(report: Report, rep: int) -> int:
    """How many entries passed in one repetition."""
    return sum(entry["statuses"][rep] == "pass" for entry in report["entries"])


def show(reports: dict[str, Report], reps: int, out: Path, adapter: str) -> None:
    """The table, and below it every entry that did not pass each time."""
    table = Table(title=f"{adapter}: entries passed, by repetition")
    table.add_column("catalog")
    for column in ("entries", *(f"rep {rep + 1}" for rep in range(reps)), "all", "flaky", "not measured"):
        table.add_column(column, justify="right")
    total = [0] * (reps + 4)
    for name, report in reports.items():
        totals = report["totals"]
        row = [totals["entries"] + totals["not_measurable"], *(passes(report, rep) for rep in range(reps))]
        row += [totals["pass"], totals["flaky"], totals["not_measurable"]]
        total = [a + b for a, b in zip(total, row, strict=True)]
        table.add_row(name, *map(str, row))
    table.add_section()
    table.add_row("total", *map(str, total))
    console = Console()
    console.print(table)
    for report in reports.values():
        for entry in report["entries"]:
            if entry["passes"] < entry["reps"]:
                console.print(f"{entry['entry_id']}: {', '.join(entry['statuses'])}", highlight=False)
    console.print(f"events, pictures and verdicts: {out}", highlight=False)


def main() -> int:
    """0 when every entry passed in every repetition."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="catalogs at a time")
    parser.add_argument("--entries", help="only those whose name contains one of these, comma-separated")
    parser.add_argument("--adapter", default="Deskhand", choices=("Deskhand", "Xdotool"))
    options = parser.parse_args()
    out = Path(tempfile.mkdtemp(prefix="deskhand-conformance-"))
    with ThreadPoolExecutor(options.jobs) as pool:
        futures = {name: pool.submit(run_catalog, name, options, out) for name in CATALOGS}
        found = {name: future.result() for name, future in futures.items()}
    reports = {name: report for name, report in found.items() if report is not None}
    show(reports, options.reps, out, options.adapter)
    if not options.entries:
        for name in set(found) - set(reports):
            Console(stderr=True).print(f"{name}: no report; see {out / name}.log")
    passed = sum(report["totals"]["pass"] for report in reports.values())
    wanted = sum(report["totals"]["entries"] for report in reports.values()) if options.entries else ENTRIES
    return 0 if passed == wanted > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
