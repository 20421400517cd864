"""The planner on what hides things and on values that the screen tells: in scripted worlds, and once on a real page."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskhand.messages import Json, Node, Rect
from deskhand.observers.node import walk
from deskhand.terms import Private
from deskhand.tools.desk import open_desktop
from planner_world import World, carry_out, node, run

SUBMIT = node("button", "Hand in")


def page(*children: Node) -> tuple[Node, ...]:
    return (node("document", "Page", *children),)


def answers(world: World, step: Json, aimed: Node | None) -> str | None:
    """Whatever is pressed by the name "Hand in" or as a link says so."""
    if step["kind"] != "click" or aimed is None or not (aimed.name == "Hand in" or aimed.role == "link"):
        return None
    world.say(node("status", "", node("text", f"{aimed.name or aimed.value}: received")))
    return "done"


def world_of(*children: Node) -> World:
    return World(roots=page(*children), rules=[answers], kind="page")


@pytest.mark.parametrize(
    ("goal", "value"),
    [
        ("Find the 3rd word in the paragraph, type it into the text field and press Hand in", "fox"),
        ("Copy the text in the paragraph, paste it into the text field and press Hand in", "A red fox ran."),
        ("Enter the value of Town into the text field and press Hand in", "Oslo"),
        ("Solve the math problem and type your answer into the text field. Press Hand in when done.", "42"),
        ("Solve for y, type the answer into the text field and press Hand in", "4"),
    ],
)
async def test_what_the_screen_tells_is_entered(goal: str, value: str) -> None:
    world = world_of(
        node("paragraph", value="A red fox ran."),
        node("table", "", node("row", "", node("cell", "Town"), node("cell", "Oslo"))),
        node("text", "6 × 7 ="),
        node("text", "3y - 2 = 10"),
        node("textbox", "", value="", states="editable"),
        SUBMIT,
    )
    outcome = await run(goal, world)
    assert outcome.succeeded, outcome
    assert next(each.value for each in walk(world.roots) if each.role == "textbox") == value


async def test_each_field_gets_what_is_said_of_its_label_and_none_is_guessed() -> None:
    rows = [node("row", "", node("cell", a), node("cell", b)) for a, b in (("Town", "Oslo"), ("Age", "31"))]
    fields = [node("textbox", name, value="", states="editable") for name in ("Age", "Town")]
    goal = "Enter the value that corresponds with each label into the form and press Hand in"
    world = world_of(node("table", "", *rows), *fields, SUBMIT)
    assert (await run(goal, world)).succeeded
    assert [each.value for each in walk(world.roots) if each.role == "textbox"] == ["31", "Oslo"]
    lacking = world_of(node("table", "", rows[0]), *fields, SUBMIT)
    outcome = await run(goal, lacking)
    assert not outcome.succeeded
    assert all(step["kind"] == "wait" for step in outcome.steps)


async def test_an_empty_field_tells_nothing_of_what_it_may_be_named_after() -> None:
    rows = node("table", "", node("row", "", node("cell", "Town"), node("cell", "Oslo")))
    field = node("textbox", "Town", value="", states="editable")
    world = world_of(rows, field, SUBMIT)
    assert (await run("Enter the value of Town into the text field and press Hand in", world)).succeeded
    assert [each.value for each in walk(world.roots) if each.role == "textbox"] == ["Oslo"]
    outcome = await run(
        "Enter the value of Town into the text field and press Hand in", world_of(field, SUBMIT)
    )
    assert not outcome.succeeded


async def test_both_fields_get_the_same_text() -> None:
    fields = [node("textbox", name, value="", states="editable") for name in ("One", "Two")]
    world = world_of(*fields, SUBMIT)
    assert (await run("Enter the code 'x7' into both text fields and press Hand in", world)).succeeded
    assert (world.value("One"), world.value("Two")) == ("x7", "x7")


def folders(names: tuple[str, ...], hidden: str) -> World:
    """Tabs of which only the last holds the link."""

    def switch(world: World, step: Json, aimed: Node | None) -> str | None:
        if step["kind"] != "click" or aimed is None or aimed.role != "tab":
            return None
        tabs = [node("tab", name, states="selected" if name == aimed.name else "") for name in names]
        inner = [node("link", hidden)] if aimed.name == names[-1] else [node("text", f"about {aimed.name}")]
        world.roots = page(*tabs, *inner)
        return "done"

    tabs = [node("tab", name, states="selected" if i == 0 else "") for i, name in enumerate(names)]
    return World(roots=page(*tabs, node("text", "about it")), rules=[switch, answers], kind="page")


async def test_tabs_are_gone_through_each_once_until_what_is_named_is_there() -> None:
    world = folders(("Home", "Work", "Attic"), "Old maps")
    outcome = await run("Switch between the tabs to find and click on the link 'Old maps'", world)
    assert outcome.succeeded, outcome
    pressed = [step for step in outcome.steps if step["kind"] == "click"]
    assert len(pressed) == 3


async def test_what_is_behind_no_tab_is_asked_for_after_all_were_looked_at() -> None:
    outcome = await run("press 'New maps'", folders(("Home", "Work", "Attic"), "Old maps"))
    assert outcome.end == "ask"
    assert "New maps" in outcome.result


async def test_results_are_counted_over_the_pages_they_come_on() -> None:
    pages = [("Ash", "Birch"), ("Cedar", "Date"), ("Elm",)]

    def turn(world: World, step: Json, aimed: Node | None) -> str | None:
        if step["kind"] != "click" or aimed is None or aimed.name != ">":
            return None
        here = next(i for i, names in enumerate(pages) if any(e.name == names[0] for e in walk(world.roots)))
        world.roots = shown(here + 1)
        return "done"

    def shown(number: int) -> tuple[Node, ...]:
        return page(*(node("link", name) for name in pages[number]), node("link", ">"))

    world = World(roots=shown(0), rules=[turn, answers], kind="page")
    outcome = await run("click the 4th search result", world)
    assert outcome.succeeded, outcome
    assert any("Date: received" in each.name for each in walk(world.roots))


async def test_a_question_in_the_way_is_declined_and_the_rest_goes_on() -> None:
    field = node("textbox", "Name", value="", states="editable")

    def pops(world: World, step: Json, aimed: Node | None) -> str | None:
        names = [each.name for each in walk(world.roots)]
        if step["kind"] == "click" and aimed is not None and aimed.name == "Not now":
            world.roots = page(field, SUBMIT)
            return "done"
        if step["kind"] == "fill" and "Seen" not in names:
            dialog = node(
                "dialog", "Seen", node("text", "Rate us?"), node("button", "Sure"), node("button", "Not now")
            )
            world.roots = page(node("textbox", "Name", value="", states="editable disabled"), SUBMIT, dialog)
            world.rules.remove(pops)
            world.rules.insert(0, closes)
            return "covered"
        return None

    def closes(world: World, step: Json, aimed: Node | None) -> str | None:
        if step["kind"] == "click" and aimed is not None and aimed.name == "Not now":
            world.roots = page(field, SUBMIT)
            return "done"
        return None

    world = World(roots=page(field, SUBMIT), rules=[pops, answers], kind="page")
    outcome = await run("set Name to Ana and press Hand in", world)
    assert outcome.succeeded, outcome
    assert world.value("Name") == "Ana"


async def test_a_button_is_pressed_again_until_it_brings_what_is_wanted() -> None:
    rolls = iter((3, 5, 2))

    def roll(world: World, step: Json, aimed: Node | None) -> str | None:
        if step["kind"] != "click" or aimed is None or aimed.name != "Roll":
            return None
        world.roots = page(node("text", str(next(rolls))), node("button", "Roll"), SUBMIT)
        return "done"

    world = World(roots=page(node("button", "Roll"), SUBMIT), rules=[roll, answers], kind="page")
    assert (await run("Roll an even number and press Hand in", world)).succeeded
    assert next(rolls, None) is None


async def test_a_menu_of_a_page_is_opened_by_the_pointer_and_only_its_last_entry_pressed() -> None:
    def opens(world: World, step: Json, aimed: Node | None) -> str | None:
        if step["kind"] == "move":
            world.roots = page(
                node("menuitem", "Tea", source="page"), node("menuitem", "Green", source="page")
            )
            return "done"
        return answers(world, step | {"kind": "click"}, aimed) if step["kind"] == "click" else None

    world = World(roots=page(node("menuitem", "Tea", source="page")), rules=[opens], kind="page")
    outcome = await run("Select Tea>Green", world)
    assert [step["kind"] for step in outcome.steps[:2]] == ["move", "click"]
    assert outcome.steps[1]["target"] == 'menuitem[name="Green"]'


async def test_a_letter_that_is_quoted_is_looked_for_as_it_is_written() -> None:
    world = world_of(node("link", "in"), node("link", "b"), node("link", "B"))
    assert (await run('click on the link "in"', world)).succeeded
    assert (await run('click on the item labeled "B"', world)).succeeded
    pressed = [step["target"] for step in world.steps if step["kind"] == "click"]
    assert pressed == ["e2", "e4"]


async def test_a_search_by_attributes_fills_each_field_or_does_nothing() -> None:
    def form() -> World:
        fields = [node("textbox", name, value="", states="editable") for name in ("Kind", "Painter", "Year")]
        return world_of(*fields, node("button", "Search"))

    world = form()
    await run("Search for oil pictures painted by Munch from year 1893", world)
    assert [world.value(name) for name in ("Kind", "Painter", "Year")] == ["oil", "Munch", "1893"]
    strange = form()
    await run("Search for pictures nobody has seen", strange)
    assert [strange.value(name) for name in ("Kind", "Painter", "Year")] == ["", "", ""]


async def test_a_press_that_shows_nothing_is_not_called_a_success() -> None:
    def silent(world: World, step: Json, aimed: Node | None) -> str | None:
        return "done" if step["kind"] == "click" else None

    world = World(roots=page(node("checkbox", "Agree"), SUBMIT), rules=[silent], kind="page")
    outcome = await run("check Agree and press Hand in", world)
    assert outcome.end == "finish"
    assert outcome.arguments["status"] == "failure"
    assert "Nothing on the screen shows" in outcome.result


async def test_a_label_in_the_line_of_a_field_counts_before_one_above_it() -> None:
    above = node("text", "Kind", rect=Rect(10, 80, 100, 18))
    field = node("textbox", "", value="", states="editable", rect=Rect(70, 100, 100, 20))
    world = world_of(above, node("text", "Size:", rect=None), field, SUBMIT)
    assert (await run("set Size to 4 and press Hand in", world)).succeeded


PAGE = """<title>Garden</title><style>.more { cursor: pointer; color: navy } [hidden] { display: none }</style>
<div role=tablist><button role=tab aria-selected=true onclick="show(this, a)">Plants</button>
<button role=tab aria-selected=false onclick="show(this, b)">Tools</button></div>
<p id=a>Nothing grows without <span class=more onclick="said('water')">water</span>, they say.</p>
<p id=b hidden>A spade, a rake and <span class=more onclick="said('twine')">twine</span> are enough.</p>
<p>Planted on <input id=day readonly onclick="cal.hidden = false" aria-label="planting day"></p>
<div id=cal hidden><button onclick="turn(-1)">‹</button> <b id=title></b> <button onclick="turn(1)">›</button>
<div id=days></div></div><button onclick="said('planted ' + day.value)">Plant</button><p role=status id=out></p>
<script>
const names = 'January February March April May June July August September October November December'.split(' ');
let month = 0;
const said = (text) => { out.textContent = 'Noted: ' + text; };
const show = (tab, part) => {
  for (const t of document.querySelectorAll('[role=tab]')) t.setAttribute('aria-selected', t === tab);
  a.hidden = part !== a; b.hidden = part !== b; };
const turn = (by) => { month += by; title.textContent = names[month] + ' 2031'; days.innerHTML = '';
  for (let d = 1; d <= 28; d++) { const e = document.createElement('button'); e.textContent = d;
    e.onclick = () => { day.value = `${month + 1}/${d}/2031`; cal.hidden = true; }; days.append(e); } };
turn(0);
</script>"""


async def test_tabs_words_in_a_text_and_a_calendar_on_a_real_page(tmp_path: Path) -> None:
    path = tmp_path / "garden.html"
    path.write_text(PAGE)
    async with open_desktop(Private(share=(str(tmp_path),))) as desk:
        found = await carry_out(
            desk, f"open {path.as_uri()}, then find and click on the link 'twine' and tell me the message"
        )
        assert (found["status"], found["result"]) == ("success", "Noted: twine")
        done = await carry_out(
            desk, "Set the planting day to April 9, 2031, press Plant and tell me the message"
        )
        assert (done["status"], done["result"]) == ("success", "Noted: planted 4/9/2031")
