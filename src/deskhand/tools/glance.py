"""A pixel is aimed at for what it showed: when another element is there by now, nothing is pressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from deskhand.errors import TargetError
from deskhand.messages import Node, Point
from deskhand.observers import page_act
from deskhand.observers.node import comparable, quote
from deskhand.observers.refs import ROWS, row_words
from deskhand.observers.serialize import describe
from deskhand.tools.plan import spot_image
from deskhand.tools.step import AimedAt, Spot
from deskhand.tools.targets import Aim, refuse_blocked
from deskhand.tools.workspace import Workspace

_PRESSED: Final = frozenset(
    "button checkbox combobox columnheader link listitem menuitem menuitemcheckbox menuitemradio option radio row "
    "slider spinbutton switch tab treeitem cell gridcell".split()
)
"""Roles of what is pressed for what it is called. Into a text or a drawing one clicks for the place in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    """What is at a point: the innermost element that is pressed, and what its row says."""

    node: Node
    row: str

    def same(self, other: _Hit) -> bool:
        one, two = self.node, other.node
        return (one.role, comparable(one.name), self.row) == (two.role, comparable(two.name), other.row)


async def refuse_changed(workspace: Workspace, aimed: AimedAt) -> None:
    """TargetError ``stale_ref`` when a picture showed something else at this point than is there now.

    ``covered`` when it is there, and a modal dialog keeps everybody from it. Nothing is asked where the picture showed
    nothing that is pressed, or where its elements are not known.
    """
    if not isinstance(aimed, Spot):
        return
    image = spot_image("target", aimed, workspace.images)
    then = workspace.pictured.get(image.id, ())
    point = image.to_screen(aimed.x, aimed.y)
    was = _at(then, point)
    if was is None:
        return
    # A page is asked itself: what a click hits there may not be painted yet.
    of_page = was.node.source == "page"
    now = _at(await (workspace.senses.roots() if of_page else workspace.glimpse()), point)
    if now is not None and now.same(was):
        await refuse_blocked(workspace, Aim(node=now.node, point=point))
        if of_page and workspace.browser is not None:
            await page_act.refuse_covered(workspace.browser, now.node, point)
        return
    place = f"at ({aimed.x:g}, {aimed.y:g}) {image.id} showed {_words(was)}"
    there = f"there is {_words(now)} now" if now is not None else "it is no longer there"
    raise TargetError("stale_ref", f"{place}, {there}: look again")


def _words(hit: _Hit) -> str:
    said = f"{hit.node.role} {quote(hit.node.name, 60)}"
    if hit.node.ref:
        said = describe(hit.node)
    return f"{said} in the row {quote(hit.row, 60)}" if hit.row else said


def _at(roots: Sequence[Node], point: Point) -> _Hit | None:
    """What would be pressed at a point, in the frontmost window that is there."""
    for root in roots:
        found: _Hit | None = None
        reached = False
        stack = [(root, "")]
        while stack:
            node, row = stack.pop()
            if "offscreen" in node.states and node.source == "native" and node is not root:
                continue
            if node.rect is not None and node.rect.contains(point):
                reached = True
                smaller = found is None or found.node.rect is None or node.rect.area <= found.node.rect.area
                if node.role in _PRESSED and smaller:
                    found = _Hit(node=node, row=row)
            below = row_words(node) if node.role in ROWS else row
            stack.extend((child, below) for child in reversed(node.children))
        if reached:
            return found
    return None
