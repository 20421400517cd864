"""What the provider sees of the child's transcript: its words, few pictures, one whole tree, and a steady beginning.

A provider's cache holds the beginning of a conversation as it was sent before. So nothing is shortened a little at each
turn: when something has to go, everything old goes as well, and then the beginning rests for some turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from deskhand.messages import Entry, Image, Results, ToolResult, Transcript, Turn, Words

KEEP_IMAGES: Final = 3
"""Pictures that are shown at most. After some had to go the newest is left, and the newest of the whole screen."""

TREE_CHARACTERS: Final = 1500
"""A whole tree longer than this counts as one: only the newest is shown."""

RECENT_MOST, RECENT_LEAST = 14, 5
"""Results are shown in full while they are among the newest RECENT_MOST; once older ones go, RECENT_LEAST stay."""

REPORT_CHARACTERS: Final = 200
"""What an older result keeps of its report of what was done; what was seen then is dropped, pictures too."""

IMAGE_STUB: Final = "[an older picture was dropped; observe again if you need it]"
TREE_STUB: Final = "[an older tree of {characters} characters was dropped; observe again if you need it]"
SEEN_STUB: Final = "[dropped]"

_Part = tuple[int, int]
"""Where a result or a message stands: the entry's index, and the result's in it."""

_Holder = TypeVar("_Holder", Words, ToolResult)


def view(transcript: Transcript) -> list[Entry]:
    """The transcript as it is sent: the same transcript always gives the same. The input is not changed."""
    entries = _summarised(transcript)
    kept = _Kept()
    for index, entry in enumerate(entries):
        kept.take(index, entry)
    return [_shown(entry, index, kept) for index, entry in enumerate(entries)]


def seen_in(text: str, words: str) -> tuple[int, int]:
    """Where in a message stand the ``words`` that an observation put there; (0, 0) when they do not."""
    start = text.rfind(words) if words else -1
    return (start, start + len(words)) if start >= 0 else (0, 0)


@dataclass(slots=True)
class _Kept:
    """What is shown in full after the entries taken so far, and the last entry that made something go."""

    images: list[tuple[_Part, Image]] = field(default_factory=list)
    tree: _Part | None = None
    recent: list[_Part] = field(default_factory=list)
    aged: set[_Part] = field(default_factory=set)
    shortened_at: int = -1

    def take(self, index: int, entry: Entry) -> None:
        holders: Sequence[Words | ToolResult] = ()
        if isinstance(entry, Results):
            holders = entry.results
        elif isinstance(entry, Words) and entry.role == "user":
            holders = (entry,)
        tree, had = self.tree, self.tree is not None
        for number, holder in enumerate(holders):
            part = (index, number)
            self.images += ((part, image) for image in holder.images)
            if isinstance(holder, ToolResult):
                self.recent.append(part)
            if is_tree(holder):
                self.tree = part
        another_tree = had and self.tree != tree
        if another_tree or len(self.images) > KEEP_IMAGES or len(self.recent) > RECENT_MOST:
            self._shorten()
            self.shortened_at = index

    def _shorten(self) -> None:
        """Let go of all that is old."""
        self.aged.update(self.recent[:-RECENT_LEAST])
        self.recent = self.recent[-RECENT_LEAST:]
        if self.images:
            # An unchanged screen is not pictured again: the picture that it is said to be like has to stay.
            whole = max(reversed(self.images), key=lambda held: _area(held[1]))
            self.images = [held for held in self.images if held is whole or held is self.images[-1]]


def _area(image: Image) -> float:
    """How much of the screen a picture shows, in screen pixels."""
    return image.width * image.scale[0] * image.height * image.scale[1]


def is_tree(holder: Words | ToolResult) -> bool:
    """Whether this holds a whole tree that goes when there is a newer one."""
    return holder.whole and holder.seen[1] - holder.seen[0] > TREE_CHARACTERS


def _shown(entry: Entry, index: int, kept: _Kept) -> Entry:
    if isinstance(entry, Turn):
        return replace(entry, outdated=True) if entry.outdated or index < kept.shortened_at else entry
    if isinstance(entry, Words):
        return _shortened(entry, (index, 0), kept)
    results = (_shortened(result, (index, n), kept) for n, result in enumerate(entry.results))
    return Results(results=tuple(results))


def _shortened(holder: _Holder, part: _Part, kept: _Kept) -> _Holder:
    """A message or a result without what has gone of it."""
    text, (start, end) = holder.text, holder.seen
    if is_tree(holder) and part != kept.tree:
        text = text[:start] + TREE_STUB.format(characters=end - start) + text[end:]
    elif part in kept.aged and part != kept.tree:
        seen = SEEN_STUB if end > start + len(SEEN_STUB) else text[start:end]
        text = _clipped(text[:start]) + seen + _clipped(text[end:])
    images = tuple(image for where, image in kept.images if where == part)
    if len(images) < len(holder.images):
        text = f"{text}\n{IMAGE_STUB}"
    if text == holder.text and len(images) == len(holder.images):
        return holder
    return replace(holder, text=text, images=images, seen=(0, 0), whole=False)


def _clipped(text: str) -> str:
    return text if len(text) <= REPORT_CHARACTERS else f"{text[:REPORT_CHARACTERS]} […]"


def _summarised(transcript: Transcript) -> list[Entry]:
    """The last summary in the place of what it stands for, right after the rules and the brief."""
    found = ((n, entry) for n, entry in enumerate(transcript) if isinstance(entry, Words) and entry.replaces)
    at, summary = max(found, default=(0, None), key=lambda numbered: numbered[0])
    if summary is None:
        return list(transcript)
    opening = brief_end(transcript)
    lasting = transcript[opening + summary.replaces : at]
    outdated = [replace(entry, outdated=True) if isinstance(entry, Turn) else entry for entry in lasting]
    return [*transcript[:opening], summary, *outdated, *transcript[at + 1 :]]


def brief_end(transcript: Transcript) -> int:
    """The index after the rules and the brief."""
    return next((n for n, entry in enumerate(transcript) if not isinstance(entry, Words)), len(transcript))
