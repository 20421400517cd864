"""What a child is sent to do ten tasks: by differences, against the whole tree or a screenshot after every act.

``python benchmarks/tokens.py [--check]`` plays ten scripted tasks of eight acts and more on real apps and pages, one
act a call, through the tools that a child has. It prints a table, then one JSON line. Four characters count as a token,
a screenshot as 1,500 tokens, for us and for the others alike. Of what the others would send, only the trees or the
pictures count; of ours, all that the tools answered. Elements are acted on by the refs that were sent, and every fact
of a task's answer must have been sent, too: a text that leaves out what is needed ends the benchmark. ``--check``
exits 1 when our total is more than a quarter of the better of the other two.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from deskhand.messages import ToolCall
from deskhand.observers.eyes import Eyes
from deskhand.observers.node import quote
from deskhand.tools.desk import Desk, open_desktop
from deskhand.tools.toolbox import Toolbox

CHARS: Final = 4
PICTURE: Final = 1_500 * CHARS
SHARE: Final = 0.25
PAGES: Final = Path(__file__).parent / "pages"
APPS: Final = Path(__file__).parent.parent / "tests" / "apps"

Act = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Task:
    """A script: what is opened, the acts one by one (a target is a role and a name), what the answer says."""

    name: str
    opens: Sequence[str] | str
    ready: str
    acts: Sequence[Act]
    facts: Sequence[str]


@dataclass(kw_only=True)
class Sent:
    """Characters sent for one task, by us and by the others; ``text`` is all that we sent."""

    task: str
    acts: int = 0
    ours: int = 0
    trees: int = 0
    pictures: int = 0
    text: list[str] = field(default_factory=list)


def click(role: str, name: str) -> Act:
    return {"kind": "click", "target": (role, name)}


def fill(role: str, name: str, text: str) -> Act:
    return {"kind": "fill", "target": (role, name), "text": text}


def choose(name: str, option: str) -> Act:
    return {"kind": "select", "target": ("combobox", name), "option": option}


def toggle(name: str) -> Act:
    return {"kind": "toggle", "target": ("checkbox", name)}


def line(text: str) -> Act:
    return {"kind": "type", "text": text, "enter": True}


def keys(pressed: str) -> Act:
    return {"kind": "key", "keys": pressed}


def presses(names: str) -> list[Act]:
    return [click("button", name) for name in names.split()]


FORM: Final = ("Name", "Street", "Town", "Post code", "Country", "Phone", "Email", "Company")

TASKS: Final = (
    Task(
        name="calculator: a product, less eight",
        opens=["gnome-calculator"],
        ready="button[name='7']",
        acts=presses("1 2 × 3 4 = − 8 ="),
        facts=["400"],
    ),
    Task(
        name="calculator: a share of a sum",
        opens=["gnome-calculator"],
        ready="button[name='7']",
        acts=presses("7 5 ÷ 5 = × 4 ="),
        facts=["60"],
    ),
    Task(
        name="editor: a list with a heading",
        opens=["mousepad"],
        ready="textbox[multiline]",
        acts=[
            *map(line, ("milk", "bread", "butter", "apples", "rice")),
            keys("ctrl+Home"),
            line("To buy"),
            keys("ctrl+End"),
            line("six things"),
        ],
        facts=["To buy", "butter", "six things"],
    ),
    Task(
        name="editor: its preferences",
        opens=["mousepad"],
        ready="textbox[multiline]",
        acts=[
            {"kind": "menu", "path": ["Edit", "Preferences..."]},
            toggle("Show line numbers"),
            toggle("Highlight current line"),
            toggle("Wrap long lines"),
            toggle("Display whitespace"),
            toggle("Highlight matching brackets"),
            toggle("Display line endings"),
            click("tab", "Editor"),
            click("tab", "Window"),
        ],
        facts=["Mousepad Preferences", "Show line numbers", "it is on now"],
    ),
    Task(
        name="form: an address",
        opens=["zenity", "--forms", "--title=Address", "--text=Address", *(f"--add-entry={f}" for f in FORM)],
        ready="textbox[name='Company']",
        acts=[*(fill("textbox", each, f"{each} of Ana") for each in FORM), click("button", "OK")],
        facts=["Town of Ana", "Address"],
    ),
    Task(
        name="order: a dialog of six fields",
        opens=["python3", "/home/desk/gtk3_order.py", "/home/desk/order.json"],
        ready="button[name='Send order']",
        acts=[
            fill("textbox", "Name", "Ana Lima"),
            fill("textbox", "City", "Lisbon"),
            fill("spinbutton", "Quantity", "3"),
            choose("Size", "Large"),
            fill("textbox", "Notes", "ring twice"),
            toggle("Gift wrap"),
            fill("textbox", "City", "Porto"),
            fill("spinbutton", "Quantity", "4"),
        ],
        facts=["Porto", "ring twice", "Large"],
    ),
    Task(
        name="page: a booking in four screens",
        opens="wizard.html",
        ready="textbox[name='Full name']",
        acts=[
            fill("textbox", "Full name", "Ana Lima"),
            fill("textbox", "Email", "ana@example.org"),
            click("button", "Continue"),
            choose("Room", "Suite"),
            fill("spinbutton", "Nights", "3"),
            click("button", "Continue"),
            toggle("Breakfast"),
            click("radio", "Sea view"),
            click("button", "Continue"),
            fill("textbox", "Remarks", "late arrival"),
            click("button", "Send booking"),
        ],
        facts=["Booked", "Suite", "late arrival"],
    ),
    Task(
        name="page: invoices in a table",
        opens="table.html",
        ready="button[name='Pay 1001']",
        acts=[
            *(click("button", f"Pay {number}") for number in (1001, 1003, 1004, 1008)),
            click("button", "Next"),
            click("button", "Pay 1025"),
            fill("textbox", "Filter", "eva"),
            click("button", "By amount"),
            click("button", "Pay 1065"),
        ],
        facts=["paid so far"],
    ),
    Task(
        name="page: letters in a list",
        opens="mail.html",
        ready="button[name='Open Parcel 1']",
        acts=[
            click("button", "Open Parcel 3"),
            fill("textbox", "Answer", "Thank you"),
            click("button", "Send"),
            click("button", "Archive Parcel 3"),
            click("button", "Open Parcel 9"),
            click("button", "Archive Parcel 9"),
            click("button", "Archive Parcel 10"),
            click("button", "Open Parcel 17"),
        ],
        facts=["7026", "7104", "7208", "21 messages"],
    ),
    Task(
        name="page: preferences",
        opens="settings.html",
        ready="checkbox[name='General option 1']",
        acts=[
            *(toggle(f"General option {number}") for number in (2, 5, 9)),
            choose("General profile", "Strict"),
            toggle("Editor option 4"),
            toggle("Network option 7"),
            choose("Privacy profile", "Own"),
            toggle("Privacy option 11"),
            click("button", "Save"),
        ],
        facts=["8 changes were saved"],
    ),
)


class Child:
    """Plays a task by what it was sent, and nothing else."""

    def __init__(self, desk: Desk, others: Eyes, task: Task) -> None:
        self.desk, self.others, self.task = desk, others, task
        self.tools = Toolbox(desk)
        self.sent = Sent(task=task.name)

    async def play(self) -> Sent:
        await self._call("observe", {})
        await self._others()
        for act in self.task.acts:
            step = {**act, "target": self._ref(*act["target"])} if "target" in act else act
            await self._call("act", {"steps": [step]})
            await self._others()
            self.sent.acts += 1
        text = "\n".join(self.sent.text)
        missing = [fact for fact in self.task.facts if fact not in text]
        if missing or self.sent.acts < 8:
            raise SystemExit(f"{self.task.name}: never sent: {missing}; {self.sent.acts} acts\n{text}")
        return self.sent

    async def _call(self, name: str, arguments: dict[str, Any]) -> None:
        result = await self.tools.call(ToolCall(id="c", name=name, arguments=arguments))
        if result.is_error:
            raise SystemExit(f"{self.task.name}: {arguments}: {result.text}")
        self.sent.text.append(result.text)
        self.sent.ours += len(result.text) + PICTURE * len(result.images)

    async def _others(self) -> None:
        self.sent.trees += len((await self.others.observe()).text)
        self.sent.pictures += PICTURE

    def _ref(self, role: str, name: str) -> str:
        """The ref under which an element was last sent."""
        called = f" {re.escape(quote(name, 160))}" if name else ""
        found = re.findall(rf"\b{role}{called} \[(e\d+)\]", "\n".join(self.sent.text))
        if not found:
            text = "\n".join(self.sent.text)
            raise SystemExit(f"{self.task.name}: {role} {name!r} was never sent\n{text}")
        return str(found[-1])


async def play(task: Task) -> Sent:
    """One task on a desktop of its own."""
    async with open_desktop() as desk:
        home = Path(desk.desktop.home)  # type: ignore[attr-defined]
        shutil.copy(APPS / "gtk3_order.py", home)
        opens = task.opens
        if isinstance(opens, str):
            place = Path(desk.desktop.browser_command().downloads, opens)
            shutil.copy(next(each / opens for each in (PAGES, APPS) if (each / opens).is_file()), place)
            opens = f"file://{place}"
        await desk.launch(opens)
        await desk.wait_for(task.ready, timeout=30)
        work = desk.workspace
        assert work.browser is not None
        native = work.native._native  # type: ignore[attr-defined]
        return await Child(desk, Eyes(desk.desktop, native, work.browser), task).play()


def main() -> int:
    wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
    rows = [
        asyncio.run(play(task)) for task in TASKS if not wanted or any(word in task.name for word in wanted)
    ]
    print(
        f"{'tokens (characters / 4) sent':40} {'acts':>5} {'ours':>7} {'trees':>7} {'screenshots':>12} {'share':>6}"
    )
    for row in rows:
        share = row.ours / min(row.trees, row.pictures)
        print(
            f"{row.task:40} {row.acts:5} {row.ours // CHARS:7} {row.trees // CHARS:7} "
            f"{row.pictures // CHARS:12} {share:6.2f}"
        )
    ours, trees, pictures = (
        sum(getattr(row, each) for row in rows) for each in ("ours", "trees", "pictures")
    )
    share = ours / min(trees, pictures)
    acts = sum(row.acts for row in rows)
    print(f"{'all':40} {acts:5} {ours // CHARS:7} {trees // CHARS:7} {pictures // CHARS:12} {share:6.2f}")
    print(
        json.dumps(
            {
                "benchmark": "tokens",
                "tasks": len(rows),
                "acts": acts,
                "ours": ours // CHARS,
                "whole_trees": trees // CHARS,
                "screenshots": pictures // CHARS,
                "share": round(share, 3),
                "bound": SHARE,
            }
        )
    )
    return int("--check" in sys.argv and share > SHARE)


if __name__ == "__main__":
    sys.exit(main())
