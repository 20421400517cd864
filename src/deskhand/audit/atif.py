"""A task in the Agent Trajectory Interchange Format (ATIF 1.7, Harbor's RFC 0001), with nothing left out.

Each turn of the child is one step: its words, calls, answers and tokens. What the format has no field for is in the
``extra`` objects that it provides: each event of the log stands, whole, in ``extra.events`` of the step in which it
happened, so that the log can be spelled again byte for byte. Half a surrogate pair, which JSON's strict readers refuse,
is the one thing that becomes U+FFFD.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from deskhand.audit.images import ImageStore
from deskhand.audit.log import FILE_NAME
from deskhand.audit.read import Event, read_events
from deskhand.audit.review import Reviewer
from deskhand.audit.transcript import FILE_NAME as TRANSCRIPT
from deskhand.audit.transcript import read_transcript
from deskhand.audit.verify import verify_log
from deskhand.audit.words import number

SCHEMA = "ATIF-v1.7"

Json = dict[str, Any]

_PLAIN = "embedded"
"""The model that is none: its turns are a program's, which the format marks as such."""


def trajectory(directory: Path, *, beside: Path | None = None) -> Json:
    """The trajectory of the task in ``directory``, running or not.

    Pictures are named by their paths: from the directory ``beside`` where the trajectory is going to be, else
    absolute. FileNotFoundError without a log.
    """
    events = list(read_events(directory / FILE_NAME))
    entries = list(read_transcript(directory / TRANSCRIPT)) if (directory / TRANSCRIPT).is_file() else []
    steps = _Steps(ImageStore(directory / "images"), beside)
    if entries:
        for entry in entries:
            steps.take(entry)
        steps.add_events(events)
    else:
        steps.from_events(events)
    first = next((event for event in events if event.get("kind") == "task_started"), {})
    last = next((event for event in reversed(events) if event.get("kind") == "task_finished"), {})
    checked = verify_log(directory / FILE_NAME)
    made: Json = {
        "schema_version": SCHEMA,
        "session_id": directory.name,
        "trajectory_id": directory.name,
        "agent": {
            "name": "deskhand",
            "version": version("deskhand"),
            "model_name": str(last.get("model") or first.get("model") or ""),
            "extra": {"computer": last.get("computer") or first.get("computer")},
        },
        "steps": steps.numbered(),
        "notes": "extra.events of the steps, in order of seq, are the lines of the task's audit log.",
        "final_metrics": _totals(events, len(steps.all)),
        "extra": {
            "goal": first.get("goal"),
            "status": {key: last.get(key) for key in ("status", "reason", "result", "verified", "evidence")},
            "log": {
                "lines": checked.lines,
                "intact": checked.intact,
                "torn": checked.torn,
                "hash": checked.head,
            },
        },
    }
    whole: Json = _strict(made)
    return whole


class _Steps:
    """The steps as they come about."""

    def __init__(self, images: ImageStore, beside: Path | None) -> None:
        self.all: list[Json] = []
        self._images, self._beside = images, beside
        self._turns: list[Json] = []

    def numbered(self) -> list[Json]:
        return [{"step_id": number, **step} for number, step in enumerate(self.all, 1)]

    def take(self, entry: Json) -> None:
        """Add an entry of the transcript."""
        match entry.get("type"):
            case "words":
                source = "system" if entry.get("role") == "system" else "user"
                rest = _rest(entry, "type", *(["role"] if entry.get("role") == source else []), "text")
                self._add(
                    {"source": source, "message": self._content(entry), "extra": {"events": [], **rest}}
                )
            case "turn":
                self._turn(entry)
            case "results" if self._turns:
                self._results(entry)
            case _:
                self._add({"source": "system", "message": "", "extra": {"events": [], "entry": entry}})

    def _add(self, step: Json) -> Json:
        self.all.append(step)
        return step

    def _turn(self, entry: Json) -> None:
        number = len(self._turns) + 1
        calls = [call for call in _items(entry, "calls") if isinstance(call, dict)]
        step: Json = {"source": "agent", "message": str(entry.get("text") or "")}
        if entry.get("model"):
            step["model_name"] = str(entry["model"])
        if calls:
            step["tool_calls"] = [
                _call(call, f"turn-{number}-{place}") for place, call in enumerate(calls, 1)
            ]
        step["extra"] = {"events": [], **_rest(entry, "type", "text", "model", "calls")}
        self._turns.append(self._add(step))

    def _results(self, entry: Json) -> None:
        step = self._turns[-1]
        known = {call["extra"]["id"]: call["tool_call_id"] for call in step.get("tool_calls", ())}
        results = []
        for result in _items(entry, "results"):
            if not isinstance(result, dict):
                continue
            made: Json = {"content": self._content(result), "extra": _rest(result, "text")}
            if (called := known.get(str(result.get("call_id") or ""))) is not None:
                made = {"source_call_id": called, **made}
            results.append(made)
        step.setdefault("observation", {"results": []})["results"] += results
        if rest := _rest(entry, "type", "results"):
            step["extra"]["of_results"] = rest

    def add_events(self, events: Iterable[Event]) -> None:
        """Put each event to the turn in which it happened: what comes before the first turn, to the first step."""
        if not self.all:
            self._add({"source": "system", "message": "", "extra": {"events": []}})
        turns = deque(self._turns)
        step = self.all[0]
        for event in events:
            if event.get("kind") == "model_call" and turns and _is_of(event, turns[0]):
                step = turns.popleft()
                _measure(step, event)
            step["extra"]["events"].append(event)

    def from_events(self, events: Iterable[Event]) -> None:
        """Make steps of the log alone: of a replay, or of a task whose transcript is lost."""
        reviewer, step = Reviewer(), self._add({"source": "user", "message": "", "extra": {"events": []}})
        for event in events:
            row = reviewer.row(event)
            if row.kind == "task_started":
                step["message"] = step["message"] or str(event.get("goal") or "")
            if row.kind == "model_call" and not _is_second_look(event):
                step = self._add({"source": "agent", "message": "", "extra": {"events": []}})
                _measure(step, event)
            if row.kind == "action":
                if step["source"] == "user":
                    step = self._add(
                        {"source": "agent", "message": "", "llm_call_count": 0, "extra": {"events": []}}
                    )
                    _date(step, event)
                self._done(step, event, row.outcome)
            step["extra"]["events"].append(event)

    def _done(self, step: Json, event: Event, outcome: str) -> None:
        asked = event.get("step") if isinstance(event.get("step"), dict) else {}
        calls = step.setdefault("tool_calls", [])
        name = f"seq-{event.get('seq')}-{len(calls) + 1}"
        kind = str((asked or {}).get("kind") or "step")
        calls.append({"tool_call_id": name, "function_name": kind, "arguments": _rest(asked or {}, "kind")})
        pictures = [{"sha256": event[key]} for key in ("before", "after") if isinstance(event.get(key), str)]
        told = {"text": outcome, "images": pictures}
        results = step.setdefault("observation", {"results": []})["results"]
        results.append({"source_call_id": name, "content": self._content(told)})

    def _content(self, holder: Json) -> str | list[Json]:
        """Words, or words and pictures."""
        words = str(holder.get("text") or "")
        pictures = [self._picture(image) for image in _items(holder, "images") if isinstance(image, dict)]
        if not any(pictures):
            return words
        return [{"type": "text", "text": words}, *(picture for picture in pictures if picture)]

    def _picture(self, image: Json) -> Json | None:
        try:
            found = self._images.find(str(image.get("sha256") or ""))
        except ValueError:
            found = None
        if found is None:
            return None
        path, media_type = found
        place = str(path.absolute()) if self._beside is None else os.path.relpath(path, self._beside)
        return {"type": "image", "source": {"media_type": media_type, "path": place}}


