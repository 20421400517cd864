"""The element route for text that is only pixels: there is none, so that the pointer and the keyboard take over."""

from __future__ import annotations

from collections.abc import Sequence

from deskhand.errors import Effect, TargetError
from deskhand.messages import Node
from deskhand.observers.serialize import describe


class PixelText:
    """`workspace.Elements` on text read off a picture: a place, and nothing that acts by itself."""

    async def invoke(self, node: Node) -> Effect:
        raise _only_a_place(node)

    async def click(self, node: Node, button: str, count: int, modifiers: Sequence[str]) -> Effect:
        raise _only_a_place(node)

    async def set_text(self, node: Node, text: str) -> Effect:
        raise _only_a_place(node)

    async def read_text(self, node: Node) -> str | None:
        """Not to the character: a picture is read, not asked."""
        return None

    async def select(self, node: Node, option: str | None) -> Effect:
        raise _only_a_place(node)

    async def expand(self, node: Node, on: bool) -> Effect:
        raise _only_a_place(node)

    async def focus(self, node: Node) -> Effect:
        raise _only_a_place(node)

    async def show(self, node: Node) -> Node:
        raise _only_a_place(node)


def _only_a_place(node: Node) -> TargetError:
    return TargetError(
        "not_supported", f"{describe(node)} was read off the picture: it can only be pointed at"
    )
