"""Where to mark a conversation for Anthropic's cache, which holds the beginnings that end with a mark."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Sequence
from typing import Final

from deskhand.messages import Json

MOST: Final = 4
"""Marks that a request may have."""


class CacheMarks:
    """Remembers which beginnings of a conversation were marked, and so can be read from the cache."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    @property
    def empty(self) -> bool:
        """Whether nothing was marked yet."""
        return not self._known

    def marks(self, messages: Sequence[Json], fleeting: Sequence[int], cleared: int) -> list[int]:
        """The messages to mark: those of the user up to which the cache is to be read or written.

        In this order, as far as they are not the same and there are no more than are allowed: the newest one; the last
        beginning that the cache has; what comes before the first of the ``fleeting`` messages, which are going to be
        shortened, and before those of them that stand together at the end: these beginnings are still good, and warm,
        when it comes to that. The thinking of the first ``cleared`` turns leaves the prompt, too.
        """
        users = [index for index, message in enumerate(messages) if message["role"] == "user"]
        beginnings = _beginnings(messages, cleared)
        held = [index for index in users if self._known.get(index) == beginnings[index]]
        wanted = [users[-1:], held[-1:]]
        gaps = [(later - earlier, later) for earlier, later in itertools.pairwise(fleeting)]
        shortened = [*fleeting[:1], *(at for _, at in [max(gaps, default=(0, 0))])]
        wanted += [[index for index in users if index < at][-1:] for at in shortened]
        marked = list(dict.fromkeys(index for found in wanted for index in found))[:MOST]
        self._known = {index: beginnings[index] for index in {*held, *marked}}
        return marked if held else marked[: MOST - 1]


def _beginnings(messages: Sequence[Json], cleared: int) -> list[str]:
    """A digest of all up to and with each message."""
    digest, turns, found = hashlib.sha256(), 0, []
    for message in messages:
        turns += message["role"] == "assistant"
        kept = message["role"] == "user" or turns > cleared
        digest.update(f"{kept}{json.dumps(message, sort_keys=True)}".encode())
        found.append(digest.hexdigest())
    return found
