"""Pressing a button again until what it brings is what is wanted: "roll a number greater than 3"."""

from __future__ import annotations

import re
from collections.abc import Callable

from deskhand.orchestrator.models.embedded.grammar import pattern
from deskhand.orchestrator.models.embedded.matching import find, phrase
from deskhand.orchestrator.models.embedded.moves import Act, Fail, Move, Next, Scene
from deskhand.orchestrator.models.embedded.targets import click

_WANTED = pattern(
    r"^(?P<verb>\w+) (?:a|an)(?: new| random)? (?:(?P<kind>odd|even|positive|negative) )?number"
    r"(?: (?:that is |which is )?"
    r"(?P<than>(?:less|smaller|lower|greater|larger|bigger|higher|more) than|equal to|below|above)"
    r" (?P<n>-?\d+))?$"
)
_MOST = 30
"""Presses of one clause."""

_NUMBER = re.compile(r"-?\d+")


def until(scene: Scene, said: str) -> Move | None:
    """The next press of the button that the verb names; None when no such thing is said, or there is no such button."""
    found = _WANTED.match(said)
    if found is None or not (found["kind"] or found["than"]):
        return None
    screen = scene.screen
    button = find(phrase(found["verb"], quoted=True), screen, {"button": 0}).node
    if button is None:
        return None
    numbers = [int(each.text) for each in screen.written() if _NUMBER.fullmatch(each.text.strip())]
    test = _test(found["kind"] or "", found["than"] or "", int(found["n"] or 0))
    if len(numbers) == 1 and scene.memory.ways and test(numbers[0]):
        return Next(said=f"{said} (it is {numbers[0]})")
    if len(numbers) > 1 or len(scene.memory.ways) >= _MOST:
        return Fail(result=f"Pressing “{button.name}” brought nothing that fits “{said}”.")
    tried = f"press {len(scene.memory.ways)}"
    return Act(steps=(click(screen, button),), items=(scene.memory.item,), done=False, tried=(tried,))


def _test(kind: str, than: str, bound: int) -> Callable[[int], bool]:
    def fits(number: int) -> bool:
        of_kind = {
            "": True,
            "odd": number % 2 == 1,
            "even": number % 2 == 0,
            "positive": number > 0,
            "negative": number < 0,
        }[kind.casefold()]
        head = than.casefold().split()[0] if than else ""
        if head in ("less", "smaller", "lower", "below"):
            return of_kind and number < bound
        if head == "equal":
            return of_kind and number == bound
        return of_kind and (not head or number > bound)

    return fits
