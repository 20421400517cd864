"""How fast text is typed, and what a click costs. Beside xdotool and cua-driver 0.37.0, on one display.

``python benchmarks/acting.py [--check] [--runs N]`` prints a table, then one JSON line. All three type the same 500
random ASCII characters into the same GTK 3 field, each at its own defaults, taking turns. *seconds*: from the call
until it has returned and the field holds what it will hold; ours includes reading the text back. *exact*: runs in which
the field held exactly the text. *click*: milliseconds that a click on a still screen takes beyond the time in which a
reaction is waited for. cua-driver is installed into ``.venv-rivals/cua`` when it is not there.

``--check`` exits 1 unless ours is exact in all runs and at least twice as fast as each of the others (medians), and the
median of *click* is at most 10 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from deskhand.config import load_settings  # noqa: E402
from deskhand.messages import Json  # noqa: E402
from deskhand.tools.desk import Desk, open_desktop  # noqa: E402
from desktop_world import managed_display  # noqa: E402

RIVAL = "cua-driver==0.37.0"
CHARACTERS = 500
CLICK_BOUND = 10.0
FASTER = 2.0
REST = 0.5
"""Seconds without a change after which the field holds what it will hold."""
GIVEN_UP = 60.0

Types = Callable[[str], Coroutine[Any, Any, None]]


@dataclass
class Runs:
    """What came of one tool's runs."""

    seconds: list[float] = field(default_factory=list)
    exact: int = 0


def rival_program() -> Path:
    """The cua-driver command, installed into a virtual environment of its own."""
    home = ROOT / ".venv-rivals" / "cua"
    program = home / "bin" / "cua-driver"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([home / "bin" / "pip", "install", "-q", RIVAL], check=True)
    return program


class Driver:
    """cua-driver as an MCP server on a pipe, as its hosts run it."""

    def __init__(self, program: Path, env: dict[str, str]) -> None:
        subprocess.run(
            [program, "telemetry", "disable"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._server = subprocess.Popen(
            [program, "mcp"], env=env, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._number = 0
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "b", "version": "1"},
        }
        self.ask("initialize", hello)
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: Json) -> Any:
        """One request and its answer."""
        self._number += 1
        self._say({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._server.stdout is not None
        for line in self._server.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise SystemExit(f"cua-driver: {answer['error']}")
                return answer["result"]
        raise SystemExit("cua-driver ended")

    def call(self, tool: str, arguments: Json) -> Any:
        """One tool call; an error of the tool's ends the benchmark."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise SystemExit(f"cua-driver {tool}: {result['content']}")
        return result

    def close(self) -> None:
        """End the server."""
        self._server.kill()
        self._server.communicate()

    def _say(self, message: Json) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(message) + "\n")


@contextmanager
def rival(directory: Path, display: str, authority: str) -> Iterator[Driver]:
    """cua-driver on this display, in a home of its own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "DISPLAY": display, "XAUTHORITY": authority}
    driver = Driver(rival_program(), env)
    try:
        yield driver
    finally:
        driver.close()


async def one_run(desk: Desk, directory: Path, types: Types, text: str) -> tuple[float, bool]:
    """Type into a new field; the seconds, and whether it held the text then."""
    note = directory / "field.txt"
    note.unlink(missing_ok=True)
    await desk.launch(["/usr/bin/python3", str(ROOT / "benchmarks" / "rivals" / "field.py"), str(note)])
    await desk.wait_for("textbox")
    began = time.monotonic()
    await types(text)
    returned = time.monotonic()
    changed, held = _last(note)
    while (
        held != text
        and time.monotonic() < max(changed, returned) + REST
        and time.monotonic() < began + GIVEN_UP
    ):
        await asyncio.sleep(0.02)
        changed, held = _last(note)
    await desk.act([{"kind": "window", "do": "close", "title": "Field"}])
    return max(returned, changed) - began, held == text


def _last(note: Path) -> tuple[float, str]:
    lines = note.read_text("utf-8").splitlines() if note.exists() else []
    if not lines:
        return 0.0, ""
    when, _, text = lines[-1].partition("\t")
    return float(when), str(json.loads(text))


async def typing(runs: int) -> dict[str, Runs]:
    """All three in turn, on one display."""
    found = {name: Runs() for name in ("deskhand", "xdotool", "cua-driver")}
    chance = random.Random(500)
    with tempfile.TemporaryDirectory(prefix="dh-") as path:
        directory = Path(path)
        with (
            managed_display(directory) as (display, authority),
            rival(directory, display, authority) as driver,
        ):
            os.environ["XAUTHORITY"] = authority
            env = {"PATH": os.environ["PATH"], "DISPLAY": display, "XAUTHORITY": authority}
            async with open_desktop(f"display:{display}") as desk:

                async def ours(text: str) -> None:
                    report = await desk.act([{"kind": "type", "text": text}])
                    assert report.steps[0].effect == "done", report.steps[0]

                async def xdotool(text: str) -> None:
                    await asyncio.to_thread(
                        subprocess.run, ["xdotool", "type", "--", text], env=env, check=True
                    )

                async def cua(text: str) -> None:
                    await asyncio.to_thread(driver.call, "type_text", {"text": text, "scope": "desktop"})

                for _ in range(runs):
                    text = "".join(chr(chance.randrange(0x20, 0x7F)) for _ in range(CHARACTERS))
                    for name, types in (("deskhand", ours), ("xdotool", xdotool), ("cua-driver", cua)):
                        seconds, exact = await one_run(desk, directory, types, text)
                        found[name].seconds.append(seconds)
                        found[name].exact += exact
    return found


async def clicks(count: int) -> list[float]:
    """Milliseconds of clicks on a still screen beyond the time in which a reaction is waited for."""
    found = []
    react = load_settings().settle.react
    async with open_desktop() as desk:
        await desk.launch(["zenity", "--info", "--text=still"])
        await desk.screenshot()
        for number in range(count):
            # Never twice at one place: that would have to wait until it is no double click.
            where = {"x": 40 + 60 * (number % 4), "y": 700}
            began = time.perf_counter()
            report = await desk.act([{"kind": "click", "target": where}])
            seconds = time.perf_counter() - began
            assert report.steps[0].effect == "no_change", report.steps[0]
            found.append((seconds - react) * 1000)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    found = asyncio.run(typing(arguments.runs))
    extra = asyncio.run(clicks(4 * arguments.runs + 1))
    print(f"{'500 characters':16}{'min':>8}{'median':>8}{'max':>8}{'exact':>8}")
    for name, runs in found.items():
        low, middle, high = min(runs.seconds), statistics.median(runs.seconds), max(runs.seconds)
        print(f"{name:16}{low:8.3f}{middle:8.3f}{high:8.3f}{runs.exact:>5}/{arguments.runs}")
    click = statistics.median(extra)
    print(f"{'click, ms':16}{min(extra):8.1f}{click:8.1f}{max(extra):8.1f}")
    medians = {name: round(statistics.median(runs.seconds), 3) for name, runs in found.items()}
    exact = {name: runs.exact for name, runs in found.items()}
    said = {
        "benchmark": "acting",
        "runs": arguments.runs,
        "seconds": medians,
        "exact": exact,
        "click_ms": round(click, 1),
    }
    print(json.dumps(said))
    slow = any(medians[name] < FASTER * medians["deskhand"] for name in ("xdotool", "cua-driver"))
    missed = slow or exact["deskhand"] < arguments.runs or click > CLICK_BOUND
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
