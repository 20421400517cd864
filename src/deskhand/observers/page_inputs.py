"""What the fields of a page take: passwords, which are never read, and those with a form of their own, as dates."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deskhand.observers.node import VALUE_LIMIT

if TYPE_CHECKING:
    from playwright.async_api import Page

    from deskhand.observers.aria import Aria

FORMS: Final = {
    "date": "date, YYYY-MM-DD",
    "time": "time, HH:MM",
    "datetime-local": "date and time, YYYY-MM-DDTHH:MM",
    "month": "month, YYYY-MM",
    "week": "week, YYYY-Www",
    "color": "color, #rrggbb",
    "file": "file, use upload",
}
"""Types of input → what is said of them. The forms are those of the HTML standard, whatever the screen shows."""

ASK_MS: Final = 500
"""Milliseconds for one question to one element."""

SPECIAL: Final = ",".join(["input[type=password]", "textarea", *(f"input[type={each}]" for each in FORMS)])
"""CSS for the fields of which a snapshot does not say all."""

_KIND: Final = f"""e => ({{
  type: e.type || '',
  value: e.type === 'textarea' ? e.value.slice(0, {VALUE_LIMIT})
       : e.type === 'file' ? [...e.files].map(file => file.name).join(', ') : null,
}})"""


@dataclass(frozen=True, slots=True)
class Input:
    """A field: its type as HTML has it (``textarea`` included), and its value where the snapshot is coarser."""

    type: str
    value: str | None = None


UNKNOWN: Final = Input("password")
"""A field that does not say what it is counts as one for a password."""


async def find_inputs(
    page: Page, elements: Sequence[Aria], special: Sequence[tuple[str, str]]
) -> dict[str, Input]:
    """The fields of one document of which the snapshot does not say all, by ref.

    ``special`` are those that match `SPECIAL`: their types, and their boxes as the snapshot writes them.
    """
    if not special:
        return {}
    fields = [each for each in elements if each.role == "textbox" and each.ref]
    if not any(kind == "password" for kind, _ in special):
        places = {box for _, box in special}
        fields = [each for each in fields if each.attributes.get("box") in places]
    files = {box for kind, box in special if kind == "file"}
    fields += [
        each
        for each in elements
        if each.role == "button" and each.ref and each.attributes.get("box") in files
    ]
    found = await asyncio.gather(*(_input(page, each.ref) for each in fields))
    return {each.ref: kind for each, kind in zip(fields, found, strict=True)}


async def _input(page: Page, ref: str) -> Input:
    from playwright.async_api import Error

    try:
        told = await page.locator(f"aria-ref={ref}").evaluate(_KIND, timeout=ASK_MS)
    except Error:
        return UNKNOWN
    return Input(str(told["type"]), None if told["value"] is None else str(told["value"]))
