"""Steps on the desktop's own browser: pages, tabs, dialogs, uploads."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from deskhand.desktop.base import Desktop
from deskhand.desktop.sandbox import HOME
from deskhand.errors import InvalidStep, TargetError
from deskhand.messages import Node
from deskhand.observers import page_act
from deskhand.observers.node import quote
from deskhand.observers.page import NAVIGATE_MS, Browser
from deskhand.observers.page_errors import translated
from deskhand.tools.actions import Dialog, Navigate, Tab, Upload
from deskhand.tools.outcome import Outcome
from deskhand.tools.workspace import Workspace, in_thread

_SCHEMES = ("http", "https", "file", "about", "data", "chrome", "view-source")


async def open_in_browser(workspace: Workspace, url: str, *, new_tab: bool = False) -> Outcome:
    """Open an address, in the browser's active tab; starts the browser when it is not running."""
    address = checked_url(url)
    browser = _browser(workspace)
    if not browser.running:
        await browser.start(await in_thread(workspace.desktop.browser_command))
    await browser.open(address, new_tab=new_tab)
    page = await browser.current(await in_thread(workspace.desktop.windows.list))
    async with translated("come to the front"):  # and take the keyboard from the address bar
        await browser.act(page, page.bring_to_front())
    return Outcome(effect="done", route="page", message=await _where(workspace, browser), final=True)


async def navigate(workspace: Workspace, step: Navigate) -> Outcome:
    """Go to an address, back, forward, or load again."""
    if step.url is not None:
        return await open_in_browser(workspace, step.url)
    browser = _running(workspace)
    page = await browser.current(await in_thread(workspace.desktop.windows.list))
    go = {"back": page.go_back, "forward": page.go_forward, "reload": page.reload}[step.to or "reload"]
    async with translated(f"go {step.to}"):
        await browser.act(page, go(timeout=NAVIGATE_MS, wait_until="domcontentloaded"))
    return Outcome(effect="done", route="page", message=await _where(workspace, browser))


async def tab(workspace: Workspace, step: Tab) -> Outcome:
    """Switch, open or close a tab."""
    if step.do == "open":
        return await open_in_browser(workspace, step.url or "about:blank", new_tab=True)
    browser = _running(workspace)
    which = step.index if step.index is not None else step.title
    if step.do == "switch":
        await browser.switch(which or 1)
    else:
        if which is None:
            tabs = await browser.tabs(await in_thread(workspace.desktop.windows.list))
            which = next(each.number for each in tabs if each.active)
        await browser.close_tab(which)
    return Outcome(effect="done", route="page", message=await _where(workspace, browser), final=True)


async def upload(workspace: Workspace, step: Upload, node: Node | None) -> Outcome:
    """Hand files to a file input."""
    if node is None or node.source != "page":
        raise TargetError(
            "not_supported", "upload needs a file input of a page; in a native dialog fill in the file's name"
        )
    browser = _running(workspace)
    files = [outside(workspace.desktop, each) for each in step.files]
    effect = await page_act.upload(browser, node, files)
    return Outcome(effect=effect, route="page", final=True)


async def dialog(workspace: Workspace, step: Dialog) -> Outcome:
    """Answer the page's alert, confirm or prompt."""
    browser = _running(workspace)
    text = None if step.text is None else workspace.reveal(step.text)
    asked = await browser.answer(step.accept, text)
    return Outcome(effect="done", route="page", message=f"it said {quote(asked, 200)}", final=True)


def checked_url(url: str) -> str:
    """The address with its scheme (https when none was given). InvalidStep for one that a page should not go to."""
    url = url.strip()
    scheme = urlsplit(url).scheme.lower()
    if scheme in _SCHEMES:
        return url
    host, _, port = url.split("/", 1)[0].partition(":")
    if not scheme or port.isdecimal():  # in localhost:8000/x what looks like a scheme is the host
        return f"{'http' if host in ('localhost', '127.0.0.1') else 'https'}://{url}"
    raise InvalidStep(f"{scheme}: addresses are not opened; use http, https or file")


def outside(desktop: Desktop, path: str) -> str:
    """A path on the desktop as a path of this process. TargetError when it is not there or not the desktop's.

    On a desktop with its own files that is a path in its home, or in what is shared with it: a link that leads out of
    these is not followed.
    """
    home = getattr(desktop, "home", None)
    if desktop.isolation != "files" or home is None:
        found = os.path.expanduser(path)
    else:
        shares: tuple[str, ...] = getattr(desktop, "shares", ())
        inside = os.path.normpath(os.path.join(HOME, path.replace("~", HOME, 1) if path[:1] == "~" else path))
        at_home = not any(_below(inside, share) for share in shares)
        found = os.path.realpath(os.path.join(home, os.path.relpath(inside, HOME)) if at_home else inside)
        if not any(_below(found, os.path.realpath(root)) for root in (home, *shares)):
            also = "".join(f" or {share}" for share in shares)
            raise TargetError("not_found", f"{quote(path, 200)} is not in the desktop's home ({HOME}){also}")
    if not os.path.isfile(found):
        raise TargetError("not_found", f"there is no file {quote(path, 200)} on this desktop")
    return found


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


async def _where(workspace: Workspace, browser: Browser) -> str:
    """The tab in front, and how many there are."""
    tabs = await browser.tabs(await in_thread(workspace.desktop.windows.list))
    front = next((each for each in tabs if each.active), None)
    if front is None:
        return ""
    more = f", tab {front.number} of {len(tabs)}" if len(tabs) > 1 else ""
    return f"{quote(front.title, 80)} {front.url}{more}"


def _browser(workspace: Workspace) -> Browser:
    if workspace.browser is None:
        raise TargetError("not_supported", "there is no browser on this desktop")
    return workspace.browser


def _running(workspace: Workspace) -> Browser:
    browser = _browser(workspace)
    if not browser.running:
        raise TargetError(
            "not_found", "the browser is not running: open an address with launch or navigate first"
        )
    return browser
