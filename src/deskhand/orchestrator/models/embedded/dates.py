"""Dates and times as people write them, and picking one in a calendar that a field opens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from deskhand.messages import Json, Node
from deskhand.observers.node import quote
from deskhand.orchestrator.models.embedded.lexicon import normal
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.orchestrator.models.embedded.targets import click

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = (
    rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' if len(name) > 3 else name for name in _MONTHS)})\.?"
)
_WRITTEN = tuple(
    re.compile(text, re.I)
    for text in (
        r"^(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})$",
        r"^(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})$",
        r"^(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})$",
        rf"^{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})$",
        rf"^(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?{_MONTH},?\s+(?P<y>\d{{4}})$",
    )
)
_TIME = re.compile(
    r"^(?P<h>\d{1,2})(?:[:.](?P<m>\d{2}))?\s*(?P<half>[ap])\.?m\.?$|^(?P<h24>\d{1,2}):(?P<m24>\d{2})$", re.I
)
_TITLE = re.compile(rf"\b{_MONTH}\s*(?P<y>\d{{4}})\b", re.I)
_BACK = ("prev", "previous", "previous month", "prev month", "<", "‹", "«", "back", "earlier")
_ON = ("next", "next month", ">", "›", "»", "forward", "later")
_DAYS = frozenset({"link", "button", "gridcell", "cell", "generic"})
_FAR = 240
"""Months that are turned through at most."""


def as_date(text: str) -> date | None:
    """The date a text writes out. Of two numbers with slashes the month comes first, unless it can only be the day."""
    for form in _WRITTEN:
        if found := form.match(text.strip()):
            parts = found.groupdict()
            month = _number(parts["month"]) if parts.get("month") else int(parts["m"])
            day = int(parts["d"])
            if month > 12 >= day and "/" in text:
                month, day = day, month
            try:
                return date(int(parts["y"]), month, day)
            except ValueError:
                return None
    return None


def as_time(text: str) -> tuple[int, int] | None:
    """Hour (0–23) and minute of "7:55 PM" or "19:55"."""
    found = _TIME.match(text.strip())
    if found is None:
        return None
    if found["h24"] is not None:
        hour, minute = int(found["h24"]), int(found["m24"])
    else:
        hour, minute = int(found["h"]), int(found["m"] or 0)
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"].casefold() == "p" else 0)
    return (hour, minute) if hour < 24 and minute < 60 else None


def in_form(value: str, node: Node) -> str:
    """A value in the form that the field asks for ("YYYY-MM-DD", "HH:MM"); as it is where that says nothing."""
    if "YYYY-MM-DD" in node.hint and (day := as_date(value)) is not None:
        return day.isoformat()
    if "HH:MM" in node.hint and "YYYY" not in node.hint and (time := as_time(value)) is not None:
        return f"{time[0]:02}:{time[1]:02}"
    return value


def pick(scene: Scene, field: Node, value: str) -> Move | None:
    """The next step towards a date in a field with a calendar; None where the field takes the text itself."""
    wanted = as_date(value)
    if wanted is None or field.hint:
        return None
    if field.value and as_date(field.value) == wanted:
        return Next(said=f"the date is {field.value}")
    screen, gone = scene.screen, scene.memory.ways
    shown = _months(screen)
    if not shown:
        if "calendar" in gone:
            return None
        return Act(steps=(click(screen, field),), items=(scene.memory.item,), done=False, tried=("calendar",))
    if len(shown) > 1:
        return None
    year, month = shown[0]
    away = (wanted.year - year) * 12 + wanted.month - month
    if away:
        return _turn(scene, away)
    days = [
        node
        for i, node in enumerate(screen.nodes)
        if node.role in _DAYS
        and node.ref
        and str(wanted.day) in screen.names(i)
        and "disabled" not in node.states
    ]
    days = [node for node in days if not any(child in days for child in node.children)] or days
    if len(days) != 1:
        question = (
            f"I see {len(days)} days “{wanted.day}” in the calendar for {value}. Which one should I press?"
        )
        return Ask(question=question, answer="press {}")
    if "day" in gone:
        return None
    return Act(steps=(click(screen, days[0]),), items=(scene.memory.item,), done=False, tried=("day",))


def _turn(scene: Scene, away: int) -> Move | None:
    """Turn the calendar's pages; a repeated step looks its button up anew each time."""
    screen, names = scene.screen, _BACK if away < 0 else _ON
    if abs(away) > _FAR or f"turned {away}" in scene.memory.ways:
        return None
    for i, node in enumerate(screen.nodes):
        if (
            node.role in ("link", "button", "generic")
            and node.ref
            and any(normal(n) in names for n in screen.names(i))
        ):
            if not node.name:
                return Act(
                    steps=(click(screen, node),),
                    items=(scene.memory.item,),
                    done=False,
                    tried=(f"turned {away}",),
                )
            steps = tuple(_times(f"{node.role}[name={quote(node.name)}]", abs(away)))
            return Act(
                steps=steps, items=(scene.memory.item,) * len(steps), done=False, tried=(f"turned {away}",)
            )
    return None


def _times(selector: str, count: int) -> Iterator[Json]:
    while count > 0:
        now = min(20, count)
        yield {"kind": "click", "target": selector} | ({"times": now} if now > 1 else {})
        count -= now


def _months(screen: Screen) -> list[tuple[int, int]]:
    """Year and month of the calendars that are open, by their titles."""
    found: dict[tuple[int, int], None] = {}
    for i, each in enumerate(screen.nodes):
        if each.role in ("textbox", "document", "window") or not screen.shown(i):
            continue
        text = each.name or each.value or ""
        if len(text) <= 40 and (title := _TITLE.search(text)):
            found[int(title["y"]), _number(title["month"])] = None
    words = [each.text for each in screen.written()]
    for one, other in pairwise(words):
        if one.casefold() in _MONTHS and re.fullmatch(r"\d{4}", other):
            found[int(other), _number(one)] = None
    return list(found)


def _number(month: str) -> int:
    return next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(month.casefold()[:3]))
