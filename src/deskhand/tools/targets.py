"""Turning a step's target into a live element or a screen point, at the moment the step is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from deskhand.desktop.base import Desktop
from deskhand.errors import Effect, InvalidStep, TargetError
from deskhand.messages import Node, Point, Rect, Target, WindowInfo
from deskhand.observers.node import ancestors, quote
from deskhand.observers.selector import Selector, parse_selector
from deskhand.observers.serialize import describe
from deskhand.tools.plan import spot_image
from deskhand.tools.search import READ_SECONDS
from deskhand.tools.step import POINTER, AimedAt, Spot, is_ref
from deskhand.tools.workspace import Workspace, in_thread

TARGET_TIMEOUT: Final = 5.0
"""Seconds that a selector's element may take to appear; an app's next screen takes one or two."""

LOOK_AGAIN: Final = 0.4
"""Seconds after which trees are read again although nothing was painted (a tree may follow its pixels)."""

_LISTED: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a target was resolved to: an element (with where it is), or a bare screen point."""

    node: Node | None = None
    point: Point | None = None
    moved: bool = False

    @property
    def target(self) -> Target:
        """For reports and the audit log."""
        node = self.node
        if node is None:
            return Target(point=self.point)
        return Target(
            ref=node.ref,
            role=node.role,
            name=node.name,
            rect=node.rect,
            window=node.window,
            app=node.app,
            point=self.point,
            note="target_reacquired" if self.moved else "",
        )


async def resolve(
    workspace: Workspace, aimed: AimedAt, *, timeout: float | None = None, first: bool = False
) -> Aim:
    """The live target. Selectors are waited for; refs and points are not: they trust a look that was had.

    ``first`` says that nothing was done since that look, so that no dialog can be meant that was not in it.

    TargetError ``not_found``, ``ambiguous`` (lists the matches) or ``stale_ref``; nothing has been done then.
    """
    if isinstance(aimed, Spot):
        return Aim(point=spot_image("target", aimed, workspace.images).to_screen(aimed.x, aimed.y))
    if aimed == POINTER:
        return Aim(point=await in_thread(workspace.desktop.screen.cursor))
    if isinstance(aimed, str) and is_ref(aimed):
        node, moved = await workspace.senses.resolve(aimed.strip())
        return Aim(node=node, moved=moved)
    names = [aimed] if isinstance(aimed, str) else aimed
    return Aim(
        node=await _first_that_exists(workspace, names, TARGET_TIMEOUT if timeout is None else timeout, first)
    )


async def present(workspace: Workspace, aimed: AimedAt) -> bool:
    """Whether a target is there now, without waiting: what ``optional`` asks."""
    try:
        await resolve(workspace, aimed, timeout=0)
    except TargetError as error:
        return error.effect == "ambiguous"
    return True


async def refuse_blocked(workspace: Workspace, aim: Aim) -> None:
    """TargetError ``covered`` when a modal dialog keeps everybody from the element's window."""
    node = aim.node
    window = None if node is None or node.source != "native" else workspace.senses.window_of(node)
    if node is None or window is None:
        return
    for over in await in_thread(workspace.desktop.windows.list):
        if over.id == window.id:
            return
        if over.modal and over.pid == window.pid:
            dialog = quote(over.title or over.app, 60)
            raise TargetError(
                "covered", f"{describe(node)} is blocked by the dialog {dialog}: answer or close that first"
            )


async def _first_that_exists(workspace: Workspace, names: Sequence[str], timeout: float, first: bool) -> Node:
    selectors = [None if is_ref(name) else parse_selector(name) for name in names]
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while True:
        roots: Sequence[Node] = await workspace.senses.roots()
        if any(each and each.may_be("text") and not each.match(roots) for each in selectors):
            roots = await workspace.senses.roots(text=READ_SECONDS)
        for name, selector in zip(names, selectors, strict=True):
            node = await _candidate(workspace, name, selector, roots, first)
            if node is not None:
                return node
        left = deadline - loop.time()
        if left <= 0:
            raise TargetError("not_found", _missing(names, selectors, roots, timeout))
        await asyncio.to_thread(workspace.settling.wait_painted, min(left, LOOK_AGAIN))


async def _candidate(
    workspace: Workspace, name: str, selector: Selector | None, roots: Sequence[Node], first: bool
) -> Node | None:
    if selector is None:
        try:
            return (await workspace.senses.resolve(name))[0]
        except TargetError:
            return None
    matches = selector.match(roots)
    if not matches:
        return None
    known = [root for root in roots if workspace.senses.was_shown(root)] if first else roots
    return only(matches, roots, str(selector), _modal_windows(known))


