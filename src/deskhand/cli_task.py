"""``computer task``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from deskhand.cli_base import AsJson, app, as_pairs, directory_of, examples, fail, finish

if TYPE_CHECKING:
    from deskhand.audit.live import TaskView
    from deskhand.orchestrator.brief import TaskStatus
    from deskhand.orchestrator.order import Order
    from deskhand.orchestrator.task import Cancel


@app.command(
    epilog=examples(
        'computer task "In gnome-calculator compute 12 × 34 and tell me the result"',
        'computer task "Log in and download the invoice" --secret password=SHOP_PASSWORD --profile shop',
        'computer task "Fill the form and press Send" --input Name=Ana --expect "text[name*=\'Thank you\']" --record',
        'computer task "Yes, the blue one" --resume 20261130-231500-calm-otter',
    )
)
def task(
    goal: Annotated[
        str | None, typer.Argument(metavar="GOAL", help="What is to be done; with --resume, the answer.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="anthropic:NAME, openai:NAME, openai-chat:NAME, embedded."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds of wall clock, start-up included.")] = 300,
    computer: Annotated[
        str, typer.Option(help="private, display::N to attach to a display, or a name from the settings.")
    ] = "private",
    profile: Annotated[str | None, typer.Option(help="A profile whose files and logins persist.")] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", metavar="LABEL=VALUE", help="A value for a field.")
    ] = None,
    secrets: Annotated[
        list[str] | None, typer.Option("--secret", metavar="NAME=ENVVAR", help="A secret, from a variable.")
    ] = None,
    expect: Annotated[
        list[str] | None, typer.Option(metavar="SELECTOR", help="Must hold at the end.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="SCHEMA.json", help="JSON schema of the data to return.")
    ] = None,
    share: Annotated[
        list[str] | None, typer.Option(metavar="DIR[:rw]", help="A directory that apps may see.")
    ] = None,
    network: Annotated[Literal["host", "none"], typer.Option(help="What apps may reach.")] = "host",
    isolation: Annotated[
        Literal["auto", "files", "display"], typer.Option(help="files: refuse without a sandbox.")
    ] = "auto",
    keep: Annotated[float, typer.Option(help="Seconds that the desktop outlives the task.")] = 0,
    verify: Annotated[
        Literal["auto", "checks", "off"], typer.Option(help="How success is checked.")
    ] = "auto",
    max_steps: Annotated[int, typer.Option(metavar="N", help="Model turns at most.")] = 50,
    max_cost: Annotated[float | None, typer.Option(metavar="USD", help="Cost at most.")] = None,
    record: Annotated[
        str | None, typer.Option(metavar="[PATH]", help="Record the task as MP4 (PATH ends in .mp4).")
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="CONV", help="Answer, or collect, an earlier task.")
    ] = None,
    background: Annotated[
        bool, typer.Option("--background", help="Return at once; collect with --resume.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Have a goal done on a desktop of its own.

    Waits for the result; a table of steps shows what is going on meanwhile.

    Exit status: 0 success, 1 failure, 2 usage, 3 clarification needed, 4 timeout, 130 cancelled.
    """
    from deskhand.audit.live import TaskView
    from deskhand.orchestrator.order import prepare
    from deskhand.orchestrator.task import Cancel
    from deskhand.terms import Limits, Policy, Private

    if goal is None and resume is None:
        fail("task needs a GOAL (or --resume CONV)")
    if computer != "private" and (profile or share or keep):
        fail("--profile, --share and --keep go with the private computer only")
    if resume is not None and goal is None:
        finish(_collect(directory_of(resume).name, timeout), as_json=as_json)
    cancel = Cancel()
    view = TaskView(sys.stderr if as_json else sys.stdout, cancelled=lambda: cancel.by is not None)
    try:
        order = prepare(
            goal,
            timeout,
            model,
            resume=resume and directory_of(resume).name,
            inputs=as_pairs(inputs or [], "--input") or None,
            secrets=_secrets(secrets or []) or None,
            expect=tuple(expect or ()),
            output=_schema(output),
            computer=computer
            if computer != "private"
            else Private(
                profile=profile, share=tuple(share or ()), network=network, isolation=isolation, keep=keep
            ),
            limits=Limits(steps=max_steps, cost=max_cost),
            policy=Policy(
                verify=verify, confirm=view.ask if sys.stdin.isatty() and sys.stderr.isatty() else None
            ),
            record=record is not None and (record or True),
            background=background,
            on_event=view,
        )
    except (ValueError, TypeError) as error:
        fail(str(error))
    finish(_run(order, cancel, view), as_json=as_json)


def _run(order: Order, cancel: Cancel, view: TaskView) -> TaskStatus:
    """Run a prepared task; a signal ends it in an orderly way, a second one at once."""
    import signal

    from deskhand.orchestrator.task import run_order

    def stop(number: int, _frame: object) -> None:
        if cancel.by is not None:
            raise KeyboardInterrupt
        cancel.set(by="person" if number == signal.SIGINT else "caller")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        with view:
            return run_order(order, cancel)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _collect(conversation: str, timeout: float) -> TaskStatus:
    """Wait for a task that runs in the background; Ctrl-C ends the waiting, not the task."""
    from deskhand.orchestrator.task import computer_task

    try:
        return computer_task(None, timeout, resume=conversation)
    except (ValueError, TypeError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        print(f"still running; `computer stop {conversation}` ends it", file=sys.stderr)
        raise typer.Exit(130) from None


def _secrets(values: list[str]) -> dict[str, str]:
    pairs = as_pairs(values, "--secret")
    for name, variable in pairs.items():
        if variable not in os.environ:
            fail(f"--secret {name}={variable}: the variable {variable} is not set")
    return {name: os.environ[variable] for name, variable in pairs.items()}


def _schema(path: Path | None) -> Any:
    if path is None:
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        fail(f"--output {path}: {error}")
