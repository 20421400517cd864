"""What can go wrong around a task. A fault is prepared before the task starts, strikes at one moment, and is lifted."""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chaos.stage import Run, Stage
from wire import Request

Act = Callable[[Stage, Run], bool]
"""Strikes; False when there was nothing to strike (yet, or any more)."""


def nothing(stage: Stage) -> None:
    """What most faults need before the start, and afterwards."""


def at_once(stage: Stage, run: Run) -> bool:
    """What was prepared is the fault."""
    return True


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong.

    ``flows``: those it can happen in, all when empty. ``ends``: the reasons that a status may give for it, besides
    those of the task itself and the deadline. ``silent``: the caller cannot tell a status, or not while it lasts.
    ``unlogged``: the log may lack its end. ``refused``: the task may be refused before it starts.
    """

    name: str
    strike: Act
    prepare: Callable[[Stage], None] = nothing
    lift: Callable[[Stage], None] = nothing
    flows: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    silent: bool = False
    unlogged: bool = False
    refused: bool = False


WORKER = "deskhand.orchestrator.worker"

PARTS = {
    "Xvfb": "Xvfb",
    "the window manager": "openbox",
    "the session bus": "dbus-daemon",
    "the accessibility registry": "at-spi2-registryd",
    "the browser": "chromium",
    "the recorder": "ffmpeg",
    "the app": "",
    "any process": "",
}
APPS = ("gnome-calculator", "mousepad", "zenity", "chromium")


def _victims(part: str, run: Run) -> list[int]:
    if part == "the app":
        found = [process for app in APPS for process in run.living(app) if "bwrap" not in process.command]
    elif part == "any process":
        found = [process for process in run.living("") if WORKER not in process.command]
    else:
        found = [process for process in run.living(PARTS[part]) if "bwrap" not in process.command]
    return [process.pid for process in found if process.pid != run.process.pid]


def _signal(part: str, number: signal.Signals) -> Act:
    def strike(stage: Stage, run: Run) -> bool:
        victims = _victims(part, run)
        if not victims:
            return False
        chosen = [stage.rng.choice(victims)] if part in ("any process", "the session bus") else victims
        for pid in chosen:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return True

    return strike


def _on_parts() -> Iterator[Fault]:
    where = {"the browser": ("page",), "the recorder": ("recorded",)}
    for part in PARTS:
        for number in (signal.SIGKILL, signal.SIGSTOP):
            verb = "kill" if number == signal.SIGKILL else "stop"
            yield Fault(
                f"{verb} {part}",
                _signal(part, number),
                flows=where.get(part, ()),
                ends=(
                    "desktop_error",
                    "unverified",
                    "gave_up",
                    "model_error",
                    "expectation_failed",
                ),
            )


def _to_worker(number: signal.Signals) -> Act:
    def strike(stage: Stage, run: Run) -> bool:
        found = run.living(WORKER)
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)
        return bool(found)

    return strike


def _to_caller(number: signal.Signals) -> Act:
    def strike(stage: Stage, run: Run) -> bool:
        os.kill(run.process.pid, number)
        return True

    return strike


def _kill_both(stage: Stage, run: Run) -> bool:
    return _to_caller(signal.SIGKILL)(stage, run) and _to_worker(signal.SIGKILL)(stage, run)


def _small_data(stage: Stage) -> None:
    stage.mount(stage.data, "4m")


def _small_temporary(stage: Stage) -> None:
    stage.mount(stage.temporary, "24m")


def _fill(which: str) -> Act:
    def strike(stage: Stage, run: Run) -> bool:
        path: Path = getattr(stage, which)
        block = b"\0" * 65536
        with suppress(OSError), open(path / "ballast", "wb", buffering=0) as file:
            while file.write(block) == len(block):
                pass
        with suppress(OSError), open(path / "ballast-2", "wb", buffering=0) as file:
            while file.write(b"\0"):
                pass
        return True

    return strike


def _empty(stage: Stage) -> None:
    for path in (stage.data, stage.temporary):
        for name in ("ballast", "ballast-2"):
            (path / name).unlink(missing_ok=True)


def _read_only(stage: Stage, run: Run) -> bool:
    subprocess.run(["mount", "-o", "remount,ro", str(stage.data)], check=False, stderr=subprocess.DEVNULL)
    options = next(
        (
            line.split()[3]
            for line in Path("/proc/mounts").read_text().splitlines()
            if f" {stage.data} " in line
        ),
        "",
    )
    return "ro" in options.split(",")


def _writable(stage: Stage) -> None:
    subprocess.run(["mount", "-o", "remount,rw", str(stage.data)], check=True)


def _never_writable(stage: Stage) -> None:
    stage.mount(stage.data, "4m", "ro")


def _full_temporary(stage: Stage) -> None:
    _small_temporary(stage)
    _fill("temporary")(stage, None)  # type: ignore[arg-type]


def _no_home(stage: Stage) -> None:
    stage.mount(stage.home, "1m", "ro")


def _few_descriptors(who: str) -> Act:
    def strike(stage: Stage, run: Run) -> bool:
        found = [run.process.pid] if who == "caller" else [process.pid for process in run.living(WORKER)]
        limit = stage.rng.randrange(8, 48)
        for pid in found:
            with suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, limit))
        return bool(found)

    return strike


def _few_descriptors_from_the_start(stage: Stage) -> None:
    limit = stage.rng.randrange(12, 64)
    stage.prefix = ["prlimit", f"--nofile={limit}:{limit}"]


def _small_files(stage: Stage, run: Run) -> bool:
    """No file of the worker's grows any more: writing fails as on a full disk (EFBIG)."""
    found = run.living(WORKER)
    for process in found:
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, 4096))
    return bool(found)


