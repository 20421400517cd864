"""What all commands of ``computer`` share: the app they belong to, their common options, and how they end."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deskhand.audit.store import TaskStore

EXIT = {"success": 0, "running": 0, "failure": 1, "clarification_needed": 3, "timeout": 4, "cancelled": 130}
USAGE = 2


def examples(*lines: str) -> str:
    # \b keeps the formatter from joining the lines into a paragraph
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


app = typer.Typer(
    name="computer",
    help="A hired hand for the screen: a goal goes in, one result and a tamper-evident log come out.",
    epilog=examples(
        'computer task "In gnome-calculator compute 12 × 34 and tell me the result"',
        "computer audit-log          what the last task did",
        "computer doctor             what is missing here, and what brings it",
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Conversation = Annotated[
    str, typer.Argument(metavar="CONV", help="A task's name, or a beginning or end of it.")
]
Inputs = Annotated[
    list[str] | None, typer.Option("--input", metavar="NAME=VALUE", help="A parameter's value.")
]
Then = Annotated[
    str | None, typer.Option("--model", "-m", help="Who goes on where it does not go as written.")
]
Timeout = Annotated[float, typer.Option(help="Seconds of wall clock, start-up included.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on stdout; everything else goes to stderr.")]


def fail(message: str, status: int = USAGE) -> NoReturn:
    sys.stdout.flush()
    print(f"computer: {message}", file=sys.stderr)
    raise SystemExit(status)


def open_store() -> TaskStore:
    from deskhand.audit.store import TaskStore
    from deskhand.places import find_home

    try:
        return TaskStore(find_home())
    except ValueError as error:  # the settings are wrong
        fail(str(error))


def directory_of(conversation: str) -> Path:
    try:
        return open_store().find(conversation)
    except ValueError as error:
        fail(str(error))


def as_pairs(values: list[str], option: str) -> dict[str, str]:
    pairs = {}
    for value in values:
        name, separator, content = value.partition("=")
        if not (separator and name):
            fail(f"{option} takes NAME=VALUE, not {value!r}")
        pairs[name] = content
    return pairs


def finish(status: Mapping[str, Any], *, as_json: bool) -> NoReturn:
    if as_json:
        print(json.dumps(status))
    else:
        from deskhand.audit.review import describe_status

        print("\n".join(describe_status(status)))
    raise typer.Exit(EXIT[status["status"]])
