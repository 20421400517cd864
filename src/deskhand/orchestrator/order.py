"""From arguments to a brief: every check that can be made before anything starts."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.audit.store import TaskStore
from deskhand.config import data_home, load_settings
from deskhand.errors import MissingPart
from deskhand.messages import Json, Model
from deskhand.observers.selector import parse_selector
from deskhand.orchestrator.brief import Brief, PolicyBrief
from deskhand.orchestrator.callbacks import Callbacks
from deskhand.orchestrator.control import NotRunning, send
from deskhand.orchestrator.elsewhere import KEYS, Elsewhere
from deskhand.orchestrator.models import default_spec, installed_agents, parse_spec, require_agent
from deskhand.terms import Limits, Policy, Private

PROVIDER_PARTS = {
    "anthropic": "anthropic",
    "openai": "openai",
    "openai-chat": "openai",
    "claude-code": "mcp",
    "codex": "mcp",
}
"""The module that a provider needs, which is the name of the extra that brings it, too."""

EMBEDDED_REMARK = (
    "deskhand: {why}: this task runs on the embedded model, which does what is said literally. "
    "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a model{agents}, for more."
)

MAX_TIMEOUT = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A checked task, ready to start. ``kept_by`` is the conversation whose worker may keep a desktop for it;
    ``elsewhere`` the computer of the table that ``command`` reaches."""

    brief: Brief
    callbacks: Callbacks
    command: tuple[str, ...]
    directory: Path
    kept_by: Path | None = None
    elsewhere: Elsewhere | None = None


def prepare(
    goal: str | None,
    timeout: float = 300,
    model: str | Model | None = None,
    *,
    context: str | None = None,
    inputs: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    expect: Sequence[str] = (),
    output: Any = None,
    computer: str | Private = "private",
    limits: Limits | None = None,
    policy: Policy | None = None,
    record: bool | str | os.PathLike[str] = False,
    background: bool = False,
    resume: str | None = None,
    on_event: Callable[[Json], object] | None = None,
    answers: bool | None = None,
) -> Order:
    """Check all arguments and make the task's directory. ValueError or TypeError name the argument that is wrong.

    With ``resume`` the goal is the answer, and what is not given here is as it was. ``answers`` says that
    ``policy.confirm`` can answer questions as well as consent (default: when it is a callable).
    """
    started = time.monotonic()
    stored = None if resume is None else _stored(resume, context, inputs, expect, output, computer)
    elsewhere = _elsewhere(computer if stored is None else stored.computer)
    if elsewhere is not None and background:
        raise ValueError(
            f"background: a task on {elsewhere.name!r} needs its caller; wait for it, in a thread if need be"
        )
    remark = ""
    if stored is not None and model is None:
        spec, name = _model_again(stored)
    elif model is None and elsewhere is not None and not elsewhere.keys:
        spec, name = "", ""  # that computer's own choice
    else:
        spec, name, remark = _model(model)
    schema, output_class = _output(output)
    confirm = policy.confirm if policy is not None and callable(policy.confirm) else None
    callbacks = Callbacks(
        on_event=on_event,
        confirm=confirm,
        model=model if spec == "caller" and not isinstance(model, str) else None,
        output=output_class,
    )
    now: dict[str, Any] = {
        "secrets": _strings("secrets", secrets or {}),
        "model": spec,
        "model_name": name,
        "record": _record(record or (stored is not None and stored.record)),
        "background": bool(background),
        "answers": confirm is not None if answers is None else answers,
        "timeout": _timeout(timeout),
        "started": started,
        "deadline": started + _timeout(timeout),
    }
    if limits is not None or stored is None:
        now["limits"] = limits or Limits()
    if policy is not None or stored is None:
        now["policy"] = _policy(policy or Policy())
    command = worker_command(spec) if elsewhere is None else _command_of(elsewhere.name)
    if stored is not None:
        brief = stored.model_copy(update={**now, "answer": _goal(goal)})
        directory = TaskStore(Path(brief.home)).path(brief.conversation)
        return Order(
            brief=brief,
            callbacks=callbacks,
            command=command,
            directory=directory,
            kept_by=directory if elsewhere is None else None,
            elsewhere=elsewhere,
        )
    place, kept_by = (elsewhere.name, None) if elsewhere is not None else _computer(computer)
    now |= {
        "goal": _goal(goal),
        "context": _text("context", context or ""),
        "inputs": _strings("inputs", inputs or {}),
        "expect": _selectors(expect),
        "output": schema,
        "checks_output": output_class is not None,
        "computer": place,
    }
    if remark:
        _remark(remark)
    home = data_home()
    conversation, directory = TaskStore(home).new(now["goal"])
    brief = Brief(conversation=conversation, home=str(home), **now)
    return Order(
        brief=brief,
        callbacks=callbacks,
        command=command,
        directory=directory,
        kept_by=kept_by,
        elsewhere=elsewhere,
    )


