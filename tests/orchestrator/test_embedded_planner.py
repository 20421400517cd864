"""The planner in scripted worlds: what it does, what it reports, what it proves, and how it ends honestly."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from deskhand.messages import Json, Node
from deskhand.observers.node import walk
from deskhand.observers.selector import parse_selector
from planner_world import Outcome, World, node, run


def calculator() -> tuple[Node, ...]:
    keys = [node("button", sign) for sign in "7 8 9 ÷ 4 5 6 × 1 2 3 − 0 . = +".split()]
    display = node("textbox", value="", states="editable focused")
    return (node("window", "Sums", display, *keys, app="sum-app"),)


def sums(world: World, step: Json, aimed: Node | None) -> str | None:
    """Buttons write into the display; "=" works it out."""
    if step["kind"] != "click" or aimed is None or world.roots[0].name != "Sums":
        return None
    display = next(each for each in walk(world.roots) if each.role == "textbox")
    text = display.value or ""
    if aimed.name == "=":
        text = str(eval(text.replace("×", "*").replace("÷", "/").replace("−", "-")))
    else:
        text += aimed.name
    world.put(display, value=text)
    return "done"


def shop() -> tuple[Node, ...]:
    return (
        node(
            "document",
            "Order",
            node("heading", "Order a mug"),
            node("textbox", "Name"),
            node("textbox", "E-mail"),
            node("radiogroup", "Colour", node("radio", "Red"), node("radio", "Blue")),
            node("combobox", "Size", node("option", "Small"), node("option", "Large"), value="Small"),
            node("checkbox", "Gift wrap"),
            node("checkbox", "Newsletter", states="checked"),
            node("button", "Buy"),
            node("button", "Clear"),
            node("status"),
        ),
    )


def ordering(world: World, step: Json, aimed: Node | None) -> str | None:
    """Buy says what was ordered in the status line."""
    if step["kind"] != "click" or aimed is None or aimed.name != "Buy":
        return None
    state = {each.name: each for each in walk(world.roots)}
    colour = next((name for name in ("Red", "Blue") if "checked" in state[name].states), "no")
    said = f"Thank you, {state['Name'].value}: one {colour} mug ({state['Size'].value})."
    world.put(
        next(each for each in walk(world.roots) if each.role == "status"), children=(node("text", said),)
    )
    return "done"


def sum_world() -> World:
    return World(apps={"sum-app": calculator()}, rules=[sums])


def shop_world() -> World:
    return World(apps={"http://shop.test/": shop()}, rules=[ordering])


def kinds(outcome: Outcome) -> list[str]:
    return [step["kind"] for step in outcome.steps if step["kind"] != "wait"]


def evidence_holds(outcome: Outcome, world: World) -> bool:
    """Whether what was named as evidence is so in the world, by other code than the planner's."""
    words = " ".join(f"{each.name} {each.value or ''}" for each in walk(world.roots))
    for proof in outcome.arguments["evidence"]:
        if proof.startswith('"'):
            if json.loads(proof) not in words:
                return False
        elif bool(parse_selector(proof.removeprefix("absent:")).match(world.roots)) == proof.startswith(
            "absent:"
        ):
            return False
    return bool(outcome.arguments["evidence"])


@pytest.mark.parametrize(
    "goal",
    [
        "in sum-app press 1, 2, ×, 3, 4, = and tell me the result",
        "In sum-app, press 1 then 2 then * then 3 then 4 then equals, and report the answer.",
        "Open sum-app. Click 1, 2, times, 3, 4 and =. What does the display show?",
        "In sum-app compute 12 × 34 and tell me the result",
        "Compute 12*34 in sum-app",
        "What is 12 times 34? Use the sum-app.",
        "Please launch the sum-app application and calculate 12 x 34, then read me the answer",
        "using sum-app, work out 12 multiplied by 34 and give me the result",
    ],
)
async def test_a_sum_is_pressed_key_by_key_and_the_display_reported(goal: str) -> None:
    world = sum_world()
    outcome = await run(goal, world)
    assert outcome.succeeded, outcome
    assert outcome.result == "408"
    assert kinds(outcome) == ["launch"] + ["click"] * 6
    assert evidence_holds(outcome, world)


