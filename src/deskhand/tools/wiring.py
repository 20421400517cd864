"""Joins a desktop, the senses and the settle engine into a workspace; what is joined is undone in reverse order."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack

from deskhand.config import Settings
from deskhand.desktop.base import Desktop
from deskhand.observers import ocr
from deskhand.observers.eyes import Eyes
from deskhand.observers.native import NativeTree
from deskhand.observers.page import Browser
from deskhand.observers.text import TextSense
from deskhand.observers.text_process import TextProcess
from deskhand.tools.routes import NativeElements, PageElements
from deskhand.tools.settle import Settler
from deskhand.tools.workspace import Workspace


async def connect(
    desktop: Desktop, settings: Settings, *, secrets: Mapping[str, str], undo: AsyncExitStack
) -> Workspace:
    """A workspace on this desktop. DesktopError when its accessibility bus does not answer."""
    browser = Browser()
    native = NativeTree(desktop.a11y_address or "")
    signals = (browser.work, browser.work.stirring, native.busy)
    settler = await asyncio.to_thread(Settler, desktop, settings.settle, signals)
    undo.callback(settler.close)
    undo.push_async_callback(native.aclose)
    if desktop.a11y_address:
        await native.connect()
    undo.push_async_callback(browser.aclose)
    texts: TextSense | None = None
    if ocr.available():
        process = TextProcess(str(settings.ocr.model or ""))
        undo.push_async_callback(process.aclose)
        texts = TextSense(desktop, process)
    eyes = Eyes(
        desktop,
        native,
        browser,
        secrets=secrets,
        image_edge=settings.image_edge,
        texts=texts,
        text_unasked=settings.ocr.unasked,
    )
    return Workspace(
        desktop=desktop,
        senses=eyes,
        settling=settler,
        native=NativeElements(native),
        page=PageElements(browser, eyes),
        browser=browser,
        secrets=secrets,
    )
