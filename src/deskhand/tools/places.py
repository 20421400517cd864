"""Steps on applications, windows and the clipboard."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from deskhand.desktop.base import Desktop
from deskhand.errors import DesktopError, InvalidStep, TargetError
from deskhand.messages import Point, Rect, WindowInfo
from deskhand.observers.node import comparable, quote
from deskhand.tools.actions import Clipboard, Launch, Window
from deskhand.tools.outcome import Outcome
from deskhand.tools.targets import Aim
from deskhand.tools.web import open_in_browser
from deskhand.tools.workspace import Workspace, in_thread

LAUNCH_TIMEOUT: Final = 20.0
"""Seconds that an app may take to show its first window: a cold office suite takes ten."""

CLOSE_TIMEOUT: Final = 1.5
_LOOK: Final = 0.5


async def launch(workspace: Workspace, step: Launch) -> Outcome:
    """Start an app and wait for its window; a URL goes to the desktop's browser."""
    try:
        app = await in_thread(workspace.resolve_app, step.app)
    except ValueError as error:
        raise TargetError("not_found", str(error)) from None
    timeout = LAUNCH_TIMEOUT if step.timeout is None else step.timeout
    if app.url:
        return await open_in_browser(workspace, app.url)
    desktop = workspace.desktop
    before = {window.id for window in await in_thread(desktop.windows.list)}
    try:
        pid = await in_thread(desktop.launch, app.argv)
    except DesktopError as error:
        if not await in_thread(desktop.alive):
            raise
        raise TargetError("not_found", str(error)) from None
    name = os.path.basename(app.argv[0])
    if not windows_known(desktop):
        return await _launched_unseen(workspace, pid, name, timeout)
    window = await _new_window(workspace, before, pid, timeout)
    if window is not None:
        shown = quote(window.title or window.app, 80)
        return Outcome(effect="done", message=f"window {shown} is there", value=None, final=True)
    if not _running(pid):
        how = await in_thread(_last_words, desktop, pid)
        return Outcome(
            effect="effect_unknown", message=f"{name} ended without showing a window{how}", final=True
        )
    return Outcome(
        effect="effect_unknown", message=f"{name} runs, no window within {timeout:g} s", final=True
    )


async def _launched_unseen(workspace: Workspace, pid: int, name: str, timeout: float) -> Outcome:
    """What can be said of a program where windows are not known: that it runs, and that something was painted."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    desktop = workspace.desktop
    painted = False
    while not painted and await in_thread(desktop.ended, pid) is None and loop.time() < deadline:
        painted = await asyncio.to_thread(workspace.settling.wait_painted, _LOOK)
    how = await in_thread(_last_words, desktop, pid)
    if how:
        return Outcome(effect="effect_unknown", message=f"{name} ended{how}", final=True)
    shown = "something was shown" if painted else f"nothing was shown in {timeout:g} s"
    return Outcome(
        effect="done" if painted else "effect_unknown",
        message=f"{name} runs and {shown}; which windows there are is not known here: look",
    )


def windows_known(desktop: Desktop) -> bool:
    """Whether this desktop can tell which windows there are."""
    return bool(getattr(desktop.windows, "known", True))


async def _new_window(workspace: Workspace, before: set[int], pid: int, timeout: float) -> WindowInfo | None:
    """The first window that was not there before; waits for it while the program lives."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    windows: Any = workspace.desktop.windows
    while True:
        running = _running(pid)
        left = deadline - loop.time()
        if left <= 0:
            return None
        # A program that has ended may have handed over to one that was running: one more look, then no more.
        slice_ = min(left, _LOOK)
        found: WindowInfo | None = await asyncio.to_thread(
            windows.wait_for, lambda w: w.id not in before, slice_
        )
        if found is not None or not running:
            return found


def _last_words(desktop: Desktop, pid: int) -> str:
    """How a program ended and the last thing it said, as far as that is known."""
    ended = desktop.ended(pid)
    if ended is None:
        return ""
    status = f"exit status {ended.status}" if ended.status >= 0 else f"killed by signal {-ended.status}"
    return f" ({status}){f', its last words: {quote(ended.last_line, 200)}' if ended.last_line else ''}"


