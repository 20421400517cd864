"""Steps on the desktop's own browser: pages, tabs, dialogs, uploads."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from deskhand.errors import InvalidStep, TargetError
from deskhand.messages import Node
from deskhand.tools.actions import Dialog, Navigate, Tab, Upload
from deskhand.tools.outcome import Outcome
from deskhand.tools.workspace import Workspace

_SCHEMES = ("http", "https", "file", "about", "data", "chrome", "view-source")


async def open_in_browser(workspace: Workspace, url: str) -> Outcome:
    """Open an address, in the browser's active tab; starts the browser when it is not running."""
    browser = _browser(workspace)
    note = await browser.open(checked_url(url))
    return Outcome(effect="done", route="page", message=note or "", final=True)


async def navigate(workspace: Workspace, step: Navigate) -> Outcome:
    """Go to an address, back, forward, or load again."""
    if step.url is not None:
        return await open_in_browser(workspace, step.url)
    browser = await _running(workspace)
    go = {"back": browser.back, "forward": browser.forward, "reload": browser.reload}[step.to or "reload"]
    note = await go()
    return Outcome(effect="done", route="page", message=note or "", final=True)


async def tab(workspace: Workspace, step: Tab) -> Outcome:
    """Switch, open or close a tab."""
    browser = await _running(workspace)
    if step.do == "open":
        note = await browser.new_tab(checked_url(step.url or "about:blank"))
        return Outcome(effect="done", route="page", message=note or "", final=True)
    which: Any = step.index if step.index is not None else step.title
    note = await (browser.switch(which) if step.do == "switch" else browser.close_tab(which))
    return Outcome(effect="done", route="page", message=note or "", final=True)


async def upload(workspace: Workspace, step: Upload, node: Node | None) -> Outcome:
    """Hand files to a file input."""
    if node is None or node.source != "page":
        raise TargetError(
            "not_supported", "upload needs a file input of a page; in a native dialog fill the file's name"
        )
    browser = await _running(workspace)
    note = await browser.upload(node, step.files)
    return Outcome(effect="done", route="page", message=note or "", final=True)


async def dialog(workspace: Workspace, step: Dialog) -> Outcome:
    """Answer the page's alert, confirm or prompt."""
    browser = await _running(workspace)
    text = None if step.text is None else workspace.reveal(step.text)
    note = await browser.dialog(step.accept, text)
    return Outcome(effect="done", route="page", message=note or "", final=True)


def checked_url(url: str) -> str:
    """The address with its scheme (https when none was given). InvalidStep for one that a page should not go to."""
    url = url.strip()
    scheme = urlsplit(url).scheme.lower()
    if scheme in _SCHEMES:
        return url
    host = url.split("/", 1)[0]
    if not scheme or (
        ":" in host and host.rpartition(":")[2].isdecimal()
    ):  # localhost:8000/x has no scheme either
        plain = host.rpartition(":")[0] or host
        return f"{'http' if plain in ('localhost', '127.0.0.1') else 'https'}://{url}"
    raise InvalidStep(f"{scheme}: addresses are not opened; use http, https or file")


def _browser(workspace: Workspace) -> Any:
    if workspace.browser is None:
        raise TargetError("not_supported", "there is no browser on this desktop")
    return workspace.browser


async def _running(workspace: Workspace) -> Any:
    browser = _browser(workspace)
    if not browser.running:
        raise TargetError(
            "not_found", "the browser is not running: open an address with launch or navigate first"
        )
    return browser
