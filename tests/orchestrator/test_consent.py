"""What is held for consent, and what the caller's own words allow."""

from __future__ import annotations

from typing import Any

import pytest

from deskhand.messages import Node, Point, Rect, Target
from deskhand.orchestrator.brief import Brief, PolicyBrief
from deskhand.orchestrator.consent import Gate
from deskhand.orchestrator.witness import Scene, Witness

PASSWORD = Node(role="textbox", name="Password", states=frozenset({"password"}))


def gate(goal: str, **more: Any) -> Gate:
    brief = Brief(
        goal=goal, conversation="c", home="/", model="embedded", timeout=1, started=0, deadline=1, **more
    )
    nobody: Any = None
    return Gate(brief, nobody, nobody, nobody, nobody)


def held(goal: str, step: dict[str, Any], name: str = "", role: str = "button", **more: Any) -> str:
    node = PASSWORD if name == "Password" else Node(role=role, name=name)
    return gate(goal, **more).sensitive(step, Target(role=node.role, name=node.name, app="mousepad"), node)


CLICK = {"kind": "click", "target": "e1"}


@pytest.mark.parametrize(
    "label",
    [
        "Delete account",
        "Buy now",
        "Send",
        "Pay 20 €",
        "Publish",
        "Löschen",
        "Acheter",
        "Enviar",
        "支付",
        "Revoke access",
    ],
)
def test_what_the_caller_did_not_name_is_held(label: str) -> None:
    assert label in held("Tell me the headline", CLICK, label)


@pytest.mark.parametrize(
    ("goal", "label"),
    [("Delete the note", "Delete"), ("Keep buying until it is done: buy it", "Buy now"), ("Tell me", "Next")],
)
def test_what_the_caller_named_is_not_held(goal: str, label: str) -> None:
    assert held(goal, CLICK, label) == ""


def test_what_the_caller_ruled_out_is_not_named() -> None:
    assert held("Sort the notes, but do not delete any", CLICK, "Delete") != ""


def test_a_field_that_speaks_of_sending_is_only_a_field() -> None:
    assert held("Write hello", CLICK, "Send a message", role="textbox") == ""


def test_the_return_key_presses_what_has_the_focus() -> None:
    assert held("Tell me the headline", {"kind": "key", "keys": "Return"}, "Delete all") != ""
    assert held("Tell me the headline", {"kind": "key", "keys": "ctrl+c"}, "Delete all") == ""


def test_a_secret_is_entered_where_the_caller_speaks_of_it() -> None:
    step = {"kind": "fill", "target": "e1", "text": "<secret:bank_pin>"}
    assert "bank_pin" in held("Tell me the headline", step, "Password")
    assert held("Log in and tell me the balance", step, "Password") == ""


def test_a_file_that_the_caller_named_may_be_uploaded() -> None:
    step = {"kind": "upload", "target": "e1", "files": ["/tmp/web/passport.txt"]}
    assert held("Fill it in with passport.txt as the scan", step, "Scan") == ""
    assert "passport.txt" in held("Fill it in with photo.png as the scan", step, "Scan")


def test_leaving_the_allow_lists_is_held() -> None:
    policy = PolicyBrief(domains=("example.org",), apps=("mousepad",))
    away = {"kind": "navigate", "url": "https://example.org.evil.test/"}
    assert "outside" in held("Read it", away, policy=policy)
    assert held("Read it", {"kind": "navigate", "url": "https://www.example.org/"}, policy=policy) == ""
    assert "xterm" in held("Read it", {"kind": "launch", "app": "xterm"}, policy=policy)
    assert held("Read it", {"kind": "launch", "app": "mousepad"}, policy=policy) == ""


async def test_a_click_on_pixels_is_judged_by_what_is_there() -> None:
    button = Node(role="button", name="Delete all", rect=Rect(10, 10, 50, 20))
    window = Node(role="window", name="Notes", rect=Rect(0, 0, 200, 200), children=(button,))
    asked: list[Target | None] = []

    async def look() -> Scene:
        return Scene(roots=(window,))

    async def permit(step: Any, target: Target | None, node: Node | None) -> str | None:
        asked.append(target)
        return None

    await Witness(look).gate(permit)(CLICK, Target(point=Point(20, 20)), None)
    [target] = asked
    assert target is not None
    assert target.name == "Delete all"