def only(
    matches: Sequence[Node], roots: Sequence[Node], selector: str, modal: set[tuple[str, str]] | None = None
) -> Node:
    """The one element that is meant. TargetError ``ambiguous``, listing them, when it could be several.

    What cannot be meant is left out first: what is not on the screen when others are, and what one of the ``modal``
    windows (app and title; None: all that there are) blocks.
    """
    seen = [node for node in matches if _is_there(node)] or list(matches)
    modal = _modal_windows(roots) if modal is None else modal
    if len(seen) > 1 and modal:
        seen = [node for node in seen if (node.app, node.window) in modal] or seen
    if len(seen) > 1:
        raise TargetError(
            "ambiguous", f"{len(seen)} elements match {selector}; say which: {_list(seen, roots)}"
        )
    return seen[0]


def _is_there(node: Node) -> bool:
    """Whether it can be seen, on a page after scrolling: what a page hides is not in its tree at all."""
    return node.source == "page" or (node.rect is not None and "offscreen" not in node.states)


def _modal_windows(roots: Sequence[Node]) -> set[tuple[str, str]]:
    return {
        (node.app, node.window)
        for root in roots
        for node in (root, *root.children)
        if "modal" in node.states and "offscreen" not in node.states
    }


def _list(nodes: Sequence[Node], roots: Sequence[Node]) -> str:
    lines = [place_of(node, roots) for node in nodes[:_LISTED]]
    more = f", and {len(nodes) - _LISTED} more" if len(nodes) > _LISTED else ""
    return "; ".join(lines) + more


def place_of(node: Node, roots: Sequence[Node]) -> str:
    """A node in one line with up to three named ancestors."""
    above = [each for each in ancestors(node, roots) if each.name][:3]
    inside = " < ".join(f"{each.role} {quote(each.name, 40)}" for each in above)
    return describe(node) + (f" (in {inside})" if inside else "")


def _missing(
    names: Sequence[str], selectors: Sequence[Selector | None], roots: Sequence[Node], timeout: float
) -> str:
    """What was not there, and what of the same kind is: enough to aim anew without another look."""
    waited = f" within {timeout:g} s" if timeout else ""
    said = f"nothing matches {' or '.join(names)}{waited}"
    near = _near(next((each for each in selectors if each is not None), None), roots)
    return f"{said}; there are: {near}" if near else said


def _near(selector: Selector | None, roots: Sequence[Node]) -> str:
    if selector is None:
        return ""
    role = str(selector).split("[")[0].split(":")[0].split()
    if not role:
        return ""
    try:
        alike = parse_selector(role[-1]).match(roots)
    except InvalidStep:  # the end of the selector does not stand on its own, and this is a hint only
        return ""
    shown = [node for node in alike if node.name and node.rect is not None and "offscreen" not in node.states]
    return ", ".join(describe(node) for node in shown[:_LISTED])


# --- points on the screen -----------------------------------------------------------------------------------------


def rect_of(node: Node) -> Rect:
    """Where an element is. TargetError ``not_supported`` when it is not on the screen."""
    if node.rect is None or node.rect.area == 0 or "offscreen" in node.states:
        raise TargetError(
            "not_supported", f"{describe(node)} is not on the screen: scroll to it or open what holds it"
        )
    return node.rect


def clear_point(desktop: Desktop, rect: Rect, window: WindowInfo | None) -> Point:
    """A point of the rectangle where its own window is on top: the middle if it can be. TargetError ``covered``.

    Another window of the same program covers, too: a dialog over an editor has controls of its own. A popup does not
    when it belongs to the program, since its items are elements of the program's window.
    """
    width, height = desktop.screen.size
    points = [point for point in _spread(rect) if 0 <= point.x < width and 0 <= point.y < height]
    if not points:
        raise TargetError("not_supported", "it lies outside the screen: move its window first")
    if window is None:
        return points[0]
    over: WindowInfo | None = None
    for point in points:
        top = desktop.windows.at(point)
        if top is None or top.id == window.id or _is_own_popup(desktop, top, window):
            return point
        over = over or top
    assert over is not None
    raise TargetError(
        "covered", f"window {quote(over.title or over.app, 60)} lies over it; close or move that first"
    )


def _spread(rect: Rect) -> Sequence[Point]:
    """The middle, then ever nearer to the edges."""
    sixteenths = (8, 4, 12, 1, 15)
    xs = [rect.x + rect.width * part // 16 for part in sixteenths]
    ys = [rect.y + rect.height * part // 16 for part in sixteenths]
    return list(dict.fromkeys(Point(x, y) for y in ys for x in xs))


def _is_own_popup(desktop: Desktop, top: WindowInfo, window: WindowInfo) -> bool:
    return (
        top.pid is not None
        and top.pid == window.pid
        and all(each.id != top.id for each in desktop.windows.list())
    )


def failed(effect: Effect) -> bool:
    """Whether an effect says that nothing was done because it could not be."""
    return effect in ("not_supported", "stale_ref", "ambiguous", "not_found", "busy", "denied", "covered")
