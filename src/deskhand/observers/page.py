"""The desktop's own browser: started through its sandbox, driven by Playwright over a pipe, read as `Node`s."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from deskhand.errors import DesktopError, MissingPart, TargetError, ToolError
from deskhand.messages import Node, WindowInfo
from deskhand.observers.node import clean_name, comparable, quote
from deskhand.observers.page_tree import PageHandle, read_page

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, Download, Locator, Page, Playwright

NAVIGATE_MS: Final = 20_000
"""Milliseconds for a page to begin to show. What loads after that is for settling to see."""

START_S: Final = 20.0
_TITLE_S: Final = 0.3
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
    def chromium_sandbox(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """A tab; ``number`` counts from 1 in the order they were opened and stays with the tab."""

    number: int
    title: str
    url: str
    active: bool = False


class Browser:
    """The desktop's own Chromium with its tabs, JavaScript dialogs and downloads. Used from one event loop."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._context: BrowserContext | None = None
        self._profile = ""
        self._downloads_dir = ""
        self._numbers: dict[Page, int] = {}
        self._titles: dict[Page, str] = {}
        self._hidden: set[Page] = set()
        self._expected_hidden = 0
        self._current: Page | None = None
        self._dialogs: dict[Page, Dialog] = {}
        self._dialog_came = asyncio.Event()
        self._crashed: set[Page] = set()
        self._notices: list[str] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._pids: dict[int, bool] = {}
        self._shared: list[str] = []
        self.downloads: list[str] = []
        """Files that were downloaded, in the desktop's download directory."""

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
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
        except (Error, TimeoutError) as error:
            await self.aclose()
            raise DesktopError(f"the browser did not start: {_first_line(error)}") from error
        self._profile, self._downloads_dir = command.profile, command.downloads
        self._context.on("page", self._opened)
        self._context.on("close", self._closed)
        for page in self._context.pages:
            self._opened(page)
        self._notices.clear()

    async def aclose(self) -> None:
        """Close the browser and the driver. Idempotent, bounded."""
        context, self._context = self._context, None
        playwright, self._playwright = self._playwright, None
        for ending in (context.close if context else None, playwright.stop if playwright else None):
            if ending is not None:
                task = asyncio.ensure_future(_quiet(ending()))
                await asyncio.wait({task}, timeout=3.0)
        for task in self._tasks:
            task.cancel()

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

    def notices(self) -> tuple[str, ...]:
        """What happened by itself since the last call: tabs that opened, dialogs, downloads, crashes."""
        notices, self._notices = tuple(self._notices), []
        return notices

    async def tabs(self, windows: Sequence[WindowInfo] = ()) -> tuple[Tab, ...]:
        """The open tabs. The active one is told by the title of the browser's topmost window."""
        pages = self._pages()
        titles = await asyncio.gather(*(self._title(page) for page in pages))
        current = await self.current(windows) if pages else None
        return tuple(
            Tab(number=self._numbers[page], title=title, url=clean_name(page.url), active=page is current)
            for page, title in zip(pages, titles, strict=True)
        )

    async def switch(self, tab: int | str) -> Tab:
        """Bring a tab to the front: by number, or by part of its title or address."""
        page = await self._tab(tab)
        await page.bring_to_front()
        self._current = page
        return Tab(
            number=self._numbers[page],
            title=await self._title(page),
            url=clean_name(page.url),
            active=True,
        )

    async def close_tab(self, tab: int | str) -> None:
        """Close a tab."""
        page = await self._tab(tab)
        await page.close()

    async def current(self, windows: Sequence[WindowInfo] = ()) -> Page:
        """The page in front: that of the browser's topmost window, by its title; else the one used last.

        Playwright has every page believe that it is visible and focused, so pages cannot be asked.
        """
        pages = self._pages()
        if not pages:
            raise TargetError("not_found", "the browser has no open tab")
        mine = next((window for window in windows if self.owns(window)), None)
        fallback = self._current if self._current in pages else pages[-1]
        if mine is not None and len(pages) > 1:
            titles = await asyncio.gather(*(self._title(page) for page in pages))
            shown = comparable(mine.title)
            fitting = [p for p, t in zip(pages, titles, strict=True) if t and shown.startswith(comparable(t))]
            if fitting and fallback not in fitting:
                fallback = fitting[-1]
        self._current = fallback
        assert fallback is not None
        return fallback

    def dialog(self) -> Dialog | None:
        """The JavaScript dialog that holds the current tab, if there is one."""
        return self._dialogs.get(self._current) if self._current is not None else None

    async def answer(self, accept: bool, text: str | None = None) -> str:
        """Answer the open JavaScript dialog; returns its message. TargetError when there is none."""
        from playwright.async_api import Error

        page = self._current
        dialog = self._dialogs.pop(page, None) if page is not None else None
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
        if self._context is None:
            raise DesktopError("the browser is not running")
        pages = self._pages()
        page = await self._context.new_page() if new_tab or not pages else await self.current()
        self._current = page
        await self._goto(page, url)

    async def back(self) -> None:
        """Go back one page."""
        page = await self.current()
        async with translated("go back"):
            await page.go_back(timeout=NAVIGATE_MS, wait_until="domcontentloaded")

    async def snapshot(self, windows: Sequence[WindowInfo] = ()) -> tuple[Node, ...]:
        """The current page as a tree of `Node`s, behind its JavaScript dialog when one is open.

        ``windows`` are the X server's, topmost first: they tell which tab is in front and where it stands.
        """
        page = await self.current(windows)
        if (dialog := self._dialogs.get(page)) is not None:
            return (dialog_node(dialog, self._numbers.get(page, 0)),)
        if page in self._crashed:
            return (Node(role="document", name="this page has crashed", source="page", app="browser"),)
        window = next((window for window in windows if self.owns(window)), None)
        return (await self._read(page, window),)

    async def read(self, url: str) -> Node:
        """Another page, read in a tab behind the current one, which is closed again."""
        if self._context is None:
            raise DesktopError("the browser is not running")
        page = await self._background_page()
        try:
            await self._goto(page, url)
            return await self._read(page, None, shown=False)
        finally:
            self._hidden.discard(page)
            await _quiet(page.close())

    async def locate(self, node: Node) -> tuple[Page, Locator]:
        """The live locator of an element that was read. TargetError ``stale_ref``, in milliseconds, when it is gone."""
        handle = handle_of(node)
        page = next((page for page, number in self._numbers.items() if number == handle.tab), None)
        gone = TargetError(
            "stale_ref", f"{node.role} {quote(node.name, 80)} is gone from the page: observe again"
        )
        if page is None or page.is_closed():
            raise gone
        locator = page.locator(f"aria-ref={handle.ref}")
        async with translated("find the element"), asyncio.timeout(2):
            # The same ref may mean another element in the document that has been loaded since.
            if not await locator.count() or await locator.evaluate(_DOCUMENT, timeout=500) != handle.document:
                raise gone
        return page, locator

    async def act(self, page: Page, doing: Awaitable[Any]) -> bool:
        """Wait for an act, or for the JavaScript dialog that it opens and that holds it up. True when it is done."""
        self._dialog_came.clear()
        task = asyncio.ensure_future(doing)
        dialog = asyncio.ensure_future(self._dialog_came.wait())
        try:
            await asyncio.wait({task, dialog}, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            task.cancel()
            raise
        finally:
            dialog.cancel()
        if task.done():
            task.result()
            return True
        self._keep(_quiet(task))
        return False

    def share_file(self, path: str) -> str:
        """A copy of a file, under its own name, where the browser in its box can read it."""
        place = Path(self._downloads_dir).parent / "uploads" / str(len(self._shared))
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._shared.append(shutil.copy(path, str(place / Path(path).name)))
        return self._shared[-1]

    # --- inside -----------------------------------------------------------------------------------------------

    async def _read(self, page: Page, window: WindowInfo | None, *, shown: bool = True) -> Node:
        from playwright.async_api import Error

        for last in (False, True):
            try:
                return await read_page(page, self._numbers.get(page, 0), window, shown=shown)
            except TimeoutError:
                raise TargetError(
                    "busy", "the page is not answering: wait for it, then observe again"
                ) from None
            except Error as error:
                if page.is_closed():
                    raise TargetError("not_found", "the tab was closed") from None
                # A navigation pulls the document away from under the reading: read the new one.
                if last:
                    raise TargetError("busy", f"the page cannot be read now: {_first_line(error)}") from None
        raise AssertionError("unreachable")

    async def _goto(self, page: Page, url: str) -> None:
        from playwright.async_api import Error

        address = url if re.match(r"[a-z][a-z0-9+.-]*:", url, re.IGNORECASE) else f"https://{url}"
        try:
            await self.act(page, page.goto(address, timeout=NAVIGATE_MS, wait_until="domcontentloaded"))
        except Error as error:
            message = _first_line(error)
            if "Download is starting" in message:
                return
            found = _NET_ERROR.search(message)
            raise ToolError(f"{quote(url, 200)} cannot be opened: {found[1] if found else message}") from None

    async def _background_page(self) -> Page:
        assert self._context is not None
        pages = self._pages()
        if not pages:
            page = await self._context.new_page()
            self._hidden.add(page)
            return page
        came: asyncio.Future[Page] = asyncio.get_running_loop().create_future()
        self._expected_hidden += 1

        def arrived(page: Page) -> None:
            if not came.done():
                came.set_result(page)

        self._context.once("page", arrived)
        session = await self._context.new_cdp_session(pages[0])
        try:
            await session.send("Target.createTarget", {"url": "about:blank", "background": True})
            async with asyncio.timeout(5):
                return await came
        finally:
            await _quiet(session.detach())

    def _pages(self) -> list[Page]:
        if self._context is None:
            return []
        return [page for page in self._context.pages if page not in self._hidden and not page.is_closed()]

    async def _tab(self, tab: int | str) -> Page:
        pages = self._pages()
        wanted = str(tab)
        if wanted.isdecimal():
            found = [page for page in pages if self._numbers[page] == int(wanted)]
        else:
            titles = await asyncio.gather(*(self._title(page) for page in pages))
            part = comparable(wanted)
            found = [
                p for p, t in zip(pages, titles, strict=True) if part in comparable(t) or wanted in p.url
            ]
        if len(found) != 1:
            listed = "; ".join(f"{t.number} {quote(t.title, 60)}" for t in await self.tabs())
            raise TargetError(
                "ambiguous" if found else "not_found", f"tab {quote(wanted, 80)}: there are {listed}"
            )
        return found[0]

    async def _title(self, page: Page) -> str:
        if page not in self._dialogs:
            try:
                async with asyncio.timeout(_TITLE_S):
                    self._titles[page] = clean_name(await page.title())
            except Exception:  # closed, crashed or not answering: what it was called before
                pass
        return self._titles.get(page, "")

    def _opened(self, page: Page) -> None:
        if page in self._numbers:
            return
        self._numbers[page] = max(self._numbers.values(), default=0) + 1
        if self._expected_hidden:
            self._expected_hidden -= 1
            self._hidden.add(page)
        else:
            self._notices.append(f"tab {self._numbers[page]} opened")
            self._current = page
        page.on("dialog", lambda dialog: self._dialog_opened(page, dialog))
        page.on("dialogclosed", lambda _: self._dialog_closed(page))
        page.on("download", self._download_started)
        page.on("crash", lambda page: self._crashed.add(page))
        page.on("close", self._page_closed)
        page.on("framenavigated", lambda frame: self._crashed.discard(page))

    def _page_closed(self, page: Page) -> None:
        self._dialogs.pop(page, None)
        self._titles.pop(page, None)
        self._numbers.pop(page, None)
        if self._current is page:
            self._current = None

    def _closed(self, _: object) -> None:
        self._context = None

    def _dialog_opened(self, page: Page, dialog: Dialog) -> None:
        if page in self._hidden or dialog.type == "beforeunload":
            self._keep(_quiet(dialog.accept()))
            return
        self._dialogs[page] = dialog
        self._notices.append(f"a JavaScript {dialog.type} opened: {quote(clean_name(dialog.message), 200)}")
        self._dialog_came.set()

    def _dialog_closed(self, page: Page) -> None:
        self._dialogs.pop(page, None)

    def _download_started(self, download: Download) -> None:
        self._keep(_quiet(self._save(download)))

    async def _save(self, download: Download) -> None:
        name = (
            Path(clean_name(download.suggested_filename).replace("/", "_")).name.lstrip(".")[:200]
            or "download"
        )
        target = Path(self._downloads_dir) / name
        stem, suffix, count = target.stem, target.suffix, 1
        while target.exists():
            target = target.with_name(f"{stem} ({count}){suffix}")
            count += 1
        self._notices.append(f"a download started: {quote(name)}")
        await download.save_as(target)
        self.downloads.append(str(target))
        self._notices.append(f"downloaded {quote(str(target), 300)}")

    def _keep(self, doing: Awaitable[Any]) -> None:
        """Let something end on its own, without losing track of it."""
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def handle_of(node: Node) -> PageHandle:
    """The page handle of a node. TargetError when it is not an element of a page."""
    if not isinstance(node.handle, PageHandle):
        raise TargetError("not_supported", f"{node.role} {quote(node.name, 80)} cannot be acted on by itself")
    return node.handle


def dialog_node(dialog: Dialog, tab: int) -> Node:
    """A JavaScript dialog as elements: its buttons and its text field can be acted on like any other."""
    kind, message = dialog.type, clean_name(dialog.message)
    where = f"dialog {id(dialog)}"
    parts = []
    if kind == "prompt":
        parts.append(
            _dialog_part("textbox", "Answer", tab, where, "text", value=clean_name(dialog.default_value))
        )
    if kind != "alert":
        parts.append(_dialog_part("button", "Cancel", tab, where, "dismiss"))
    parts.append(_dialog_part("button", "OK", tab, where, "accept"))
    return Node(
        role="dialog",
        name=message,
        description=f"JavaScript {kind}",
        states=frozenset({"modal"}),
        source="page",
        app="browser",
        handle=PageHandle(tab, where, "dialog"),
        children=tuple(parts),
    )


def _dialog_part(role: str, name: str, tab: int, where: str, ref: str, value: str | None = None) -> Node:
    return Node(
        role=role, name=name, value=value, source="page", app="browser", handle=PageHandle(tab, where, ref)
    )


@asynccontextmanager
async def translated(doing: str) -> AsyncIterator[None]:
    """Playwright's errors as ours."""
    from playwright.async_api import Error

    try:
        yield
    except TimeoutError:
        raise TargetError("busy", f"cannot {doing}: the page is not answering") from None
    except Error as error:
        raise _translate(doing, error) from None


def _translate(doing: str, error: Exception) -> ToolError:
    message = str(error)
    if "intercepts pointer events" in message:
        by = re.search(r"- (<.{0,200}?>).{0,300}?intercepts pointer events", message)
        cover = quote(clean_name(by[1]), 120) if by else "something"
        return TargetError("covered", f"cannot {doing}: {cover} is in front of it")
    if "not enabled" in message or "element is not enabled" in message:
        return TargetError("not_supported", f"cannot {doing}: it is disabled")
    if "not editable" in message or "not an <input>" in message or "Element is not" in message:
        return TargetError("not_supported", f"cannot {doing}: {_first_line(error)}")
    if any(word in message for word in ("closed", "detached", "not attached", "Invalid frame in aria-ref")):
        return TargetError("stale_ref", f"cannot {doing}: it is gone from the page; observe again")
    if "outside of the viewport" in message or "not visible" in message:
        return TargetError("not_supported", f"cannot {doing}: it is not visible")
    return TargetError("busy", f"cannot {doing}: {_first_line(error)}")


def _first_line(error: BaseException) -> str:
    return clean_name(str(error).split("\n", 1)[0])[:300] or type(error).__name__


async def _quiet(doing: Awaitable[Any]) -> None:
    try:
        await doing
    except Exception:  # on the way out, or already told another way
        return
