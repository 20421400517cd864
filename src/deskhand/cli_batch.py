"""``computer batch``: many tasks from a file."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.cli_base import AsJson, app, examples, fail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deskhand.orchestrator.batch.run import Result, Tally


@app.command(
    epilog=examples(
        "computer batch tasks.jsonl -o out",
        "computer batch tasks.jsonl -o out --resume             only what is missing",
        "computer batch tasks.jsonl -o out --workers 4 --max-cost 5 --max-time 3600",
    )
)
def batch(
    tasks: Annotated[
        Path,
        typer.Argument(metavar="TASKS.jsonl", help="A JSON object a line: goal, and arguments of a task."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where results and logs land.")],
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Tasks at once; default: as many as fit.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Do only what DIR has no result of.")] = False,
    max_cost: Annotated[float | None, typer.Option(metavar="USD", help="Cost of all at most.")] = None,
    max_time: Annotated[float | None, typer.Option(metavar="S", help="Seconds for all at most.")] = None,
    as_json: AsJson = False,
) -> None:
    """Do many tasks, several at once, and keep each result as it comes.

    Exit status: 0 all succeeded, 1 some did not or were not done, 2 usage, 130 interrupted.
    """
    from deskhand.orchestrator.batch.lines import read_lines
    from deskhand.orchestrator.batch.results import Results
    from deskhand.orchestrator.batch.run import Batch

    try:
        lines = read_lines(tasks)
        if not lines:
            fail(f"{tasks} holds no task")
        results = Results(out)
    except ValueError as error:
        fail(str(error))
    try:
        if results.found and not resume:
            fail(
                f"{out} holds {len(results.found)} results: --resume does what is missing, or name another directory"
            )
        view = _View(len(lines))
        try:
            run = Batch(
                lines,
                results=results,
                workers=workers,
                cost=max_cost,
                seconds=max_time,
                on_result=view.result,
                on_look=view.look,
            )
        except ValueError as error:
            fail(str(error))
        with view:
            found = run.run()
    except KeyboardInterrupt:
        print(f"computer: stopped; go on with --resume ({out})", file=sys.stderr)
        raise typer.Exit(130) from None
    except OSError as error:
        fail(str(error), 1)
    finally:
        results.close()
    summary = _summary(found, run.tally)
    print(json.dumps(summary) if as_json else _in_words(summary, out))
    raise typer.Exit(0 if summary["by_status"].get("success", 0) == len(lines) else 1)


def _summary(found: Sequence[Result], tally: Tally) -> dict[str, Any]:
    by_status: dict[str, int] = {}
    for result in found:
        by_status[result["status"]] = by_status.get(result["status"], 0) + 1
    return {
        "tasks": tally.total,
        "by_status": by_status,
        "not_done": tally.total - len(found),
        "before": tally.before,
        "cost_usd": round(tally.cost, 6),
        "seconds": round(time.monotonic() - tally.began, 1),
    }


def _in_words(summary: dict[str, Any], out: Path) -> str:
    rows = sorted(summary["by_status"].items(), key=lambda row: -row[1])
    if summary["not_done"]:
        rows.append(("not done", summary["not_done"]))
    width = max(len(name) for name, _ in rows)
    cost = f", ${summary['cost_usd']:.2f}" if summary["cost_usd"] else ""
    before = f", {summary['before']} of an earlier run" if summary["before"] else ""
    lines = [f"{name:<{width}}  {count:>6}" for name, count in rows]
    return "\n".join([*lines, f"{summary['seconds']:g} s{cost}{before}; results and logs in {out}"])


class _View:
    """How far it is, on stderr: a bar on a terminal, a line for each result elsewhere."""

    def __init__(self, total: int) -> None:
        self._total, self._bar, self._task = total, None, None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                TimeRemainingColumn(compact=True),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> _View:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def look(self, tally: Tally) -> None:
        """Show how it stands."""
        if self._bar is None or self._task is None:
            return
        minutes = max(time.monotonic() - tally.began, 1e-3) / 60
        words = [f"{count} {status}" for status, count in sorted(tally.by_status.items())]
        words += [f"{tally.running} running", f"{sum(tally.by_status.values()) / minutes:.1f}/min"]
        if tally.cost:
            words.append(f"${tally.cost:.2f}")
        self._bar.update(self._task, completed=tally.done, description=" · ".join(words))

    def result(self, result: Result, tally: Tally) -> None:
        """Tell of a result."""
        from deskhand.audit.table import safe

        why = f" ({result['reason']})" if result["reason"] else ""
        line = (
            f"{tally.done}/{self._total}  {result['status']}{why}  {result['seconds']:.1f} s  {result['id']}"
        )
        said = safe(f"{line}  {result['result']}")[:160]
        if self._bar is None:
            print(said, file=sys.stderr, flush=True)
        elif result["status"] != "success":
            self._bar.console.print(said, markup=False, highlight=False)
