"""One reading of the whole desktop: its windows, every app's native tree, the page of its own browser."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from deskhand.desktop.base import Desktop
from deskhand.errors import TargetError
from deskhand.messages import Node, WindowInfo
from deskhand.observers.atspi import Handle, NotAnswering
from deskhand.observers.mask import mask_text, mask_tree
from deskhand.observers.native import NativeTree
from deskhand.observers.node import comparable, quote, walk
from deskhand.observers.page import Browser
from deskhand.observers.page_tree import PageHandle
from deskhand.observers.text import TextHandle
from deskhand.observers.worth import is_wrapper

_LOOKS: Final = 3
"""Readings until the windows are the same after as before: an app's title may change all the time."""

_BROWSER_TITLE: Final = re.compile(r"\b(Chromium|Chrome)\b[^-–—]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What was there at one moment. ``roots`` are in the order of their windows, the active one's first."""

    windows: tuple[WindowInfo, ...]
    popups: tuple[WindowInfo, ...] = ()
    roots: tuple[Node, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be read, and what happened by itself."""
    silent: frozenset[int] = frozenset()
    """The pids whose trees could not be read: nothing is known of what they show. The browser's page is 0."""

    @property
    def active(self) -> WindowInfo | None:
        """The window in front."""
        return next((window for window in self.windows if window.active), next(iter(self.windows), None))

    def of(self, window: WindowInfo | None, browser: Browser) -> tuple[Node, ...]:
        """The trees of a window's app, that window's own first."""
        if window is None:
            return ()
        text = [r for r in self.roots if isinstance(r.handle, TextHandle) and r.handle.owner == window.id]
        if shows_page(window, browser):
            return (*(root for root in self.roots if root.source == "page"), *text)
        own = [r for r in self.roots if isinstance(r.handle, Handle) and r.handle.pid == window.pid]
        return (*sorted(own, key=lambda root: root.name != window.title), *text)


def shows_page(window: WindowInfo, browser: Browser) -> bool:
    """Whether a window is one of the browser's own that shows a page: not its file chooser or another dialog."""
    return browser.owns(window) and not window.modal and _BROWSER_TITLE.search(window.title) is not None


def has_tree(roots: Iterable[Node]) -> bool:
    """Whether trees say anything of what is in the windows. Bare frames around a canvas do not."""
    return any(
        (node.name or node.value) and not is_wrapper(node) and "offscreen" not in node.states
        for root in roots
        if root.source != "text"
        for node in walk(root.children)
    ) or any(root.source == "page" and root.children for root in roots)


class Reader:
    """Reads a desktop. Secrets are masked before anything else sees a tree."""

    def __init__(
        self, desktop: Desktop, native: NativeTree | None, browser: Browser, secrets: Mapping[str, str]
    ) -> None:
        self._desktop, self._native, self.browser, self._secrets = desktop, native, browser, secrets

    async def look(self) -> Look:
        """Everything there is. An app that does not answer is left out and noted.

        What an act has closed may go while its app is read: then windows and trees would tell of two moments.
        """
        windows, popups = await asyncio.to_thread(self._windows)
        for _ in range(_LOOKS):
            look = await self._look(windows, popups)
            windows, popups = await asyncio.to_thread(self._windows)
            if _told(windows) == _told(look.windows):
                break
        return replace(look, notes=(*look.notes, *self._by_itself()))

    async def _look(self, windows: Sequence[WindowInfo], popups: Sequence[WindowInfo]) -> Look:
        notes: list[str] = []
        silent: set[int] = set()
        pids = list(dict.fromkeys(w.pid for w in windows if w.pid is not None and self._is_native(w)))
        # What has a popup but no window of its own (a tray, a desktop) is there, too.
        pids += [
            p.pid for p in popups if p.pid is not None and p.pid not in pids and not self.browser.owns(p)
        ]
        native = [self._native_roots(pid, windows, popups, notes, silent) for pid in pids]
        page = [self._page_roots(windows, notes, silent)] if self._shows_page(windows) else []
        trees = await asyncio.gather(*page, *native)
        return Look(
            windows=tuple(windows),
            popups=tuple(popups),
            roots=_by_window([root for tree in trees for root in tree], windows, self.browser),
            notes=tuple(mask_text(note, self._secrets) for note in notes),
            silent=frozenset(silent),
        )

    def _by_itself(self) -> tuple[str, ...]:
        return tuple(mask_text(note, self._secrets) for note in self.browser.notices())

    async def again(self, node: Node) -> tuple[Node, ...]:
        """The trees of the app, or the page, that an element is of, as they are now."""
        windows, popups = await asyncio.to_thread(self._windows)
        if node.source == "page":
            return await self._page(windows)
        if not isinstance(node.handle, Handle):
            return (await self.look()).roots
        return await self._read(node.handle.pid, windows, popups)

    async def page(self, url: str) -> tuple[Node, ...]:
        """A page read in a tab of its own; the browser is started for it if need be."""
        await self.browser.start(await asyncio.to_thread(self._desktop.browser_command))
        return mask_tree((await self.browser.read(url),), self._secrets)

    # --- inside -----------------------------------------------------------------------------------------------

    def _windows(self) -> tuple[tuple[WindowInfo, ...], tuple[WindowInfo, ...]]:
        windows = self._desktop.windows
        popups = getattr(windows, "popups", None)
        return tuple(windows.list()), tuple(popups()) if popups is not None else ()

    def _is_native(self, window: WindowInfo) -> bool:
        return self._native is not None and not shows_page(window, self.browser)

    def _shows_page(self, windows: Sequence[WindowInfo]) -> bool:
        return self.browser.running and any(shows_page(window, self.browser) for window in windows)

    async def _native_roots(
        self,
        pid: int,
        windows: Sequence[WindowInfo],
        popups: Sequence[WindowInfo],
        notes: list[str],
        silent: set[int],
    ) -> tuple[Node, ...]:
        try:
            return await self._read(pid, windows, popups)
        except NotAnswering:
            title = next((window.title for window in windows if window.pid == pid), f"process {pid}")
            notes.append(f"{quote(title, 80)} is not answering (busy or frozen); its elements cannot be read")
            silent.add(pid)
            return ()

    async def _read(
        self, pid: int, windows: Sequence[WindowInfo], popups: Sequence[WindowInfo]
    ) -> tuple[Node, ...]:
        if self._native is None:
            return ()
        roots = await self._native.read(pid, windows, popups)
        if any(self.browser.owns(window) for window in windows if window.pid == pid):
            # The browser's own windows are read as pages: of its native trees only dialogs say something new.
            roots = tuple(root for root in roots if not _holds_page(root))
        return mask_tree(roots, self._secrets)

    async def _page_roots(
        self, windows: Sequence[WindowInfo], notes: list[str], silent: set[int]
    ) -> tuple[Node, ...]:
        try:
            return await self._page(windows)
        except TargetError as error:
            notes.append(f"browser: {error}")
            silent.add(0)
            return ()

    async def _page(self, windows: Sequence[WindowInfo]) -> tuple[Node, ...]:
        shown = [window for window in windows if shows_page(window, self.browser)]
        return mask_tree(await self.browser.snapshot(shown), self._secrets)


def _told(windows: Iterable[WindowInfo]) -> list[tuple[int, str, bool]]:
    return [(window.id, window.title, window.active) for window in windows]


def _holds_page(root: Node) -> bool:
    return _BROWSER_TITLE.search(root.name) is not None or any(n.role == "document" for n in walk((root,)))


def _by_window(roots: Sequence[Node], windows: Sequence[WindowInfo], browser: Browser) -> tuple[Node, ...]:
    """The roots in the order of their windows, the active one's first."""
    order = sorted(windows, key=lambda window: not window.active)

    def place(root: Node) -> int:
        for index, window in enumerate(order):
            if root.source == "page":
                if shows_page(window, browser):
                    return index
            elif (
                isinstance(root.handle, Handle)
                and root.handle.pid == window.pid
                and root.name == window.title
            ):
                return index
        return -1 if root.role != "window" else len(order)

    return tuple(sorted(roots, key=place))


def find_again(node: Node, roots: Sequence[Node]) -> Node | None:
    """The same element in fresh trees: by its handle; without one, the only element like it."""
    if node.handle is not None:
        return next(
            (each for each in walk(roots) if each.handle == node.handle and _same_kind(each, node)), None
        )
    like = [
        each
        for each in walk(roots)
        if each.role == node.role and each.name == node.name and each.window == node.window
    ]
    return like[0] if len(like) == 1 else None


def _same_kind(one: Node, other: Node) -> bool:
    """Handles of native options and of the list they are in may be one; then the name tells them apart."""
    if isinstance(one.handle, PageHandle) and one.handle.option:
        return comparable(one.name) == comparable(other.name)
    return True