def _running(pid: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    return False


async def window(workspace: Workspace, step: Window, aim: Aim | None) -> Outcome:
    """Focus, close, move, resize, minimise or maximise a window."""
    if not windows_known(workspace.desktop):
        raise TargetError(
            "not_supported", "windows are not known on this desktop: use keys and the title bars"
        )
    found = await _which(workspace, step, aim)
    desktop = workspace.desktop
    named = quote(found.title or found.app, 80)
    match step.do:
        case "focus":
            await in_thread(desktop.windows.activate, found.id)
            return Outcome(effect="done", message=f"{named} is active", final=True)
        case "close":
            await in_thread(desktop.windows.close, found.id)
            if await _gone(workspace, found.id):
                return Outcome(effect="done", message=f"{named} is gone", final=True)
            return Outcome(
                effect="dispatched", message=f"{named} was asked to close and is still there", final=True
            )
        case "minimize":
            await in_thread(desktop.windows.minimize, found.id)
        case "maximize":
            await in_thread(desktop.windows.maximize, found.id)
        case "move" | "resize":
            rect = _placed(step, found.rect)
            await in_thread(partial(desktop.windows.move_resize, found.id, rect))
    return Outcome(effect="done", message=named, final=step.do in ("minimize", "maximize"))


def _placed(step: Window, now: Rect) -> Rect:
    return Rect(
        now.x if step.x is None else step.x,
        now.y if step.y is None else step.y,
        now.width if step.width is None else step.width,
        now.height if step.height is None else step.height,
    )


async def _gone(workspace: Workspace, window: int) -> bool:
    """Whether a window goes within `CLOSE_TIMEOUT` (it may ask back instead)."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + CLOSE_TIMEOUT
    while True:
        if all(each.id != window for each in await in_thread(workspace.desktop.windows.list)):
            return True
        left = deadline - loop.time()
        if left <= 0:
            return False
        await asyncio.to_thread(workspace.settling.wait_painted, min(left, _LOOK))


async def _which(workspace: Workspace, step: Window, aim: Aim | None) -> WindowInfo:
    windows = await in_thread(workspace.desktop.windows.list)
    if aim is not None:
        point = aim.point or Point(0, 0)
        found = (
            workspace.senses.window_of(aim.node)
            if aim.node is not None
            else await in_thread(workspace.desktop.windows.at, point)
        )
        if found is None:
            raise TargetError("not_found", "the target is in no window")
        return found
    if step.title is None:
        active = next((each for each in windows if each.active), None)
        if active is None:
            raise TargetError("not_found", f"no window is active; there are {titles(windows)}")
        return active
    return pick_window(windows, step.title)


def pick_window(windows: Sequence[WindowInfo], title: str) -> WindowInfo:
    """The window of this title, or the only one with it in its title or app's name. TargetError otherwise."""
    wanted = comparable(title)
    exact = [each for each in windows if comparable(each.title) == wanted]
    part = exact or [each for each in windows if wanted in comparable(each.title)]
    found = part or [each for each in windows if wanted in comparable(each.app)]
    if not found:
        raise TargetError("not_found", f"no window {quote(title, 60)}; there are {titles(windows)}")
    if len(found) > 1:
        raise TargetError("ambiguous", f"{len(found)} windows match {quote(title, 60)}: {titles(found)}")
    return found[0]


def titles(windows: Sequence[WindowInfo]) -> str:
    """The windows in one line."""
    return ", ".join(quote(each.title or each.app, 60) for each in windows[:12]) or "none"


async def clipboard(workspace: Workspace, step: Clipboard) -> Outcome:
    """Write or read the clipboard; what was written is read back."""
    board = workspace.desktop.clipboard
    if step.text is None:
        value = await in_thread(board.read)
        if value is None:
            return Outcome(effect="done", message="the clipboard holds no text", final=True)
        return Outcome(effect="done", value=value, final=True)
    try:
        text = workspace.reveal(step.text)
    except InvalidStep as error:
        raise TargetError("not_found", str(error)) from None
    await in_thread(board.write, text)
    return Outcome(effect="done", message=f"{len(text)} characters", final=True)
