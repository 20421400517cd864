"""What a desktop is to the rest of the product: a few small parts behind protocols.

All of these are synchronous, thread-safe and quick; `tools.desk` calls them through one ``to_thread`` seam. Nothing
here reads or writes ``os.environ``: a desktop carries its own connections and environment, so a process can hold many.
Coordinates are screen pixels throughout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from deskhand.messages import Point, Rect, WindowInfo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Button = Literal["left", "middle", "right", "back", "forward"]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A grab of the screen. ``pixels`` is (height, width) uint32, one BGRX pixel each; ``rect`` is where it was."""

    pixels: NDArray[np.uint32]
    rect: Rect

    def png(self, *, cursor: bool = False) -> bytes:
        """The frame as PNG (compression level 1: encoding is what a screenshot costs)."""
        from deskhand.desktop.capture import encode_png

        return encode_png(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended. ``status`` is negative for a signal; ``last_line`` is the last that it said, if anything."""

    status: int
    last_line: str


class Screen(Protocol):
    """Capture."""

    @property
    def size(self) -> tuple[int, int]: ...

    @property
    def monitors(self) -> Sequence[Rect]: ...

    def grab(self, rect: Rect | None = None) -> Frame:
        """The pixels of ``rect`` (all when None), clipped to the screen. DesktopError when the display is gone."""
        ...

    def cursor(self) -> Point: ...


class Input(Protocol):
    """Pointer and keyboard. All that is pressed is remembered; `release_all` lets go of it, on every exit path too."""

    def move(self, point: Point) -> None: ...

    def button(self, button: Button, down: bool) -> None: ...

    def click(self, point: Point, button: Button = "left", count: int = 1) -> None:
        """Move there and press and release ``count`` times within the toolkits' double-click interval."""
        ...

    def drag(self, path: Sequence[Point], button: Button = "left") -> None:
        """Press at the first point, travel through the others with intermediate motion, release at the last."""
        ...

    def scroll(self, point: Point, down: int = 0, right: int = 0) -> None:
        """Wheel detents at the point; negative is up or left."""
        ...

    def key(self, name: str, down: bool) -> None:
        """One key by its X keysym name or alias (see `desktop.keys`). InvalidStep, with suggestions, when unknown."""
        ...

    def chord(self, names: Sequence[str], *, hold: float = 0.0) -> None:
        """Press in order, release in reverse order."""
        ...

    def type(self, text: str) -> None:
        """Type any Unicode text, newline as Return and tab as Tab, whatever the layout holds."""
        ...

    def release_all(self) -> None: ...


class Windows(Protocol):
    """Top-level windows, through the window manager (EWMH)."""

    # Optional: ``known`` False says that windows cannot be told here; the one that is listed is the whole screen.

    def list(self) -> Sequence[WindowInfo]:
        """In stacking order, topmost first; the active one is marked."""
        ...

    def active(self) -> WindowInfo | None: ...

    def at(self, point: Point) -> WindowInfo | None:
        """The topmost window under a point."""
        ...

    def activate(self, window: int) -> None: ...

    def close(self, window: int) -> None: ...

    def move_resize(self, window: int, rect: Rect) -> None: ...

    def minimize(self, window: int) -> None: ...

    def maximize(self, window: int) -> None: ...


class Clipboard(Protocol):
    """The display's CLIPBOARD selection."""

    def read(self) -> str | None: ...

    def write(self, text: str) -> None: ...

    def clear(self) -> None:
        """Hold nothing any more."""
        ...

    def wait_taken(self, timeout: float) -> bool:
        """Whether the text last written is read by an application within ``timeout`` seconds."""
        ...


class Changes(Protocol):
    """What was painted. Costs nothing while the screen is still."""

    def collect(self) -> Sequence[Rect]:
        """The rectangles painted since the last call, at once and without waiting. Painted does not mean changed."""
        ...

    def wait(self, timeout: float) -> bool:
        """Block until something is painted or ``timeout`` seconds have passed; True when something was."""
        ...

    # Optional: ``wake()`` ends a `wait` in another thread early; ``busy()`` says that the pointer shows a busy cursor.


class Recorder(Protocol):
    """A running recording."""

    path: str
    began: float | None
    """`time.monotonic` of the first picture; None until there is one."""

    @property
    def running(self) -> bool:
        """False as well when it has given up."""
        ...

    def stop(self, within: float | None = None) -> None:
        """Finish the file and check that it has a duration; DesktopError with ffmpeg's last words otherwise.

        With ``within``, an ffmpeg that has not finished in about so many seconds is killed.
        """
        ...


class Desktop(Protocol):
    """A computer to work on. ``name`` is what receipts call it: ``private`` or ``display::99``."""

    name: str
    display: str
    screen: Screen
    input: Input
    windows: Windows
    clipboard: Clipboard
    changes: Changes
    a11y_address: str | None
    """D-Bus address of the accessibility bus; None where there is none."""
    isolation: str
    """``"files"`` (bubblewrap) or ``"display"``."""
    notes: tuple[str, ...]
    """What a user should know about this desktop, such as what is not isolated and why."""
    client_env: Mapping[str, str]
    """What an outside client of this display needs (DISPLAY, XAUTHORITY)."""

    def launch(self, argv: Sequence[str]) -> int:
        """Start a program on this desktop (in its sandbox); its pid outside. DesktopError when it cannot start."""
        ...

    def ended(self, pid: int) -> Ended | None:
        """How a program that `launch` started ended; None while it runs, or when that is not known."""
        ...

    def browser_command(self) -> Any:
        """How to start this desktop's own Chromium: see `desktop.browser.BrowserCommand`. MissingPart without one."""
        ...

    def record(self, path: str, *, fps: int = 10) -> Recorder: ...

    def alive(self) -> bool:
        """Whether the display still answers."""
        ...

    def close(self) -> None:
        """Release what is held, end everything that was started, remove what was made. Idempotent, under 1 s."""
        ...
