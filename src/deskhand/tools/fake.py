"""An in-memory desktop behind the same façade, so that code can be tested without a display.

world = World([Element("window", "Form", [Element("textbox", "Name", value=""), Element("button", "OK")])])
desk = open_fake_desk(world)
await desk.act([{"kind": "fill", "target": "textbox[name='Name']", "text": "Ana"}])
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from deskhand.desktop.apps import App
from deskhand.desktop.base import Button, Ended, Frame, Recorder
from deskhand.errors import DesktopError, Effect, InvalidStep, TargetError
from deskhand.messages import Image, Node, Observation, Point, Rect, Settled, WindowInfo
from deskhand.observers.diff import diff
from deskhand.observers.node import comparable, quote, walk
from deskhand.observers.refs import RefTable
from deskhand.observers.screen import picture
from deskhand.observers.serialize import describe, render
from deskhand.tools.desk import Desk
from deskhand.tools.workspace import Gate, OnStep, Workspace

if TYPE_CHECKING:
    import numpy as np

_ROW: Final = 24
_numbers = itertools.count(1)


@dataclass(eq=False)
class Element:
    """A scripted element. Elements of role ``window`` or ``dialog`` at the top are windows; the first is active.

    ``on_invoke`` is called with the world when the element is pressed, by whatever route; ``element_route`` False makes
    it reachable by pointer and keyboard only.
    """

    role: str
    name: str = ""
    children: list[Element] = field(default_factory=list)
    value: str | None = None
    states: set[str] = field(default_factory=set)
    on_invoke: Callable[[World], None] | None = None
    element_route: bool = True
    rect: Rect | None = None
    id: int = field(default_factory=lambda: next(_numbers))


class World:
    """What is on the fake desktop. Change it in ``with world.changing():`` and the fake screen changes with it."""

    def __init__(self, windows: Sequence[Element] = (), *, size: tuple[int, int] = (800, 600)) -> None:
        self.windows = list(windows)
        self.size = size
        self.apps: dict[str, Callable[[World], None]] = {}
        """What launching a program by this name does; others are not installed."""
        self.clipboard: str | None = None
        self.pointer = Point(0, 0)
        self.done: list[tuple[Any, ...]] = []
        """What the hands did, in order: ``("click", point, button, count)``, ``("type", text)``…"""
        self.version = 0
        self._changed = threading.Condition()
        self._lay_out()

    def changing(self) -> World:
        """``with world.changing(): …`` makes what happens inside visible as one change."""
        return self

    def __enter__(self) -> World:
        self._changed.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.version += 1
        self._lay_out()
        self._changed.notify_all()
        self._changed.release()

    def wait(self, since: int, timeout: float) -> bool:
        """Block until the version is not ``since`` any more, at most ``timeout`` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self.version != since, timeout)

    def elements(self) -> Iterator[Element]:
        """Every element, the active window's first."""
        stack = self.windows[::-1]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def at(self, point: Point) -> Element | None:
        """The innermost element under a point of the active window."""
        found = None
        for element in self.elements():
            if element.rect is not None and element.rect.contains(point):
                found = element
        return found

    def focus(self, element: Element) -> None:
        """Move the keyboard focus."""
        for each in self.elements():
            each.states.discard("focused")
        element.states.add("focused")

    def focused(self) -> Element | None:
        """The element that has the keyboard."""
        return next((each for each in self.elements() if "focused" in each.states), None)

    def press(self, element: Element) -> None:
        """What a click on it, or its own action, does."""
        if "disabled" in element.states:
            return
        with self.changing():
            if element.role in ("checkbox", "switch"):
                element.states ^= {"checked"}
            elif element.role in ("textbox", "combobox"):
                self.focus(element)
            if element.on_invoke is not None:
                element.on_invoke(self)

    def tree(self) -> tuple[Node, ...]:
        """The world as `Node`s."""
        return tuple(_node(window, window) for window in self.windows)

    def _lay_out(self) -> None:
        """One row for each element, windows above each other: what is inactive lies under the active window."""
        for window in self.windows:
            window.rect = Rect(0, 0, *self.size)
            row = 0
            stack = window.children[::-1]
            while stack:
                element = stack.pop()
                row += 1
                element.rect = Rect(10, row * _ROW, self.size[0] - 20, _ROW - 2)
                stack.extend(reversed(element.children))


def _node(element: Element, window: Element) -> Node:
    return Node(
        role=element.role,
        name=element.name,
        value=None if "password" in element.states else element.value,
        states=frozenset(element.states),
        rect=element.rect,
        app="fake",
        window=window.name,
        handle=element.id,
        children=tuple(_node(child, window) for child in element.children),
    )


