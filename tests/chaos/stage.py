"""Where one trial happens: directories of its own, a caller that is watched from outside, and what it left behind."""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaos.flows import Flow
from process_tree import Process, descendants
from wire import Request, Wire

CALLER = Path(__file__).with_name("caller.py")


@dataclass
class Run:
    """One run of the caller: what it said, and the processes and displays that existed because of it."""

    process: subprocess.Popen[bytes]
    began: float
    events: list[dict[str, Any]] = field(default_factory=list)
    seen: set[Process] = field(default_factory=set)
    status: dict[str, Any] | None = None
    raised: str = ""
    ended: float | None = None
    told: float | None = None
    """When its first event came: the start of the caller itself, on a crowded machine, is over by then."""

    def look(self) -> None:
        """Note the processes below the caller."""
        self.seen |= descendants(self.process.pid)

    def living(self, part: str) -> list[Process]:
        """The processes that live, whose command contains ``part``, in the order of their numbers."""
        self.look()
        return sorted(process for process in self.seen if process.alive and part in process.command)


class Stage:
    """A temporary directory, a data directory and a home for the tasks of one trial."""

    def __init__(self, rng: random.Random, flow: Flow) -> None:
        self.rng = rng
        self.root = Path(tempfile.mkdtemp(prefix="dh-"))  # short: sockets lie in it
        self.temporary, self.data, self.home = (self._make(name) for name in ("t", "d", "h"))
        self.environ = {**os.environ, "TMPDIR": str(self.temporary), "DESKHAND_HOME": str(self.data)}
        self.environ |= {"HOME": str(self.home), "DESKHAND_CONFIG": str(self.home / "config.toml")}
        self.flow = flow
        self.model: str | None = None
        self.wire: Wire | None = None
        self.displays: set[int] = set()
        self.prefix: list[str] = []
        self.mounted: list[Path] = []
        self.runs: list[Run] = []

    def _make(self, name: str) -> Path:
        path = self.root / name
        path.mkdir(mode=0o700)
        return path

    def mount(self, path: Path, size: str, options: str = "") -> None:
        """Put a small file system of its own over a directory of the stage (root only)."""
        chosen = f"size={size},mode=0700" + (f",{options}" if options else "")
        subprocess.run(["mount", "-t", "tmpfs", "-o", chosen, "none", str(path)], check=True)
        self.mounted.append(path)

    def serve(self, model: str, script: Callable[[Request], dict[str, Any]]) -> None:
        """Have the stage's flow done by a model over HTTP, which answers from ``script``."""
        self.wire = Wire(script)
        self.wire.__enter__()
        self.model = model
        self.environ |= self.wire.environ

    def start(self, flow: Flow, *, timeout: float, model: str | None = None) -> Run:
        """Start a caller that runs ``flow``; ``model`` when it is not the script itself."""
        number = len(self.runs)
        script, order = self.root / f"turns-{number}.json", self.root / f"order-{number}.json"
        script.write_text(json.dumps(flow.turns))
        arguments = {"goal": flow.goal, "timeout": timeout, "model": model or f"scripted:{script}"}
        order.write_text(json.dumps({**arguments, **flow.arguments}))
        with open(self.root / f"said-{number}.txt", "wb") as said:
            process = subprocess.Popen(
                [*self.prefix, sys.executable, str(CALLER), str(order)],
                env=self.environ,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,
            )
        run = Run(process, time.monotonic())
        self.runs.append(run)
        return run

    def follow(self, run: Run, until: float, events: int | None = None) -> bool:
        """Read what the caller says until it has ended, told of so many events, or ``until`` (monotonic) has come.

        True when the caller has ended.
        """
        out = run.process.stdout
        assert out is not None
        while time.monotonic() < until and (events is None or len(run.events) < events):
            run.look()
            self._note_displays()
            if not select.select([out], [], [], 0.1)[0]:
                continue
            line = out.readline()
            if not line:
                run.process.wait()
                run.ended = time.monotonic()
                out.close()
                return True
            said = json.loads(line)
            if "event" in said:
                run.told = run.told or time.monotonic()
                run.events.append(said)
            run.status, run.raised = said.get("status", run.status), said.get("raised", run.raised)
        return False

    def _note_displays(self) -> None:
        for path in self.temporary.glob("deskhand-*/*/display"):
            try:
                self.displays.add(int(path.read_text()))
            except (OSError, ValueError):
                continue

    def said(self, run: Run) -> str:
        """What the caller wrote to its error output."""
        return (self.root / f"said-{self.runs.index(run)}.txt").read_text(errors="replace")

    def logs(self) -> list[Path]:
        """The logs of the stage's tasks, oldest first."""
        return sorted(self.data.glob("tasks/*/audit.jsonl"), key=lambda path: path.stat().st_mtime)

    def left(self) -> list[str]:
        """Files that no desktop should leave: displays' locks and sockets, and all in the temporary directory."""
        shared = self.temporary / f"deskhand-{os.geteuid()}"
        found = [
            str(path)
            for path in self.temporary.rglob("*")
            if path not in (shared, shared / ".lock") and "ballast" not in path.name
        ]
        names = [f"/tmp/.X{n}-lock" for n in self.displays] + [f"/tmp/.X11-unix/X{n}" for n in self.displays]
        return [*found, *(name for name in names if os.path.lexists(name))]

    def close(self) -> None:
        """End and remove whatever there still is."""
        for run in self.runs:
            if run.process.poll() is None:
                run.look()
                os.killpg(run.process.pid, signal.SIGKILL)
                run.process.wait()
            for process in run.seen:
                if process.alive:
                    os.kill(process.pid, signal.SIGKILL)
            if run.process.stdout is not None:
                run.process.stdout.close()
        if self.wire is not None:
            self.wire.__exit__(None, None, None)
        for path in self.mounted:
            subprocess.run(["umount", "-l", str(path)], check=False)
        shutil.rmtree(self.root, ignore_errors=True)