def _call(call: Json, name: str) -> Json:
    arguments = call.get("arguments")
    whole = isinstance(arguments, dict)
    rest = _rest(call, "name", *(["arguments"] if whole else []))
    return {
        "tool_call_id": name,  # the provider's own may be missing, or come twice
        "function_name": str(call.get("name") or ""),
        "arguments": arguments if whole else {},
        "extra": {**rest, "id": str(call.get("id") or "")},
    }


def _measure(step: Json, event: Event) -> None:
    """What a turn cost, and when it was."""
    _date(step, event)
    if event.get("provider") == _PLAIN:
        step["llm_call_count"] = 0
        return
    step["llm_call_count"] = 1
    counts = {"prompt": "input", "completion": "output", "cached": "cached"}
    metrics: Json = {f"{theirs}_tokens": _count(event, f"{ours}_tokens") for theirs, ours in counts.items()}
    if (cost := number(event.get("cost_usd"))) is not None:
        metrics["cost_usd"] = cost
    known = [f"{ours}_tokens" for ours in counts.values()]
    step["metrics"] = {**metrics, "extra": _rest(event, *_ENVELOPE, *known, "cost_usd")}


def _date(step: Json, event: Event) -> None:
    with suppress(ValueError):
        moment = str(event.get("ts"))
        datetime.fromisoformat(moment)
        step["timestamp"] = moment


_ENVELOPE = ("v", "seq", "ts", "t", "conversation", "kind", "prev", "hash", "torn", "provider", "model")


def _totals(events: Iterable[Event], steps: int) -> Json:
    calls = [event for event in events if event.get("kind") == "model_call"]
    costs = [number(event.get("cost_usd")) for event in calls]
    known = [cost for cost in costs if cost is not None]
    return {
        "total_prompt_tokens": sum(_count(event, "input_tokens") for event in calls),
        "total_completion_tokens": sum(_count(event, "output_tokens") for event in calls),
        "total_cached_tokens": sum(_count(event, "cached_tokens") for event in calls),
        **({"total_cost_usd": round(sum(known), 6)} if len(known) == len(costs) else {}),
        "total_steps": steps,
    }


def _is_of(event: Event, step: Json) -> bool:
    """Whether a model's call is a turn of the transcript, and not one that judged or summed up."""
    usage = step["extra"].get("usage")
    told: Json = {**(usage if isinstance(usage, dict) else {}), "stop": step["extra"].get("stop")}
    told["calls"] = [call["function_name"] for call in step.get("tool_calls", ())]
    return all(event[key] == value for key, value in told.items() if key in event)


def _is_second_look(event: Event) -> bool:
    """Whether a model was asked to judge the child's work: that is no turn of the child."""
    return "verification" in str(event.get("provider") or "")


def _count(event: Event, key: str) -> int:
    value = event.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _items(holder: Json, key: str) -> list[Any]:
    value = holder.get(key)
    return value if isinstance(value, list) else []


def _strict(value: Any) -> Any:
    """The value with text that any reader of JSON takes."""
    match value:
        case str():
            return (
                value
                if value.isascii()
                else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            )
        case dict():
            return {_strict(key): _strict(each) for key, each in value.items()}
        case list():
            return [_strict(each) for each in value]
        case _:
            return value


def _rest(holder: Json, *known: str) -> Json:
    """What the format has no field for."""
    return {key: value for key, value in holder.items() if key not in known}