class FakeDesktop:
    """The `Desktop` of a world: screen, hands, windows and clipboard in one object."""

    name = "fake"
    display = ""
    a11y_address: str | None = None
    isolation = "display"
    notes: tuple[str, ...] = ()

    def __init__(self, world: World) -> None:
        self.world = world
        self.client_env: Mapping[str, str] = {}
        self.screen = self.input = self.windows = self.clipboard = self.changes = self
        self._held: list[str] = []

    # screen
    @property
    def size(self) -> tuple[int, int]:
        return self.world.size

    @property
    def monitors(self) -> Sequence[Rect]:
        return (Rect(0, 0, *self.world.size),)

    def grab(self, rect: Rect | None = None) -> Frame:
        import numpy as np

        whole = Rect(0, 0, *self.world.size)
        cut = (rect.intersection(whole) if rect is not None else whole) or whole
        pixels: np.ndarray[Any, np.dtype[np.uint32]] = np.full(
            (cut.height, cut.width), self.world.version, np.uint32
        )
        return Frame(pixels=pixels, rect=cut)

    def cursor(self) -> Point:
        return self.world.pointer

    # hands
    def move(self, point: Point) -> None:
        self.world.pointer = point
        self.world.done.append(("move", point))

    def button(self, button: Button, down: bool) -> None:
        self.world.done.append(("button", button, down))

    def click(self, point: Point, button: Button = "left", count: int = 1) -> None:
        self.world.pointer = point
        self.world.done.append(("click", point, button, count))
        if button == "left" and (hit := self.world.at(point)) is not None:
            self.world.press(hit)

    def drag(self, path: Sequence[Point], button: Button = "left") -> None:
        self.world.done.append(("drag", tuple(path), button))

    def scroll(self, point: Point, down: int = 0, right: int = 0) -> None:
        self.world.done.append(("scroll", point, down, right))

    def key(self, name: str, down: bool) -> None:
        self.world.done.append(("key", name, down))
        self._held = [*self._held, name] if down else [each for each in self._held if each != name]

    def chord(self, names: Sequence[str], *, hold: float = 0.0) -> None:
        self.world.done.append(("chord", tuple(names)))
        field_ = self.world.focused()
        if tuple(names) == ("Control_L", "a") and field_ is not None:
            self._held = ["all selected"]

    def type(self, text: str) -> None:
        self.world.done.append(("type", text))
        into = self.world.focused()
        if into is not None and into.value is not None:
            with self.world.changing():
                into.value = text if "all selected" in self._held else into.value + text
        self._held = []

    def release_all(self) -> None:
        self._held = []

    # windows
    def list(self) -> Sequence[WindowInfo]:
        return [self._info(window, place == 0) for place, window in enumerate(self.world.windows)]

    def active(self) -> WindowInfo | None:
        return next(iter(self.list()), None)

    def at(self, point: Point) -> WindowInfo | None:
        return self.active()

    def wait_for(self, match: Callable[[WindowInfo], bool], timeout: float) -> WindowInfo | None:
        return next((each for each in self.list() if match(each)), None)

    def activate(self, window: int) -> None:
        with self.world.changing():
            self.world.windows.sort(key=lambda each: each.id != window)

    def close(self, window: int | None = None) -> None:
        if window is not None:
            with self.world.changing():
                self.world.windows = [each for each in self.world.windows if each.id != window]

    def move_resize(self, window: int, rect: Rect) -> None:
        self.world.done.append(("move_resize", window, rect))

    def minimize(self, window: int) -> None:
        self.world.done.append(("minimize", window))

    def maximize(self, window: int) -> None:
        self.world.done.append(("maximize", window))

    def _info(self, window: Element, active: bool) -> WindowInfo:
        rect = window.rect or Rect(0, 0, *self.world.size)
        return WindowInfo(id=window.id, title=window.name, app="fake", rect=rect, active=active)

    # clipboard
    def read(self) -> str | None:
        return self.world.clipboard

    def write(self, text: str) -> None:
        self.world.clipboard = text

    def clear(self) -> None:
        self.world.clipboard = None

    def wait_taken(self, timeout: float) -> bool:
        return True

    # changes
    def collect(self) -> Sequence[Rect]:
        return ()

    def wait(self, timeout: float) -> bool:
        return self.world.wait(self.world.version, timeout)

    # the computer
    def launch(self, argv: Sequence[str]) -> int:
        if argv[0] not in self.world.apps:
            raise DesktopError(f"no program {argv[0]!r} is installed")
        with self.world.changing():
            self.world.apps[argv[0]](self.world)
        return 0

    def ended(self, pid: int) -> Ended | None:
        return None

    def browser_command(self) -> Any:
        raise DesktopError("the fake desktop has no browser")

    def record(self, path: str, *, fps: int = 10) -> Recorder:
        raise DesktopError("the fake desktop cannot be recorded")

    def alive(self) -> bool:
        return True


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