def _stored(resume: Any, *unchangeable: Any) -> Brief:
    """The brief of a conversation that ended and is taken up again."""
    directory = TaskStore(data_home()).find(_text("resume", resume))
    for name, value in zip(("context", "inputs", "expect", "output", "computer"), unchangeable, strict=True):
        if value not in (None, (), "private", Private()):
            raise ValueError(
                f"{name} is as it was when the conversation started; it cannot be given with resume"
            )
    with suppress(NotRunning):
        if send(directory, {"command": "status"}).get("state") == "running":
            raise ValueError(f"resume: {directory.name} is still running; wait for it with goal=None")
    path = directory / "brief.json"
    if not path.is_file():
        raise ValueError(f"resume: {directory.name} has no brief; it cannot be continued")
    kept = json.loads(path.read_text("utf-8"))
    return Brief.model_validate({**kept, "home": str(data_home()), "started": 0.0, "deadline": 0.0})


def _model_again(stored: Brief) -> tuple[str, str]:
    if stored.model == "caller":
        raise ValueError("resume: this conversation ran on a model of its caller's own: give it with model=")
    return stored.model, stored.model_name


# --- the arguments, one by one -----------------------------------------------------------------------------------


def _goal(goal: Any) -> str:
    text = _text("goal", goal).strip()
    if not text:
        raise ValueError("goal must say what is to be done")
    return text


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {type(value).__name__}")
    return value.encode("utf-8", "replace").decode()


def _strings(name: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping of strings, not {type(value).__name__}")
    return {_text(f"a key of {name}", k): _text(f"{name}[{k!r}]", v) for k, v in value.items()}


def _selectors(expect: Any) -> tuple[str, ...]:
    items = (expect,) if isinstance(expect, str) else tuple(expect)
    for item in items:
        try:
            parse_selector(_text("expect", item))
        except Exception as error:
            raise ValueError(f"expect: {error}") from error
    return items


def _output(output: Any) -> tuple[Json | None, Any]:
    if output is None:
        return None, None
    if isinstance(output, Mapping):
        schema = dict(output)
        from jsonschema import Draft202012Validator, SchemaError

        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise ValueError(f"output is not a JSON schema: {error.message}") from None
        return schema, None
    if isinstance(output, type) and hasattr(output, "model_json_schema"):
        return output.model_json_schema(), output
    raise TypeError("output must be a pydantic model class or a JSON schema (a mapping)")


def _elsewhere(computer: Any) -> Elsewhere | None:
    """The computer of the table that is meant; None for one of this machine's own."""
    entry = load_settings().computers.get(computer) if isinstance(computer, str) else None
    if entry is None:
        return None
    keys = {name: os.environ[name] for name in KEYS if os.environ.get(name)} if entry.keys == "caller" else {}
    return Elsewhere(name=str(computer), keys=keys)


def _command_of(name: str) -> tuple[str, ...]:
    """What starts a task on a computer of the table. ValueError when its program is not here."""
    command = load_settings().computers[name].command
    if shutil.which(command[0]) is None:
        raise ValueError(f"computer: {name!r} is reached by {command[0]!r}, which is not on this machine")
    return (*command, "relay")


def _computer(computer: Any) -> tuple[str | Private, Path | None]:
    """Where the task runs, and the directory of the conversation that keeps a desktop for it."""
    if isinstance(computer, Private):
        for entry in computer.share:
            path = entry.removesuffix(":rw")
            if not Path(path).expanduser().exists():
                raise ValueError(f"computer: share names {path!r}, which does not exist")
        return computer, None
    if not isinstance(computer, str):
        raise TypeError(f"computer must be a string or Private(...), not {type(computer).__name__}")
    number = computer.removeprefix("display::").removeprefix(":").split(".")[0]
    if computer == "private" or (computer.startswith("display::") and number.isdigit()):
        return computer, None
    try:
        directory = TaskStore(data_home()).find(computer)
    except ValueError:
        raise ValueError(
            f"computer must be 'private', Private(...), 'display::N', a conversation whose desktop is kept or "
            f"a name from the settings' table of computers{_known()}, not {computer!r}"
        ) from None
    try:
        state = send(directory, {"command": "status"})["state"]
    except NotRunning:
        raise ValueError(f"computer: the desktop of {directory.name} is not kept any more") from None
    if state == "running":
        raise ValueError(f"computer: {directory.name} is still at work on its desktop")
    return computer, directory


def _known() -> str:
    names = sorted(load_settings().computers)
    return f" ({', '.join(names)})" if names else ""


def _policy(policy: Policy) -> PolicyBrief:
    confirm = "ask" if callable(policy.confirm) else policy.confirm
    return PolicyBrief(
        confirm=confirm,
        tools=None if policy.tools is None else tuple(policy.tools),
        apps=None if policy.apps is None else tuple(policy.apps),
        domains=None if policy.domains is None else tuple(policy.domains),
        verify=policy.verify,
        audit_text=policy.audit_text,
    )


def _record(record: Any) -> bool | str:
    if isinstance(record, bool):
        return record
    path = Path(record).expanduser().absolute()
    if not path.parent.is_dir():
        raise ValueError(f"record: the directory {path.parent} does not exist")
    return str(path)


def _timeout(timeout: Any) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"timeout must be a number of seconds, not {type(timeout).__name__}")
    if not 0 < timeout <= MAX_TIMEOUT:
        raise ValueError(f"timeout must be more than 0 and at most {MAX_TIMEOUT:g} seconds, not {timeout!r}")
    return float(timeout)


