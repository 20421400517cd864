"""The watch page, in a real browser: the picture moves, a person pauses, takes over, gives back, answers and stops."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, sync_playwright

import login_site
from deskhand import Policy, Private, computer_task
from deskhand.audit.read import read_events
from deskhand.audit.store import TaskStore
from deskhand.config import data_home
from deskhand.desktop.browser import find_browser
from deskhand.watch import WatchServer, watch
from process_tree import left_alive
from watching import Script, Watch
from wire import Wire

Json = dict[str, Any]


def _act(*steps: Json) -> Json:
    return {"calls": [{"name": "act", "input": {"steps": list(steps)}}]}


LAUNCH = _act({"kind": "launch", "app": "mousepad"})
TYPE = _act({"kind": "type", "text": "child", "target": "window textbox"})
SEEN = {"calls": [{"name": "finish", "input": {"result": "typed", "evidence": ["textbox[value*='child']"]}}]}


class Played:
    """A task whose model answers when the test says so."""

    def __init__(self, wire: Wire, watch: Watch, turns: list[Json], **more: Any) -> None:
        self._turns, self._go = list(turns), threading.Semaphore(0)
        self.asked, self.events, self.changed = 0, [], threading.Condition()
        self._watch = watch
        wire.play(self._reply)
        self._pool = ThreadPoolExecutor(1)
        self.done: Future[Any] = self._pool.submit(
            computer_task, "write", 60, "openai-chat:any", on_event=self._event, **more
        )

    def _reply(self, request: Any) -> Json:
        with self.changed:
            self.asked += 1
            self.changed.notify_all()
        assert self._go.acquire(timeout=30)
        return self._turns.pop(0)

    def _event(self, event: Json) -> None:
        self._watch(event)
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def go(self) -> None:
        """Let the model answer once."""
        self._go.release()

    def wait_for(self, what: Any) -> None:
        with self.changed:
            assert self.changed.wait_for(what, 30), [event["kind"] for event in self.events]

    def has(self, kind: str, **fields: Any) -> bool:
        return any(
            event["kind"] == kind and all(event.get(key) == value for key, value in fields.items())
            for event in self.events
        )

    @property
    def conversation(self) -> str:
        return str(self.events[0]["conversation"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def served(conversation: str) -> Iterator[WatchServer]:
    server = watch(TaskStore(data_home()).path(conversation))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.watched.close()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def opened(browser: Any, server: WatchServer) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1700, "height": 950})
    page.goto(server.url, wait_until="domcontentloaded")
    until(page, "document.getElementById('screen').naturalWidth == 1280")
    yield page
    page.close()


def until(page: Page, holds: str) -> None:
    """Wait for a condition; the page's own policy does not let Playwright's waiting evaluate in it."""
    for _ in range(600):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(50)
    raise AssertionError(holds)


def left_of_the_task(watch: Watch) -> list[str]:
    """What the task left running. This test's own browser is no part of it."""
    return left_alive({process for process in watch.seen if "chromium" not in process.command}, 2)


def kinds_of(played: Played) -> list[str]:
    """The log as kinds, with what people did in words."""
    log = TaskStore(data_home()).path(played.conversation) / "audit.jsonl"
    return [event.get("what") if event["kind"] == "human" else event["kind"] for event in read_events(log)]


def test_a_person_sees_pauses_takes_over_and_gives_back(browser: Any, wire: Wire, watch: Watch) -> None:
    played = Played(wire, watch, [LAUNCH, TYPE, TYPE, TYPE, SEEN], policy=Policy(verify="checks"))
    played.wait_for(lambda: played.asked == 1)
    with served(played.conversation) as server, opened(browser, server) as page:
        before = page.locator("#screen").screenshot()
        played.go()
        played.wait_for(lambda: played.asked == 2)
        page.wait_for_selector("li:has-text('launch mousepad')")
        until(page, "document.querySelectorAll('li').length >= 3")
        assert page.locator("#screen").screenshot() != before

        page.click("#pause")
        page.wait_for_selector("#state.held:has-text('paused')")
        played.go()
        played.wait_for(lambda: sum(event["kind"] == "model_call" for event in played.events) == 2)
        assert sum(event["kind"] == "action" for event in played.events) == 1  # it waits
        page.click("#go_on")
        played.wait_for(lambda: sum(event["kind"] == "action" for event in played.events) == 2)
        played.wait_for(lambda: played.asked == 3)

        page.click("#take_over")
        page.wait_for_selector("#screen.live")
        page.click("#screen", position={"x": 640, "y": 500})
        page.keyboard.press("Control+a")
        page.keyboard.type("Ab1É")
        page.keyboard.press("Enter")
        played.go()  # the child means to type, and waits
        page.click("#go_on")
        played.wait_for(lambda: played.asked == 4)
        told = str(wire.bodies[-1])
        assert "a person used this desktop meanwhile" in told
        assert "Ab1É" in told
        played.go()
        played.wait_for(lambda: played.asked == 5)
        assert "Ab1É" in str(wire.bodies[-1])
        played.go()
        done = played.done.result(60)
        assert (done["status"], done["verified"]) == ("success", True), (
            done,
            wire.bodies[-1]["messages"][-3:],
        )
        page.wait_for_selector("#state:has-text('success')")
    kinds = kinds_of(played)
    paused, on = kinds.index("paused the task"), kinds.index("let the task go on")
    assert "model_call" in kinds[paused:on]
    assert "action" not in kinds[paused:on]
    taken, given = kinds.index("took the desktop over"), kinds.index("gave the desktop back")
    assert on < taken < given
    assert left_of_the_task(watch) == []


