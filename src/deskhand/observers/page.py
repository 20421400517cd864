"""The desktop's own browser: started through its sandbox, driven by Playwright over a pipe, read as `Node`s."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from deskhand.errors import DesktopError, MissingPart, TargetError, ToolError
from deskhand.messages import Node, WindowInfo
from deskhand.observers import near
from deskhand.observers.cookies import CookieJar
from deskhand.observers.loading import PageWork
from deskhand.observers.node import clean_name, comparable, quote
from deskhand.observers.page_errors import first_line, quiet, translated
from deskhand.observers.page_tree import PageHandle, read_page
from deskhand.observers.page_words import take
from deskhand.observers.tabs import Tab, Tabs, dialog_node

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, ElementHandle, Page, Playwright

NAVIGATE_MS: Final = 20_000
"""Milliseconds for a page to begin to show. What loads after that is for settling to see."""

START_S: Final = 20.0

FIND_S: Final = 2.0
"""Seconds for the page to find an element that was read."""

ASKED: Final = 5
"""Queries that are remembered: on long pages what they mean is read, too."""

_DOCUMENT: Final = "e => String(e.ownerDocument.defaultView.performance.timeOrigin)"
_NET_ERROR: Final = re.compile(r"net::(ERR_[A-Z_]+)")


class Command(Protocol):
    """How to start a desktop's browser (see `desktop.browser.BrowserCommand`)."""

    @property
    def executable(self) -> str: ...
    @property
    def args(self) -> tuple[str, ...]: ...
    @property
    def env(self) -> dict[str, str]: ...
    @property
    def profile(self) -> str: ...
    @property
    def downloads(self) -> str: ...
    @property
    def artifacts(self) -> str: ...
    @property
    def chromium_sandbox(self) -> bool: ...
    @property
    def cookies(self) -> str | None: ...


