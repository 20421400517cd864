"""Finding by selector: in the trees, and where they have nothing, in what the active window says in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from deskhand.messages import Node
from deskhand.observers.selector import Selector
from deskhand.tools.workspace import Senses

READ_SECONDS: Final = 6.0
"""Seconds that reading a window's pixels may take in a search; a full screen takes two to three."""

READ_AT_LEAST: Final = 3.0
"""Seconds of it that a wait grants even when its own time is up: else a change would never be read in time."""


async def search(
    senses: Senses, selector: Selector, *, seconds: float = READ_SECONDS
) -> tuple[list[Node], Sequence[Node]]:
    """What matches now, and everything that was looked at. Pixels are read only where text could be meant."""
    roots = await senses.roots()
    found = selector.match(roots)
    if not found and selector.may_be("text"):
        roots = await senses.roots(text=seconds)
        found = selector.match(roots)
    return found, roots
