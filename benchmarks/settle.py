"""When is the app done? The settle engine against settled-computer 0.1.0a2, on windows that paint by plan.

``python benchmarks/settle.py [--check] [--runs N] [--only WORDS]`` prints a table, then one JSON line. Each engine has
a private desktop of 1920×1080 of its own with the same program on it; they take turns, act by act, at default settings
and the same quiet time (0.2 s). The other engine is installed into ``.venv-rivals/settled`` when it is not there.

*right*: right verdicts of all runs (`rivals.scenarios` says what is right). *lag*: milliseconds from the last paint to
the verdict, less the quiet time. *cpu*: processor milliseconds of an act, of the timed scenarios in which both are
right (a verdict given too early is cheap), and of all timed ones. ``--check`` exits 1 unless ours is right in all runs,
the median lag is at most 5 ms, its 95th percentile and the first processor time at most a third of the other's, and a
click without effect never takes longer than half a second, nor one beside endless motion than 1.5 s.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from rivals.scenarios import (  # noqa: E402  # noqa: E402
    NOTHING,
    SCENARIOS,
    WAITED,
    Outcome,
    Said,
    Scenario,
    beside_motion,
    bounded,
    without_effect,
)

from deskhand.config import SettleSettings, load_settings  # noqa: E402
from deskhand.desktop.composed import X11Desktop  # noqa: E402
from deskhand.desktop.x11 import XConnection, read_cookie  # noqa: E402
from deskhand.messages import Point, Settled  # noqa: E402
from deskhand.observers.page import Browser  # noqa: E402
from deskhand.terms import Private  # noqa: E402
from deskhand.tools.desk import open_desktop  # noqa: E402
from deskhand.tools.settle import Settler  # noqa: E402
from painter import Painter  # noqa: E402

RIVAL = "settled-computer==0.1.0a2"
RIVAL_NEEDS = ("mss", "pyautogui", "pillow", "numpy")
WIDE, NARROW = (1920, 1080), (1366, 768)
AWAY = Point(5, 5)
QUIET = SettleSettings().quiet
Results = dict[Scenario, dict[str, list[Outcome]]]
"""By scenario and engine."""
WORDS: dict[str, Said] = {
    "settled": "settled", "settled_except": "except", "no_change": "none", "still_changing": "capped",
    "residual": "except", "no_reaction": "none", "timeout": "capped",
}  # fmt: skip


class Ours:
    """This engine, as every desk has it."""

    def __init__(self, desktop: X11Desktop, settler: Settler) -> None:
        self._desktop, self._settler = desktop, settler

    def act(self, kind: str, point: Point) -> Outcome:
        cpu, began = time.process_time(), time.monotonic()
        baseline = self._settler.before({"hover": "move"}.get(kind, kind))
        if kind == "hover":
            self._desktop.input.move(point)
        elif kind == "drag":
            self._desktop.input.drag([point, Point(0, 0), point])
        else:
            self._desktop.input.click(point)
        return self._outcome(self._settler.after(baseline), began, cpu)

    def wait(self, seconds: float) -> Outcome:
        cpu, began = time.process_time(), time.monotonic()
        return self._outcome(self._settler.wait_change(seconds), began, cpu)

    @contextmanager
    def launching(self) -> Iterator[None]:
        """Around what puts a program on the screen: in a task that is an act, too."""
        baseline = self._settler.before("launch")
        yield
        self._settler.after(baseline)

    def reset(self) -> None:
        """Forget what was learned of waiting: nothing to do, it may be remembered."""

    def close(self) -> None:
        pass

    @staticmethod
    def _outcome(settled: Settled, began: float, cpu: float) -> Outcome:
        return Outcome(
            said=WORDS[settled.verdict],
            began=began,
            ended=time.monotonic(),
            cpu=time.process_time() - cpu,
            told_late=bool(settled.note),
        )


class Theirs:
    """The other engine, in a process of its own."""

    def __init__(self, desktop: X11Desktop, python: Path) -> None:
        self._process = subprocess.Popen(
            [python, ROOT / "benchmarks/rivals/settled.py"],
            env={**os.environ, **desktop.client_env, "XAUTHORITY": local_xauthority(desktop)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._read()

    def act(self, kind: str, point: Point) -> Outcome:
        return self._ask(kind=kind, x=point.x, y=point.y)

    def wait(self, seconds: float) -> Outcome:
        return self._ask(kind="wait", seconds=seconds)

    @contextmanager
    def launching(self) -> Iterator[None]:
        yield

    def reset(self) -> None:
        self._ask(kind="reset")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _ask(self, **order: Any) -> Outcome:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        said = WORDS.get(answer.get("reason", ""), "capped")
        return Outcome(said=said, began=answer["began"], ended=answer["ended"], cpu=answer["cpu"])

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the other engine's driver has died")
        found: dict[str, Any] = json.loads(line)
        return found


def local_xauthority(desktop: X11Desktop) -> str:
    """The display's cookie as the other side's X library looks for it: under this host's name. A file's path."""
    path = Path(desktop.home) / "local.xauthority"
    cookie = read_cookie(desktop.display, desktop.client_env["XAUTHORITY"])
    assert cookie is not None
    fields = (socket.gethostname().encode(), desktop.display.removeprefix(":").encode(), *cookie)
    family_local = 256
    entry = struct.pack(">H", family_local) + b"".join(struct.pack(">H", len(f)) + f for f in fields)
    path.touch(0o600)
    path.write_bytes(entry)
    return str(path)


@dataclass
class Side:
    """An engine with its desktop, and what is on it now."""

    name: str
    engine: Ours | Theirs
    desktop: X11Desktop
    browser: Browser
    painter: Painter | None = None
    spot: Point = AWAY

    async def set_up(self, scenario: Scenario, address: str) -> None:
        """Put on the screen what the scenario acts on, as an act of its own."""
        with self.engine.launching():
            await self._show(scenario, address)

    async def _show(self, scenario: Scenario, address: str) -> None:
        self.desktop.input.move(AWAY)
        if scenario.page:
            if not self.browser.running:
                await self.browser.start(self.desktop.browser_command())
            await self.browser.open(f"{address}/{scenario.page}")
        else:
            self.painter = await asyncio.to_thread(
                Painter.start,
                self.desktop.client_env,
                scenario.click,
                scenario.background,
                scenario.hover,
                full=scenario.full,
            )
        app = "chrom" if scenario.page else "painter"
        windows = self.desktop.windows
        found = await asyncio.to_thread(windows.wait_for, lambda info: app in info.app.lower(), 10)  # type: ignore[attr-defined]
        assert found is not None, f"no window of {app}"
        windows.activate(found.id)
        active = windows.active()
        assert active is not None
        rect = active.rect
        # A little way in from the lower left corner: nothing is painted there.
        self.spot = Point(rect.x + 30, rect.bottom - 60)
        if scenario.act != "hover":
            self.desktop.input.move(self.spot)
        if scenario.page:
            await asyncio.sleep(0.5)

    async def take_down(self) -> None:
        """End the painter, as an act of its own."""
        if self.painter is not None:
            with self.engine.launching():
                await asyncio.to_thread(self.painter.stop)
            self.painter = None

    async def run(self, scenario: Scenario) -> Outcome:
        """One run: an act, what follows, and when the app painted."""
        if scenario.before:
            await asyncio.to_thread(self.engine.reset)
        for _ in range(scenario.before):
            await self._act(scenario)
            await self._rest(scenario)
        outcome = await self._act(scenario)
        if scenario.then == "wait":
            outcome.then = await asyncio.to_thread(self.engine.wait, WAITED)
        await self._rest(scenario)
        if scenario.then == "wait after":
            outcome.then = await asyncio.to_thread(self.engine.wait, 2.0)
        if scenario.then == "act after":
            outcome.then = await self._act(scenario)
            await self._rest(scenario)
        outcome.paints = [t for t in await self._paints(scenario) if t >= outcome.began]
        if scenario.then == "act after" and outcome.then is not None:
            outcome.paints = [t for t in outcome.paints if t < outcome.then.began]
        if scenario.act == "drag":
            outcome.button_down = self._button_down()
            self.desktop.input.button("left", False)
        return outcome

    async def _rest(self, scenario: Scenario) -> None:
        """Until what the act has begun has ended: what the app does later belongs to this act, too."""
        if self.painter is not None:
            await asyncio.to_thread(self.painter.finish, 6.0)
        await asyncio.sleep(scenario.rest)

    async def _act(self, scenario: Scenario) -> Outcome:
        if scenario.act == "hover":
            self.desktop.input.move(AWAY)
            await asyncio.sleep(0.4)
        elif scenario.act == "drag":  # an earlier one may have ended in the corner
            self.desktop.input.move(self.spot)
        return await asyncio.to_thread(self.engine.act, scenario.act, self.spot)

    async def _paints(self, scenario: Scenario) -> list[float]:
        if not scenario.page:
            assert self.painter is not None
            self.painter.last_paint()
            return self.painter.paints
        page = await self.browser.current()
        ahead = time.time() - time.monotonic()
        times: list[float] = await page.evaluate("window.paints")
        return [ms / 1000 - ahead for ms in times]

    def _button_down(self) -> bool:
        x = XConnection(self.desktop.display, self.desktop.client_env.get("XAUTHORITY"))
        try:
            mask: int = x.reply(x.core.QueryPointer(x.root)).mask
            return bool(mask & 0x100)  # Button1Mask
        finally:
            x.close()


@asynccontextmanager
async def sides(size: tuple[int, int], python: Path) -> AsyncIterator[tuple[Side, Side]]:
    """Both engines, each on a desktop of this size."""
    async with open_desktop(Private(size=size)) as desk, open_desktop(Private(size=size)) as other:
        # The other desk's own engine must not watch beside the one that is measured.
        other.workspace.settling.close()
        desktops = [each.desktop for each in (desk, other)]
        assert isinstance(desktops[0], X11Desktop)
        assert isinstance(desktops[1], X11Desktop)
        browsers = [each.workspace.browser for each in (desk, other)]
        assert browsers[0] is not None
        assert browsers[1] is not None
        settler = desk.workspace.settling
        assert isinstance(settler, Settler)
        theirs = await asyncio.to_thread(Theirs, desktops[1], python)
        try:
            yield (
                Side("ours", Ours(desktops[0], settler), desktops[0], browsers[0]),
                Side("theirs", theirs, desktops[1], browsers[1]),
            )
        finally:
            theirs.close()


async def play(scenarios: Sequence[Scenario], runs: int, python: Path, address: str) -> Results:
    """All runs of all scenarios, the engines taking turns; each scenario's row is printed when it is done."""
    results: Results = {}
    print(f"{'scenario':46}{'ours':>7}{'s':>7}{'said':>9}{'theirs':>9}{'s':>7}{'said':>9}")
    for size in (WIDE, NARROW):
        chosen = [scenario for scenario in scenarios if scenario.narrow == (size is NARROW)]
        if not chosen:
            continue
        async with sides(size, python) as both:
            for scenario in chosen:
                outcomes: dict[str, list[Outcome]] = {side.name: [] for side in both}
                for run in range(runs):
                    for side in both:
                        if run and scenario.fresh:
                            await side.take_down()
                        if not run or scenario.fresh:
                            await side.set_up(scenario, address)
                    if not run:
                        await asyncio.sleep(scenario.learn + 0.3)
                    for side in both:
                        outcomes[side.name].append(await side.run(scenario))
                for side in both:
                    await side.take_down()
                results[scenario] = outcomes
                print(row(scenario, outcomes), flush=True)
    return results


