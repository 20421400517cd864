"""Batches on the in-memory desktop: order, policy, honesty of the report."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from deskhand.errors import InvalidStep, TargetError
from deskhand.messages import Image, Json, Node, Point, StepReport, Target
from deskhand.tools.wording import batch_text
from fake_desk import Element, World, open_fake_desk


def form(**more: Any) -> World:
    def greet(world: World) -> None:
        name = next(each for each in world.elements() if each.name == "Name")
        world.windows[0].children.append(Element("status", f"Hello {name.value}"))

    return World(
        [
            Element(
                "window",
                "Form",
                [
                    Element("textbox", "Name", value="old"),
                    Element("textbox", "Password", states={"password"}, value=""),
                    Element("checkbox", "Newsletter"),
                    Element("combobox", "Size", [Element("option", "S"), Element("option", "M")], value="S"),
                    Element("button", "Nothing"),
                    Element("button", "Send", on_invoke=greet),
                    Element("button", "Grey", states={"disabled"}),
                    *more.get("elements", ()),
                ],
            ),
        ]
    )


async def test_a_form_is_filled_and_sent_in_one_batch() -> None:
    desk = open_fake_desk(form())
    report = await desk.act(
        [
            {"kind": "fill", "target": "textbox[name='Name']", "text": "Ana"},
            {"kind": "toggle", "target": "checkbox[name='Newsletter']", "on": True},
            {"kind": "select", "target": "combobox[name='Size']", "option": "m"},
            {"kind": "click", "target": "button[name='Send']"},
            {"kind": "check", "selector": "status[name='Hello Ana']"},
        ]
    )
    assert [step.effect for step in report.steps] == ["done"] * 5
    assert (report.not_run, report.stopped) == (0, "")
    assert report.after is not None
    assert "Hello Ana" in report.after.text


async def test_nothing_runs_when_any_step_is_wrong() -> None:
    world = form()
    desk = open_fake_desk(world)
    with pytest.raises(InvalidStep, match=r"step 2 \(click\)"):
        await desk.act([{"kind": "fill", "target": "textbox[name='Name']", "text": "x"}, {"kind": "click"}])
    assert world.version == 0


async def test_a_key_without_effect_stops_the_batch_and_the_report_says_how_to_go_on() -> None:
    desk = open_fake_desk(form())
    report = await desk.act(
        [{"kind": "key", "keys": "F5"}, {"kind": "click", "target": "button[name='Send']"}]
    )
    assert [step.effect for step in report.steps] == ["no_change"]
    assert report.not_run == 1
    text = batch_text(report)
    assert "step 1 changed nothing" in text
    assert "next would be: click button[name='Send']" in text
    assert "the control may already have been in that state" in text


@pytest.mark.parametrize(("policy", "ran"), [("never", 3), ("auto", 1), ("always", 1)])
async def test_the_stop_policy_is_followed(policy: str, ran: int) -> None:
    desk = open_fake_desk(form())
    report = await desk.act([{"kind": "key", "keys": "F5"}] * 3, on_no_change=policy)
    assert len(report.steps) == ran


async def test_a_wheel_that_moves_nothing_only_stops_when_asked_to() -> None:
    steps = [{"kind": "scroll", "down": 1}] * 2
    assert len((await open_fake_desk(form()).act(steps)).steps) == 2
    assert len((await open_fake_desk(form()).act(steps, on_no_change="always")).steps) == 1


async def test_several_matches_are_listed_and_none_is_acted_on() -> None:
    pressed: list[str] = []
    twins = [Element("button", "Delete", on_invoke=lambda _: pressed.append("x")) for _ in range(2)]
    desk = open_fake_desk(form(elements=twins))
    report = await desk.act(
        [{"kind": "click", "target": "button[name='Delete']"}, {"kind": "key", "keys": "a"}]
    )
    (step,) = report.steps
    assert (step.effect, report.not_run, pressed) == ("ambiguous", 1, [])
    assert step.message.count('button "Delete"') == 2
    assert "[e" in step.message


async def test_the_first_candidate_that_exists_is_used() -> None:
    desk = open_fake_desk(form())
    report = await desk.act([{"kind": "click", "target": ["button[name='Submit']", "button[name='Send']"]}])
    assert report.steps[0].target is not None
    assert report.steps[0].target.name == "Send"


async def test_a_target_that_comes_later_is_waited_for() -> None:
    world = form()
    desk = open_fake_desk(world)

    async def later() -> None:
        with world.changing():
            world.windows[0].children.append(Element("button", "Late"))

    acting = asyncio.create_task(desk.act([{"kind": "click", "target": "button[name='Late']", "timeout": 5}]))
    await asyncio.sleep(0)
    await later()
    assert (await acting).steps[0].effect == "done"


async def test_a_target_that_never_comes_is_not_found_and_the_report_says_what_is_there() -> None:
    desk = open_fake_desk(form())
    report = await desk.act([{"kind": "click", "target": "button[name='Sned']", "timeout": 0.05}])
    assert report.steps[0].effect == "not_found"
    assert 'button "Send"' in report.steps[0].message


async def test_an_optional_step_is_skipped_without_waiting_and_the_batch_goes_on() -> None:
    desk = open_fake_desk(form())
    report = await desk.act(
        [
            {"kind": "click", "target": "button[name='Accept cookies']", "optional": True},
            {"kind": "click", "target": "button[name='Send']"},
        ]
    )
    assert [step.effect for step in report.steps] == ["skipped", "done"]
    assert report.steps[0].seconds < 1


async def test_a_check_that_fails_stops_the_batch() -> None:
    world = form()
    report = await open_fake_desk(world).act(
        [
            {"kind": "check", "selector": "heading[name='Step 2']"},
            {"kind": "click", "target": "button[name='Send']"},
        ]
    )
    assert report.steps[0].effect == "not_found"
    assert (report.not_run, world.version) == (1, 0)


async def test_until_repeats_a_step_until_its_selector_holds() -> None:
    world = form()
    counter = Element("text", "0")

    def count(_: World) -> None:
        counter.name = str(int(counter.name) + 1)

    world.windows[0].children += [counter, Element("button", "More", on_invoke=count)]
    step = {"kind": "click", "target": "button[name='More']", "until": "text[name='3']"}
    desk = open_fake_desk(world)
    assert (await desk.act([step])).steps[0].effect == "done"
    assert counter.name == "3"
    again = (await desk.act([step])).steps[0]
    assert (again.effect, counter.name) == ("skipped", "3")


async def test_until_gives_up_after_its_times_and_stops_the_batch() -> None:
    desk = open_fake_desk(form())
    report = await desk.act(
        [
            {"kind": "click", "target": "button[name='Nothing']", "until": "text[name='never']", "times": 2},
            {"kind": "key", "keys": "a"},
        ]
    )
    assert (report.steps[0].effect, report.not_run) == ("not_found", 1)
    assert "after 2 times" in report.steps[0].message


async def test_a_disabled_element_is_refused() -> None:
    report = await open_fake_desk(form()).act([{"kind": "click", "target": "button[name='Grey']"}])
    assert report.steps[0].effect == "not_supported"
    assert "disabled" in report.steps[0].message


async def test_an_element_without_its_own_action_is_clicked_with_the_pointer() -> None:
    world = form(elements=[Element("button", "Canvas", element_route=False)])
    report = await open_fake_desk(world).act([{"kind": "click", "target": "button[name='Canvas']"}])
    assert report.steps[0].route == "pointer"
    assert [each[0] for each in world.done] == ["click"]


async def test_text_is_done_only_when_it_was_read_back() -> None:
    world = form()
    desk = open_fake_desk(world)
    typed = (await desk.act([{"kind": "type", "text": " + new", "target": "textbox[name='Name']"}])).steps[0]
    assert (typed.effect, world.focused().value) == ("done", "old + new")  # type: ignore[union-attr]
    secret = (await desk.act([{"kind": "type", "text": "x", "target": "textbox[name='Password']"}])).steps[0]
    assert secret.effect == "dispatched"


async def test_a_ref_whose_element_became_another_is_stale() -> None:
    world = form()
    desk = open_fake_desk(world)
    seen = await desk.observe()
    send = next(each for each in seen.roots[0].children if each.name == "Send")
    with world.changing():
        next(each for each in world.elements() if each.name == "Send").name = "Delete all"
    report = await desk.act([{"kind": "click", "target": send.ref}])
    assert report.steps[0].effect == "stale_ref"


async def test_a_point_is_mapped_through_the_image_it_names() -> None:
    world = form()
    desk = open_fake_desk(world)
    image = (await desk.observe(screenshot=True)).image
    assert image is not None
    target = next(each for each in world.elements() if each.name == "Send").rect
    assert target is not None
    where = {"x": target.center.x, "y": target.center.y, "image": image.id}
    report = await desk.act([{"kind": "click", "target": where, "aim": "Nothing"}])
    assert world.done == [("click", Point(target.center.x, target.center.y), "left", 1)]
    assert 'hit button "Send"' in report.steps[0].message
    assert 'missed button "Nothing"' in report.steps[0].message


async def test_modifiers_come_up_even_when_the_click_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    world = form()
    desk = open_fake_desk(world)

    def broken(*_: object) -> None:
        raise TargetError("busy", "no")

    monkeypatch.setattr(desk.desktop.input, "click", broken)
    await desk.act([{"kind": "click", "target": "button[name='Send']", "modifiers": ["ctrl", "shift"]}])
    assert world.done == [
        ("key", "ctrl", True),
        ("key", "shift", True),
        ("key", "shift", False),
        ("key", "ctrl", False),
    ]


async def test_a_refusal_of_the_gate_is_denied_and_nothing_is_done() -> None:
    asked: list[tuple[Json, str]] = []

    async def gate(step: Json, target: Target | None, node: Node | None) -> str | None:
        asked.append((step, target.name if target else ""))
        return "not without consent" if target and target.name == "Send" else None

    world = form()
    report = await open_fake_desk(world, gate=gate).act(
        [
            {"kind": "focus", "target": "textbox[name='Name']"},
            {"kind": "click", "target": "button[name='Send']"},
        ]
    )
    assert [step.effect for step in report.steps] == ["done", "denied"]
    assert "not without consent" in report.steps[1].message
    assert [name for _, name in asked] == ["Name", "Send"]
    assert not any(each.role == "status" for each in world.elements())


async def test_a_secret_is_typed_and_appears_nowhere_else() -> None:
    world = form()
    desk = open_fake_desk(world, secrets={"pin": "s3cr3t-value"})
    report = await desk.act(
        [
            {"kind": "type", "text": "<secret:pin>", "target": "textbox[name='Password']"},
            {"kind": "fill", "target": "textbox[name='Password']", "text": "<secret:pin>"},
        ]
    )
    assert ("type", "s3cr3t-value") in world.done
    assert "s3cr3t" not in repr(report)
    assert "s3cr3t" not in batch_text(report)


async def test_an_unknown_secret_types_nothing() -> None:
    world = form()
    report = await open_fake_desk(world).act(
        [{"kind": "fill", "target": "textbox[name='Name']", "text": "<secret:nope>"}]
    )
    assert report.steps[0].effect == "not_supported"
    assert "nope" in report.steps[0].message
    assert next(each for each in world.elements() if each.name == "Name").value == "old"


async def test_each_step_is_told_with_pictures_before_and_after() -> None:
    told: list[tuple[StepReport, Image | None, Image | None]] = []

    async def on_step(report: StepReport, before: Image | None, after: Image | None) -> None:
        told.append((report, before, after))

    await open_fake_desk(form(), on_step=on_step).act(
        [{"kind": "toggle", "target": "checkbox"}, {"kind": "key", "keys": "F5"}], on_no_change="never"
    )
    (first, before, after), (_, before2, after2) = told
    assert first.effect == "done"
    assert before is not None
    assert after is not None
    assert before.sha256 != after.sha256
    assert before2 is after2, "an unchanged screen is encoded once"


async def test_a_second_batch_at_the_same_time_is_told_that_the_desk_is_busy() -> None:
    desk = open_fake_desk(form())
    first = asyncio.create_task(desk.act([{"kind": "wait", "for": "button[name='Never']", "timeout": 0.3}]))
    await asyncio.sleep(0)
    with pytest.raises(TargetError, match="another batch"):
        await desk.act([{"kind": "key", "keys": "a"}])
    assert (await first).steps[0].effect == "not_found"


async def test_a_program_that_is_not_there_is_not_found() -> None:
    world = form()
    world.apps["editor"] = lambda w: w.windows.insert(0, Element("window", "Editor"))
    desk = open_fake_desk(world)
    assert (await desk.launch("editor")).steps[0].effect == "done"
    with pytest.raises(TargetError, match="no program"):
        await desk.launch("edtior")


async def test_a_window_is_chosen_by_a_part_of_its_title_and_never_guessed() -> None:
    world = World(
        [Element("window", "Notes – a"), Element("window", "Notes – b"), Element("window", "Other")]
    )
    desk = open_fake_desk(world)
    assert (await desk.act([{"kind": "window", "title": "other"}])).steps[0].effect == "done"
    assert world.windows[0].name == "Other"
    report = await desk.act([{"kind": "window", "title": "notes", "do": "close"}])
    assert report.steps[0].effect == "ambiguous"
    assert len(world.windows) == 3
    assert (await desk.act([{"kind": "window", "title": "Notes – a", "do": "close"}])).steps[
        0
    ].effect == "done"


async def test_the_clipboard_is_written_and_read() -> None:
    desk = open_fake_desk(form())
    report = await desk.act([{"kind": "clipboard", "text": "héllo"}, {"kind": "clipboard"}])
    assert report.steps[1].value == "héllo"


async def test_a_menu_is_walked_by_the_names_of_its_items_whatever_their_dots() -> None:
    picked: list[str] = []
    items = [Element("menuitem", "Save As...", on_invoke=lambda _: picked.append("save as"))]
    world = World([Element("window", "Editor", [Element("menuitem", "File", items)])])
    report = await open_fake_desk(world).act([{"kind": "menu", "path": ["File", "Save As…"]}])
    assert (report.steps[0].effect, picked) == ("done", ["save as"])


async def test_absent_evidence_holds_only_of_what_was_there_before() -> None:
    world = World([Element("dialog", "Confirm"), Element("window", "Main")])
    desk = open_fake_desk(world)
    await desk.observe()
    with world.changing():
        del world.windows[0]
    assert await desk.holds("absent:dialog[name='Confirm']")
    assert not await desk.holds("absent:dialog[name='Never was']")
    assert await desk.holds("Main")


async def test_what_goes_into_a_password_field_is_not_reported() -> None:
    report = await open_fake_desk(form()).act(
        [{"kind": "fill", "target": "textbox[name='Password']", "text": "hunter2"}]
    )
    assert report.steps[0].effect == "dispatched"
    assert "hunter2" not in repr(report)
