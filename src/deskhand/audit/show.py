"""Printing logs: as a table, as JSON, as the lines themselves, while they are written, and their verification."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from deskhand.audit.chain import split_lines
from deskhand.audit.read import Event, follow, follow_lines, is_running, parse, read_events
from deskhand.audit.review import AUDIT_COLUMNS, Reviewer, audit_line
from deskhand.audit.table import Table, safe
from deskhand.audit.verify import Verification


def show_table(path: Path, out: TextIO, *, kinds: Collection[str] = (), following: bool = False) -> None:
    """The log as a table, each row as soon as it is read; ``following`` goes on until its writer is gone."""
    colour = out.isatty()
    width = shutil.get_terminal_size((160, 24)).columns if colour else 160
    table, reviewer = Table(AUDIT_COLUMNS, width=width, colour=colour), Reviewer()
    out.write(table.paint(safe(path.parent.name), "bold") + "\n" + table.header() + "\n")
    out.flush()
    for event in follow(path) if following else read_events(path):
        row = reviewer.row(event)  # every event is counted, shown or not
        if not kinds or row.kind in kinds:
            out.write(audit_line(table, row) + "\n")
            if following:
                out.flush()
    if not following and is_running(path):
        out.write(table.paint("(still running: --follow shows what comes)", "dim") + "\n")


def show_json(paths: Iterable[Path], out: TextIO, *, kinds: Collection[str] = ()) -> None:
    """The events of the logs as one JSON array."""
    separator = "["
    for path in paths:
        for event in _chosen(read_events(path), kinds):
            out.write(separator + "\n" + json.dumps(event, separators=(",", ":")))
            separator = ","
    out.write("[]\n" if separator == "[" else "\n]\n")


def show_lines(path: Path, out: TextIO, *, kinds: Collection[str] = (), following: bool = False) -> None:
    """The log's lines as they are in the file, byte for byte (a torn last line is left out)."""
    with path.open("rb") as file:
        ended = (line for line, ended in split_lines(iter(lambda: file.read(1 << 20), b"")) if ended)
        for line in follow_lines(path) if following else ended:
            event = parse(line)
            if event is not None and (not kinds or event["kind"] in kinds):
                out.write(line.decode("utf-8", "backslashreplace") + "\n")
                if following:
                    out.flush()


def describe_verification(path: Path, checked: Verification, expect: str | None) -> str:
    """What a check found, in a sentence or two."""
    name = path.parent.name
    if not checked.intact:
        place = f"line {checked.bad_line}: " if checked.bad_line is not None else ""
        return f"{name}: BROKEN. {place}{checked.why} ({checked.lines} lines before it are good)"
    said = [f"{name}: intact, {checked.lines} lines, last hash {checked.head}"]
    if checked.torn:
        said.append("the last line is torn (it has no LF): its writer died while writing it")
    if checked.sealed:
        said.append(f"{checked.sealed} torn line(s) were sealed by the task that went on")
    if expect is not None and not checked.found_expected:
        said[0] = (
            f"{name}: the hash {expect} is NOT in this log ({checked.lines} lines, last hash {checked.head})"
        )
    elif checked.expected_at is not None and expect != checked.head:
        said.append(f"the hash asked for is that of line {checked.expected_at}: the log went on after it")
    return ". ".join(said)


def _chosen(events: Iterable[Event], kinds: Collection[str]) -> Iterator[Event]:
    return (event for event in events if not kinds or event.get("kind") in kinds)