def row(scenario: Scenario, outcomes: dict[str, list[Outcome]]) -> str:
    """The scenario's line of the table: right verdicts, median seconds, the usual verdict, for both."""
    cells = []
    for each in outcomes.values():
        waited = statistics.median(outcome.waited for outcome in each)
        said = statistics.mode(outcome.said for outcome in each)
        cells.append(f"{sum(map(scenario.right, each)):>4}/{len(each):<2}{waited:7.2f}{said:>9}")
    return f"{scenario.name:46}" + "  ".join(cells)


def rival_python() -> Path:
    """The other engine's interpreter, installed when it is not there."""
    directory = ROOT / ".venv-rivals" / "settled"
    python = directory / "bin" / "python"
    done = directory / "installed"
    if not done.exists():
        print(f"installing {RIVAL}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", directory], check=True, stdout=sys.stderr)
        subprocess.run(
            [python, "-m", "pip", "install", "-qqq", RIVAL, *RIVAL_NEEDS], check=True, stdout=sys.stderr
        )
        done.touch()
    return python


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def figures_of(results: Results, runs: int) -> dict[str, Any]:
    """What is compared."""
    figures: dict[str, Any] = {"benchmark": "settle", "runs": runs, "scenarios": len(results)}
    for name in ("ours", "theirs"):
        every = [(scenario, outcome) for scenario, each in results.items() for outcome in each[name]]
        lags = [(o.lag - QUIET) * 1000 for s, o in every if s.timed and s.right(o)]
        timed = {scenario for scenario in results if scenario.timed}
        alike = {s for s in timed if all(s.right(o) for each in results[s].values() for o in each)}
        cpu, cpu_all = ([o.cpu * 1000 for s, o in every if s in chosen] for chosen in (alike, timed))
        figures[name] = {
            "right": sum(s.right(o) for s, o in every),
            "of": len(every),
            "lag_ms_median": round(statistics.median(lags or [0]), 1),
            "lag_ms_p95": round(percentile(lags or [0], 0.95), 1),
            "cpu_ms": round(statistics.mean(cpu or [0]), 1),
            "cpu_ms_all": round(statistics.mean(cpu_all or [0]), 1),
            "no_effect_s_max": round(
                max((o.waited for s, o in every if s.right is without_effect), default=0), 3
            ),
            "endless_s_max": round(
                max((o.waited for s, o in every if s.right in (beside_motion, bounded)), default=0), 3
            ),
        }
    return figures


