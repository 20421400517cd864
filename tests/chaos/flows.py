"""Small tasks that a scripted child does on real applications: what a fault happens in."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Flow:
    """A goal, the turns of the child that does it, and what more `computer_task` is given."""

    name: str
    goal: str
    turns: list[Json]
    arguments: Json = field(default_factory=dict)


def act(*steps: Json) -> Json:
    """A turn that acts."""
    return {"calls": [{"name": "act", "input": {"steps": list(steps)}}]}


def look() -> Json:
    """A turn that looks."""
    return {"calls": [{"name": "observe", "input": {}}]}


def finish(result: str, *evidence: str) -> Json:
    """The last turn."""
    return {"calls": [{"name": "finish", "input": {"result": result, "evidence": list(evidence)}}]}


def calculator(rng: random.Random) -> Flow:
    """A sum on the keys of a calculator."""
    one, other = rng.randrange(12, 99), rng.randrange(12, 99)
    return Flow(
        "calculator",
        f"In gnome-calculator compute {one} × {other} and tell me the result",
        [
            act({"kind": "launch", "app": "gnome-calculator"}),
            look(),
            act({"kind": "key", "keys": f"t:{one}*{other}"}, {"kind": "key", "keys": "Return"}),
            finish(f"{one} × {other} = {one * other}", f"textbox[value*='{one * other}']"),
        ],
    )


def editor(rng: random.Random) -> Flow:
    """Text in an editor, letters that no keyboard has among it."""
    text = "".join(rng.choice("abcdefgh éßжあ🙂") for _ in range(40)).strip() + "."
    return Flow(
        "editor",
        f"In mousepad type '{text}'",
        [
            act({"kind": "launch", "app": "mousepad"}),
            act({"kind": "type", "text": text, "target": "window[name*='Mousepad'] textbox"}),
            look(),
            finish("It is typed.", f"textbox[value*='{text[:12]}']"),
        ],
    )


def dialog(rng: random.Random) -> Flow:
    """A dialog that is filled in and closed."""
    name = f"Ana {rng.randrange(1000)}"
    return Flow(
        "dialog",
        f"Start zenity --entry, enter '{name}' and press OK",
        [
            act({"kind": "launch", "app": "zenity --entry --title=Visitor --text=Name"}),
            act({"kind": "fill", "target": "textbox", "text": name}),
            act({"kind": "click", "target": "button[name='OK']"}),
            finish("The dialog is filled in and closed.", "absent:dialog[name='Visitor']"),
        ],
    )


def page(rng: random.Random) -> Flow:
    """A page of the desktop's browser, given as a data address."""
    name = f"Lisbon {rng.randrange(1000)}"
    html = (
        "<title>Visa</title><label>City <input id=c></label><button onclick=\"document.title='Sent';"
        "document.body.innerHTML='<h1>Sent to '+c.value+'</h1>'\">Apply</button>"
    )
    return Flow(
        "page",
        f"Fill City with '{name}' and press Apply",
        [
            act({"kind": "launch", "app": f"data:text/html,{html}"}),
            act({"kind": "fill", "target": "textbox[name='City']", "text": name}),
            act({"kind": "click", "target": "button[name='Apply']"}),
            finish("Applied.", f"heading[name='Sent to {name}']"),
        ],
    )


def recorded(rng: random.Random) -> Flow:
    """A calculation of which a recording is made."""
    flow = calculator(rng)
    return Flow("recorded", flow.goal, flow.turns, {"record": True})


def patient(rng: random.Random) -> Flow:
    """A task that waits for what never comes, until it has waited enough."""
    seconds = rng.uniform(0.5, 3)
    return Flow(
        "patient",
        "Open an editor and see whether it says 'Ready'",
        [
            act({"kind": "launch", "app": "mousepad"}),
            {
                "calls": [
                    {"name": "wait_for", "input": {"selector": "button[name='Ready']", "timeout": seconds}}
                ]
            },
            {
                "calls": [
                    {
                        "name": "finish",
                        "input": {"status": "failure", "reason": "gave_up", "result": "It does not."},
                    }
                ]
            },
        ],
    )


FLOWS: dict[str, Callable[[random.Random], Flow]] = {
    make.__name__: make for make in (calculator, editor, dialog, page, recorded, patient)
}
