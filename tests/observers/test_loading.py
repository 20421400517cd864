"""What pages load because of an act, and what they ask for by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deskhand.observers.loading import PageWork
from deskhand.observers.stirring import Stirring


class Request:
    """A request as far as it matters here."""

    method = "GET"

    def __init__(self, url: str, kind: str = "fetch") -> None:
        self.url, self.resource_type = url, kind

    def is_navigation_request(self) -> bool:
        return self.resource_type == "document"


class Context:
    """A browser whose pages send what they are told to."""

    pages = ()

    def __init__(self, work: PageWork) -> None:
        self._heard: dict[str, Callable[[Any], None]] = {}
        work.watch(self)  # type: ignore[arg-type]

    def on(self, event: str, heard: Callable[[Any], None]) -> None:
        self._heard[event] = heard

    def ask(self, url: str, kind: str = "fetch", *, answered: bool = False) -> Request:
        request = Request(url, kind)
        self._heard["request"](request)
        if answered:
            self.end(request)
        return request

    def end(self, request: Request, event: str = "requestfinished") -> None:
        self._heard[event](request)


def test_a_page_is_at_work_while_something_is_being_loaded() -> None:
    work = PageWork()
    pages = Context(work)
    work.act_begins()
    assert not work()
    first, second = pages.ask("http://a/1"), pages.ask("http://a/page", "document")
    pages.end(first)
    assert work()
    pages.end(second, "requestfailed")
    assert not work()


def test_streams_and_beacons_are_not_waited_for() -> None:
    work = PageWork()
    pages = Context(work)
    for kind in ("eventsource", "websocket", "ping", "media"):
        pages.ask("http://a/stream", kind)
    assert not work()


def test_what_a_page_asks_for_again_and_again_by_itself_is_polling() -> None:
    work = PageWork()
    pages = Context(work)
    for number in range(2):
        pages.ask(f"http://a/poll?t={number}", answered=True)
    work.act_begins()
    pages.ask("http://a/poll?t=3")
    assert not work()
    pages.ask("http://a/results")
    assert work()


def test_polling_that_an_act_starts_is_waited_for_only_at_first() -> None:
    work = PageWork()
    pages = Context(work)
    work.act_begins()
    for _ in range(2):
        request = pages.ask("http://a/poll")
        assert work()
        pages.end(request)
    pages.ask("http://a/poll")
    assert not work()


def test_asking_for_the_same_once_in_each_act_is_no_polling() -> None:
    work = PageWork()
    pages = Context(work)
    for _ in range(6):
        work.act_begins()
        request = pages.ask("http://a/next")
        assert work()
        pages.end(request)
        work.act_ends()


def test_a_document_that_changes_in_an_act_is_about_to_look_different() -> None:
    stirring = Stirring()
    stirring.heard("")
    assert not stirring()
    stirring.act_begins()
    assert not stirring()
    stirring.heard("")
    assert stirring()
    stirring.act_ends()
    assert not stirring()


def test_a_document_that_changes_all_the_time_says_nothing() -> None:
    stirring = Stirring()
    for _ in range(3):
        stirring.heard("")
    stirring.act_begins()
    stirring.heard("")
    assert not stirring()


def test_an_animation_is_waited_for_unless_it_is_long_or_comes_again_and_again() -> None:
    stirring = Stirring()
    for _ in range(3):
        stirring.heard("800 pulse")
    stirring.act_begins()
    for report in ("60000 countdown", "800 pulse", "x y"):
        stirring.heard(report)
        assert not stirring()
    stirring.heard("1500 show")
    assert stirring()
    stirring.heard("1500 show")
    stirring.heard("1500 show")
    assert not stirring()
