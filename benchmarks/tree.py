"""How fast a live app's whole native tree is read. Beside xa11y 0.15.4, cua-driver 0.37.0 and a plain walk.

``python benchmarks/tree.py [--check] [--runs N] [--no-calc]`` prints a table, then one JSON line. All read the same
running apps, taking turns: *deskhand* its `NativeTree.read` (role, name, value, states, rectangle, actions), *xa11y*
its ``tree()`` (role, name, value), *cua-driver* its ``get_window_state`` (of which only the time counts that it reports
for the tree, without the picture), and *one by one* a walk over the bus with the same fields that waits for each
answer before it asks the next. Medians, in milliseconds. *nodes*: how many elements each returned; *same*: the
share of xa11y's elements (by name) that ours has read, too; what toolkits make two of it then joins. Of
LibreOffice Calc, whose sheet has 17 billion cells, all are given 20 seconds; *cells* says how many of the cells that
hold the test's words came. It needs LibreOffice with its GTK 3 interface (``scripts/setup --bench``).

The rivals are installed into ``.venv-rivals/{xa11y,cua}`` when they are not there. ``--check`` exits 1 unless ours, on
mousepad and gnome-calculator, has at least 98 % of xa11y's elements, and is at least 10 times faster than xa11y, 5
times than one by one, and faster than cua-driver; and unless ours has the visible cells of Calc, and nobody as many in
less time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from acting import Driver, rival_program  # noqa: E402
from rivals.a11y_bus import session_bus  # noqa: E402
from rivals.plain_walk import PlainWalk  # noqa: E402

from deskhand.desktop.windows import XWindows  # noqa: E402
from deskhand.errors import TargetError  # noqa: E402
from deskhand.messages import Json, WindowInfo  # noqa: E402
from deskhand.observers.atspi import Bus  # noqa: E402
from deskhand.observers.harvest import harvest  # noqa: E402
from deskhand.observers.native import NativeTree  # noqa: E402
from deskhand.observers.node import clean_name, walk  # noqa: E402
from deskhand.terms import Private  # noqa: E402
from deskhand.tools.desk import Desk, open_desktop  # noqa: E402

XA11Y = "xa11y==0.15.4"
FASTER = {"xa11y": 10.0, "one by one": 5.0, "cua-driver": 1.0}
SAME = 0.98
LIBREOFFICE = Path("/usr/lib/libreoffice/program")
APPS = {"mousepad": ["mousepad"], "gnome-calculator": ["gnome-calculator"]}
WORD = "cell"
SHEETFUL = 400
"""Cells that can be seen at least: a window of 1280 × 781 pixels shows 33 rows of 16 columns."""

GIVEN_UP = 20.0
"""Seconds after which a reading of the spreadsheet counts as not coming."""


Said = tuple[str, str]
"""The name and the value of an element; empty for what it has not."""


@dataclass
class Runs:
    """What came of one contestant's readings of one app."""

    seconds: list[float] = field(default_factory=list)
    nodes: list[Said] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    note: str = ""

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None


Reads = Callable[[WindowInfo], Awaitable[tuple[float, list[Said]]]]
"""One reading of a window's app: seconds, and its elements."""


