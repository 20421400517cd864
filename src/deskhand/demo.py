"""`computer demo`: two real tasks without a key, and proof that they were done."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from deskhand.audit.live import TaskView


@dataclass(slots=True)
class Shop:
    """A shop on loopback with one page, and what was ordered there: ``orders`` holds (form, confirmation)."""

    url: str = ""
    orders: list[tuple[dict[str, str], str]] = field(default_factory=list)


@contextlib.contextmanager
def shop() -> Iterator[Shop]:
    """Serve the order page. Each confirmation carries a fresh number, so that nobody can know it beforehand."""
    page = files("deskhand").joinpath("demo_order.html").read_bytes()
    open_shop = Shop()

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            if self.path == "/":
                self._reply(page, "text/html; charset=utf-8")
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            sent = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 10_000))
            form = {name: values[0] for name, values in parse_qs(sent.decode()).items()}
            number = f"{secrets.randbelow(9000) + 1000}-{secrets.token_hex(2).upper()}"
            name, colour = form.get("name", ""), form.get("colour", "").lower()
            confirmation = f"Thank you, {name}. Your {colour} mug is order {number}."
            open_shop.orders.append((form, confirmation))
            self._reply(confirmation.encode(), "text/plain; charset=utf-8")

        def _reply(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it)
            """Keep quiet: the terminal belongs to the demo."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        open_shop.url = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield open_shop
        finally:
            server.shutdown()
            thread.join()


def duration(path: str) -> float:
    """Seconds of a recording, as ffprobe reads them; 0.0 when it cannot."""
    command = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        return float(found.stdout.strip() or 0)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0.0


def main() -> int:
    """Run the demo on stdout; 0 when all that it shows is so, 1 otherwise."""
    wrong: list[str] = []
    goal = "In gnome-calculator compute 12 × 34 and tell me the result"
    wrong += _task(goal, lambda result: [] if "408" in result else ["the result does not contain 408"])
    with shop() as order:
        goal = f"Open {order.url}, set Name to Ana, choose Blue, press Buy, and report the confirmation"
        wrong += _task(goal, lambda result: _check_order(order, result))
    for sentence in wrong:
        print(f"✗ {sentence}", file=sys.stderr)
    if not wrong:
        print(f"Both tasks were done, verified and recorded. `{_command()} audit-log` shows what happened.")
    return 1 if wrong else 0


def _command() -> str:
    """How this environment's ``computer`` is called from here: by its name where PATH leads to it."""
    ours = Path(sys.executable).with_name("computer")
    found = shutil.which("computer")
    if found is not None and Path(found).resolve() == ours.resolve():
        return "computer"
    return os.path.relpath(ours) if ours.is_relative_to(Path.cwd()) else str(ours)


def _check_order(order: Shop, result: str) -> list[str]:
    if len(order.orders) != 1:
        return [f"the shop got {len(order.orders)} orders instead of one"]
    form, confirmation = order.orders[0]
    wrong = []
    if (form.get("name"), form.get("colour")) != ("Ana", "Blue"):
        wrong.append(f"the shop got another order: {form}")
    if confirmation not in result:
        wrong.append("the result does not contain the page's confirmation")
    return wrong


def _task(goal: str, check: Callable[[str], list[str]]) -> list[str]:
    """Run one goal, show it, and say what is not as it should be."""
    from deskhand import computer_task

    print(f"▸ {goal}\n", flush=True)
    with TaskView(sys.stdout) as view:
        status = computer_task(goal, timeout=90, model="embedded", record=True, on_event=view)
    print(f"\n{json.dumps(status, indent=2, ensure_ascii=False)}\n")

    log = Path(status["logdir"] or "", "audit.jsonl")
    seconds = duration(status["recording"]) if status["recording"] else 0.0
    print(f"log        {log}")
    print(f"recording  {status['recording']} ({seconds:.1f} s)\n", flush=True)

    wrong = []
    if status["status"] != "success" or status["verified"] is not True:
        wrong.append(f"the task ended in {status['status']} ({status['reason']}): {status['result']}")
    wrong += check(status["result"])
    if not log.is_file():
        wrong.append("there is no log")
    if seconds <= 0:
        wrong.append("the recording has no duration")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
