"""What the provider sees of the child's transcript: all words, few pictures, one whole tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deskhand.messages import Entry, Results, ToolResult, Transcript, Words

KEEP_IMAGES = 3
KEEP_TREES = 1
BATCH = 4
"""Old pictures and trees are dropped this many at a time, so that a provider's cached prefix lives for some turns."""

TREE_CHARACTERS = 1500
"""A result longer than this that holds a whole observation counts as a tree."""

IMAGE_STUB = "[an older picture was dropped; observe again if you need it]"
TREE_STUB = "[an older tree of {characters} characters was dropped; observe again if you need it]"


def view(transcript: Transcript) -> list[Entry]:
    """The transcript with older pictures and whole trees replaced by one-line stubs. The input is not changed."""
    images = _old(_count_images(transcript), KEEP_IMAGES)
    trees = _old(
        sum(1 for entry in transcript if isinstance(entry, Results) for r in entry.results if _is_tree(r)),
        KEEP_TREES,
    )
    shown: list[Entry] = []
    for entry in transcript:
        if isinstance(entry, Words) and entry.images and images > 0:
            images -= len(entry.images)
            entry = replace(entry, images=(), text=f"{entry.text}\n{IMAGE_STUB}")
        elif isinstance(entry, Results):
            results = []
            for result in entry.results:
                if result.images and images > 0:
                    images -= len(result.images)
                    result = replace(result, images=(), text=f"{result.text}\n{IMAGE_STUB}")
                if _is_tree(result) and trees > 0:
                    trees -= 1
                    result = replace(result, text=TREE_STUB.format(characters=len(result.text)))
                results.append(result)
            entry = replace(entry, results=tuple(results))
        shown.append(entry)
    return shown


def _old(count: int, keep: int) -> int:
    """How many of ``count`` to drop: all beyond ``keep``, rounded down to whole batches."""
    return max(0, count - keep) // BATCH * BATCH


def _count_images(transcript: Sequence[Entry]) -> int:
    count = 0
    for entry in transcript:
        if isinstance(entry, Words):
            count += len(entry.images)
        elif isinstance(entry, Results):
            count += sum(len(result.images) for result in entry.results)
    return count


def _is_tree(result: ToolResult) -> bool:
    return result.observation is not None and len(result.text) > TREE_CHARACTERS
