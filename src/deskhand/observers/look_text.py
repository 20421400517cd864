"""A reading of the desktop with the text that no tree tells of: off the picture of windows, canvases and PDFs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from deskhand.desktop.base import Desktop
from deskhand.errors import ToolError
from deskhand.messages import Node, Rect, WindowInfo
from deskhand.observers.look import Look, Reader, has_tree, shows_page
from deskhand.observers.mask import mask_tree
from deskhand.observers.native import NativeTree
from deskhand.observers.node import comparable, walk
from deskhand.observers.page import Browser
from deskhand.observers.text import UNASKED, TextSense

_SLOW: Final = 2.0
"""Seconds of reading only what changed after which a window is left alone for a while: a film, a game."""

_REST: Final = 4.0
"""That while, in times of what the reading took."""

_PRESSED: Final = frozenset(
    "button checkbox combobox columnheader link menuitem menuitemcheckbox menuitemradio option radio slider spinbutton "
    "switch tab textbox searchbox treeitem".split()
)
"""Roles that have their words on them: those words are theirs, whatever their name is."""


class TextReader(Reader):
    """`Reader` that also reads text. Without a `TextSense` it is the same."""

    def __init__(
        self,
        desktop: Desktop,
        native: NativeTree | None,
        browser: Browser,
        secrets: Mapping[str, str],
        texts: TextSense | None,
        *,
        unasked: bool,
    ) -> None:
        super().__init__(desktop, native, browser, secrets)
        self._texts, self._unasked = texts, unasked
        self._bare: dict[int, float] = {}
        """The windows without elements that were read unasked, and from when on they may be again."""

    @property
    def reads_text(self) -> bool:
        """Whether text can be read here."""
        return self._texts is not None

    async def with_bare(self, look: Look, *, known: bool) -> Look:
        """With the text of the active window, when it has no elements. ``known``: only of one that was read before.

        An app that has just started has no elements for a moment, either.
        """
        window = look.active
        if window is None or not self._is_bare(look, window) or (known and window.id not in self._bare):
            return look
        return await self.with_text(look, window, seconds=UNASKED)

    async def with_text(
        self, look: Look, window: WindowInfo, *, seconds: float, asked: bool = False, only: Rect | None = None
    ) -> Look:
        """With the text of a window. Where it has elements, only what they do not say; nothing unless ``asked``."""
        if self._texts is None or any(root.source == "text" for root in look.of(window, self.browser)):
            return look
        bare = self._is_bare(look, window)
        began = time.monotonic()
        if not asked and not (bare and self._unasked):
            return look
        if not asked and began < self._bare.get(window.id, 0.0):
            seconds = 0.0
        try:
            groups, note = await self._texts.read(
                window, look.windows, look.popups, seconds=seconds, only=only
            )
        except ToolError as error:
            self._unasked = False  # it would fail again
            return replace(look, notes=(*look.notes, str(error)))
        took = time.monotonic() - began
        if bare and seconds:
            again = window.id in self._bare and took > _SLOW
            self._bare[window.id] = time.monotonic() + _REST * took if again else 0.0
        own = look.of(window, self.browser)
        if not bare:
            groups = _beyond(groups, own)
        others = tuple(root for root in look.roots if root not in own)
        return replace(
            look,
            roots=(*own, *mask_tree(groups, self._secrets), *others),
            notes=(*look.notes, note) if note else look.notes,
        )

    async def again(self, node: Node) -> tuple[Node, ...]:
        """What an element is of, as it is now: its app, its page, or the text around it."""
        if node.source != "text" or self._texts is None:
            return await super().again(node)
        windows, popups = await asyncio.to_thread(self._windows)
        return mask_tree(await self._texts.again(node, windows, popups), self._secrets)

    def _is_bare(self, look: Look, window: WindowInfo) -> bool:
        """Whether nothing but its picture says what is in a window. A page that is not there yet is no such thing."""
        roots = look.of(window, self.browser)
        if has_tree(roots) or window.pid in look.silent:
            return False
        if shows_page(window, self.browser):
            return any(root.url.startswith(("http", "file")) and "busy" not in root.states for root in roots)
        return True


def _beyond(groups: Sequence[Node], roots: Sequence[Node]) -> tuple[Node, ...]:
    """The text that the elements do not say themselves."""
    placed = [node for node in walk(roots) if node.rect is not None and "offscreen" not in node.states]
    said = [(node.rect, comparable(f"{node.name} {node.value or ''}")) for node in placed]
    controls = [node.rect for node in placed if node.role in _PRESSED]
    kept: list[Node] = []
    for group in groups:
        new = tuple(
            each
            for each in group.children
            if each.rect is not None
            and not any(rect.contains(each.rect.center) for rect in controls if rect is not None)
            and not any(
                rect.contains(each.rect.center) and comparable(each.name) in words
                for rect, words in said
                if rect is not None
            )
        )
        if new:
            kept.append(replace(group, children=new))
    return tuple(kept)
