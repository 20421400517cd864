"""``computer record``: a display or a running task as MP4, in the foreground or behind the prompt."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from deskhand.cli_base import AsJson, app, directory_of, examples, fail, open_store

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from deskhand.desktop.base import Desktop, Recorder
    from deskhand.desktop.recordings import RecordingRow, Recordings

HOUR = 3600.0
"""Seconds after which a recording in the background ends by itself, when nothing else is said."""

_ACTIONS = ("start", "stop", "status", "list")
_START_DEADLINE = 20.0


@app.command(
    epilog=examples(
        "computer record -o demo.mp4                       this display, until Ctrl-C",
        "computer record --computer display::99 --seconds 10",
        "computer record --computer calm-otter             a running task, until it ends",
        "computer record start -o demo.mp4                 in the background; computer record stop ends it",
        "computer record list                              what is being and was recorded",
    )
)
def record(
    action: Annotated[
        str | None, typer.Argument(metavar="[start|stop|status|list]", help="Left out: record now.")
    ] = None,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which recording to stop or to tell of.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "recording.mp4"
    ),
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, help="How long; default: until Ctrl-C, in the background an hour at most."),
    ] = None,
    fps: Annotated[int, typer.Option(min=1, max=60, help="Pictures a second.")] = 10,
    computer: Annotated[
        str | None,
        typer.Option(help="display::N or a running task; default: the display of this session."),
    ] = None,
    announce: Annotated[int | None, typer.Option(hidden=True)] = None,
    as_json: AsJson = False,
) -> None:
    """Record a display as MP4. What was written is playable even if the recorder is killed."""
    if action is not None and action not in _ACTIONS:
        fail(f"what to do is one of {', '.join(_ACTIONS)}, not {action!r}")
    if action in ("stop", "status", "list"):
        _tell(action, name, as_json=as_json)
    if name is not None:
        fail("a NAME goes with stop and status")
    if computer is None:
        if not (display := os.environ.get("DISPLAY")):
            fail("there is no display here (DISPLAY is not set): name one with --computer display::N")
        computer = f"display:{display}"
    if not output.absolute().parent.is_dir():
        fail(f"the directory {output.absolute().parent} does not exist")
    if action == "start":
        _start(computer, output, seconds or HOUR, fps, as_json=as_json)
    import asyncio

    try:
        asyncio.run(_record(computer, output.absolute(), seconds, fps, announce))
    except ValueError as error:
        fail(str(error))
    if announce is None:
        print(output)


# --- recording -------------------------------------------------------------------------------------------------------


async def _record(computer: str, output: Path, seconds: float | None, fps: int, announce: int | None) -> None:
    import asyncio
    import signal

    from deskhand.config import load_settings
    from deskhand.desktop import open_desktop_backend
    from deskhand.errors import DesktopError

    display, environ = _display_of(computer)
    done, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, done.set)
    desktop = await open_desktop_backend(display, settings=load_settings(), environ=environ)
    try:
        with _registry().running(computer, output) as known:
            recorder = desktop.record(str(output), fps=fps)
            _say_begun(computer, output, known, seconds, announce)
            try:
                await _until(done, recorder, seconds)
            finally:
                try:
                    recorder.stop()
                except DesktopError:
                    # A display that ends, ends its recording: that is no fault.
                    if not (await _is_gone(desktop) and output.is_file()):
                        raise
    finally:
        desktop.close()


async def _until(done: asyncio.Event, recorder: Recorder, seconds: float | None) -> None:
    """Until somebody ends it, the time is over, or nothing is recorded any more."""
    import asyncio

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while recorder.running and not done.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.2):
                        await done.wait()


async def _is_gone(desktop: Desktop) -> bool:
    """Whether the display is there no more, which may be known a moment after its pictures have ceased."""
    import asyncio

    for _ in range(10):
        if not await asyncio.to_thread(desktop.alive):
            return True
        await asyncio.sleep(0.1)
    return False


def _display_of(computer: str) -> tuple[str, Mapping[str, str]]:
    """The display that is meant, as ``display::N``, and the environment in which it opens."""
    from deskhand.orchestrator.control import NotRunning, send

    if computer.startswith("display:"):
        return computer, dict(os.environ)
    if computer in ("private", "real"):
        raise ValueError(f"a display (display::N) or a running task can be recorded, not {computer!r}")
    directory = directory_of(computer)
    try:
        shown = send(directory, {"command": "status"}).get("display")
    except NotRunning as error:
        raise ValueError(str(error)) from None
    if not isinstance(shown, dict) or not shown.get("DISPLAY"):
        raise ValueError(f"{directory.name} has no display yet, or none on this machine")
    return f"display:{shown['DISPLAY']}", {**os.environ, **shown}


def _say_begun(computer: str, output: Path, name: str, seconds: float | None, announce: int | None) -> None:
    if announce is None:
        print(f"recording {computer} to {output}", "" if seconds else "(Ctrl-C ends it)", file=sys.stderr)
        return
    with os.fdopen(announce, "w") as pipe:
        pipe.write(name)


def _start(computer: str, output: Path, seconds: float, fps: int, *, as_json: bool) -> NoReturn:
    """Start a recorder of its own and wait until it says its name."""
    import select
    import subprocess
    import tempfile

    reader, writer = os.pipe()
    words = [sys.executable, "-m", "deskhand.cli", "record", "--announce", str(writer), "--fps", str(fps)]
    words += ["-o", str(output.absolute()), "--seconds", str(seconds), "--computer", computer]
    with tempfile.TemporaryFile() as said:
        recorder = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            pass_fds=[writer],
            start_new_session=True,
        )
        os.close(writer)
        waiting = select.poll()
        waiting.register(reader, select.POLLIN)
        told = waiting.poll(_START_DEADLINE * 1000)
        name = os.read(reader, 200).decode() if told else ""
        os.close(reader)
        if not name:
            recorder.kill()
            recorder.wait()
            said.seek(0)
            fail(said.read().decode(errors="replace").strip().removeprefix("computer: ") or "no answer", 1)
    if as_json:
        _print_row(_registry().find(name), as_json=True)
    else:
        print(name)
    raise typer.Exit(0)


# --- what is and was recorded ----------------------------------------------------------------------------------------


def _tell(action: str, name: str | None, *, as_json: bool) -> NoReturn:
    from dataclasses import asdict

    registry = _registry()
    if action == "list":
        rows = sorted([*registry.list(), *_of_tasks()], key=lambda row: row.started, reverse=True)
        if as_json:
            print(json.dumps([asdict(row) for row in rows]))
        for row in () if as_json else rows:
            _print_row(row, as_json=False)
    else:
        _print_row(registry.stop(name) if action == "stop" else registry.find(name), as_json=as_json)
    raise typer.Exit(0)


def _of_tasks() -> list[RecordingRow]:
    """The recordings that tasks made of themselves (``--record``)."""
    from deskhand.audit.films import films_of
    from deskhand.audit.log import FILE_NAME
    from deskhand.audit.words import number
    from deskhand.desktop.recordings import RecordingRow

    store, rows = open_store(), []
    for name in store.names():
        if not any(store.path(name).glob("recording*.mp4")):
            continue
        task = store.row(name)
        for film in films_of(store.path(name) / FILE_NAME):
            ended = number(film.events[-1].get("t"))
            rows.append(
                RecordingRow(
                    name=name,
                    state=task.state if film.events[-1].get("kind") != "task_finished" else "finished",
                    computer=task.computer,
                    file=str(film.path),
                    started=str(film.events[0].get("ts")),
                    seconds=None if ended is None else round(ended - film.began, 1),
                    bytes=film.path.stat().st_size,
                )
            )
    return rows


def _print_row(row: RecordingRow, *, as_json: bool) -> None:
    from dataclasses import asdict

    from deskhand.audit.table import safe

    if as_json:
        print(json.dumps(asdict(row)))
        return
    size = "gone" if row.bytes is None else f"{row.bytes / 1e6:.1f} MB"
    seconds = "" if row.seconds is None else f"{row.seconds:.1f} s"
    print(f"{row.name:32}  {row.state:8}  {seconds:>9}  {size:>9}  {safe(row.computer)}  {safe(row.file)}")


def _registry() -> Recordings:
    from deskhand.desktop.recordings import Recordings
    from deskhand.places import find_home

    try:
        return Recordings(find_home())
    except ValueError as error:  # the settings are wrong
        fail(str(error))
