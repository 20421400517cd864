"""``computer audit-log``, ``list``, ``transcript`` and ``export``: what tasks left."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from deskhand.cli_base import AsJson, Conversation, app, directory_of, examples, fail, open_store


@app.command(
    "audit-log",
    epilog=examples(
        "computer audit-log                           the last task, as a table",
        "computer audit-log calm-otter --kind action  only what it did",
        "computer audit-log --verify 5f3a…            intact, and not cut off since the caller got its audit_hash",
        "computer audit-log --jsonl | jq .kind        the lines as they are in the file",
        "computer audit-log calm-otter --html task.html   a page with pictures and the recording",
        "computer audit-log calm-otter --film task.mp4    the recording with captions and markers in it",
    ),
)
def audit_log(
    conversation: Annotated[
        str | None, typer.Argument(metavar="[CONV|PATH]", help="Default: the last task.")
    ] = None,
    last: Annotated[int | None, typer.Option("--last", min=1, metavar="N", help="The last N tasks.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The events as one JSON array.")] = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="The log's own lines.")] = False,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="K", help="Only events of this kind (repeatable).")
    ] = None,
    verify: Annotated[
        str | None, typer.Option(metavar="[HASH]", help="Check every byte; HASH must be in the chain.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one self-contained page.")
    ] = None,
    film: Annotated[
        Path | None,
        typer.Option(
            "--film", metavar="FILE", help="Write the recording with captions and markers burnt in."
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on while the task runs.")] = False,
) -> None:
    """Show what a task did, or verify its log.

    With --verify the exit status is 0 for an intact log, 1 for a broken one or when HASH is not in it.
    """
    from deskhand.audit import show
    from deskhand.audit.log import KINDS

    if as_json and as_jsonl:
        fail("--json and --jsonl exclude each other")
    if follow and (as_json or last):
        fail("--follow goes with the table or --jsonl, of one task")
    if unknown := sorted(set(kind or ()) - set(KINDS)):
        fail(f"no such kind: {', '.join(unknown)} (kinds: {', '.join(KINDS)})")
    paths = _logs(conversation, last)
    if verify is not None:
        raise typer.Exit(_verify(paths, verify or None, as_json=as_json))
    if page is not None:
        _write_page(paths, page)
        return
    if film is not None:
        _write_film(paths, film)
        return
    kinds = frozenset(kind or ())
    try:
        if as_json:
            show.show_json(paths, sys.stdout, kinds=kinds)
        elif not paths:
            print("no tasks yet", file=sys.stderr)
        for path in () if as_json else paths:
            printing = show.show_lines if as_jsonl else show.show_table
            printing(path, sys.stdout, kinds=kinds, following=follow)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _logs(conversation: str | None, last: int | None) -> list[Path]:
    """The logs that are meant, oldest first."""
    from deskhand.audit.log import FILE_NAME

    if conversation is None:
        store = open_store()
        return [store.path(name) / FILE_NAME for name in reversed(store.names()[: last or 1])]
    if last is not None:
        fail("--last goes without a conversation")
    path = Path(conversation)
    if path.is_file() or (path / FILE_NAME).is_file():
        return [path if path.is_file() else path / FILE_NAME]
    return [directory_of(conversation) / FILE_NAME]


def _write_page(paths: list[Path], page: Path) -> None:
    from deskhand.audit.report import write_report

    if len(paths) != 1:
        fail("--html is of one task" if paths else "no tasks yet", 2 if paths else 1)
    try:
        with page.open("w", encoding="utf-8") as out:
            write_report(paths[0].parent, out)
    except OSError as error:
        fail(f"cannot write {page}: {error.strerror}", 1)
    print(page)


def _write_film(paths: list[Path], film: Path) -> None:
    from deskhand.audit.films import films_of, runs_of
    from deskhand.audit.marks import marks_of
    from deskhand.audit.read import read_events
    from deskhand.desktop.film import burn_in

    if len(paths) != 1:
        fail("--film is of one task" if paths else "no tasks yet", 2 if paths else 1)
    films = films_of(paths[0])
    if not films:
        fail(f"{paths[0].parent.name} has no recording (computer task … --record makes one)", 1)
    last = films[-1]
    earlier = [event for run in runs_of(read_events(paths[0]))[: last.run] for event in run]
    burn_in(last.path, marks_of(last.events, earlier), film, began=last.began)
    print(film)


def _verify(paths: list[Path], expect: str | None, *, as_json: bool) -> int:
    from dataclasses import asdict

    from deskhand.audit.show import describe_verification
    from deskhand.audit.verify import verify_log

    if expect is not None and len(expect) != 64:
        fail(f"a hash has 64 hex digits, not {len(expect)}")
    if expect is not None and len(paths) > 1:
        fail("a hash is that of one task")
    if not paths:
        print("no tasks yet", file=sys.stderr)
        return 0 if expect is None else 1
    checked = [(path, verify_log(path, expect)) for path in paths]
    if as_json:
        print(json.dumps([{"log": str(path), "ok": result.ok, **asdict(result)} for path, result in checked]))
    else:
        for path, result in checked:
            print(describe_verification(path, result, expect))
    return 0 if all(result.ok for _, result in checked) else 1


@app.command("list", epilog=examples("computer list", "computer list --last 5 --json"))
def list_tasks(
    last: Annotated[int | None, typer.Option("--last", min=1, metavar="N", help="Only the last N.")] = None,
    as_json: AsJson = False,
) -> None:
    """List tasks and their state.

    Newest first: running, finished (with their status), or dead (ended without saying so).
    """
    import shutil
    from dataclasses import asdict

    from deskhand.audit.review import LIST_COLUMNS, list_line
    from deskhand.audit.table import Table

    rows = open_store().list(last)
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    colour = sys.stdout.isatty()
    table = Table(
        LIST_COLUMNS, width=shutil.get_terminal_size((140, 24)).columns if colour else 140, colour=colour
    )
    if rows:
        print(table.header())
    for row in rows:
        print(list_line(table, row))


@app.command(
    epilog=examples("computer transcript calm-otter | less", "computer transcript calm-otter --jsonl")
)
def transcript(
    conversation: Conversation,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="The entries as JSON, one a line.")] = False,
) -> None:
    """Show the conversation with the child.

    What it was told, what it said and called, and what it was answered.
    """
    from deskhand.audit.transcript import FILE_NAME, describe_entry, read_transcript

    path = directory_of(conversation) / FILE_NAME
    if not path.is_file():
        fail(f"{path.parent.name} has no transcript", 1)
    for entry in read_transcript(path):
        print(json.dumps(entry) if as_jsonl else describe_entry(entry))


@app.command(
    epilog=examples(
        "computer export calm-otter > task.tar",
        "computer export calm-otter | tar -x",
        "computer export calm-otter --format atif -o trajectory.json",
    )
)
def export(
    conversation: Annotated[
        str | None, typer.Argument(metavar="[CONV]", help="A task; default: the last one.")
    ] = None,
    form: Annotated[
        str,
        typer.Option("--format", metavar="tar|atif", help="The files, or one trajectory (ATIF 1.7, JSON)."),
    ] = "tar",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: stdout.")
    ] = None,
) -> None:
    """Write what a task left: its files as a tar, or one trajectory in a format that other tools read.

    The tar holds log, pictures, recording, transcript and result.
    """
    from deskhand.audit.atif import trajectory
    from deskhand.audit.export import export_task

    if form not in ("tar", "atif"):
        fail(f"--format is tar or atif, not {form!r}")
    if conversation is None and not (names := open_store().names()):
        fail("no tasks yet", 1)
    directory = directory_of(names[0] if conversation is None else conversation)
    if form == "tar" and output is None and sys.stdout.isatty():
        fail("a tar is not for a terminal: send it to a file or to tar")
    try:
        out = sys.stdout.buffer if output is None else output.open("wb")
    except OSError as error:
        fail(f"cannot write {output}: {error.strerror}")
    with out:
        if form == "tar":
            export_task(directory, out)
        else:
            beside = None if output is None else output.absolute().parent
            out.write(json.dumps(trajectory(directory, beside=beside)).encode() + b"\n")
