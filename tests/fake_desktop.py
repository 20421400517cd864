"""The `Desktop` of a world in memory: its screen, hands, windows and clipboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deskhand.desktop.base import Button, Ended, Frame, Recorder
from deskhand.errors import DesktopError
from deskhand.messages import Point, Rect, WindowInfo
from fake_world import Element, World

if TYPE_CHECKING:
    import numpy as np


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
