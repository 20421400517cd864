"""The planner on real applications of a private desktop, through the child's own tools."""

from __future__ import annotations

from deskhand.terms import Private
from deskhand.tools.desk import open_desktop
from planner_world import carry_out


async def test_two_sums_on_one_calculator_do_not_run_into_each_other() -> None:
    async with open_desktop(Private()) as desk:
        first = await carry_out(desk, "in gnome-calculator press 1, 2, ×, 3, 4, = and tell me the result")
        assert (first["status"], first["result"]) == ("success", "408")
        second = await carry_out(desk, "Now compute 7 + 8 in the calculator")
        assert (second["status"], second["result"]) == ("success", "15")


async def test_a_note_is_typed_and_saved_through_the_file_dialog() -> None:
    async with open_desktop(Private()) as desk:
        done = await carry_out(
            desk, 'Write "hello wörld" in mousepad and save it as "my note.txt" in my home'
        )
        assert done["status"] == "success", done
        assert 'window[name*="my note.txt"]' in done["evidence"]


async def test_a_form_is_filled_and_confirmed() -> None:
    form = "zenity --forms --title=Contact --text=Data --add-entry=Name --add-combo=Colour --combo-values=Red|Blue"
    async with open_desktop(Private()) as desk:
        done = await carry_out(desk, f"open {form}, set Name to Ana, choose Blue from Colour and press OK")
        assert done["status"] == "success", done
        assert done["evidence"] == ['absent:dialog[name="Contact"]']


async def test_what_is_not_in_a_form_is_asked_for_and_nothing_is_pressed() -> None:
    async with open_desktop(Private()) as desk:
        asked = await carry_out(
            desk, "open zenity --entry --title=Ask --text=City, set Country to Italy and press OK"
        )
        assert "“Country”" in asked["question"]
        assert await desk.matches("dialog[name='Ask']")