def missed(figures: dict[str, Any]) -> list[str]:
    """Which bounds the figures miss."""
    ours, theirs = figures["ours"], figures["theirs"]
    bounds = {
        "a wrong verdict": ours["right"] < ours["of"],
        "median lag above 5 ms": ours["lag_ms_median"] > 5,
        "95th percentile of the lag above a third of theirs": ours["lag_ms_p95"] > theirs["lag_ms_p95"] / 3,
        "processor time above a third of theirs": ours["cpu_ms"] > theirs["cpu_ms"] / 3,
        f"a click without effect above {NOTHING} s": ours["no_effect_s_max"] > NOTHING,
        "endless motion waited for above 1.5 s": ours["endless_s_max"] > 1.5,
    }
    return [name for name, failed in bounds.items() if failed]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="", help="scenarios whose name contains this, or this|that")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="tell what each timed scenario costs, and every wrong run of ours",
    )
    arguments = parser.parse_args()
    scenarios = [
        scenario for scenario in SCENARIOS if any(part in scenario.name for part in arguments.only.split("|"))
    ]
    load_settings()
    pages = subprocess.Popen(
        [sys.executable, ROOT / "benchmarks/rivals/pages.py"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert pages.stdout is not None
        address = f"http://127.0.0.1:{int(pages.stdout.readline())}"
        results = asyncio.run(play(scenarios, arguments.runs, rival_python(), address))
    finally:
        pages.kill()
        pages.communicate()
    figures = figures_of(results, arguments.runs)
    print()
    for name in ("ours", "theirs"):
        print(f"{name:8}" + "  ".join(f"{key} {value}" for key, value in figures[name].items()))
    if arguments.verbose:
        tell_costs(results)
        tell_wrong(results)
    failures = missed(figures)
    print(json.dumps({**figures, "missed": failures}))
    return 1 if arguments.check and failures else 0


def tell_costs(results: Results) -> None:
    """Median processor time and lag of each timed scenario, in milliseconds, ours and theirs."""
    for scenario, outcomes in results.items():
        if scenario.timed:
            cells = []
            for each in outcomes.values():
                cpu = statistics.median(o.cpu for o in each) * 1000
                lags = sorted((o.lag - QUIET) * 1000 for o in each)
                cells.append(f"cpu {cpu:6.1f} lag {statistics.median(lags):7.1f} up to {lags[-1]:7.1f}")
            print(f"{scenario.name:46}" + "   ".join(cells))


def tell_wrong(results: Results) -> None:
    """Every wrong run of ours, with its times from the act on."""
    for scenario, outcomes in results.items():
        for outcome in outcomes["ours"]:
            if not scenario.right(outcome):
                paints = [round(t - outcome.began, 3) for t in outcome.paints[:1] + outcome.paints[-2:]]
                then = outcome.then and (outcome.then.said, round(outcome.then.ended - outcome.began, 3))
                print(
                    f"wrong: {scenario.name}: {outcome.said} {outcome.waited:.3f} paints {paints} then {then}"
                )


if __name__ == "__main__":
    sys.exit(main())