def _settable_clock(stage: Stage) -> None:
    source, library, clock = (
        Path(__file__).with_name("clock.c"),
        stage.root / "clock.so",
        stage.root / "clock",
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    clock.write_bytes(struct.pack("d", 0.0))
    stage.environ |= {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(clock)}


def _jump(stage: Stage, run: Run) -> bool:
    seconds = stage.rng.choice([3600.0, -3600.0, 864000.0, -864000.0, -2.0, 2.0, -1.8e9])
    with open(stage.root / "clock", "rb+") as clock:
        clock.write(struct.pack("d", seconds))
    return True


def _true_clock(stage: Stage) -> None:
    for name in ("LD_PRELOAD", "CHAOS_CLOCK"):
        del stage.environ[name]


_TAKEN: list[socket.socket] = []
_LOCKS: list[Path] = []


def _take_displays(stage: Stage) -> None:
    """Half of all numbers that a display could have are taken, in each of the three ways."""
    for number in range(100, 10_000):
        if (how := stage.rng.randrange(8)) > 3:
            continue
        path, lock = Path(f"/tmp/.X11-unix/X{number}"), Path(f"/tmp/.X{number}-lock")
        if how == 0 and not path.exists():
            path.touch()
            _LOCKS.append(path)
        elif how == 1 and not lock.exists():
            lock.write_text(f"{os.getpid():>10}\n")
            _LOCKS.append(lock)
        elif how == 2 and not lock.exists():  # stale: of a server that is dead
            lock.write_text(f"{2**22 - 1:>10}\n")
            _LOCKS.append(lock)
        elif how == 3 and len(_TAKEN) < 200:
            taken = socket.socket(socket.AF_UNIX)
            try:
                taken.bind(f"\0/tmp/.X11-unix/X{number}")
            except OSError:
                taken.close()
            else:
                _TAKEN.append(taken)


def _free_displays(stage: Stage) -> None:
    while _TAKEN:
        _TAKEN.pop().close()
    while _LOCKS:
        _LOCKS.pop().unlink(missing_ok=True)


def _by_http(wrong: Callable[[Stage, Request], dict[str, Any]]) -> tuple[Act, Callable[[Stage], None]]:
    """A model over HTTP that follows the script until the fault strikes, and from then on says what ``wrong`` does."""

    def prepare(stage: Stage) -> None:
        turns = iter(stage.flow.turns)

        def answer(request: Request) -> dict[str, Any]:
            if getattr(stage, "armed", False):
                reply = wrong(stage, request)
                if reply.pop("then", False):
                    reply |= next(turns, {"http": 400, "message": "the script is used up"})
                return reply
            return next(turns, {"http": 400, "message": "the script is used up"})

        stage.serve(
            stage.rng.choice(("anthropic:claude-sonnet-5-5", "openai:gpt-5.5", "openai-chat:local")), answer
        )

    def strike(stage: Stage, run: Run) -> bool:
        stage.armed = True  # type: ignore[attr-defined]
        return True

    return strike, prepare


def _silent(stage: Stage, request: Request) -> dict[str, Any]:
    return {"hang": 60.0}


def _slow(stage: Stage, request: Request) -> dict[str, Any]:
    return {"hang": stage.rng.uniform(0.2, 3), "then": True}


def _cut(stage: Stage, request: Request) -> dict[str, Any]:
    return {
        **stage.rng.choice([{"drop": True}, {"cut": 2}, {"stall": 4.0}, {"raw": '{"id": "x'}]),
        "then": True,
    }


def _failing(stage: Stage, request: Request) -> dict[str, Any]:
    status = stage.rng.choice([401, 403, 404, 408, 413, 429, 500, 502, 503, 529])
    return {"http": status, "message": "no", "headers": {"retry-after": "1"} if status == 429 else {}}


def _lying(stage: Stage, request: Request) -> dict[str, Any]:
    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return {"calls": [{"name": name, "input": arguments}]}

    return stage.rng.choice(
        [
            call("finish", result="All is done.", evidence=["window"]),
            call("finish", result="All is done.", evidence=["button[name='Never there']"]),
            call("finish", result="", evidence=[]),
            call("format_disk", sure=True),
            call("act", steps=[{"kind": "click", "target": "e9999"}]),
            call("act", steps=[{"kind": "click", "target": {"x": 10**9, "y": -5}}]),
            call("act", steps="click"),
            call("act", steps=[]),
            call("find", selector="button[["),
            {"calls": [{"name": "act", "arguments": '{"steps": [{'}]},
            {"text": "I would rather talk about the weather."},
            {"text": ""},
        ]
    )


def _huge_result(stage: Stage) -> None:
    turns = [*stage.flow.turns]
    (last,) = turns[-1]["calls"]
    text = f"{last['input']['result']} " + "🙂" * 19_000
    turns[-1] = {"calls": [{"name": "finish", "input": {**last["input"], "result": text}}]}
    stage.flow = replace(stage.flow, turns=turns)


def _second_task(stage: Stage, run: Run) -> bool:
    """Another task on the same conversation, while the first runs: it must be told, and change nothing."""
    if not (logs := stage.logs()):
        return False
    arguments = {**stage.flow.arguments, "resume": logs[0].parent.name}
    second = stage.start(replace(stage.flow, arguments=arguments), timeout=5)
    stage.follow(second, second.began + 10)
    stage.said_no = bool(second.raised) or (second.status or {}).get("reason") == "computer_lost"  # type: ignore[attr-defined]
    return True


_ANY_DESKTOP = ("desktop_error", "computer_lost", "unverified", "model_error", "gave_up")

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        *_on_parts(),
        Fault("kill the worker", _to_worker(signal.SIGKILL), ends=("computer_lost",), unlogged=True),
        Fault("stop the worker", _to_worker(signal.SIGSTOP), unlogged=True),
        Fault("end the worker", _to_worker(signal.SIGTERM), ends=("computer_lost", "stopped_by_caller")),
        Fault("kill the caller", _to_caller(signal.SIGKILL), silent=True, unlogged=True),
        Fault("stop the caller", _to_caller(signal.SIGSTOP), silent=True, unlogged=True),
        Fault("end the caller", _to_caller(signal.SIGTERM), silent=True),
        Fault("interrupt the caller", _to_caller(signal.SIGINT), silent=True),
        Fault("hang up on the caller", _to_caller(signal.SIGHUP), silent=True),
        Fault("kill caller and worker", _kill_both, silent=True, unlogged=True),
        Fault(
            "data directory fills up", _fill("data"), _small_data, _empty, ends=_ANY_DESKTOP, unlogged=True
        ),
        Fault(
            "data directory becomes read-only",
            _read_only,
            _small_data,
            _writable,
            ends=_ANY_DESKTOP,
            unlogged=True,
        ),
        Fault("data directory is read-only", at_once, _never_writable, _writable, refused=True),
        Fault(
            "temporary directory fills up", _fill("temporary"), _small_temporary, _empty, ends=_ANY_DESKTOP
        ),
        Fault(
            "temporary directory is full", at_once, _full_temporary, _empty, ends=_ANY_DESKTOP, refused=True
        ),
        Fault("home is read-only", at_once, _no_home),
        Fault("worker runs out of descriptors", _few_descriptors("worker"), ends=_ANY_DESKTOP),
        Fault("caller runs out of descriptors", _few_descriptors("caller"), ends=_ANY_DESKTOP),
        Fault(
            "few descriptors from the start",
            at_once,
            _few_descriptors_from_the_start,
            ends=_ANY_DESKTOP,
            refused=True,
        ),
        Fault("no file grows any more", _small_files, ends=_ANY_DESKTOP, unlogged=True),
        Fault("the clock jumps", _jump, _settable_clock, _true_clock),
        Fault("the model says nothing", *_by_http(_silent)),
        Fault("the model is slow", *_by_http(_slow)),
        Fault("the model is cut off", *_by_http(_cut), ends=("model_error",)),
        Fault("the model's server fails", *_by_http(_failing), ends=("model_error",)),
        Fault("the model lies", *_by_http(_lying), ends=("model_error", "max_steps")),
        Fault("the result is huge", at_once, _huge_result),
        Fault("a second task on the conversation", _second_task),
        Fault("display numbers are taken", at_once, _take_displays, _free_displays),
    )
}