class Browser:
    """The desktop's own Chromium with its tabs, JavaScript dialogs and downloads. Used from one event loop."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._context: BrowserContext | None = None
        self._profile = ""
        self._downloads_dir = ""
        self._tabs: Tabs | None = None
        self._jar: CookieJar | None = None
        self.work = PageWork()
        """Whether pages are loading something: for the settle engine."""
        self._asked: deque[str] = deque(maxlen=ASKED)
        self._pids: dict[int, bool] = {}
        self._shared: list[str] = []

    # --- life -------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self._context is not None

    async def start(self, command: Command) -> None:
        """Start the browser; nothing to do when it runs. MissingPart without Playwright, DesktopError otherwise."""
        if self.running:
            return
        try:
            from playwright.async_api import Error, async_playwright
        except ImportError:
            raise MissingPart("Playwright", "it drives the browser", "pip install 'deskhand[web]'") from None
        try:
            async with asyncio.timeout(START_S):
                if self._playwright is None:
                    self._playwright = await async_playwright().start()
                    await near.register(self._playwright)
                self._context = await self._playwright.chromium.launch_persistent_context(
                    command.profile,
                    executable_path=command.executable,
                    args=list(command.args),
                    env=dict(command.env),
                    headless=False,
                    no_viewport=True,
                    chromium_sandbox=command.chromium_sandbox,
                    # Its bar ("controlled by automated test software") would take room from every page.
                    ignore_default_args=["--enable-automation"],
                    accept_downloads=True,
                    downloads_path=command.downloads,
                    artifacts_dir=command.artifacts,
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
        except (Error, TimeoutError) as error:
            await self.aclose()
            raise DesktopError(f"the browser did not start: {first_line(error)}") from error
        self._profile, self._downloads_dir = command.profile, command.downloads
        self._context.on("close", self._closed)
        self.work.watch(self._context)
        self._tabs = Tabs(self._context, command.downloads)
        if command.cookies is not None:
            self._jar = CookieJar(self._context, command.cookies)
            await self._jar.start()

    async def aclose(self) -> None:
        """Close the browser and the driver. Idempotent, bounded."""
        if self._tabs is not None:
            self._tabs.end()
        jar, self._jar = self._jar, None
        context, self._context = self._context, None
        playwright, self._playwright = self._playwright, None
        for ending in (
            jar.aclose if jar else None,
            context.close if context else None,
            playwright.stop if playwright else None,
        ):
            if ending is not None:
                task = asyncio.ensure_future(quiet(ending()))
                await asyncio.wait({task}, timeout=3.0)

    def owns(self, window: WindowInfo) -> bool:
        """Whether an X window is this browser's: its process was started on this browser's profile."""
        if not self.running or window.pid is None:
            return False
        if window.pid not in self._pids:
            try:
                line = Path(f"/proc/{window.pid}/cmdline").read_bytes()
            except OSError:
                return False
            # Chromium writes its command line anew, with spaces in the place of the NULs.
            mine = re.escape(os.fsencode(f"--user-data-dir={self._profile}"))
            self._pids[window.pid] = re.search(mine + rb"(?:[\0 ]|$)", line) is not None
        return self._pids[window.pid]

    # --- tabs, dialogs, downloads -----------------------------------------------------------------------------

    @property
    def downloads(self) -> tuple[str, ...]:
        """Files that were downloaded, in the desktop's download directory."""
        return tuple(self._tabs.downloads) if self._tabs is not None else ()

    def notices(self) -> tuple[str, ...]:
        """What happened by itself since the last call: tabs that opened, dialogs, downloads, crashes."""
        return self._tabs.notices() if self._tabs is not None else ()

    async def tabs(self, windows: Sequence[WindowInfo] = ()) -> tuple[Tab, ...]:
        """The open tabs. The active one is told by the title of the browser's topmost window."""
        titles = await self._open_tabs().titles()
        current = await self.current(windows) if titles else None
        return tuple(self._tab(page, title, page is current) for page, title in titles.items())

    async def switch(self, tab: int | str) -> Tab:
        """Bring a tab to the front: by number, or by part of its title or address."""
        tabs = self._open_tabs()
        page = await tabs.find(tab)
        async with translated("switch to that tab"):
            await page.bring_to_front()
        tabs.current = page
        return self._tab(page, (await tabs.titles()).get(page, ""), True)

    async def close_tab(self, tab: int | str) -> None:
        """Close a tab."""
        page = await self._open_tabs().find(tab)
        async with translated("close that tab"):
            await page.close()

    async def current(self, windows: Sequence[WindowInfo] = ()) -> Page:
        """The page in front: that of the browser's topmost window, by its title; else the one used last.

        Playwright has every page believe that it is visible and focused, so pages cannot be asked.
        """
        tabs = self._open_tabs()
        pages = tabs.pages()
        if not pages:
            raise TargetError("not_found", "the browser has no open tab")
        chosen = tabs.current if tabs.current in pages else pages[-1]
        mine = next((window for window in windows if self.owns(window)), None)
        if mine is not None and len(pages) > 1:
            shown = comparable(mine.title)
            titles = await tabs.titles()
            fitting = [
                page for page, title in titles.items() if title and shown.startswith(comparable(title))
            ]
            if fitting and chosen not in fitting:
                chosen = fitting[-1]
        tabs.current = chosen
        assert chosen is not None
        return chosen

    def dialog(self) -> Dialog | None:
        """The JavaScript dialog that holds the current tab, if there is one."""
        return self._tabs.dialog(self._tabs.current) if self._tabs is not None else None

    async def answer(self, accept: bool, text: str | None = None) -> str:
        """Answer the open JavaScript dialog; returns its message. TargetError when there is none."""
        from playwright.async_api import Error

        tabs = self._open_tabs()
        dialog = tabs.take_dialog(tabs.current)
        if dialog is None:
            raise TargetError("not_found", "no JavaScript dialog is open")
        try:
            if accept:
                await (dialog.accept() if text is None else dialog.accept(text))
            else:
                await dialog.dismiss()
        except Error:  # somebody closed it on the screen
            raise TargetError("not_found", "the JavaScript dialog was closed already") from None
        return clean_name(dialog.message)

    # --- reading ----------------------------------------------------------------------------------------------

    async def open(self, url: str, *, new_tab: bool = False) -> None:
        """Load an address in the current tab (or in a new one) until it begins to show. ToolError when it cannot."""
        tabs = self._open_tabs()
        page = await self.current() if tabs.pages() and not new_tab else None
        crashed = page if page is not None and tabs.crashed(page) else None
        if page is None or crashed is not None:  # a tab that has crashed goes nowhere any more
            assert self._context is not None
            page = await self._context.new_page()
        if crashed is not None:
            await quiet(crashed.close())
        tabs.current = page
        await self._goto(page, url)

    async def back(self) -> None:
        """Go back one page."""
        page = await self.current()
        async with translated("go back"):
            await page.go_back(timeout=NAVIGATE_MS, wait_until="domcontentloaded")

    def ask_for(self, words: str) -> None:
        """Have what says these words read from now on, also where a page is too long to be read whole."""
        if words not in self._asked:
            self._asked.append(words)

    async def snapshot(self, windows: Sequence[WindowInfo] = ()) -> tuple[Node, ...]:
        """The current page as a tree of `Node`s, behind its JavaScript dialog when one is open.

        ``windows`` are the X server's, topmost first: they tell which tab is in front and where it stands.
        """
        page = await self.current(windows)
        tabs = self._open_tabs()
        if (dialog := tabs.dialog(page)) is not None:
            return (dialog_node(dialog, tabs.number(page)),)
        if tabs.crashed(page):
            words = Node(
                role="text",
                name="This page has crashed: navigate to its address, or to another.",
                source="page",
            )
            return (Node(role="document", name="crashed", source="page", app="browser", children=(words,)),)
        window = next((window for window in windows if self.owns(window)), None)
        return (await self._read(page, window),)

    async def read(self, url: str) -> Node:
        """Another page, read in a tab behind the current one, which is closed again."""
        tabs = self._open_tabs()
        async with translated("open a tab behind"):
            page = await tabs.open_behind()
        try:
            await self._goto(page, url)
            return await self._read(page, None, shown=False)
        finally:
            await tabs.close_hidden(page)

    @asynccontextmanager
    async def held(self, node: Node, *, anew: bool = False) -> AsyncIterator[tuple[Page, ElementHandle]]:
        """The very element that was read: it cannot become another one while it is acted on.

        TargetError ``stale_ref``, in milliseconds, when it is gone. ``anew``: the page draws it anew all the time, so
        the one element of its role and name there is now.
        """
        handle = handle_of(node)
        page = self._open_tabs().page(handle.tab)
        gone = TargetError(
            "stale_ref", f"{node.role} {quote(node.name, 80)} is gone from the page: observe again"
        )
        if page is None:
            raise gone
        async with translated("find the element"), asyncio.timeout(FIND_S):
            if anew:
                # Playwright's roles are ours; what it does not know it does not find.
                alike = await page.get_by_role(
                    cast(Any, node.role), name=node.name, exact=True
                ).element_handles()
                element = alike[0] if len(alike) == 1 else None
            elif handle.words is not None:
                element = await take(page, *handle.words)
            else:
                element = await page.query_selector(f"aria-ref={handle.ref}")
            # The same ref may mean another element in the document that has been loaded since.
            if element is None or await element.evaluate(_DOCUMENT) != handle.document:
                raise gone
        try:
            yield page, element
        finally:
            self._open_tabs().forget(element)

    async def act(self, page: Page, doing: Awaitable[Any]) -> bool:
        """Wait for an act, or for the JavaScript dialog that it opens and that holds it up. True when it is done."""
        return await self._open_tabs().unless_dialog(doing)

    def share_file(self, path: str) -> str:
        """A copy of a file, under its own name, where the browser in its box can read it."""
        place = Path(self._downloads_dir).parent / "uploads" / str(len(self._shared))
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._shared.append(shutil.copy(path, str(place / Path(path).name)))
        return self._shared[-1]

    # --- inside -----------------------------------------------------------------------------------------------

    async def _read(self, page: Page, window: WindowInfo | None, *, shown: bool = True) -> Node:
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as Slow

        number = self._open_tabs().number(page)
        for last in (False, True):
            try:
                return await read_page(page, number, window, shown=shown, words=tuple(self._asked))
            except (TimeoutError, Slow):
                raise TargetError("busy", "the page is not answering: wait for it, then look again") from None
            except Error as error:
                if page.is_closed():
                    raise TargetError("not_found", "the tab was closed") from None
                # A navigation pulls the document away from under the reading: read the new one.
                if last:
                    raise TargetError("busy", f"the page cannot be read now: {first_line(error)}") from None
        raise AssertionError("unreachable")

    async def _goto(self, page: Page, url: str) -> None:
        from playwright.async_api import Error

        address = url if re.match(r"[a-z][a-z0-9+.-]*:", url, re.IGNORECASE) else f"https://{url}"
        try:
            await self.act(page, page.goto(address, timeout=NAVIGATE_MS, wait_until="domcontentloaded"))
        except Error as error:
            message = first_line(error)
            if "Download is starting" in message:
                return
            found = _NET_ERROR.search(message)
            raise ToolError(f"{quote(url, 200)} cannot be opened: {found[1] if found else message}") from None

    def _open_tabs(self) -> Tabs:
        if self._context is None or self._tabs is None:
            raise TargetError("not_found", "the browser is not running: launch it with an address")
        return self._tabs

    def _tab(self, page: Page, title: str, active: bool) -> Tab:
        number = self._open_tabs().number(page)
        return Tab(number=number, title=title, url=clean_name(page.url), active=active)

    def _closed(self, _: object) -> None:
        self._context = None


def handle_of(node: Node) -> PageHandle:
    """The page handle of a node. TargetError when it is not an element of a page."""
    if not isinstance(node.handle, PageHandle):
        raise TargetError("not_supported", f"{node.role} {quote(node.name, 80)} cannot be acted on by itself")
    return node.handle