class Xa11y:
    """xa11y in the virtual environment where it is installed."""

    def __init__(self, env: dict[str, str]) -> None:
        home = ROOT / ".venv-rivals" / "xa11y"
        python = home / "bin" / "python"
        if not list(home.glob("lib/*/site-packages/xa11y")):
            subprocess.run([sys.executable, "-m", "venv", home], check=True)
            subprocess.run([home / "bin" / "pip", "install", "-q", XA11Y], check=True)
        self._program = subprocess.Popen(
            [python, ROOT / "benchmarks" / "rivals" / "xa11y_tree.py"],
            env=env, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def read(self, pid: int) -> tuple[float, list[Said]]:
        """Its own seconds, measured in its process."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(f"{pid}\n")
        answer = json.loads(self._program.stdout.readline() or "{}")
        if not answer:
            raise SystemExit("xa11y ended")
        return answer["seconds"], [(name or "", value or "") for name, value in answer["nodes"]]

    def close(self) -> None:
        """End it, also in the middle of a reading."""
        self._program.kill()
        self._program.communicate()


class Cua:
    """cua-driver's window state: the tree of the one window, and a picture."""

    def __init__(self, env: dict[str, str]) -> None:
        self._driver = Driver(rival_program(), env)

    def read(self, window: WindowInfo) -> tuple[float, list[Said]]:
        """The seconds that it reports for walking the tree alone, without the picture."""
        asked = {"pid": window.pid, "window_id": window.id, "full_output": True}
        found = self._driver.call("get_window_state", asked)
        state = found["structuredContent"]
        if state.get("degraded"):
            raise SystemExit(f"cua-driver: {state.get('degraded_reason')}")
        text = next(part["text"] for part in found["content"] if part["type"] == "text")
        walked = re.search(r"walk_ms=(\d+)", text)
        assert walked is not None, text[:200]
        nodes = [(str(each.get("label") or ""), str(each.get("value") or "")) for each in state["elements"]]
        return int(walked[1]) / 1000, nodes

    def close(self) -> None:
        """End it."""
        self._driver.close()


async def contestants(
    desk: Desk, native: NativeTree, env: dict[str, str], undo: AsyncExitStack
) -> dict[str, Reads]:
    """All four, each as it reads the app of a window."""
    windows = desk.desktop.windows
    assert isinstance(windows, XWindows)
    # Not in this thread: they ask their session bus, which answers from here.
    xa11y, cua = await asyncio.to_thread(Xa11y, env), await asyncio.to_thread(Cua, env)
    undo.callback(xa11y.close)
    undo.callback(cua.close)
    walker = await PlainWalk.connect(env["AT_SPI_BUS_ADDRESS"])
    undo.callback(walker.close)

    async def ours(window: WindowInfo) -> tuple[float, list[Said]]:
        began = time.perf_counter()
        assert window.pid is not None
        roots = await native.read(window.pid, windows.list(), windows.popups())
        return time.perf_counter() - began, [(node.name, node.value or "") for node in walk(roots)]

    async def one_by_one(window: WindowInfo) -> tuple[float, list[Said]]:
        bus = next(app.bus for app in await native.apps() if app.pid == window.pid)
        began = time.perf_counter()
        found = await walker.read(bus)
        return time.perf_counter() - began, [(each["name"], each["text"]) for each in found]

    async def xa11ys(window: WindowInfo) -> tuple[float, list[Said]]:
        assert window.pid is not None
        return await asyncio.to_thread(xa11y.read, window.pid)

    async def cuas(window: WindowInfo) -> tuple[float, list[Said]]:
        return await asyncio.to_thread(cua.read, window)

    return {"deskhand": ours, "xa11y": xa11ys, "one by one": one_by_one, "cua-driver": cuas}


async def measured(runs: int, calc: bool) -> dict[str, dict[str, Runs]]:
    """Every contestant's runs, by app."""
    async with AsyncExitStack() as undo:
        directory = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="dh-")))
        desk = await undo.enter_async_context(
            open_desktop(Private(isolation="display"))
        )  # cua wants pids as they are
        address = desk.desktop.a11y_address
        assert address is not None
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(directory),
            **desk.desktop.client_env,
            "AT_SPI_BUS_ADDRESS": address,
            "DBUS_SESSION_BUS_ADDRESS": await undo.enter_async_context(session_bus(address)),
        }
        native = NativeTree(address)
        await native.connect()
        undo.push_async_callback(native.aclose)
        reads = await contestants(desk, native, env, undo)
        found: dict[str, dict[str, Runs]] = {}
        for app, argv in APPS.items():
            window = await launched(desk, argv)
            found[app] = await taken_in_turn(reads, window, runs)
            found[app]["deskhand"].names = await names_read(native, address, window)
        if calc and shutil.which("soffice") and list(LIBREOFFICE.glob("libvclplug_gtk3lo.so")):
            found["calc"] = await one_after_the_other(reads, await spreadsheet(desk), min(runs, 3))
        return found


async def launched(desk: Desk, argv: list[str]) -> WindowInfo:
    """The window of an app that has just been started, when it has drawn what it will draw."""
    await desk.launch(argv)
    await desk.look_again()
    (window,) = [each for each in await desk.windows() if each.active]
    return window


async def spreadsheet(desk: Desk) -> WindowInfo:
    """LibreOffice Calc with a sheet that fills its window."""
    sheet = Path(desk.desktop.home, "sheet.csv")  # type: ignore[attr-defined]
    sheet.write_text(
        "\n".join(",".join(f"{WORD}{row}x{column}" for column in range(30)) for row in range(200))
    )
    await desk.launch(["soffice", "--calc", "--norestore", "--nologo", "--nodefault", str(sheet)], timeout=90)
    loaded = "window[name*='LibreOffice Calc']"
    steps: list[Json] = [{"kind": "click", "target": "button[name='OK']", "timeout": 30}]
    await desk.act([*steps, {"kind": "wait", "for": loaded, "timeout": 60}])
    return next(each for each in await desk.windows() if "LibreOffice Calc" in each.title)


