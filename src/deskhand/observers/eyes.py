"""The senses of a desktop: what to look at, what to say of it, and what changed since the last look."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from deskhand.desktop.base import Desktop, Frame
from deskhand.errors import TargetError, ToolError
from deskhand.messages import Image, Node, Observation, Rect, WindowInfo
from deskhand.observers import ocr, telling
from deskhand.observers.atspi import Handle
from deskhand.observers.look import Look, find_again, has_tree, shows_page
from deskhand.observers.look_text import TextReader
from deskhand.observers.native import NativeTree
from deskhand.observers.node import comparable, quote
from deskhand.observers.page import Browser
from deskhand.observers.refs import TITLED, RefTable
from deskhand.observers.screen import part_of, picture, picture_words
from deskhand.observers.selector import parse_selector
from deskhand.observers.serialize import describe, render
from deskhand.observers.text import ASKED, UNASKED, TextHandle, TextSense, with_unread

LISTED: Final = 50
"""Elements that a query lists when no limit is given."""

QUICK: Final = 0.1
"""Seconds of reading that are no burden to an app: one that answers for longer looks as if it was at work."""

_BARE: Final = (
    "This window has no elements: its text was read off the picture. A text is a place to click at, not a control; "
    "screenshot shows what is around it."
)


class Eyes:
    """Looks at a desktop. Remembers what was shown, so that a second look need only tell what is different.

    ``observe`` takes the cheapest sense that says what is there: the page of the desktop's own browser, the native tree
    of an app that has one, else the text off its picture (with ``texts``), else the picture.
    """

    def __init__(
        self,
        desktop: Desktop,
        native: NativeTree | None,
        browser: Browser,
        *,
        refs: RefTable | None = None,
        secrets: Mapping[str, str] | None = None,
        image_edge: int = 1280,
        texts: TextSense | None = None,
        text_unasked: bool = True,
    ) -> None:
        self._desktop = desktop
        self._browser = browser
        self._reader = TextReader(
            desktop,
            native if desktop.a11y_address else None,
            browser,
            {} if secrets is None else secrets,
            texts,
            unasked=text_unasked,
        )
        self._refs = refs or RefTable()
        self._edge = image_edge
        self._images = itertools.count(1)
        self._seen: dict[Hashable, Node] = {}
        self._last = Look(windows=())
        self._began = self._took = 0.0
        self._ahead: Look | None = None
        self._told_windows = ""
        self._pictured: Frame | None = None

    # --- looking ----------------------------------------------------------------------------------------------

    async def observe(
        self,
        *,
        query: str | None = None,
        role: str | None = None,
        window: str | None = None,
        url: str | None = None,
        screenshot: bool = False,
        region: Rect | None = None,
        monitor: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        detail: bool = False,
        text: bool = False,
    ) -> Observation:
        """The windows, and the elements of the active (or named) one with refs.

        ``query`` (words) and ``role`` list matching elements of all windows instead, ``limit`` of them from ``offset``;
        without them ``limit`` and ``offset`` count lines. ``url`` reads a page in a tab of its own. ``screenshot``,
        ``region`` (screen pixels; enlarged) and ``monitor`` (from 1) add a picture. ``text`` reads what is only pixels
        (in that part of the screen) instead of the elements. TargetError ``not_found`` names the windows that there
        are; ToolError when text cannot be read, or the part is not on the screen.
        """
        part = await asyncio.to_thread(part_of, self._desktop.screen, region, monitor)
        if text and not self._reader.reads_text:
            raise ToolError(str(ocr.missing()))
        if url is not None:
            return await self._observe_url(
                url, query=query, role=role, limit=limit, offset=offset, detail=detail
            )
        if query:
            self._browser.ask_for(query)
        look = await self._look(bare=not text)
        shown = look.active if window is None else telling.named(window, look.windows)
        if shown is not None:
            look = self._kept(
                await self._reader.with_text(
                    look,
                    shown,
                    seconds=ASKED if text else UNASKED,
                    asked=text,
                    only=part if text else None,
                )
            )
        roots = look.of(shown, self._browser)
        kind = self._kind(shown, roots)
        texts = tuple(root for root in roots if root.source == "text")
        unseen = any(_identity(root) not in self._seen for root in texts)
        if query is not None or role is not None:
            body = telling.matching(
                look.roots, query, role, limit=limit or LISTED, offset=offset, detail=detail
            )
        else:
            # Of a window that has nothing but bare frames, those are not told: the windows have been named.
            told = texts if text or kind == "screen" else roots
            body = telling.in_lines(told, limit=limit, offset=offset, detail=detail)
            self._remember(told if text else roots)
        image = None
        asked = screenshot or part is not None
        if asked or (kind == "screen" and not text and (unseen or not body)):
            image = await self._picture(part, enlarge=region is not None)
        head = [*self._told(look), *await self._page_line(look, kind)]
        if image is not None and asked:
            head.append(await asyncio.to_thread(picture_words, image, part, self._desktop.screen))
        if text and not texts:
            head.append(
                "No text was found in the picture" + (" beyond the elements'." if kind != "screen" else ".")
            )
        elif kind == "screen":
            head.append(_BARE if texts else "This window has no elements that can be read: use the picture.")
        self._told_windows = telling.windows(look.windows)
        said = "\n".join([*head, body] if body else head)
        return self._observation(said, look, image, kind, whole=query is None and role is None)

    async def read_ahead(self) -> None:
        """Read everything now, for a ``look_again(ahead=True)`` soon; not where reading takes the apps long."""
        if self._took <= QUICK:
            self._ahead = await self._look()

    async def look_again(self, *, ahead: bool = False) -> Observation:
        """What changed since what was last shown, as text with refs; ``roots`` are everything.

        The active window whole where it was not shown before, or where telling the difference would take longer. A
        picture comes with it only where nothing else can say what is there and the screen has changed. ``ahead`` tells
        of what was read ahead, if that was the last reading.
        """
        look = self._last if ahead and self._last is self._ahead else await self._look()
        roots = look.of(look.active, self._browser)
        kind = self._kind(look.active, roots)
        lines: list[str] = []
        if (windows := telling.windows(look.windows)) != self._told_windows:
            lines.append(windows)
            self._told_windows = windows
        lines.extend(f"Note: {note}" for note in look.notes)
        current = set(map(_identity, look.roots))
        active = set(map(_identity, roots))
        body: list[str] = []
        whole = False
        read = False
        for root in look.roots:
            key = _identity(root)
            if key in self._seen:
                root = with_unread(self._seen[key], root)
                changed = telling.difference(self._seen[key], root)
                if changed and key not in active and root.source == "native":
                    changed = f"In {root.role} {quote(root.name, 80)}:\n{changed}"
                body.append(changed)
                read = read or (root.source == "text" and bool(changed))
            elif key in active:
                head = [_BARE] if root.source == "text" else await self._page_line(look, kind)
                body.extend([*head, render((root,))])
                whole = True
            else:
                continue
            self._seen[key] = root
        for key in [
            key for key, root in self._seen.items() if key not in current and not _silent(root, look)
        ]:
            gone = self._seen.pop(key)
            if gone.source == "native":
                body.append(f"gone: {gone.role} {quote(gone.name, 80)} (closed)")
        body = [part for part in body if part]
        # What changed in words needs no picture; what the words are about, at first, does.
        image = await self._picture(None, unless_same=True) if kind == "screen" and not read else None
        if not body and not lines and image is None:
            body.append("No element changed.")
        return self._observation("\n".join([*lines, *body]), look, image, kind, whole=whole)

    async def roots(self, text: float | None = None) -> tuple[Node, ...]:
        """Everything there is, live, with refs: all windows and the page, the active window first.

        ``text``: with what the active window says in pixels only, read for at most so many seconds.
        """
        look = await self._look(known=True, bare=text is None)
        if text is not None and look.active is not None:
            look = self._kept(await self._reader.with_text(look, look.active, seconds=text, asked=True))
        return look.roots

    def recent(self) -> tuple[float, tuple[Node, ...]] | None:
        """The last whole reading, with the moment (monotonic) it began; None without one that all apps answered."""
        return None if not self._began or self._last.silent else (self._began, self._last.roots)

    async def find(self, selector: str, limit: int = 50) -> tuple[list[Node], int]:
        """The first ``limit`` elements that match in all windows, and how many match."""
        found = parse_selector(selector).match(await self.roots())
        return found[:limit], len(found)

    async def resolve(self, ref: str) -> tuple[Node, bool]:
        """The element of a ref, live, and whether it has moved.

        TargetError ``stale_ref`` when it is gone or is not what it was when shown, ``busy`` when its app is not
        answering, ``not_found`` for a ref that was never given.
        """
        was = self._refs.lookup(ref)
        roots = self._refs.show(await self._reader.again(was))
        now = find_again(was, roots)
        what = f"{ref} ({was.role} {quote(was.name, 80)})"
        if now is None:
            raise TargetError("stale_ref", f"{what} is gone: {telling.instead(was, roots)}")
        renamed = comparable(now.name) != comparable(was.name) and was.role not in TITLED
        if now.role != was.role or renamed:
            raise TargetError(
                "stale_ref", f"{what} has become {describe(now)}: {telling.instead(was, roots)}"
            )
        if now.ref != ref and (row := self._refs.row(ref)) != self._refs.row(now.ref):
            raise TargetError(
                "stale_ref",
                f"{what} was in the row {quote(row, 60)}, which now says {quote(self._refs.row(now.ref), 60)}: "
                "find that row again",
            )
        return now, was.rect is not None and now.rect is not None and now.rect != was.rect

    async def refresh(self, node: Node) -> Node | None:
        """The same element as it is now, whatever it is called by now; None when it is gone."""
        return find_again(node, self._refs.show(await self._reader.again(node)))

    def was_shown(self, root: Node) -> bool:
        """Whether this window, or page, was in what was last told of the desktop; true while nothing was told."""
        return not self._seen or _identity(root) in self._seen

    def window_of(self, node: Node) -> WindowInfo | None:
        """The X window that an element is in, as of the last look."""
        windows = self._last.windows
        if node.source == "page":
            return next((window for window in windows if shows_page(window, self._browser)), None)
        if isinstance(node.handle, TextHandle):
            place = node.handle.window
            return next((each for each in (*windows, *self._last.popups) if each.id == place), None)
        if not isinstance(node.handle, Handle):
            return next((window for window in windows if window.title == node.window), None)
        own = [window for window in windows if window.pid == node.handle.pid]
        return next((window for window in own if window.title == node.window), next(iter(own), None))

    # --- inside -----------------------------------------------------------------------------------------------

    async def _look(self, *, known: bool = False, bare: bool = True) -> Look:
        """Everything there is; with the text of the active window if that is ``bare`` (and ``known`` to be)."""
        began = time.monotonic()
        look = await self._reader.look()
        if bare:
            look = await self._reader.with_bare(look, known=known)
        self._began, self._took = began, time.monotonic() - began
        return self._kept(look)

    def _kept(self, look: Look) -> Look:
        """With refs, and remembered as the last."""
        if look is not self._last:
            self._last = replace(look, roots=self._refs.show(look.roots))
        return self._last

    async def _observe_url(
        self,
        url: str,
        *,
        query: str | None,
        role: str | None,
        limit: int | None,
        offset: int,
        detail: bool,
    ) -> Observation:
        if query:
            self._browser.ask_for(query)
        roots = self._refs.show(await self._reader.page(url))
        title = f"Page read: {quote(roots[0].name, 120)} {roots[0].url} (not open in a tab)"
        if query is not None or role is not None:
            body = telling.matching(roots, query, role, limit=limit or LISTED, offset=offset, detail=detail)
        else:
            body = telling.in_lines(roots, limit=limit, offset=offset, detail=detail)
        return Observation(
            text=f"{title}\n{body}",
            whole=True,
            roots=roots,
            windows=self._last.windows,
            kind="page",
            url=roots[0].url,
        )

    def _kind(self, window: WindowInfo | None, roots: Sequence[Node]) -> Literal["native", "page", "screen"]:
        if window is not None and shows_page(window, self._browser):
            return "page" if has_tree(roots) else "screen"
        return "native" if has_tree(roots) or window is None else "screen"

    def _told(self, look: Look) -> list[str]:
        return [telling.windows(look.windows), *(f"Note: {note}" for note in look.notes)]

    async def _page_line(self, look: Look, kind: str) -> list[str]:
        if kind != "page":
            return []
        page = next(root for root in look.roots if root.source == "page")
        return [telling.page(page, await self._browser.tabs(look.windows))]

    def _remember(self, roots: Sequence[Node]) -> None:
        for root in roots:
            self._seen[_identity(root)] = root

    async def _picture(
        self, region: Rect | None, *, unless_same: bool = False, enlarge: bool = False
    ) -> Image | None:
        frame = await asyncio.to_thread(self._desktop.screen.grab, region)
        if unless_same and self._pictured is not None and _same_pixels(self._pictured, frame):
            return None
        if region is None:
            self._pictured = frame
        name = f"i{next(self._images)}"
        return await asyncio.to_thread(picture, frame, edge=self._edge, id=name, enlarge=enlarge)

    def _observation(
        self,
        text: str,
        look: Look,
        image: Image | None,
        kind: Literal["native", "page", "screen"],
        *,
        whole: bool,
    ) -> Observation:
        page = next((root for root in look.roots if root.source == "page"), None)
        return Observation(
            text=text,
            whole=whole,
            roots=look.roots,
            windows=look.windows,
            image=image,
            kind=kind,
            url=page.url if page is not None and kind == "page" else "",
        )


def _silent(root: Node, look: Look) -> bool:
    """Whether a tree is missing only because it could not be read."""
    return (root.handle.pid if isinstance(root.handle, Handle) else 0) in look.silent


def _identity(root: Node) -> Hashable:
    return root.source, root.handle if root.handle is not None else root.name


def _same_pixels(one: Frame, other: Frame) -> bool:
    import numpy as np

    return one.rect == other.rect and bool(np.array_equal(one.pixels, other.pixels))