async def test_what_is_left_on_the_display_is_cleared_before_a_sum() -> None:
    world = sum_world()
    world.roots = calculator()
    world.observe()
    world.put(world.roots[0].children[0], value="5")
    assert (await run("in sum-app compute 2 + 3", world)).result == "5"


async def test_a_display_that_still_shows_what_was_entered_is_no_result() -> None:
    def stuck(world: World, step: Json, aimed: Node | None) -> str | None:
        return "done" if step["kind"] == "click" and aimed is not None and aimed.name == "=" else None

    world = sum_world()
    world.rules.insert(0, stuck)
    outcome = await run("in sum-app press 1, +, 2, = and tell me the result", world)
    assert not outcome.succeeded


@pytest.mark.parametrize(
    "goal",
    [
        "In sum-app frobnicate the third moon",
        "in sum-app frobnicate, press 1",
        "in sum-app frobnicate and press 1",
    ],
)
async def test_words_that_nobody_understood_are_never_part_of_a_command(goal: str) -> None:
    outcome = await run(goal, sum_world())
    assert outcome.arguments.get("reason") == "not_understood"
    assert outcome.steps == []


@pytest.mark.parametrize(
    "goal",
    [
        "open http://shop.test/, set Name to Ana, choose Blue, press Buy, and report the confirmation",
        "Go to http://shop.test/. Fill in Name with Ana. Select Blue as the colour. Click Buy. Tell me the message.",
        "visit http://shop.test/ and type 'Ana' into the Name field, pick Blue, hit the Buy button and say what is new",
        "Open http://shop.test/ in the browser, enter Ana in Name, set Colour to Blue, then click on Buy; report back",
        "On http://shop.test/ put Ana in the name box, choose Blue from Colour, press Buy and tell me the status",
    ],
)
async def test_a_form_is_filled_and_its_answer_reported(goal: str) -> None:
    world = shop_world()
    outcome = await run(goal, world)
    assert outcome.succeeded, outcome
    assert outcome.result == "Thank you, Ana: one Blue mug (Small)."
    assert kinds(outcome) == ["launch", "fill", "select", "click"]
    assert evidence_holds(outcome, world)


async def test_options_and_boxes_are_brought_to_the_state_that_was_said() -> None:
    world = shop_world()
    outcome = await run(
        "open http://shop.test/, select Large from Size, check Gift wrap and uncheck Newsletter", world
    )
    assert outcome.succeeded
    assert world.value("Size") == "Large"
    states = {each.name: "checked" in each.states for each in walk(world.roots) if each.role == "checkbox"}
    assert states == {"Gift wrap": True, "Newsletter": False}
    assert evidence_holds(outcome, world)


async def test_what_is_so_already_is_left_alone() -> None:
    world = shop_world()
    outcome = await run("open http://shop.test/, choose Small from Size and check Newsletter", world)
    assert outcome.succeeded
    assert kinds(outcome) == ["launch"]


async def test_a_field_or_a_state_can_be_read() -> None:
    outcome = await run("open http://shop.test/ and tell me the size and the newsletter", shop_world())
    assert outcome.result == "the size: Small\nthe newsletter: checked"


async def test_inputs_fill_the_form_by_label() -> None:
    world = shop_world()
    outcome = await run(
        "open http://shop.test/, press Buy and report the confirmation",
        world,
        inputs={"Name": "Ana", "Colour": "Red"},
    )
    assert outcome.result == "Thank you, Ana: one Red mug (Small)."


async def test_a_part_that_is_not_understood_is_named_before_anything_is_done() -> None:
    outcome = await run("open http://shop.test/, set Name to Ana and haggle over the price", shop_world())
    assert outcome.end == "ask"
    assert outcome.arguments["reason"] == "not_understood"
    assert outcome.arguments["clause"] == "haggle over the price"
    assert outcome.steps == []


async def test_an_element_that_is_not_there_ends_in_a_question_with_what_is() -> None:
    outcome = await run("open http://shop.test/, choose Green, press Buy", shop_world())
    assert outcome.end == "ask"
    assert "“Green”" in outcome.result
    assert "“Blue”" in outcome.result
    assert "click" not in kinds(outcome)


