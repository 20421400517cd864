"""A login made in one task is there in the next one with that profile, also after the first was killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from deskhand import Private, computer_task
from deskhand.audit.store import TaskStore
from deskhand.config import data_home
from deskhand.orchestrator.control import send
from watching import Script, Watch


class _Site(BaseHTTPRequestHandler):
    """Knows who has its cookie; pressing the button gives it, for the browser's session only."""

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        known = "who=ana" in (self.headers["cookie"] or "")
        body = "<h1>Hello Ana</h1>" if known else '<form action="/in"><button>Log in</button></form>'
        self.send_response(200)
        if self.path.startswith("/in"):
            body = "<h1>Hello Ana</h1>"
            self.send_header("set-cookie", "who=ana; Path=/; HttpOnly")
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


def _act(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"calls": [{"name": "act", "input": {"steps": list(steps)}}]}


def _end(evidence: str) -> dict[str, Any]:
    return {"calls": [{"name": "finish", "input": {"result": "seen", "evidence": [evidence]}}]}


def test_a_login_is_found_by_the_next_task_of_that_profile_and_by_no_other(
    site: str, scripted: Script, watch: Watch
) -> None:
    launch = {"kind": "launch", "app": site}
    log_in = _act(launch, {"kind": "click", "target": "button[name='Log in']"})
    pause = {"calls": [{"name": "wait_for", "input": {"selector": "dialog[name='never']", "timeout": 60}}]}

    def kill(event: dict[str, Any]) -> None:
        watch(event)
        if event["kind"] == "action" and event["step"]["kind"] == "click":
            directory = TaskStore(data_home()).path(event["conversation"])
            os.kill(send(directory, {"command": "status"})["pid"], signal.SIGKILL)

    shop = Private(profile="shop")
    killed = computer_task("log in", 60, scripted([log_in, pause]), computer=shop, on_event=kill)
    assert (killed["status"], killed["reason"]) == ("failure", "computer_lost"), killed
    hello, form = "heading[name='Hello Ana']", "button[name='Log in']"
    found = computer_task("look", 60, scripted([_act(launch), _end(hello)]), computer=shop)
    assert found["evidence"] == [{"check": hello, "holds": True}], found
    other = computer_task("look", 60, scripted([_act(launch), _end(form)]), computer=Private(profile="other"))
    assert other["evidence"] == [{"check": form, "holds": True}], other


def test_a_second_task_on_a_profile_in_use_is_told_so_at_once(scripted: Script, watch: Watch) -> None:
    ask = {"calls": [{"name": "ask", "input": {"question": "Which?"}}]}
    first = computer_task("wait", 60, scripted([ask]), computer=Private(profile="shop"), on_event=watch)
    assert first["status"] == "clarification_needed"
    second = computer_task("look", 60, scripted([ask]), computer=Private(profile="shop"))
    assert (second["status"], second["reason"]) == ("failure", "desktop_error"), second
    assert "'shop' is in use" in second["result"]
    assert second["seconds"] < 5
