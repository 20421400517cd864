"""Playwright's errors as ours: one table, at the border."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, Final

from deskhand.errors import Effect, TargetError
from deskhand.observers.node import clean_name, quote

_COVER: Final = re.compile(r"- (<.{0,200}?>).{0,300}?intercepts pointer events", re.DOTALL)

_MEANINGS: Final[tuple[tuple[str, Effect, str], ...]] = (
    ("element is not enabled", "not_supported", "it is disabled"),
    ("element is not visible", "not_supported", "it is not visible"),
    ("outside of the viewport", "not_supported", "it is out of view"),
    ("detached", "stale_ref", "it is gone from the page; look again"),
    ("not attached", "stale_ref", "it is gone from the page; look again"),
    ("Invalid frame in aria-ref", "stale_ref", "its frame is gone from the page; look again"),
    ("has been closed", "stale_ref", "its tab was closed; look again"),
)
"""What Playwright's messages say (there are no types for it) → effect and words. The first that fits."""

_UNFIT: Final = ("not editable", "not an <input>", "Element is not", "Not a checkbox", "Node is not")


@asynccontextmanager
async def translated(doing: str) -> AsyncIterator[None]:
    """Turn what Playwright raises into a TargetError that says what could not be done and why."""
    from playwright.async_api import Error

    try:
        yield
    except TimeoutError:
        raise TargetError("busy", f"cannot {doing}: the page is not answering") from None
    except Error as error:
        raise _meaning(doing, error) from None


def first_line(error: BaseException) -> str:
    """The message of an error in one bounded line."""
    return clean_name(str(error).split("\n", 1)[0])[:300] or type(error).__name__


async def quiet(doing: Awaitable[Any]) -> None:
    """Await without caring how it ends: on the way out, or where the outcome is told another way."""
    try:
        await doing
    except Exception:
        return


def _meaning(doing: str, error: Exception) -> TargetError:
    message = str(error)
    if "intercepts pointer events" in message:
        found = _COVER.search(message)
        cover = quote(clean_name(found[1]), 120) if found else "something"
        return TargetError("covered", f"cannot {doing}: {cover} is in front of it")
    for said, effect, words in _MEANINGS:
        if said in message:
            return TargetError(effect, f"cannot {doing}: {words}")
    if any(said in message for said in _UNFIT):
        return TargetError("not_supported", f"cannot {doing}: {first_line(error)}")
    return TargetError("busy", f"cannot {doing}: {first_line(error)}")
