"""A desk on a world in memory, so that code can be tested without a display.

world = World([Element("window", "Form", [Element("textbox", "Name", value=""), Element("button", "OK")])])
desk = open_fake_desk(world)
await desk.act([{"kind": "fill", "target": "textbox[name='Name']", "text": "Ana"}])
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.desktop.apps import App
from deskhand.errors import Effect, InvalidStep, TargetError
from deskhand.messages import Image, Node, Observation, Settled, WindowInfo
from deskhand.observers.diff import diff
from deskhand.observers.node import comparable, quote, walk
from deskhand.observers.refs import RefTable
from deskhand.observers.screen import picture
from deskhand.observers.serialize import describe, render
from deskhand.tools.desk import Desk
from deskhand.tools.workspace import Gate, OnStep, Workspace
from fake_desktop import FakeDesktop
from fake_world import Element, World

__all__ = ["Element", "World", "open_fake_desk"]


class FakeSenses:
    """`workspace.Senses` on a world, with the real refs, text and diffs."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._refs = RefTable()
        self._shown: tuple[Node, ...] = ()
        self._images = itertools.count(1)

    async def observe(self, **what: Any) -> Observation:
        """The whole tree; ``screenshot`` adds a picture. Other wishes are not the fake's to fulfil."""
        self._shown = await self.roots()
        windows = FakeDesktop(self._world).list()
        image = self._picture() if what.get("screenshot") or what.get("region") else None
        return Observation(
            text=render(self._shown), whole=True, roots=self._shown, windows=tuple(windows), image=image
        )

    async def read_ahead(self) -> None:
        """Reading costs nothing here."""

    async def look_again(self, *, ahead: bool = False) -> Observation:
        """The difference to what was shown last."""
        before, self._shown = self._shown, await self.roots()
        return Observation(text=diff(before, self._shown) or "nothing else changed", roots=self._shown)

    async def roots(self, text: float | None = None) -> tuple[Node, ...]:
        return self._refs.show(self._world.tree())

    async def resolve(self, ref: str) -> tuple[Node, bool]:
        shown = self._refs.lookup(ref)
        now = await self.refresh(shown)
        if now is None or (now.role, now.name) != (shown.role, shown.name):
            raise TargetError("stale_ref", f"{describe(shown)} is gone: observe again")
        return now, now.rect != shown.rect

    async def refresh(self, node: Node) -> Node | None:
        return next((each for each in walk(await self.roots()) if each.handle == node.handle), None)

    def recent(self) -> tuple[float, tuple[Node, ...]] | None:
        return None

    def was_shown(self, root: Node) -> bool:
        return True

    def window_of(self, node: Node) -> WindowInfo | None:
        return next((each for each in FakeDesktop(self._world).list() if each.title == node.window), None)

    def _picture(self) -> Image:
        return picture(FakeDesktop(self._world).grab(), edge=1280, id=f"i{next(self._images)}")


class FakeElements:
    """`workspace.Elements` on a world."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def invoke(self, node: Node) -> Effect:
        self._world.press(self._element(node))
        return "done"

    async def click(self, node: Node, button: str, count: int, modifiers: Sequence[str]) -> Effect:
        raise TargetError("not_supported", "the fake has a pointer for that")

    async def set_text(self, node: Node, text: str) -> Effect:
        element = self._element(node)
        if element.value is None and "password" not in element.states:
            raise TargetError("not_supported", f"{describe(node)} takes no text")
        with self._world.changing():
            element.value = text
        return "done"

    async def read_text(self, node: Node) -> str | None:
        return None if "password" in node.states else self._element(node).value

    async def select(self, node: Node, option: str | None) -> Effect:
        element = self._element(node)
        if option is None:
            with self._world.changing():
                element.states.add("selected")
            return "done"
        for child in element.children:
            if comparable(child.name) == comparable(option):
                with self._world.changing():
                    element.value = child.name
                return "done"
        raise TargetError("not_found", f"no option {quote(option, 80)}")

    async def expand(self, node: Node, on: bool) -> Effect:
        element = self._element(node)
        with self._world.changing():
            element.states -= {"expanded", "collapsed"}
            element.states.add("expanded" if on else "collapsed")
        return "done"

    async def focus(self, node: Node) -> Effect:
        with self._world.changing():
            self._world.focus(self._element(node))
        return "done"

    async def show(self, node: Node) -> Node:
        raise TargetError("not_supported", f"{describe(node)} cannot be scrolled to")

    def _element(self, node: Node) -> Element:
        element = next((each for each in self._world.elements() if each.id == node.handle), None)
        if element is None:
            raise TargetError("stale_ref", f"{describe(node)} is gone: observe again")
        if not element.element_route:
            raise TargetError("not_supported", f"{describe(node)} has no action of its own")
        return element


class FakeSettling:
    """`workspace.Settling` on a world: a change of its version is what the screen shows. Never waits for stillness."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen = world.version

    def before(self, kind: str) -> int:
        return self._world.version

    def after(self, baseline: int, least: float = 0.0) -> Settled:
        changed = self._world.version != baseline
        return Settled(verdict="settled" if changed else "no_change", waited=0.0, changed=float(changed))

    def wait_change(self, timeout: float) -> Settled:
        came = self._world.wait(self._world.version, timeout)
        return Settled(verdict="settled" if came else "no_change", waited=timeout)

    def wait_painted(self, timeout: float) -> bool:
        since, self._seen = self._seen, self._world.version
        return since != self._seen or self._world.wait(since, timeout)

    def painted_since(self, moment: float) -> bool:
        return True

    def close(self) -> None:
        """Nothing to end."""


def open_fake_desk(
    world: World,
    *,
    secrets: Mapping[str, str] | None = None,
    gate: Gate | None = None,
    on_step: OnStep | None = None,
) -> Desk:
    """A `Desk` on a world. Nothing has to be closed."""
    if not isinstance(world, World):
        raise InvalidStep("open_fake_desk needs a World")
    desktop: Any = FakeDesktop(world)
    elements = FakeElements(world)
    workspace = Workspace(
        desktop=desktop,
        senses=FakeSenses(world),
        settling=FakeSettling(world),
        native=elements,
        page=elements,
        secrets=secrets or {},
        gate=gate,
        on_step=on_step,
        resolve_app=lambda app: App(tuple(app.split() if isinstance(app, str) else app)),
    )
    return Desk(workspace)
