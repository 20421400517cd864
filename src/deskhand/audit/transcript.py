"""The child's conversation in readable form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deskhand.audit.table import printable

FILE_NAME = "transcript.jsonl"


def read_transcript(path: Path) -> Iterator[dict[str, Any]]:
    """The entries of a transcript; a torn or foreign line is skipped."""
    with path.open("rb") as file:
        for line in file:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                yield entry


def describe_entry(entry: dict[str, Any]) -> str:
    """One entry as text for a terminal: who says it, the words, the calls, the answers, pictures by name."""
    match entry.get("type"):
        case "words":
            head = f"── {entry.get('role', 'user')} "
            body = [str(entry.get("text", "")), *_pictures(entry)]
        case "turn":
            head = f"── child · {entry.get('model', '')} "
            calls = [call for call in entry.get("calls") or [] if isinstance(call, dict)]
            body = [str(entry.get("text", "")), *(_call(call) for call in calls)]
        case "results":
            head = "── results "
            results = [result for result in entry.get("results") or [] if isinstance(result, dict)]
            body = [line for result in results for line in _result(result)]
        case other:
            head, body = f"── {other} ", [json.dumps(entry)]
    return printable("\n".join([head.ljust(80, "─"), *(part for part in body if part)])) + "\n"


def _call(call: dict[str, Any]) -> str:
    arguments = call.get("invalid") or json.dumps(call.get("arguments"), ensure_ascii=False)
    return f"→ {call.get('name', '')} {arguments}"


def _result(result: dict[str, Any]) -> list[str]:
    mark = "✗" if result.get("is_error") else "←"
    return [f"{mark} {result.get('name', '')}: {result.get('text', '')}", *_pictures(result)]


def _pictures(entry: dict[str, Any]) -> list[str]:
    keys = ("id", "width", "height", "sha256")
    pictures = [item for item in entry.get("images") or [] if isinstance(item, dict)]
    return ["[picture {} {}×{} {}]".format(*(item.get(key, "") for key in keys)) for item in pictures]
