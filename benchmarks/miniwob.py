"""The 130 tasks of MiniWoB++ without a language model: ``computer_task(goal, model="embedded")`` on a kept desktop.

``python benchmarks/miniwob.py [--tasks A,B] [--seeds 100-104] [--out FILE] [--logs DIR] [--desktops N] [--verbose]
[--check]`` prints a row for each task and one JSON line. The pages are those of the package miniwob 1.1.0, served on
loopback; an episode's goal is the page's own text for it, which the page then does not show. An episode succeeds when
its page gives the full raw reward (1); it has ten turns. ``--out`` is a file of JSON lines to which every episode is
added as it ends; what stands in it is not run again.

A failure has one cause. *not understood*: the planner said so before it did anything. *not in the tree*: it looked for
something in vain on a page with drawings, or with things to click that have no words. *not found*: it looked in vain
on another page. *wrong effect*: it acted, and the page gave no reward; *claimed*, of these, ended as a success.

``--check`` exits 1 unless 300 of 650 episodes succeed (in proportion, for a part of them), claims are at most 5% of
the failures, and the median episode takes less than a second.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from deskhand import Limits, Private, computer_task

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "miniwob==1.1.0"
SCRIPT = ROOT / "benchmarks" / "pages" / "episode.js"
STEPS = 10
TIMEOUT = 60.0
FULL = 1.0
ENOUGH, OF = 300, 650
CLAIMED = 0.05
MEDIAN = 1.0
GRACE = 0.3
"""Seconds after a task's end in which the page may still tell its reward."""

CAUSES = ("not understood", "not found", "not in the tree", "wrong effect")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".css": "text/css",
    ".png": "image/png",
}


def pages() -> Path:
    """The folder of the package's pages, installed into a virtual environment of its own."""
    home = ROOT / ".venv-rivals" / "miniwob"
    if not (found := list(home.glob("lib/python3*/site-packages/miniwob/html"))):
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([home / "bin" / "pip", "install", "-q", "--no-deps", PACKAGE], check=True)
        found = list(home.glob("lib/python3*/site-packages/miniwob/html"))
    return found[0]


class Site:
    """The pages on loopback, and what the page of the current episode says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0
        self.order: str | None = None
        self.changed = threading.Condition()
        self.told: dict[str, dict[str, Any]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop serving."""
        with self.changed:
            self.order = ""
            self.changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def begin(self, task: str, seed: int) -> dict[str, Any]:
        """Have the browser load a task; what the page said when it was ready."""
        with self.changed:
            self.number += 1
            self.told.clear()
            self.order = f"/miniwob/{task}.html?seed={seed}&number={self.number}"
            self.changed.notify_all()
        return self.wait("ready", 20.0) or {}

    def wait(self, kind: str, seconds: float) -> dict[str, Any] | None:
        """What the page told of this kind, None when it did not within so many seconds."""
        with self.changed:
            self.changed.wait_for(lambda: kind in self.told, seconds)
            return self.told.get(kind)

    def _handler(site) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                url = urlsplit(self.path)
                if url.path == "/orders":
                    return self._orders(int(parse_qs(url.query)["after"][0]))
                if url.path == "/":
                    return self._send(
                        ".html",
                        f"<title>Waiting</title><h1>Waiting</h1><script>{SCRIPT.read_text()}</script>",
                    )
                path = (site.folder / url.path.lstrip("/")).resolve()
                if not (path.is_relative_to(site.folder) and path.is_file()):
                    return self.send_error(404)
                content = path.read_bytes()
                if path.suffix == ".html":
                    content += f"<script>{SCRIPT.read_text()}</script>".encode()
                return self._send(path.suffix, content)

            def do_POST(self) -> None:
                told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with site.changed:
                    if told["number"] == site.number:
                        site.told[self.path.rsplit("/", 1)[-1]] = told
                        site.changed.notify_all()
                self._send(".html", "")

            def _orders(self, after: int) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                with site.changed:
                    while not site.changed.wait_for(lambda: site.number > after or site.order == "", 1.0):
                        try:
                            self.wfile.write(b": still here\n\n")
                        except OSError:
                            return
                    order = site.order
                try:
                    self.wfile.write(f"data: {order}\n\n".encode() if order else b"")
                except OSError:
                    return

            def _send(self, suffix: str, content: str | bytes) -> None:
                data = content.encode() if isinstance(content, str) else content
                self.send_response(200)
                self.send_header("Content-Type", TYPES.get(suffix, "application/octet-stream"))
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler


@contextmanager
def desktop(site: Site) -> Iterator[list[str]]:
    """A kept desktop whose browser waits for orders: the conversations on it, the last of which keeps it."""
    opened = computer_task(f"open {site.address}/", 60, "embedded", computer=Private(keep=600))
    conversations = [opened["conversation"]]
    try:
        if opened["status"] != "success":
            raise SystemExit(f"the desktop did not open: {opened}")
        yield conversations
    finally:
        command = [Path(sys.executable).with_name("computer"), "stop", conversations[-1]]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def episode(site: Site, kept: list[str], task: str, seed: int) -> dict[str, Any]:
    """One episode: what the page wanted, how the task ended, and the reward."""
    ready = site.begin(task, seed)
    goal = ready.get("goal") or ""
    began = time.monotonic()
    status = (
        computer_task(goal, TIMEOUT, "embedded", computer=kept[-1], limits=Limits(steps=STEPS))
        if goal
        else {}
    )
    seconds = time.monotonic() - began
    if goal:
        kept.append(status["conversation"])
    done = site.wait("done", GRACE) or {}
    found = {
        "task": task,
        "seed": seed,
        "goal": goal,
        "reward": done.get("reward"),
        "why": done.get("why", ""),
        "status": status.get("status", "no goal"),
        "reason": status.get("reason"),
        "result": status.get("result", ""),
        "steps": status.get("steps", 0),
        "seconds": round(seconds, 3),
        "log": str(status.get("logdir", "")),
    }
    return found | {"cause": cause_of(found, ready.get("drawn", 0))}


