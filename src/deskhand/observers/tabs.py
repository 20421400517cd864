"""What is open in the browser and what happens there by itself: tabs, JavaScript dialogs, downloads, crashes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from deskhand.errors import TargetError
from deskhand.messages import Node
from deskhand.observers.node import clean_name, comparable, quote
from deskhand.observers.page_errors import quiet
from deskhand.observers.page_tree import PageHandle

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, Download, ElementHandle, Page

_TITLE_S: Final = 0.3
"""Seconds a page may take to say what it is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """A tab; ``number`` counts from 1 in the order they were opened and stays with the tab."""

    number: int
    title: str
    url: str
    active: bool = False


class Tabs:
    """Keeps track of a browser's pages. ``downloads`` is where files that are downloaded end up."""

    def __init__(self, context: BrowserContext, downloads: str) -> None:
        self._context = context
        self._directory = Path(downloads)
        self._numbers: dict[Page, int] = {}
        self._titles: dict[Page, str] = {}
        self._hidden: set[Page] = set()
        self._hidden_to_come = 0
        self._dialogs: dict[Page, Dialog] = {}
        self._dialog_came = asyncio.Event()
        self._crashed: set[Page] = set()
        self._notices: list[str] = []
        self._tasks: set[asyncio.Future[Any]] = set()
        self.current: Page | None = None
        """The tab used last."""
        self.downloads: list[str] = []
        """Files that were downloaded."""
        context.on("page", self._opened)
        for page in context.pages:
            self._opened(page)
        self._notices.clear()

    # --- asking -----------------------------------------------------------------------------------------------

    def pages(self) -> list[Page]:
        """The tabs that a person would count, in the order they were opened."""
        return [page for page in self._context.pages if page not in self._hidden and not page.is_closed()]

    def number(self, page: Page) -> int:
        """The number of a tab, 0 for one that is gone."""
        return self._numbers.get(page, 0)

    def page(self, number: int) -> Page | None:
        """The open tab of this number."""
        return next((page for page, n in self._numbers.items() if n == number and not page.is_closed()), None)

    async def titles(self) -> dict[Page, str]:
        """What the tabs are called; of one that does not answer, what it was called before."""
        pages = self.pages()
        return dict(zip(pages, await asyncio.gather(*(self._title(page) for page in pages)), strict=True))

    async def find(self, tab: int | str) -> Page:
        """A tab by number, or by part of its title or address. TargetError lists the tabs."""
        titles = await self.titles()
        wanted = str(tab).strip()
        part = comparable(wanted)
        if wanted.isdecimal():
            found = [page for page in titles if self._numbers[page] == int(wanted)]
        else:
            found = [
                page for page, title in titles.items() if part in comparable(title) or wanted in page.url
            ]
        if len(found) != 1:
            listed = "; ".join(f"{self._numbers[page]} {quote(title, 60)}" for page, title in titles.items())
            raise TargetError(
                "ambiguous" if found else "not_found",
                f"tab {quote(wanted, 80)}: there are {listed or 'none'}",
            )
        return found[0]

    def notices(self) -> tuple[str, ...]:
        """What happened by itself since the last call."""
        notices, self._notices = tuple(self._notices), []
        return notices

    def crashed(self, page: Page) -> bool:
        """Whether the page's process has died, and nothing has been loaded since."""
        return page in self._crashed

    def dialog(self, page: Page | None) -> Dialog | None:
        """The JavaScript dialog that holds a tab, if there is one."""
        return self._dialogs.get(page) if page is not None else None

    def take_dialog(self, page: Page | None) -> Dialog | None:
        """The same, to be answered: it is not open any more."""
        return self._dialogs.pop(page, None) if page is not None else None

    # --- doing ------------------------------------------------------------------------------------------------

    async def unless_dialog(self, doing: Awaitable[Any]) -> bool:
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
        self._keep(quiet(task))
        return False

    async def open_behind(self) -> Page:
        """A new tab behind the others that is not counted among them. TimeoutError when none comes."""
        pages = self.pages()
        self._hidden_to_come += 1
        if not pages:
            return await self._context.new_page()
        came: asyncio.Future[Page] = asyncio.get_running_loop().create_future()

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
            await quiet(session.detach())

    async def close_hidden(self, page: Page) -> None:
        """Close a tab that `open_behind` opened."""
        await quiet(page.close())
        self._hidden.discard(page)

    def end(self) -> None:
        """Let go of what is still under way."""
        for task in self._tasks:
            task.cancel()

    # --- what happens -----------------------------------------------------------------------------------------

    def _opened(self, page: Page) -> None:
        if page in self._numbers:
            return
        self._numbers[page] = max(self._numbers.values(), default=0) + 1
        if self._hidden_to_come:
            self._hidden_to_come -= 1
            self._hidden.add(page)
        else:
            self._notices.append(f"tab {self._numbers[page]} opened")
            self.current = page
        page.on("dialog", lambda dialog: self._dialog_opened(page, dialog))
        page.on("dialogclosed", lambda _: self._dialog_closed(page))
        page.on("download", self._download_started)
        page.on("crash", self._page_crashed)
        page.on("close", self._page_closed)
        page.on("framenavigated", lambda _: self._crashed.discard(page))

    def _page_closed(self, page: Page) -> None:
        self._dialogs.pop(page, None)
        self._titles.pop(page, None)
        self._numbers.pop(page, None)
        if self.current is page:
            self.current = None

    def _page_crashed(self, page: Page) -> None:
        self._crashed.add(page)
        self._notices.append(f"the page in tab {self.number(page)} crashed")

    def _dialog_opened(self, page: Page, dialog: Dialog) -> None:
        if page in self._hidden or dialog.type == "beforeunload":
            self._keep(quiet(dialog.accept()))
            return
        self._dialogs[page] = dialog
        self._notices.append(f"a JavaScript {dialog.type} opened: {quote(clean_name(dialog.message), 200)}")
        self._dialog_came.set()

    def _dialog_closed(self, page: Page) -> None:
        self._dialogs.pop(page, None)

    def _download_started(self, download: Download) -> None:
        self._keep(quiet(self._save(download)))

    async def _save(self, download: Download) -> None:
        # The name is the site's choice: one path component, not hidden, not too long.
        suggested = Path(clean_name(download.suggested_filename).replace("/", "_")).name.lstrip(".")
        target = self._directory / (suggested[-200:] or "download")
        stem, suffix, count = target.stem, target.suffix, 1
        while target.exists():
            target = target.with_name(f"{stem} ({count}){suffix}")
            count += 1
        self._notices.append(f"a download started: {quote(target.name)}")
        await download.save_as(target)
        self.downloads.append(str(target))
        self._notices.append(f"downloaded {quote(str(target), 300)}")

    async def _title(self, page: Page) -> str:
        if page not in self._dialogs:
            try:
                async with asyncio.timeout(_TITLE_S):
                    self._titles[page] = clean_name(await page.title())
            except Exception:  # closed, crashed or not answering: what it was called before
                pass
        return self._titles.get(page, "")

    def forget(self, element: ElementHandle) -> None:
        """Let go of an element, without waiting for that."""
        self._keep(_disposed(element))

    def _keep(self, doing: Awaitable[Any]) -> None:
        """Let something end on its own, without losing track of it."""
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _disposed(element: ElementHandle) -> None:
    await quiet(element.dispose())


def dialog_node(dialog: Dialog, tab: int) -> Node:
    """A JavaScript dialog as elements: its buttons and its text field can be acted on like any other."""
    kind = dialog.type
    where = f"dialog {id(dialog)}"

    def part(role: str, name: str, ref: str, value: str | None = None) -> Node:
        return Node(role=role, name=name, value=value, source="page", handle=PageHandle(tab, where, ref))

    parts = [part("button", "OK", "accept")]
    if kind != "alert":
        parts.insert(0, part("button", "Cancel", "dismiss"))
    if kind == "prompt":
        parts.insert(0, part("textbox", "Answer", "text", clean_name(dialog.default_value)))
    return Node(
        role="dialog",
        name=clean_name(dialog.message),
        description=f"JavaScript {kind}",
        states=frozenset({"modal"}),
        source="page",
        handle=PageHandle(tab, where, "dialog"),
        children=tuple(parts),
    )
