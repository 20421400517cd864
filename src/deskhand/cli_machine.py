"""``computer doctor``, ``demo``, ``mcp`` and what other computers call: this machine."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated, NoReturn

import typer

from deskhand.cli_base import AsJson, app, examples, fail


@app.command(epilog=examples("computer doctor", "computer doctor --fix", "computer doctor --json"))
def doctor(
    as_json: AsJson = False,
    fix: Annotated[bool, typer.Option("--fix", help="Run the commands that bring what is missing.")] = False,
    self_check: Annotated[
        bool, typer.Option("--self-check", help="Try instead: click, type into and look at a small window.")
    ] = False,
) -> None:
    """Say what is missing here and what brings it.

    The exit status is 1 when tasks cannot run, or when something that the self-check tries does not work.
    """
    if self_check:
        _self_check(as_json)
    import subprocess

    from deskhand import doctor as examination

    findings = examination.examine()
    if fix:
        for command in examination.fixes(findings):
            print(f"$ {command}", file=sys.stderr)
            subprocess.run(["/bin/sh", "-c", command], stdout=2, check=False)
        findings = examination.examine()
    if as_json:
        print(json.dumps(examination.as_json(findings)))
    else:
        print("\n".join(examination.report(findings, colour=sys.stdout.isatty())))
    raise typer.Exit(0 if examination.healthy(findings) else 1)


def _self_check(as_json: bool) -> NoReturn:
    import asyncio
    from dataclasses import asdict

    from deskhand.config import load_settings
    from deskhand.desktop import self_check

    rows = asyncio.run(self_check.check_here(load_settings(), dict(os.environ)))
    works = all(row.works for row in rows)
    if as_json:
        print(json.dumps({"ok": works, "rows": [asdict(row) for row in rows]}))
    else:
        print("\n".join(self_check.report(rows, colour=sys.stdout.isatty())))
    raise typer.Exit(0 if works else 1)


@app.command(epilog=examples("computer demo"))
def demo() -> None:
    """Run two real tasks that need no key.

    Shows them live, and checks what came of them.
    """
    from deskhand.demo import main as run_demo

    raise typer.Exit(run_demo())


@app.command(
    epilog=examples(
        "claude mcp add computer -- computer mcp        for Claude Code",
        "computer mcp                                    over stdin and stdout",
        "computer mcp --http 127.0.0.1:8765              over HTTP, with a token",
    )
)
def mcp(
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve streamable HTTP instead of stdio.")
    ] = None,
) -> None:
    """Serve the tool computer_task to an MCP host."""
    from deskhand.errors import MissingPart

    try:
        from deskhand.mcp_server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        command = f"{sys.executable} -m pip install 'deskhand[mcp]'"
        raise MissingPart("mcp", "needed to serve MCP hosts", command) from None
    try:
        serve(http)
    except ValueError as error:
        fail(str(error))


@app.command(hidden=True)
def relay() -> None:
    """The far end of a task from another computer."""
    from deskhand.orchestrator.relay import main as relay_main

    relay_main()


@app.command(hidden=True)
def worker() -> None:
    """Be the other side of the wall (started by `computer_task`)."""
    from deskhand.orchestrator.worker import main as work

    work()