def _model(model: Any) -> tuple[str, str, str]:
    """The spec that goes into the brief, the name to show, and what is to be said of the default."""
    if model is None:
        spec, why = default_spec(os.environ, load_settings())
        if spec == "embedded" and why != "the settings":
            named = " or ".join(f"--model {agent}" for agent in installed_agents())
            agents = f" ({named}: installed here)" if named else ""
            return spec, "", EMBEDDED_REMARK.format(why=why, agents=agents)
        return spec, "", ""
    if isinstance(model, str):
        parse_spec(model)
        return model, "", ""
    if callable(getattr(model, "turn", None)):
        return "caller", str(getattr(model, "name", type(model).__name__)), ""
    raise TypeError(f"model must be a string or an object with a `turn` method, not {type(model).__name__}")


@functools.cache
def _remark(words: str) -> None:
    """Say it on stderr, once in the life of this process: a script with many tasks is told once."""
    sys.stderr.write(words + "\n")


# --- where the worker runs ---------------------------------------------------------------------------------------


def worker_command(spec: str) -> tuple[str, ...]:
    """The command that starts a worker: this interpreter when it has the parts the task needs, else another
    environment's ``computer`` on PATH. MissingPart when a model's package is nowhere."""
    part = None if spec == "caller" else PROVIDER_PARTS.get(parse_spec(spec)[0])
    if spec != "caller":
        require_agent(spec)
    missing = part is not None and importlib.util.find_spec(part) is None
    incomplete = missing or importlib.util.find_spec("playwright") is None
    if incomplete and (other := _other_computer()):
        return (other, "worker")
    if missing:
        raise MissingPart(
            f"the package {part}", f"the model {spec!r} needs it", f"pip install 'deskhand[{part}]'"
        )
    return (sys.executable, "-P", "-m", "deskhand.orchestrator.worker")


def _other_computer() -> str | None:
    """The first ``computer`` on PATH that is not this environment's own."""
    own = {Path(sys.prefix, "bin").resolve(), Path(sys.executable).parent.resolve()}
    for place in os.environ.get("PATH", "").split(os.pathsep):
        if place and Path(place).resolve() not in own and (found := shutil.which("computer", path=place)):
            return found
    return None