async def test_two_equal_elements_are_asked_about_and_neither_is_pressed() -> None:
    world = World(
        roots=(node("window", "Mail", node("button", "Delete"), node("button", "Delete"), app="mail"),)
    )
    outcome = await run("press Delete", world)
    assert outcome.end == "ask"
    assert "2 elements" in outcome.result
    assert outcome.steps == []


async def test_an_answer_settles_what_was_asked() -> None:
    world = World(
        roots=(node("window", "Mail", node("button", "Delete"), node("button", "Delete"), app="mail"),)
    )
    world.rules.append(
        lambda w, step, aimed: w.say(node("status", "Gone")) or "done" if step["kind"] == "click" else None
    )
    outcome = await run("press Delete and tell me the result", world, answers=["the second"])
    assert outcome.result == "Gone"
    assert [step["target"] for step in outcome.steps] == ["e3"]


async def test_an_ordinal_picks_among_equals() -> None:
    world = World(
        roots=(node("window", "Mail", node("button", "Delete"), node("button", "Delete"), app="mail"),)
    )
    await run("click the second Delete button", world)
    assert [step["target"] for step in world.steps] == ["e3"]


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("Subscribe", "Unsubscribe"),
        ("Save", "Don't Save"),
        ("Option 1", "Option 2"),
        ("Enable", "Disable"),
        ("Send", "Spend"),
    ],
)
async def test_a_name_of_another_meaning_is_never_pressed(said: str, there: str) -> None:
    world = World(roots=(node("window", "W", node("button", there), app="w"),))
    outcome = await run(f"press {said}", world)
    assert outcome.end == "ask"
    assert "click" not in kinds(outcome)


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("Buy", "Buy now"),
        ("sumbit", "Submit"),
        ("the OK button", "OK"),
        ("save as", "Save As…"),
        ("Email", "E-mail"),
        ("'Log in'", "Log in"),
    ],
)
async def test_a_name_is_found_in_spite_of_its_spelling(said: str, there: str) -> None:
    world = World(roots=(node("window", "W", node("button", there), node("button", "Cancel"), app="w"),))
    await run(f"press {said}", world)
    assert [step["target"] for step in world.steps] == ["e2"]


async def test_an_exact_name_wins_over_one_that_holds_it() -> None:
    world = World(roots=(node("window", "W", node("button", "Save As"), node("button", "Save"), app="w"),))
    await run("press Save", world)
    assert [step["target"] for step in world.steps] == ["e3"]


async def test_a_name_with_and_in_it_is_one_element() -> None:
    world = World(
        roots=(
            node("window", "W", node("checkbox", "Terms and Conditions"), node("checkbox", "Terms"), app="w"),
        )
    )
    assert (await run("check Terms and Conditions", world)).succeeded
    assert [step["target"] for step in world.steps] == ["e2"]


async def test_a_disabled_button_is_not_pressed_and_said_to_be_so() -> None:
    world = World(roots=(node("window", "W", node("button", "Buy", states="disabled"), app="w"),))
    outcome = await run("press Buy", world)
    assert (outcome.end, outcome.arguments.get("reason")) == ("finish", "infeasible")
    assert "disabled" in outcome.result
    assert "click" not in kinds(outcome)


async def test_what_appears_late_is_waited_for() -> None:
    world = World(roots=(node("window", "W", node("button", "Start"), app="w"),))
    waits: list[int] = []

    def late(world: World, step: Json, aimed: Node | None) -> str | None:
        if step["kind"] == "wait":
            waits.append(1)
            if len(waits) == 2:
                world.say(node("button", "Next"))
        return "done" if step["kind"] == "click" else None

    world.rules.append(late)
    await run("press Start, press Next", world)
    assert kinds(Outcome("", {}, world.steps)) == ["click", "click"]


