"""What is on a desktop that exists in memory only: scripted windows, and what pressing their elements does."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from deskhand.messages import Node, Point, Rect

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
