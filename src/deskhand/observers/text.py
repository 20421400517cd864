"""Text that is only pixels, as elements: what windows without a tree, canvases, pictures and PDFs say."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from deskhand.desktop.base import Desktop, Frame
from deskhand.messages import Node, Rect, WindowInfo
from deskhand.observers.node import clean_name
from deskhand.observers.text_process import Reading, TextProcess

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNASKED: Final = 5.0
"""Seconds of reading a window that has no elements, when nobody asked for it. A full screen takes two to three."""

ASKED: Final = 20.0
"""Seconds of reading what was asked for: a machine with other work takes several times as long."""

UNSURE: Final = 0.85
"""Confidence below which a reading is marked: about half of those are wrong in some letter."""

TITLE: Final = "text read off the picture"
"""What the group of a window's phrases is called."""

_AROUND: Final = 24
"""Pixels around a phrase that are read again before it is acted on."""


@dataclass(frozen=True, slots=True)
class TextHandle:
    """A phrase: the X window that it is in, the window whose it is (a menu is a window of its own), and its number.

    The number stays as long as the same words are at the same place of the window. 0 is the window's text as a whole.
    """

    window: int
    owner: int
    number: int = 0


class TextSense:
    """Reads windows as text nodes. What changed since the last time is read again, the rest is remembered."""

    def __init__(self, desktop: Desktop, process: TextProcess) -> None:
        self._desktop, self._process = desktop, process

    async def read(
        self,
        window: WindowInfo,
        windows: Sequence[WindowInfo],
        popups: Sequence[WindowInfo],
        *,
        seconds: float,
        only: Rect | None = None,
    ) -> tuple[tuple[Node, ...], str]:
        """The text of a window and of its menus, one group each, and a note on what is missing of it.

        What other windows cover is not read. ``only`` (screen pixels): nothing outside of this is. ToolError when
        nothing can be read here. ``seconds`` 0 tells what is known already.
        """
        frame = await asyncio.to_thread(self._desktop.screen.grab, None)
        own = [popup for popup in popups if popup.pid is not None and popup.pid == window.pid]
        above = list(windows)[: next((i for i, w in enumerate(windows) if w.id == window.id), 0)]
        groups: list[Node] = []
        unread = 0
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        for place, each in enumerate([*own, window]):
            over = [*own[:place], *(above if each is window else ())]
            rect = each.rect.intersection(frame.rect)
            within = None if rect is None or only is None else rect.intersection(only)
            if rect is None or (only is not None and within is None):
                continue
            reading = await self._process.read(
                f"{each.id}:{rect.width}x{rect.height}",
                _pixels(frame, rect, [other.rect for other in over]),
                seconds=max(0.2, end - loop.time()) if seconds else 0.0,
                only=None if within is None else _shifted(within, -rect.x, -rect.y),
            )
            unread += reading.unread
            if reading.phrases:
                groups.append(_group(reading, rect, each, window))
        note = f"{unread} parts of the picture are not read yet; look again to read on" if unread else ""
        return tuple(reversed(groups)), note

    async def again(
        self, node: Node, windows: Sequence[WindowInfo], popups: Sequence[WindowInfo]
    ) -> tuple[Node, ...]:
        """The text around a phrase as it is now; empty when its window is gone."""
        handle = node.handle
        assert isinstance(handle, TextHandle)
        was = next((each for each in (*windows, *popups) if each.id == handle.window), None)
        owner = next((each for each in windows if each.id == handle.owner), None)
        if owner is None or was is None:
            return ()
        # Where the window is now is where the phrase is, if it is there.
        return (await self.read(owner, windows, popups, seconds=ASKED, only=_near(node, was)))[0]


def _near(node: Node, window: WindowInfo) -> Rect | None:
    """The surroundings of a phrase; None, so everything is read, when its window may have moved."""
    rect = node.rect
    if rect is None or window.rect.intersection(rect) != rect:
        return None
    return Rect(rect.x - _AROUND, rect.y - _AROUND, rect.width + 2 * _AROUND, rect.height + 2 * _AROUND)


def with_unread(before: Node, now: Node) -> Node:
    """A window's text with what it said where it is not read yet, so that nothing is told to be gone that may be there.

    Any other node as it is.
    """
    if now.source != "text" or "busy" not in now.states:
        return now
    there = {each.handle for each in now.children}
    return replace(now, children=(*now.children, *(c for c in before.children if c.handle not in there)))


def _group(reading: Reading, rect: Rect, place: WindowInfo, owner: WindowInfo) -> Node:
    return Node(
        role="group",
        name=TITLE,
        states=frozenset({"busy"} if reading.unread else ()),
        rect=rect,
        source="text",
        app=owner.app,
        window=owner.title,
        handle=TextHandle(place.id, owner.id),
        children=tuple(
            Node(
                role="text",
                name=clean_name(phrase.text),
                description=f"read with {phrase.sure:.0%} confidence",
                states=frozenset({"unsure"} if phrase.sure < UNSURE else ()),
                rect=_shifted(phrase.rect, rect.x, rect.y),
                source="text",
                app=owner.app,
                window=owner.title,
                handle=TextHandle(place.id, owner.id, phrase.id),
            )
            for phrase in reading.phrases
        ),
    )


def _shifted(rect: Rect, right: int, down: int) -> Rect:
    return Rect(rect.x + right, rect.y + down, rect.width, rect.height)


def _pixels(frame: Frame, rect: Rect, covered: Sequence[Rect]) -> NDArray[np.uint32]:
    """A window's part of the screen, blank where others lie over it."""
    top, left = rect.y - frame.rect.y, rect.x - frame.rect.x
    pixels = frame.pixels[top : top + rect.height, left : left + rect.width]
    hidden = [common for each in covered if (common := each.intersection(rect)) is not None]
    if hidden:
        pixels = pixels.copy()
        for each in hidden:
            x, y = each.x - rect.x, each.y - rect.y
            pixels[y : y + each.height, x : x + each.width] = 0
    return pixels
