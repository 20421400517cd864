"""Flows over several screens and dialogs in one batch; where reality differs, nothing wrong is done and it is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from desk_helpers import all_done, effects
from deskhand.messages import BatchReport, Json
from deskhand.tools.desk import Desk
from deskhand.tools.wording import batch_text

APPS = Path(__file__).parents[1] / "apps"

CONTINUE = {"kind": "click", "target": "button[name='Continue']"}
BOOKING: list[Json] = [
    {"kind": "fill", "target": "textbox[name='Full name']", "text": "Zoë Ångström"},
    {"kind": "fill", "target": "textbox[name='Email']", "text": "zoe@example.org"},
    CONTINUE,
    {"kind": "select", "target": "combobox[name='Room']", "option": "Suite"},
    {"kind": "fill", "target": "spinbutton[name='Nights']", "text": "3"},
    CONTINUE,
    {"kind": "toggle", "target": "checkbox[name='Breakfast']", "on": True},
    {"kind": "click", "target": "radio[name='Sea view']"},
    CONTINUE,
    {"kind": "fill", "target": "textbox[name='Remarks']", "text": "Late arrival,\nabout 23:00"},
    {"kind": "click", "target": "button[name='Send booking']"},
    {"kind": "wait", "for": "heading[name='Booked']"},
]
BOOKED = {
    "name": "Zoë Ångström",
    "email": "zoe@example.org",
    "room": "Suite",
    "nights": "3",
    "breakfast": True,
    "view": "sea",
    "remarks": "Late arrival,\nabout 23:00",
}


async def _wizard(desk: Desk, home: Path, query: str = "") -> None:
    shutil.copy(APPS / "wizard.html", home / "wizard.html")
    await desk.launch(f"file:///home/desk/wizard.html{query}")


async def _booked(desk: Desk) -> Any:
    found, total = await desk.find("status")
    if not total:
        return None
    return json.loads(found[0].name or found[0].value or "".join(each.name for each in found[0].children))


async def test_a_wizard_of_four_screens_is_filled_and_sent_in_one_batch(desk: Desk, home: Path) -> None:
    await _wizard(desk, home)
    all_done(await desk.act(BOOKING))
    assert await _booked(desk) == BOOKED


@pytest.mark.long
async def test_a_wizard_whose_screens_come_three_seconds_late_is_still_one_batch(
    desk: Desk, home: Path
) -> None:
    await _wizard(desk, home, "?slow=3")
    all_done(await desk.act(BOOKING))
    assert await _booked(desk) == BOOKED


@pytest.mark.parametrize(
    ("order", "stops_at", "there"),
    [
        ("name,extras,pay", 4, "Extras"),
        ("name,room,pay", 7, "Check and send"),
        ("name,extras,room,pay", 4, "Extras"),
        ("name,pay", 4, "Check and send"),
    ],
)
async def test_a_wizard_with_other_screens_stops_before_anything_wrong_is_done(
    order: str, stops_at: int, there: str, desk: Desk, home: Path
) -> None:
    await _wizard(desk, home, f"?order={order}")
    report = await desk.act([{**step, "timeout": 1.5} for step in BOOKING])
    assert effects(report) == ["done"] * (stops_at - 1) + ["not_found"], batch_text(report)
    assert report.not_run == len(BOOKING) - stops_at
    assert await _booked(desk) is None, "nothing was sent"
    _says_how_to_go_on(report, there)


def _says_how_to_go_on(report: BatchReport, there: str) -> None:
    """The report names the step that could not be done, the first one not run, and what is on the screen."""
    said = batch_text(report)
    stopped, following = report.steps[-1], BOOKING[len(report.steps)]
    assert f"step {stopped.index} could not be done" in said
    assert f"{report.not_run} not run, next would be: {following['kind']}" in said
    assert str(stopped.step["target"]) in stopped.message
    assert there in said, said


# --- a dialog of six fields ---------------------------------------------------------------------------------------

ORDER: list[Json] = [
    {"kind": "fill", "target": "textbox[name='Name']", "text": "Zoë Ångström"},
    {"kind": "fill", "target": "textbox[name='City']", "text": "Kraków"},
    {"kind": "fill", "target": "spinbutton[name='Quantity']", "text": "12"},
    {"kind": "select", "target": "combobox[name='Size']", "option": "Large"},
    {"kind": "fill", "target": "textbox[name='Notes']", "text": "日本語 ✓"},
    {"kind": "toggle", "target": "checkbox[name='Gift wrap']", "on": True},
    {"kind": "click", "target": "button[name='Send order']"},
]
ORDERED = {
    "Name": "Zoë Ångström",
    "City": "Kraków",
    "Quantity": 12,
    "Size": "Large",
    "Notes": "日本語 ✓",
    "Gift wrap": True,
}


async def _order(desk: Desk, home: Path, *options: str) -> Path:
    shutil.copy(APPS / "gtk3_order.py", home / "order.py")
    await desk.launch(["/usr/bin/python3", "/home/desk/order.py", "/home/desk/out.json", *options])
    return home / "out.json"


async def test_a_dialog_of_six_fields_is_filled_and_sent_in_one_batch(desk: Desk, home: Path) -> None:
    out = await _order(desk, home)
    all_done(await desk.act(ORDER))
    assert json.loads(out.read_text("utf-8")) == ORDERED


async def test_a_dialog_whose_button_comes_three_seconds_late_is_still_one_batch(
    desk: Desk, home: Path
) -> None:
    out = await _order(desk, home, "--slow", "3")
    all_done(await desk.act(ORDER))
    assert json.loads(out.read_text("utf-8")) == ORDERED


@pytest.mark.parametrize(("field", "stops_at"), [("Quantity", 3), ("Gift wrap", 6)])
async def test_a_dialog_that_lacks_a_field_is_not_sent(
    field: str, stops_at: int, desk: Desk, home: Path
) -> None:
    out = await _order(desk, home, "--without", field)
    report = await desk.act([{**step, "timeout": 1.0} for step in ORDER])
    assert effects(report) == ["done"] * (stops_at - 1) + ["not_found"], batch_text(report)
    assert field in report.steps[-1].message
    assert not out.exists()


async def test_an_optional_step_lets_a_dialog_without_its_field_be_sent(desk: Desk, home: Path) -> None:
    out = await _order(desk, home, "--without", "Size")
    report = await desk.act([{**step, "optional": "Size" in str(step["target"])} for step in ORDER])
    all_done(report, "skipped")
    assert effects(report)[3] == "skipped"
    assert json.loads(out.read_text("utf-8")) == {k: v for k, v in ORDERED.items() if k != "Size"}
