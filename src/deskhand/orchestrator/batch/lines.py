"""The lines of a batch: a goal each, with the arguments of `computer_task`."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deskhand.orchestrator.order import Order, prepare
from deskhand.terms import Limits, Policy, Private


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    goal: str
    id: str | None = Field(default=None, min_length=1, max_length=200)
    retries: int = Field(default=0, ge=0, le=20)
    timeout: float = 300
    model: str | None = None
    context: str | None = None
    inputs: dict[str, str] | None = None
    secrets: dict[str, str] | None = None
    expect: tuple[str, ...] = ()
    output: dict[str, Any] | None = None
    computer: str = "private"
    private: dict[str, Any] | None = None
    limits: dict[str, Any] | None = None
    policy: dict[str, Any] | None = None
    record: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """One task of a batch. ``id`` tells it from the others, also in a later run; ``number`` is its place, from 1."""

    id: str
    number: int
    goal: str
    retries: int
    timeout: float
    arguments: Mapping[str, Any]

    def order(self, *, timeout: float | None = None, cost: float | None = None) -> Order:
        """The task, prepared; within these bounds when they are narrower than its own."""
        arguments = dict(self.arguments)
        limits: Limits = arguments.pop("limits")
        if cost is not None and (limits.cost is None or cost < limits.cost):
            limits = Limits(steps=limits.steps, tokens=limits.tokens, cost=cost, human_wait=limits.human_wait)
        seconds = self.timeout if timeout is None else min(self.timeout, timeout)
        return prepare(self.goal, seconds, limits=limits, **arguments)


def read_lines(path: Path) -> list[TaskLine]:
    """The tasks of a JSONL file, all of them checked. ValueError names the line and what is wrong with it."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8 text") from None
    found: list[tuple[str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append((f"{path}, line {number}", json.loads(line)))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: not JSON: {error}") from None
    return check_lines(found)


def check_lines(given: Iterable[tuple[str, Any]]) -> list[TaskLine]:
    """Tasks as they were given, each with the words for its place. A string is a goal. ValueError names the place."""
    lines: list[TaskLine] = []
    same: Counter[str] = Counter()
    for number, (where, raw) in enumerate(given, 1):
        try:
            parsed = _Line.model_validate({"goal": raw} if isinstance(raw, str) else raw)
            name = parsed.id or _digest(parsed)
            same[name] += 1
            if same[name] > 1 and parsed.id is not None:
                raise ValueError(f"id {name!r} is that of an earlier task, too")
            line = TaskLine(
                id=name if same[name] == 1 else f"{name}-{same[name]}",
                number=number,
                goal=parsed.goal,
                retries=parsed.retries,
                timeout=parsed.timeout,
                arguments=_arguments(parsed),
            )
            _try(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"])) or "the whole"
            raise ValueError(f"{where}: {field}: {first['msg']}") from None
        except (ValueError, TypeError) as error:
            raise ValueError(f"{where}: {error}") from None
        lines.append(line)
    return lines


def _arguments(parsed: _Line) -> dict[str, Any]:
    if parsed.private is not None and parsed.computer != "private":
        raise ValueError("private: goes with the private computer only")
    return {
        "model": parsed.model,
        "context": parsed.context,
        "inputs": parsed.inputs,
        "secrets": parsed.secrets,
        "expect": parsed.expect,
        "output": parsed.output,
        "computer": parsed.computer if parsed.private is None else Private(**_tuples(parsed.private)),
        "limits": Limits(**(parsed.limits or {})),
        "policy": Policy(**_tuples(parsed.policy or {})),
        "record": parsed.record,
    }


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def _digest(parsed: _Line) -> str:
    """A name that the same task has in every run of every file."""
    given = parsed.model_dump(exclude_defaults=True, exclude={"retries", "secrets"}, mode="json")
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:12]


def _try(line: TaskLine) -> None:
    """Have everything checked that is checked before a task starts, and take back what that made."""
    order = line.order()
    order.callbacks.close()
    shutil.rmtree(order.directory)
