"""The element route for native trees and for pages: `workspace.Elements` on the observers' own handles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from deskhand.errors import Effect, TargetError
from deskhand.messages import Node
from deskhand.observers import page_act
from deskhand.observers.native import NativeTree
from deskhand.observers.page import Browser
from deskhand.observers.serialize import describe
from deskhand.tools.workspace import Senses

_PAGE_BUTTONS: Final[dict[str, Literal["left", "middle", "right"]]] = {
    "left": "left",
    "middle": "middle",
    "right": "right",
}


class NativeElements:
    """Acting through AT-SPI."""

    def __init__(self, native: NativeTree) -> None:
        self._native = native

    async def invoke(self, node: Node) -> Effect:
        """The element's main action."""
        return supported(await self._native.perform(node, "invoke"), node)

    async def click(self, node: Node, button: str, count: int, modifiers: Sequence[str]) -> Effect:
        """Only the pointer can do that."""
        raise TargetError("not_supported", "native elements have no clicks of their own")

    async def set_text(self, node: Node, text: str) -> Effect:
        """Replace a field's text, or set a number."""
        if (
            node.role in ("slider", "spinbutton", "progressbar", "scrollbar")
            and (value := _number(text)) is not None
        ):
            effect = await self._native.set_value(node, value)
            if effect != "not_supported":
                return effect
        return supported(await self._native.set_text(node, text), node)

    async def read_text(self, node: Node) -> str | None:
        """What a field holds, exactly."""
        return await self._native.read_text(node)

    async def select(self, node: Node, option: str | None) -> Effect:
        """Choose the element, or an option inside it."""
        return supported(await self._native.select(node, option), node)

    async def expand(self, node: Node, on: bool) -> Effect:
        """Unfold or fold: toolkits have one action for both, and the caller knows the state."""
        return supported(await self._native.perform(node, "expand"), node)

    async def focus(self, node: Node) -> Effect:
        """Give it the keyboard."""
        return supported(await self._native.focus(node), node)

    async def show(self, node: Node) -> Node:
        """Not offered by AT-SPI in a way that toolkits implement."""
        raise TargetError("not_supported", f"{describe(node)} cannot be scrolled to by itself")


class PageElements:
    """Acting in the page through its driver, with real input events."""

    def __init__(self, browser: Browser, senses: Senses) -> None:
        self._browser, self._senses = browser, senses

    async def invoke(self, node: Node) -> Effect:
        """Click it where it is, scrolled to."""
        return supported(await page_act.click(self._browser, node), node)

    async def click(self, node: Node, button: str, count: int, modifiers: Sequence[str]) -> Effect:
        """Click it where it is, scrolled to, when nothing covers it."""
        if button not in _PAGE_BUTTONS:
            raise TargetError("not_supported", f"the page knows no {button} button")
        pressed = _PAGE_BUTTONS[button]
        effect = await page_act.click(self._browser, node, button=pressed, count=count, modifiers=modifiers)
        return supported(effect, node)

    async def set_text(self, node: Node, text: str) -> Effect:
        """Replace a field's text."""
        return supported(await page_act.fill(self._browser, node, text), node)

    async def read_text(self, node: Node) -> str | None:
        """What a field holds, exactly."""
        return await page_act.read_text(self._browser, node)

    async def select(self, node: Node, option: str | None) -> Effect:
        """Choose an option of a select element, or click the element itself."""
        if option is None:
            return await self.invoke(node)
        return supported(await page_act.select(self._browser, node, option), node)

    async def expand(self, node: Node, on: bool) -> Effect:
        """Click it."""
        return await self.invoke(node)

    async def focus(self, node: Node) -> Effect:
        """Give it the keyboard."""
        return supported(await page_act.focus(self._browser, node), node)

    async def show(self, node: Node) -> Node:
        """Scroll it into view."""
        await page_act.scroll_into_view(self._browser, node)
        return await self._senses.refresh(node) or node


def supported(effect: Effect, node: Node) -> Effect:
    """The effect; TargetError when the element has no such action of its own."""
    if effect == "not_supported":
        raise TargetError("not_supported", f"{describe(node)} has no such action")
    return effect


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