async def test_an_element_that_moved_away_is_found_again() -> None:
    world = World(roots=(node("window", "W", node("button", "One"), node("button", "Two"), app="w"),))

    def shift(world: World, step: Json, aimed: Node | None) -> str | None:
        if step["kind"] == "click" and aimed is not None and aimed.name == "One":
            world.roots = (
                node(
                    "window", "W", node("text", "new"), node("text", "more"), node("button", "Two"), app="w"
                ),
            )
            return "done"
        return "done" if step["kind"] == "click" else None

    world.rules.append(shift)
    outcome = await run("press One, Two", world)
    assert outcome.succeeded, outcome
    assert [step["target"] for step in world.steps if step["kind"] == "click"] == ["e2", "e3", "e4"]


async def test_a_press_that_changes_nothing_is_no_success() -> None:
    world = World(roots=(node("window", "W", node("button", "Buy"), app="w"),))
    outcome = await run("press Buy", world)
    assert outcome.arguments["status"] == "failure"
    assert "changed nothing" in outcome.result


async def test_a_result_that_never_shows_is_no_success() -> None:
    world = World(roots=(node("window", "W", node("button", "Buy"), app="w"),))
    outcome = await run("press Buy and tell me the confirmation", world)
    assert outcome.arguments["status"] == "failure"
    assert "confirmation" in outcome.result


async def test_an_app_that_cannot_be_started_is_asked_about() -> None:
    outcome = await run("in nosuchapp press OK", World())
    assert outcome.end == "ask"
    assert "nosuchapp" in outcome.result


def dialog(extra: str = "") -> tuple[Node, ...]:
    fields = (node("textbox", "Name", states="editable"), node("textbox", "City", states="editable"))
    return (
        node("dialog", f"Contact{extra}", *fields, node("button", "Cancel"), node("button", "OK"), app="zen"),
    )


async def test_a_dialog_that_closes_is_proved_by_its_absence() -> None:
    world = World(roots=dialog())
    world.rules.append(
        lambda w, step, aimed: setattr(w, "roots", ()) or "done" if step["kind"] == "click" else None
    )
    outcome = await run("in the form fill Name with Ana and City with Rome and press OK", world)
    assert outcome.succeeded, outcome
    assert [step.get("text") for step in world.steps] == ["Ana", "Rome", None]
    assert outcome.arguments["evidence"] == ['absent:dialog[name="Contact"]']


def editor(title: str, *children: Node) -> Node:
    menus = node(
        "menubar", "", node("menuitem", "File", node("menuitem", "Save As…", rect=None, states="offscreen"))
    )
    return node(
        "window",
        title,
        menus,
        node("textbox", value="", states="editable multiline focused"),
        *children,
        app="pad",
    )


def saving(world: World, step: Json, aimed: Node | None) -> str | None:
    """Save As brings a dialog; its Save gives the window the file's name."""
    if step["kind"] == "menu":
        box = node(
            "dialog",
            "Save As",
            node("textbox", "Name:", value="", states="editable"),
            node("button", "Save"),
            app="pad",
        )
        world.roots = (box, *world.roots)
        return "done"
    if step["kind"] == "click" and aimed is not None and aimed.name == "Save":
        path = next(each.value for each in walk(world.roots) if each.name == "Name:") or ""
        world.roots = (replace(world.roots[1], name=f"{path.rsplit('/', 1)[-1]} - Pad"),)
        return "done"
    return None


@pytest.mark.parametrize(
    ("goal", "path"),
    [
        ("in pad type 'hello' and save it as note.txt in my home", "~/note.txt"),
        ('Open pad, write "hello", then save the file as note.txt in Documents', "~/Documents/note.txt"),
        ("in pad type 'hello' and save it as /tmp/note.txt", "/tmp/note.txt"),
        ("in pad type the text 'hello', save it in my Documents folder as note.txt", "~/Documents/note.txt"),
        ("in pad enter 'hello' and save as note.txt", "note.txt"),
    ],
)
async def test_a_document_is_saved_through_the_dialog_that_asks_for_its_name(goal: str, path: str) -> None:
    world = World(apps={"pad": (editor("Untitled - Pad"),)}, rules=[saving])
    outcome = await run(goal, world)
    assert outcome.succeeded, outcome
    assert [step["text"] for step in world.steps if "text" in step] == ["hello", path]
    assert outcome.arguments["evidence"][0] == 'window[name*="note.txt"]'


