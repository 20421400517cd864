"""A task as one page: each step with its pictures, the recording in step, the chain's state; it needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import IO, Any

from deskhand.audit.films import films_of
from deskhand.audit.images import ImageStore
from deskhand.audit.log import FILE_NAME
from deskhand.audit.read import Event, is_running, read_events
from deskhand.audit.review import Reviewer
from deskhand.audit.table import safe
from deskhand.audit.transcript import FILE_NAME as TRANSCRIPT
from deskhand.audit.transcript import read_transcript
from deskhand.audit.verify import Verification, verify_log
from deskhand.audit.words import number, text

PICTURES = 60 * 2**20
"""Bytes of pictures, as they are put in, at most; the steps after that go without."""
FILM = 120 * 2**20
"""Bytes of recordings that are put in; what is longer stays beside the page."""
RAW = 4000
"""Characters of an event that are shown as they are."""
RAWS = 20 * 2**20
"""Characters of all events that are shown as they are; of a log of tens of thousands of lines the last go without."""
QUALITY = 80
"""WebP quality of the pictures put in: text of 10 pixels stays readable at a third of a PNG's size."""

_SMALL = {"observation", "model_call", "desktop_ready"}


def write_report(directory: Path, out: IO[str]) -> None:
    """Write the page of a task, running or not, whatever version wrote its log. FileNotFoundError without a log."""
    data = _Report(directory).data()
    room = files(__package__ or "deskhand.audit")
    script = room.joinpath("report.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src blob:; media-src blob:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    # "<" cannot end the block that holds the data.
    block = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    page = Template(room.joinpath("report.html").read_text("utf-8"))
    title = html.escape(_short(data["goal"], 80) or directory.name)
    out.write(page.substitute(policy=policy, title=title, data=block, script=script))


class _Report:
    """Collects what the page shows of one task."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._images = ImageStore(directory / "images")
        self._files: dict[str, tuple[str, str]] = {}
        self._left, self._raw_left = PICTURES, RAWS
        self._first: Event = {}
        self._ready: Event = {}
        self._last: Event = {}
        self._cost = 0.0
        self._said = _words_of_the_child(directory / TRANSCRIPT)

    def data(self) -> dict[str, Any]:
        log = self._directory / FILE_NAME
        verification = verify_log(log)
        events = list(self._events(log))
        running = is_running(log)
        status, mood = self._status(running)
        size = self._ready.get("size")
        return {
            "goal": safe(text(self._first.get("goal"))),
            "status": status,
            "mood": mood,
            "result": safe(_short(str(self._last.get("result") or ""), 2000)),
            "checks": self._checks(),
            "facts": self._facts(verification),
            "size": size if isinstance(size, list) and len(size) == 2 else [1280, 800],
            "films": list(self._films(log)),
            "events": events,
            "files": self._files,
        }

    def _events(self, log: Path) -> Iterator[dict[str, Any]]:
        reviewer, run = Reviewer(), -1
        for event in read_events(log):
            if event.get("kind") == "task_started" or run < 0:
                run += 1
            match event.get("kind"):
                case "task_started" if not self._first:
                    self._first = event
                case "desktop_ready":
                    self._ready = event
                case "task_finished":
                    self._last = event
                case "model_call":
                    self._cost += number(event.get("cost_usd")) or 0.0
            yield {"run": run, **self._row(reviewer, event)}

    def _row(self, reviewer: Reviewer, event: Event) -> dict[str, Any]:
        row, target, settled = reviewer.row(event), _part(event, "target"), _part(event, "settled")
        outcome, detail = row.outcome, list(_detail(event, target, settled))
        if row.kind == "model_call":
            said = "" if "verification" in text(event.get("provider")) else next(self._said, "")
            outcome = said or ("" if row.outcome in ("calls", "end") else row.outcome)
            detail[:0] = [("said", said)] if said else []
        return {
            "kind": row.kind if row.kind.isidentifier() else "other",
            "step": row.step,
            "t": number(event.get("t")) or 0.0,
            "took": 0.0 if row.kind == "task_finished" else row.seconds or 0.0,  # which tells of all of it
            "what": safe(row.what),
            "target": safe(row.target),
            "outcome": safe(outcome),
            "risk": safe(row.risk),
            "mood": row.mood,
            "small": row.kind in _SMALL,
            "rect": _numbers(target.get("rect"), 4),
            "point": _numbers(target.get("point"), 2),
            "regions": [found for each in _items(settled, "regions") if (found := _numbers(each, 4))],
            "before": self._picture(event.get("before")),
            "after": self._picture(event.get("after") or event.get("image")),
            "detail": detail,
            "raw": self._raw(event),
        }

    def _raw(self, event: Event) -> str:
        if self._raw_left <= 0:
            return "left out: this log is long"
        lines = json.dumps(event, indent=1, ensure_ascii=False).split("\n")
        shown = _short("\n".join(map(safe, lines)), RAW)
        self._raw_left -= len(shown)
        return shown

    def _picture(self, digest: Any) -> str | None:
        """The name under which a picture is put in; put in once, as WebP."""
        if not isinstance(digest, str):
            return None
        if digest not in self._files and self._left > 0:
            try:
                found = self._images.find(digest)
                data = _webp(found[0].read_bytes()) if found else b""
            except (ValueError, OSError):
                data = b""
            if data:
                self._left -= len(data)
                self._files[digest] = ("image/webp", base64.b64encode(data).decode("ascii"))
        return digest

    def _films(self, log: Path) -> Iterator[dict[str, Any]]:
        left = FILM
        for film in films_of(log):
            data = film.path.read_bytes() if film.path.stat().st_size <= left else b""
            if data:
                left -= len(data)
                name = f"film-{film.run}"
                self._files[name] = ("video/mp4", base64.b64encode(data).decode("ascii"))
                yield {"run": film.run, "name": name, "from": film.began}

    def _status(self, running: bool) -> tuple[str, str]:
        status, reason = text(self._last.get("status")), text(self._last.get("reason"))
        if running:
            return "running", "ask"
        if not status:
            return "ended without a result", "bad"
        mood = {"success": "good", "clarification_needed": "ask", "cancelled": "ask"}.get(status, "bad")
        return safe(f"{status} · {reason}" if reason else status), mood

    def _checks(self) -> list[tuple[bool, str]]:
        found = [item for item in _items(self._last, "evidence") if isinstance(item, dict)]
        return [(item.get("holds") is True, safe(text(item.get("check")))) for item in found]

    def _facts(self, verification: Verification) -> list[tuple[str, str, str]]:
        last, usage = self._last, _part(self._last, "usage")
        tokens = [usage.get(name) for name in ("input_tokens", "output_tokens", "cached_tokens")]
        spent = " → ".join(f"{count:,}" for count in tokens[:2] if isinstance(count, int))
        cached = f" ({tokens[2]:,} cached)" if isinstance(tokens[2], int) and tokens[2] else ""
        facts = [
            ("task", text(self._first.get("conversation")), ""),
            ("started", text(self._first.get("ts")).replace("T", " ")[:19], ""),
            ("model", text(last.get("model") or self._first.get("model")), ""),
            ("computer", text(last.get("computer") or self._first.get("computer")), ""),
            ("isolation", text(self._ready.get("isolation")), ""),
            ("turns", text(last.get("steps")), ""),
            ("seconds", text(last.get("seconds")), ""),
            ("tokens", spent + cached, ""),
            ("cost", f"${self._cost:.4f}" if self._cost else "", ""),
            ("log", *_chain(verification)),
        ]
        return [(name, safe(value), mood) for name, value, mood in facts if value]


def _words_of_the_child(transcript: Path) -> Iterator[str]:
    """What it said in each of its turns."""
    if not transcript.is_file():
        return iter(())
    turns = (entry for entry in read_transcript(transcript) if entry.get("type") == "turn")
    return (safe(_short(str(entry.get("text") or ""), 1000)) for entry in turns)


def _chain(found: Verification) -> tuple[str, str]:
    if not found.intact:
        where = f" at line {found.bad_line}" if found.bad_line else ""
        return f"BROKEN{where}: {found.why}", "bad"
    torn = ", a torn last line" if found.torn else ""
    return f"intact, {found.lines:,} lines{torn}, head {found.head[:12]}…", "good"


def _detail(event: Event, target: dict[str, Any], settled: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What there is to know of one event, as rows of a table."""
    step = _part(event, "step")
    role, name = text(target.get("role")), text(target.get("name"))
    changed, waited = number(settled.get("changed")), number(settled.get("waited"))
    pairs = (
        ("asked", ", ".join(f"{key}: {text(value)}" for key, value in step.items())),
        ("target", f"{role} “{name}”" if name else role),
        ("in", ", ".join(part for key in ("window", "app") if (part := text(target.get(key))))),
        ("route", text(event.get("route"))),
        ("effect", text(event.get("effect"))),
        ("verdict", text(event.get("verdict"))),
        ("waited", f"{waited:.2f} s" if waited is not None else ""),
        ("changed", f"{changed:.2%} of the screen" if changed is not None else ""),
        ("note", text(event.get("note") or event.get("problem") or event.get("message"))),
        ("risk", text(event.get("risk"))),
        ("decided", text(event.get("by"))),
        ("doubts", "\n".join(text(item) for item in _items(event, "doubts"))),
        ("tokens", _tokens(event)),
        ("cost", f"${cost:.4f}" if (cost := number(event.get("cost_usd"))) else ""),
        ("took", f"{took:.2f} s" if (took := number(event.get("seconds"))) is not None else ""),
    )
    return ((label, "\n".join(map(safe, value.split("\n")))) for label, value in pairs if value)


def _tokens(event: Event) -> str:
    counts = [(event.get(f"{name}_tokens"), name) for name in ("input", "cached", "output")]
    return ", ".join(f"{count:,} {name}" for count, name in counts if isinstance(count, int))


def _part(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _items(holder: dict[str, Any], key: str) -> list[Any]:
    value = holder.get(key)
    return value if isinstance(value, list) else []


def _numbers(value: Any, count: int) -> list[float] | None:
    """A list of so many numbers, else None: a log may come from anywhere."""
    found = [number(each) for each in value] if isinstance(value, list) else []
    return [each for each in found if each is not None] if len(found) == count and None not in found else None


def _short(words: str, size: int) -> str:
    return words if len(words) <= size else f"{words[:size]}… ({len(words):,} characters)"


def _webp(data: bytes) -> bytes:
    """A picture encoded small enough for a page. Empty when it is none."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as picture:
            packed = io.BytesIO()
            picture.convert("RGB").save(packed, "WEBP", quality=QUALITY, method=2)
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return b""
    return packed.getvalue()
