"""A login made in one task is there in the next one with that profile, also after the first was killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import login_site
from deskhand import Private, computer_task
from deskhand.audit.store import TaskStore
from deskhand.config import data_home
from deskhand.orchestrator.control import send
from watching import Script, Watch


@pytest.fixture
def site() -> Iterator[str]:
    with login_site.served() as served:
        yield served.url


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
