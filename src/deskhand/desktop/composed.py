"""A desktop put together from its parts, on any X display."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import xcffib.damage
import xcffib.xfixes

from deskhand.desktop.base import Changes, Clipboard, Ended, Input, Recorder, Screen, Windows
from deskhand.desktop.browser import BrowserCommand
from deskhand.desktop.capture import MssScreen
from deskhand.desktop.changes import DamageChanges
from deskhand.desktop.clipboard import XClipboard
from deskhand.desktop.directory import DesktopDirectory
from deskhand.desktop.input import XInput
from deskhand.desktop.launcher import Launcher
from deskhand.desktop.polling import PollingChanges
from deskhand.desktop.processes import Household
from deskhand.desktop.recording import start_recording
from deskhand.desktop.sweep import remove_display_of
from deskhand.desktop.windows import XWindows
from deskhand.desktop.x11 import XConnection
from deskhand.errors import DeskhandError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Nest:
    """What a desktop stands on from its first moment to its last: a locked directory and all that was started."""

    directory: DesktopDirectory
    household: Household

    @classmethod
    def make(cls) -> Nest:
        directory = DesktopDirectory.create()
        return cls(directory, Household(directory.path))

    def close(self) -> None:
        """End everything and remove everything. Idempotent."""
        self.household.close()
        remove_display_of(self.directory.path)
        self.directory.remove()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What is known about a desktop when its display is up. ``marker`` None: the display is not ours."""

    name: str
    display: str
    xauthority: str | None
    marker: str | None
    a11y_address: str | None
    isolation: str
    notes: tuple[str, ...]
    scale: int = 1


class X11Desktop:
    """A `Desktop` on an X display. Everything that it started and made ends and goes with it."""

    def __init__(
        self, nest: Nest, place: Place, launcher: Launcher, on_close: Callable[[], None] | None = None
    ) -> None:
        self.name, self.display = place.name, place.display
        self.a11y_address, self.isolation, self.notes = place.a11y_address, place.isolation, place.notes
        self.client_env: Mapping[str, str] = {
            "DISPLAY": place.display,
            **({"XAUTHORITY": place.xauthority} if place.xauthority else {}),
        }
        self.home = launcher.home
        """The apps' home directory, as a path outside."""
        self.shares = launcher.shares
        """The user's directories and files that its apps see, at the same paths inside and outside."""
        self._nest, self._place, self._launcher, self._on_close = nest, place, launcher, on_close
        self._recorders: list[Recorder] = []
        self._closed = False
        with contextlib.ExitStack() as undo:
            address = (place.display, place.xauthority, place.marker)
            self._x = XConnection(*address)
            undo.callback(self._x.close)
            screen = MssScreen(*address)
            undo.callback(screen.close)
            # Every server has it, but for a few remote and nested ones.
            reported = self._x.has(xcffib.damage) and self._x.has(xcffib.xfixes)
            changes = DamageChanges(*address) if reported else PollingChanges(screen)
            undo.callback(changes.close)
            clipboard = XClipboard(place.display, place.xauthority)
            undo.callback(clipboard.close)
            self.screen: Screen = screen
            self.changes: Changes = changes
            self.clipboard: Clipboard = clipboard
            self.windows: Windows = XWindows(self._x)
            pointer = XInput(self._x)
            undo.callback(pointer.close)
            self.input: Input = pointer
            self._parts = undo.pop_all()

    def launch(self, argv: Sequence[str]) -> int:
        """Start a program on this desktop; the pid, outside, of the top of its process tree.

        DesktopError when there is no such program or it cannot be run.
        """
        return self._launcher.start(argv)

    def ended(self, pid: int) -> Ended | None:
        """How a launched program ended, and the last thing it said; None while it runs."""
        return self._launcher.outputs.ended(pid)

    def browser_command(self) -> BrowserCommand:
        """How to start this desktop's own Chromium. MissingPart without one."""
        return self._launcher.browser(scale=self._place.scale, size=self.screen.size)

    def record(self, path: str, *, fps: int = 10) -> Recorder:
        """Record the screen into an MP4 file until the recorder is stopped; the last picture is kept beside it."""
        screen = self.screen
        recorder = start_recording(
            self.display,
            self._place.xauthority,
            screen.size,
            path,
            fps,
            picture=lambda: screen.grab().png(),
        )
        self._recorders.append(recorder)
        return recorder

    def alive(self) -> bool:
        """Whether the display answers within a second."""
        return not self._closed and self._answers(1.0)

    def _answers(self, seconds: float) -> bool:
        try:
            self._x.sync(seconds)
        except Exception:  # whatever the dead connection raises: it does not answer
            return False
        return True

    def close(self) -> None:
        """Let go of what is held, end everything that was started, remove what was made. Idempotent."""
        if self._closed:
            return
        self._closed = True
        answers = self._answers(0.3)
        try:
            if answers:
                for recorder in self._recorders:
                    with contextlib.suppress(DeskhandError):
                        recorder.stop()  # idempotent; the file has to be finished while the display is there
                self._close_parts()
        finally:
            self._nest.close()
            if self._on_close is not None:
                self._on_close()
        if not answers:
            # A server that hangs would hold every request; if it was ours it is dead by now, and if not, we do not wait
            closing = threading.Thread(target=self._close_parts, name="deskhand-close", daemon=True)
            closing.start()
            closing.join(0.3)

    def _close_parts(self) -> None:
        try:
            self._parts.close()  # the input first: it lets go of what is held
        except Exception:
            _log.debug("a part of %s did not close: the display may be gone", self.name, exc_info=True)
