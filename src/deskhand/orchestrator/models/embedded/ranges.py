"""Sliders that are in no tree: found and moved by the keyboard until the number beside them is the wanted one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deskhand.messages import Json
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import Screen

_MOST_STEPS = 16
"""Key steps for one clause."""

_MOST_KEYS = 400
"""Presses of an arrow key in one step."""


def numbers_in(text: str) -> list[int]:
    """The whole numbers of a list such as "[10, 18, 15]", or of one number."""
    return [int(each) for each in re.findall(r"(?<![\w.])-?\d+(?![\w.]*\d)", text)]


def slide(scene: Scene, wanted: Sequence[int]) -> Move:
    """Bring sliders that only the keyboard reaches to their numbers, the first to the first and so on.

    Tab and an arrow key tell where one is: by the number that moves. Nothing is done that the screen does not show.
    """
    now, before = _numbers(scene.screen), [int(each) for each in scene.memory.kept]
    last = scene.memory.ways[-1] if scene.memory.ways else ""
    unseen = Ask(question=f"I see nothing that sets “{scene.clause.said}”. Which control should I use?")
    if len(now) < len(wanted) or len(scene.memory.ways) > _MOST_STEPS:
        return unseen
    if now[: len(wanted)] == list(wanted):
        return Next(said=f"{scene.clause.said} (it shows {', '.join(map(str, wanted))})")
    if not last:
        return _keys(scene, "Tab;Right", now, "probe")
    if len(before) != len(now):
        return unseen
    moved = [i for i, value in enumerate(now) if before[i] != value]
    if len(moved) > 1:
        return unseen
    if not moved:
        return (
            _keys(scene, "Left", now, "back") if last == "probe" else _keys(scene, "Tab;Right", now, "probe")
        )
    place = moved[0]
    if place >= len(wanted) or now[place] == wanted[place]:
        return _keys(scene, "Tab;Right", now, "probe")
    unit = abs(now[place] - before[place]) if last in ("probe", "back") else int(last)
    away = wanted[place] - now[place]
    if away % unit or abs(away) // unit > _MOST_KEYS:
        return Ask(
            question=f"It goes by {unit} from {now[place]}; it cannot be {wanted[place]}. What should I set?"
        )
    return _keys(scene, ";".join(["Right" if away > 0 else "Left"] * (abs(away) // unit)), now, str(unit))


def _keys(scene: Scene, keys: str, now: Sequence[int], tried: str) -> Act:
    sequence = ";".join(f"kp:{key}" for key in keys.split(";"))
    step: Json = {"kind": "key", "keys": sequence}
    kept = tuple(map(str, now))
    return Act(steps=(step,), items=(scene.memory.item,), done=False, tried=(tried,), kept=kept)


def _numbers(screen: Screen) -> list[int]:
    return [int(each.text) for each in screen.written() if re.fullmatch(r"-?\d+", each.text.strip())]