def test_a_person_answers_and_stops_on_the_page(browser: Any, wire: Wire, watch: Watch) -> None:
    ask = {"calls": [{"name": "ask", "input": {"question": "Which <b>word</b>?"}}]}
    played = Played(wire, watch, [ask, LAUNCH])
    played.wait_for(lambda: played.asked == 1)
    with served(played.conversation) as server, opened(browser, server) as page:
        played.go()
        page.wait_for_selector("#ask bdi")
        assert page.locator("#ask bdi").inner_text() == "Which <b>word</b>?"
        page.fill("#ask input", "blue")
        page.click("#ask button")
        played.wait_for(lambda: played.asked == 2)
        assert "blue" in str(wire.bodies[-1])
        page.click("#stop")
        done = played.done.result(60)
    assert (done["status"], done["reason"]) == ("cancelled", "stopped_by_person"), done
    again = computer_task(None, 5, resume=done["conversation"])
    assert again["reason"] == "stopped_by_person"
    assert left_of_the_task(watch) == []


def test_without_the_token_nothing_answers(wire: Wire, watch: Watch) -> None:
    played = Played(wire, watch, [LAUNCH])
    played.wait_for(lambda: played.asked == 1)
    with served(played.conversation) as server:
        base = f"http://127.0.0.1:{server.server_port}"
        name = f"deskhand-{server.server_port}"
        for cookie in (
            {},
            {"cookie": f"{name}=wrong"},
            {"cookie": f"{name}={server.token}", "host": "evil.example"},
        ):
            for path in ("/", "/watch.js", "/screen", "/events", "/?token=wrong"):
                assert httpx2.get(base + path, headers=cookie).status_code == 403, (cookie, path)
            for path in ("/control", "/input", "/answer"):
                refused = httpx2.post(base + path, json={"command": "stop"}, headers=cookie)
                assert refused.status_code == 403, (cookie, path)
        known = {"cookie": f"{name}={server.token}"}
        plain = httpx2.post(f"{base}/control", content='{"command": "stop"}', headers=known)
        assert plain.status_code == 403  # what a form on another site could send
        typed = httpx2.post(f"{base}/input", json={"events": [{"type": "text", "text": "x"}]}, headers=known)
        assert typed.json() == {"ok": False}  # the desktop is the child's
        assert httpx2.post(f"{base}/control", json={"command": "stop"}, headers=known).json() == {"ok": True}
        assert played.done.result(60)["reason"] == "stopped_by_person"


def test_who_watched_a_task_is_not_there_for_the_next_one_on_its_desktop(wire: Wire, watch: Watch) -> None:
    end = {"calls": [{"name": "finish", "input": {"result": "no", "status": "failure", "reason": "gave_up"}}]}
    ask = {"calls": [{"name": "ask", "input": {"question": "Which word?"}}]}
    first = Played(wire, watch, [end, ask], computer=Private(keep=30))
    first.wait_for(lambda: first.asked == 1)
    with served(first.conversation) as server:
        first.go()
        ended = first.done.result(60)
        first.go()
        second = computer_task("go on", 30, "openai-chat:any", computer=ended["conversation"])
        assert server.watched.ended.wait(20)
    assert (second["status"], second["reason"]) == ("clarification_needed", "question"), second
    assert second["seconds"] < 20
    third = computer_task(None, 5, resume=second["conversation"])
    assert third["reason"] == "question"


def test_a_person_signs_in_by_hand_and_later_tasks_find_the_login(browser: Any, scripted: Script) -> None:
    with login_site.served() as site:
        command = [sys.executable, "-m", "deskhand.cli", "login", "shop", "--url", site.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as login:
            assert login.stdout is not None
            page = browser.new_page(viewport={"width": 1700, "height": 950})
            page.goto(login.stdout.readline().strip(), wait_until="domcontentloaded")
            page.wait_for_selector("#screen.live")
            until(page, "document.getElementById('screen').naturalWidth == 1280")
            page.click("#screen", position={"x": 640, "y": 400})
            page.keyboard.press("Tab")  # into the page: its only button
            page.keyboard.press("Enter")
            assert site.signed_in.wait(20)
            page.click("#stop")
            page.wait_for_selector("#state:has-text('kept')")
            assert login.wait(20) == 0
            page.close()
        hello = "heading[name='Hello Ana']"
        look = _act({"kind": "launch", "app": site.url})
        end = {"calls": [{"name": "finish", "input": {"result": "seen", "evidence": [hello]}}]}
        found = computer_task("look", 60, scripted([look, end]), computer=Private(profile="shop"))
    assert found["evidence"] == [{"check": hello, "holds": True}], found