async def test_a_dialog_that_asks_to_replace_a_file_is_put_to_the_caller() -> None:
    def replacing(world: World, step: Json, aimed: Node | None) -> str | None:
        if step["kind"] == "click" and aimed is not None and aimed.name == "Save":
            world.roots = (
                node("alertdialog", "Replace?", node("button", "Replace"), node("button", "Cancel")),
                world.roots[1],
            )
            return "done"
        return None

    world = World(roots=(editor("Untitled - Pad"),), rules=[replacing, saving])
    outcome = await run("in pad type 'x' and save it as note.txt", world)
    assert outcome.end == "ask"
    assert "Replace?" in outcome.result


async def test_a_window_that_is_behind_comes_to_the_front_first() -> None:
    world = World(
        roots=(node("window", "One", app="one"), node("window", "Two", node("button", "Go"), app="two"))
    )
    world.rules.append(
        lambda w, step, aimed: w.say(node("text", "gone")) or "done" if step["kind"] == "click" else None
    )
    assert (await run("in Two press Go", world)).succeeded
    assert world.steps[0] == {"kind": "window", "do": "focus", "title": "Two"}


async def test_keys_are_pressed_where_no_element_has_their_name() -> None:
    world = World(roots=(node("window", "W", node("button", "Tab"), app="w"),))
    await run("press Ctrl+Shift+T, press Enter, press Page Down", world)
    assert [step["keys"] for step in world.steps] == ["ctrl+shift+t", "Return", "Page_Down"]


async def test_a_secret_is_passed_on_by_its_name() -> None:
    world = World(
        roots=(node("window", "W", node("textbox", "Password", states="editable password"), app="w"),)
    )
    await run("set Password to <secret:pw>", world)
    assert world.steps[0]["text"] == "<secret:pw>"


async def test_every_goal_ends_in_a_bounded_number_of_turns() -> None:
    for effect in ("not_found", "busy", "covered", "not_supported", "effect_unknown", "no_change"):
        world = World(roots=shop(), rules=[lambda w, step, aimed, effect=effect: effect])  # type: ignore[misc]
        outcome = await run(
            "set Name to Ana, choose Blue, press Buy and tell me the confirmation", world, turns=30
        )
        assert outcome.end in ("ask", "finish")
        assert outcome.arguments.get("status") != "success"


async def test_the_planner_needs_nothing_but_the_transcript() -> None:
    world = sum_world()
    # `run` uses one object; here every turn has a new one that only gets what a transcript file would keep
    from deskhand.messages import Results, Turn, Words
    from deskhand.orchestrator.models.embedded import EmbeddedModel

    goal = "in sum-app press 1, +, 2, = and tell me the result"
    transcript: list[object] = [Words(role="user", text=goal, goal=goal, observation=world.observe())]
    for _ in range(10):
        turn = await EmbeddedModel().turn(transcript, [])  # type: ignore[arg-type]
        if turn.calls[0].name == "finish":
            break
        from planner_world import _answer

        transcript.append(replace(turn, raw=json.loads(json.dumps(turn.raw))))
        transcript.append(Results(results=(_answer(turn.calls[0], world, []),)))
    assert isinstance(turn, Turn)
    assert turn.calls[0].arguments["result"] == "3"


async def test_what_a_press_brings_late_is_waited_for_once() -> None:
    world = World(roots=(node("window", "Mail", node("button", "Send"), app="mail"),))

    def late(world: World, step: Json, aimed: Node | None) -> str | None:
        if step.get("for") == "change":
            world.say(node("text", "Your message was sent"))
            return "done"
        return None

    world.rules.append(late)
    outcome = await run("press Send", world)
    assert outcome.succeeded
    assert '"Your message was sent"' in outcome.arguments["evidence"]
    assert len(world.waits) == 1


async def test_a_press_that_brings_nothing_is_no_success() -> None:
    world = World(roots=(node("window", "Mail", node("button", "Send"), app="mail"),))
    outcome = await run("press Send", world)
    assert outcome.end == "finish"
    assert outcome.arguments["status"] == "failure"
    assert len(world.waits) == 1