def cause_of(found: dict[str, Any], drawn: int) -> str | None:
    """Why an episode failed; None when it did not."""
    if (found["reward"] or 0) >= FULL:
        return None
    if found["reason"] == "not_understood":
        return "not understood"
    in_vain = found["reward"] is None and found["status"] != "success"
    looked = found["reason"] in ("question", "infeasible", "gave_up")
    if in_vain and looked and found_nothing(found["result"]):
        return "not in the tree" if drawn else "not found"
    return "wrong effect"


def found_nothing(result: str) -> bool:
    """Whether the words of a result say that something was looked for in vain."""
    return any(words in result for words in ("I found no", "I see no", "may mean", "is not on the screen"))


def run(
    tasks: Sequence[str], seeds: Sequence[int], out: Path | None, desktops: int, verbose: bool
) -> list[dict[str, Any]]:
    """All episodes that the file does not hold already, in order, and those that it holds."""
    kept = [json.loads(line) for line in out.read_text().splitlines()] if out and out.exists() else []
    wanted = [(task, seed) for task in tasks for seed in seeds]
    found = [each for each in kept if (each["task"], each["seed"]) in wanted]
    known = {(each["task"], each["seed"]) for each in found}
    left: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()
    for pair in wanted:
        if pair not in known:
            left.put(pair)
    lock = threading.Lock()

    def work() -> None:
        site = Site(pages())
        try:
            with desktop(site) as kept:
                while True:
                    try:
                        task, seed = left.get_nowait()
                    except queue.Empty:
                        return
                    each = episode(site, kept, task, seed)
                    with lock:
                        found.append(each)
                        if out is not None:
                            with out.open("a") as file:
                                file.write(json.dumps(each) + "\n")
                        if verbose:
                            mark = "-" if each["cause"] else "+"
                            said = f"{each['cause'] or ''}: {each['result'][:150]!r}"
                            print(f"{mark} {task} {seed} {each['seconds']:.2f} s {said}", flush=True)
        finally:
            site.close()

    if not left.empty():
        with ThreadPoolExecutor(desktops) as pool:
            for future in [pool.submit(work) for _ in range(desktops)]:
                future.result()
    return found


def report(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The table by task; the figures for the JSON line."""
    by_task: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in found:
        by_task[each["task"]].append(each)
    print(f"{'task':32} {'of':>5}  median s  causes of failure")
    for task, episodes in sorted(by_task.items()):
        causes = Counter(each["cause"] for each in episodes if each["cause"])
        said = ", ".join(f"{count} {cause}" for cause, count in causes.most_common())
        won = sum(each["cause"] is None for each in episodes)
        median = statistics.median(each["seconds"] for each in episodes)
        print(f"{task:32} {won:2}/{len(episodes):2}  {median:8.2f}  {said}")
    failed = [each for each in found if each["cause"]]
    claimed = sorted({each["task"] for each in failed if each["status"] == "success"})
    claims = sum(each["status"] == "success" for each in failed)
    causes = {cause: sum(each["cause"] == cause for each in failed) for cause in CAUSES}
    return {
        "benchmark": "miniwob",
        "episodes": len(found),
        "succeeded": len(found) - len(failed),
        "causes": causes,
        "claimed": claims,
        "claimed_share": round(claims / len(failed), 3) if failed else 0.0,
        "claimed_tasks": claimed,
        "median_seconds": round(statistics.median(each["seconds"] for each in found), 3) if found else None,
    }


def numbers(text: str) -> list[int]:
    """ "100-104" or "1,5" as numbers."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(each) for each in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", help="names, with commas between (all when absent)")
    parser.add_argument("--seeds", type=numbers, default=numbers("100-104"))
    parser.add_argument("--out", type=Path, help="file of JSON lines to go on from and to add to")
    parser.add_argument("--desktops", type=int, default=1)
    parser.add_argument(
        "--logs", type=Path, help="folder that keeps the tasks' logs (else they are thrown away)"
    )
    parser.add_argument("--verbose", action="store_true", help="a line for every episode")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    tasks = (
        given.tasks.split(",")
        if given.tasks
        else sorted(page.stem for page in (pages() / "miniwob").glob("*.html"))
    )
    with tempfile.TemporaryDirectory() as place:
        os.environ["DESKHAND_HOME"] = str(given.logs or place)
        found = run(tasks, given.seeds, given.out, given.desktops, given.verbose)
    figures = report(found)
    print(json.dumps(figures))
    if not given.check:
        return 0
    enough = figures["succeeded"] * OF >= ENOUGH * figures["episodes"]
    return int(not (enough and figures["claimed_share"] <= CLAIMED and figures["median_seconds"] < MEDIAN))


if __name__ == "__main__":
    sys.exit(main())
