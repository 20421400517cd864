"""Pointer and keyboard steps: what a person's hands would do. The element's own actions are in `tools.elements`."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from deskhand.desktop.base import Desktop
from deskhand.errors import TargetError
from deskhand.messages import Node, Point, Rect, Settled, WindowInfo
from deskhand.observers.node import comparable, quote, walk
from deskhand.observers.serialize import describe
from deskhand.tools.actions import Click, Drag, Move, Press, Release, Scroll
from deskhand.tools.outcome import Outcome
from deskhand.tools.targets import Aim, clear_point, rect_of, resolve
from deskhand.tools.workspace import Workspace, in_thread

TYPE_CHUNK = 400
"""Characters typed in one blocking call: what a cancellation has to wait for at most."""


async def reach(workspace: Workspace, aim: Aim) -> Point:
    """The screen point of a target, its window raised when another one lies over it. TargetError ``covered``."""
    if aim.node is None:
        assert aim.point is not None
        return aim.point
    node = aim.node
    if node.source == "text":
        node = await _still_there(workspace, node)
    if node.rect is None or "offscreen" in node.states:
        with contextlib.suppress(TargetError):
            node = await workspace.elements(node).show(node)
    window = workspace.senses.window_of(node)
    return await in_thread(_clear_or_raised, workspace.desktop, rect_of(node), window)


async def _still_there(workspace: Workspace, node: Node) -> Node:
    """Text as it is at this moment. TargetError ``stale_ref`` when it is no longer at its place."""
    now = await workspace.senses.refresh(node)
    if now is None:
        raise TargetError("stale_ref", f"{describe(node)} is no longer where it was read: observe again")
    return now


def _clear_or_raised(desktop: Desktop, rect: Rect, window: WindowInfo | None) -> Point:
    try:
        return clear_point(desktop, rect, window)
    except TargetError:
        assert window is not None
        desktop.windows.activate(window.id)
        return clear_point(desktop, rect, window)


async def raise_window(workspace: Workspace, node: Node, *, keyboard: bool = False) -> None:
    """Bring the element's program to the front, so that what it does can be seen.

    Another window of the same program in front may be the modal dialog that holds the element, so it is left there,
    unless the ``keyboard`` is wanted in this very window.
    """
    window = workspace.senses.window_of(node)
    active = await in_thread(workspace.desktop.windows.active)
    if window is None or (active is not None and active.id == window.id):
        return
    if not keyboard and active is not None and active.pid is not None and active.pid == window.pid:
        return
    with contextlib.suppress(TargetError):  # a window that will not come up still has elements that act
        await in_thread(workspace.desktop.windows.activate, window.id)


async def click_at(workspace: Workspace, step: Click, aim: Aim) -> Outcome:
    """Click with the pointer."""
    point = await reach(workspace, aim)
    # Before the click: it may close or cover what it hits.
    message = await under(workspace, point, step.aim) if aim.node is None else ""
    pointer = workspace.desktop.input

    def click() -> None:
        if aim.node is None:
            workspace.clicks.note(workspace.desktop.screen, point)
        pointer.click(point, step.button, step.count)

    await in_thread(_with_modifiers, workspace.desktop, step.modifiers, click)
    return Outcome(effect="dispatched", route="pointer", message=message)


async def consequence(workspace: Workspace, settled: Settled) -> str:
    """Evidence after a click on bare pixels: how much of the screen changed, and which window is active then."""
    if settled.verdict == "no_change":
        return ""
    active = await in_thread(workspace.desktop.windows.active)
    now = (
        f"active is {quote(active.title or active.app, 60)}" if active is not None else "no window is active"
    )
    return f"{settled.changed:.2%} of the screen changed, {now}" if settled.changed else now


async def press(workspace: Workspace, step: Press, aim: Aim) -> Outcome:
    """Press a button and keep it."""
    point = await reach(workspace, aim)
    pointer = workspace.desktop.input
    await in_thread(pointer.move, point)
    await in_thread(pointer.button, step.button, True)
    return Outcome(effect="dispatched", route="pointer", message=f"{step.button} button is down", final=True)


async def release(workspace: Workspace, step: Release, aim: Aim | None) -> Outcome:
    """Let go of a button. It comes up even when its target cannot be found."""
    pointer = workspace.desktop.input
    try:
        if aim is not None:
            await in_thread(pointer.move, await reach(workspace, aim))
    finally:
        await in_thread(pointer.button, step.button, False)
    return Outcome(effect="dispatched", route="pointer")


async def move(workspace: Workspace, step: Move, aim: Aim) -> Outcome:
    """Move the pointer (hover)."""
    point = await reach(workspace, aim)
    await in_thread(workspace.desktop.input.move, point)
    return Outcome(effect="done", route="pointer", message=f"pointer at ({point.x}, {point.y})", final=True)


async def drag(workspace: Workspace, step: Drag, first: Aim) -> Outcome:
    """Press at the first target, release at the last. All are resolved before the button goes down."""
    aims = [first, *[await resolve(workspace, each, timeout=step.timeout) for each in step.path[1:]]]
    points = [await reach(workspace, aim) for aim in aims]
    act = partial(workspace.desktop.input.drag, points, step.button)
    await in_thread(_with_modifiers, workspace.desktop, step.modifiers, act)
    return Outcome(effect="dispatched", route="pointer")


async def scroll(workspace: Workspace, step: Scroll, aim: Aim | None) -> Outcome:
    """Turn the wheel at the target, or in the middle of the active window."""
    if aim is not None:
        point = await reach(workspace, aim)
    else:
        active = await in_thread(workspace.desktop.windows.active)
        width, height = workspace.desktop.screen.size
        point = active.rect.center if active is not None else Point(width // 2, height // 2)
    act = partial(workspace.desktop.input.scroll, point, step.down, step.right)
    await in_thread(_with_modifiers, workspace.desktop, step.modifiers, act)
    return Outcome(effect="dispatched", route="pointer")


def text_pieces(text: str) -> Iterator[str]:
    """The text cut at most every `TYPE_CHUNK` characters, never within a character that is made of several."""
    start = 0
    while start < len(text):
        end = min(len(text), start + TYPE_CHUNK)
        while end < len(text) and (unicodedata.combining(text[end]) or text[end] in "\u200d\ufe0f"):
            end += 1
        yield text[start:end]
        start = end


def _with_modifiers(desktop: Desktop, modifiers: Sequence[str], act: Callable[[], None]) -> None:
    """Hold modifier keys around an act; they come up whatever happens."""
    held: list[str] = []
    try:
        for name in modifiers:
            desktop.input.key(name, True)
            held.append(name)
        act()
    finally:
        for name in reversed(held):
            desktop.input.key(name, False)


async def under(workspace: Workspace, point: Point, aim: str | None) -> str:
    """Evidence of a click on bare pixels: what is under the point, and how far off what was meant is."""
    window = await in_thread(workspace.desktop.windows.at, point)
    roots = await workspace.glimpse()
    hit = _smallest_at(roots, point)
    said = [f"hit {describe(hit)}"] if hit is not None else []
    if window is not None:
        said.append(f"in window {quote(window.title or window.app, 60)}")
    elif hit is None:
        said.append("hit nothing but the background")
    if aim is not None and (miss := _miss(roots, point, aim)):
        said.append(miss)
    return " ".join(said)


def _smallest_at(roots: Sequence[Node], point: Point) -> Node | None:
    there = [
        node
        for node in walk(roots)
        if node.rect is not None
        and node.rect.contains(point)
        and "offscreen" not in node.states
        and node.name
    ]
    return min(there, key=lambda node: node.rect.area if node.rect else 0, default=None)


def _miss(roots: Sequence[Node], point: Point, aim: str) -> str:
    wanted = comparable(aim)
    named = [
        node
        for node in walk(roots)
        if node.rect is not None and "offscreen" not in node.states and wanted in comparable(node.name)
    ]
    if not named:
        return ""
    best = min(named, key=lambda node: (len(node.name), node.rect.area if node.rect else 0))
    assert best.rect is not None
    if best.rect.contains(point):
        return ""
    center = best.rect.center
    off = round(((center.x - point.x) ** 2 + (center.y - point.y) ** 2) ** 0.5)
    return f"missed {describe(best)} by {off} px (it is at screen ({center.x}, {center.y}))"