async def taken_in_turn(reads: dict[str, Reads], window: WindowInfo, runs: int) -> dict[str, Runs]:
    """Each reads, one after the other, again and again."""
    found = {name: Runs() for name in reads}
    for _ in range(runs):
        for name, read in reads.items():
            seconds, found[name].nodes = await read(window)
            found[name].seconds.append(seconds)
    return found


async def one_after_the_other(reads: dict[str, Reads], window: WindowInfo, runs: int) -> dict[str, Runs]:
    """Each reads as often as it can, the slowest last: one that asks for all cells leaves the app busy for good."""
    found = {name: Runs() for name in reads}
    for name in sorted(reads, key=["deskhand", "cua-driver", "one by one", "xa11y"].index):
        for _ in range(runs):
            try:
                async with asyncio.timeout(GIVEN_UP):
                    seconds, found[name].nodes = await reads[name](window)
            except TimeoutError:
                found[name].note = f"nothing in {GIVEN_UP:g} s"
                break
            except (SystemExit, TargetError) as error:
                found[name].note = str(error)[:80]
                break
            found[name].seconds.append(seconds)
    return found


async def names_read(native: NativeTree, address: str, window: WindowInfo) -> list[str]:
    """The names of all elements that our reading goes through, before it joins and leaves out."""
    bus = Bus(address)
    await bus.connect()
    try:
        app = next(app for app in await native.apps() if app.pid == window.pid)
        return [raw.name for raw in (await harvest(bus, app)).raws.values()]
    finally:
        await bus.aclose()


def shared(ours: list[str], theirs: Runs) -> float:
    """The share of their elements that ours has, by name. The app itself, which theirs counts, is none."""
    want = Counter(clean_name(name) for name, _ in theirs.nodes[1:])
    have = Counter(ours)
    total = sum(want.values())
    return sum((+want & have).values()) / total if total else 0.0


def cells_of(runs: Runs) -> int:
    """How many of the elements that it read hold a cell's text."""
    return sum(any(WORD in text for text in said) for said in runs.nodes)


def cells_first(contest: dict[str, Runs]) -> bool:
    """Whether ours has read a windowful of cells, and no other as many in less time."""
    ours = contest["deskhand"]
    if ours.median is None or cells_of(ours) < SHEETFUL:
        return False
    others = [runs for name, runs in contest.items() if name != "deskhand" and runs.median is not None]
    return not any(
        cells_of(other) >= cells_of(ours) and (other.median or 0.0) < ours.median for other in others
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--no-calc", action="store_true", help="leave LibreOffice Calc out")
    arguments = parser.parse_args()
    found = asyncio.run(measured(arguments.runs, not arguments.no_calc))
    missed = False
    said: dict[str, Any] = {"benchmark": "tree", "runs": arguments.runs}
    print(f"{'':34}{'median':>9}{'min':>9}{'max':>9}{'nodes':>8}{'cells':>7}{'same':>8}{'times ours':>12}")
    for app, contest in found.items():
        ours = contest["deskhand"]
        said[app] = {}
        for name, runs in contest.items():
            line = f"{app:18}{name:16}"
            if runs.median is None:
                print(f"{line}  {runs.note}")
                said[app][name] = {"note": runs.note}
                continue
            times = runs.median / (ours.median or runs.median)
            cells = cells_of(runs)
            same = shared(ours.names, runs) if name == "xa11y" and app in APPS else None
            print(
                f"{line}{runs.median * 1000:9.1f}{min(runs.seconds) * 1000:9.1f}{max(runs.seconds) * 1000:9.1f}"
                f"{len(runs.nodes):8}{cells:7}{'' if same is None else f'{same:.1%}':>8}{times:12.1f}"
                f"{f'  then {runs.note}' if runs.note else ''}"
            )
            said[app][name] = {
                "ms": round(runs.median * 1000, 1),
                "nodes": len(runs.nodes),
                "cells": cells,
                "same": same,
            }
            if app in APPS and name != "deskhand":
                missed = missed or times < FASTER[name] or (same is not None and same < SAME)
    if "calc" in found:
        missed = missed or not cells_first(found["calc"])
    elif not arguments.no_calc:
        print("LibreOffice Calc was left out: run scripts/setup --bench")
        missed = True
    print(json.dumps(said))
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
