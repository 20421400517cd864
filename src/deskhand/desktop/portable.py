"""A desktop through mss and pyautogui, for systems that have nothing better: pixels, pointer, keyboard, clipboard."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from deskhand.desktop.base import Changes, Clipboard, Ended, Input, Recorder, Screen, Windows
from deskhand.desktop.polling import PollingChanges
from deskhand.desktop.portable_input import PortableClipboard, PortableInput
from deskhand.desktop.portable_link import Helper
from deskhand.desktop.portable_screen import PortableScreen
from deskhand.errors import DeskhandError, DesktopError, TargetError
from deskhand.messages import Point, Rect, WindowInfo

NOTES: Final = (
    "apps launched here are not isolated from your files",
    "windows and elements are not known here: apps are seen and worked as pixels only",
    "pushing the pointer into a corner of the screen stops the task",
)
_SECRET: Final = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSPHRASE", "_CREDENTIALS")
_END: Final = 0.3


class PortableDesktop:
    """A `Desktop` on the screen that ``env`` reaches (DISPLAY, where there is such a thing), or the user's own.

    ``board`` is the clipboard to use instead of pyperclip's; ``hands``: what else pyautogui's environment needs.
    Nothing of windows and elements is known. MissingPart names the extra ``portable`` when it is absent; DesktopError
    when there is no screen.
    """

    a11y_address: str | None = None
    isolation = "display"

    def __init__(
        self,
        name: str,
        env: Mapping[str, str],
        board: Clipboard | None = None,
        hands: Mapping[str, str] | None = None,
    ) -> None:
        self.name, self.display = name, env.get("DISPLAY", "")
        self.notes: tuple[str, ...] = NOTES
        self.client_env: Mapping[str, str] = {
            key: env[key] for key in ("DISPLAY", "XAUTHORITY") if env.get(key)
        }
        self._env = {key: value for key, value in env.items() if not key.upper().endswith(_SECRET)}
        self._apps: dict[int, subprocess.Popen[bytes]] = {}
        self._closed = False
        with contextlib.ExitStack() as undo:
            self._hands = Helper("hands", {**self._env, **(hands or {})})
            undo.callback(self._hands.close)
            eyes = Helper("eyes", self._env)
            undo.callback(eyes.close)
            screen = PortableScreen(eyes, self._hands)
            self.screen: Screen = screen
            changes = PollingChanges(screen)
            undo.callback(changes.close)
            self.changes: Changes = changes
            self.clipboard: Clipboard = board or PortableClipboard(self._env)
            undo.callback(getattr(self.clipboard, "close", lambda: None))
            self.windows: Windows = PortableWindows(screen)
            self.input: Input = PortableInput(self._hands, screen, self.clipboard)
            self._parts = undo.pop_all()

    def launch(self, argv: Sequence[str]) -> int:
        """Start a program; its pid. It ends with this desktop. DesktopError when it cannot start."""
        if self._closed:
            raise DesktopError("this desktop is closed")
        try:
            app = subprocess.Popen(
                list(argv),
                env=self._env,
                cwd=os.path.expanduser(self._env.get("HOME", "~")),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=os.name == "posix",
            )
        except (OSError, IndexError) as error:
            raise DesktopError(f"cannot start {' '.join(argv)[:200]!r}: {error}") from None
        self._apps[app.pid] = app
        return app.pid

    def ended(self, pid: int) -> Ended | None:
        """How a launched program ended (what it said is not kept); None while it runs."""
        app = self._apps.get(pid)
        status = app.poll() if app is not None else None
        return Ended(status=status, last_line="") if status is not None else None

    def browser_command(self) -> Any:
        """TargetError: there is no browser here that pages could be read from."""
        raise TargetError(
            "not_supported", "this desktop has no browser of its own: launch one by its program's name"
        )

    def record(self, path: str, *, fps: int = 10) -> Recorder:
        """DesktopError: recording is not offered here."""
        raise DesktopError("this desktop cannot be recorded (the portable backend has no recorder)")

    def alive(self) -> bool:
        """Whether the screen can be read."""
        try:
            return not self._closed and bool(self.screen.grab(Rect(0, 0, 1, 1)).pixels.size)
        except DeskhandError:
            return False

    def close(self) -> None:
        """Let go of what is held, and end what was launched and the helpers. Idempotent."""
        if self._closed:
            return
        self._closed = True
        ends = [threading.Thread(target=_end, args=(app,)) for app in self._apps.values()]
        for end in ends:
            end.start()
        self._parts.close()
        for end in ends:
            end.join()


def _end(app: subprocess.Popen[bytes]) -> None:
    """Ask a program and all that it started to end, and end them when they do not."""
    if app.poll() is not None:
        return  # its number may be another's by now
    _signal_all(app, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        app.wait(_END)
    _signal_all(app, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    app.wait()


def _signal_all(app: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(app.pid, number)
        else:
            app.send_signal(number)


class PortableWindows:
    """Which windows there are cannot be told here (``known`` says so): the whole screen stands for them all."""

    known = False

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def list(self) -> Sequence[WindowInfo]:
        """The screen."""
        return (self.active(),)

    def active(self) -> WindowInfo:
        """The screen."""
        return WindowInfo(id=0, title="whole screen", rect=Rect(0, 0, *self._screen.size), active=True)

    def at(self, point: Point) -> WindowInfo | None:
        """The screen."""
        whole = self.active()
        return whole if whole.rect.contains(point) else None

    def activate(self, window: int) -> None:
        """TargetError ``not_supported``, as all that follows."""
        raise self.unknown()

    def close(self, window: int) -> None:
        """TargetError."""
        raise self.unknown()

    def move_resize(self, window: int, rect: Rect) -> None:
        """TargetError."""
        raise self.unknown()

    def minimize(self, window: int) -> None:
        """TargetError."""
        raise self.unknown()

    def maximize(self, window: int) -> None:
        """TargetError."""
        raise self.unknown()

    def unknown(self) -> TargetError:
        """What says so."""
        return TargetError(
            "not_supported",
            "windows are not known on this desktop: use keys, and what the screen shows of them",
        )


def on_display(
    display: str, xauthority: str | None, environ: Mapping[str, str], *, own: bool
) -> dict[str, str]:
    """The user's environment with another display in it; the session's bus goes along to the user's ``own`` only."""
    env = {"PATH": os.defpath, **environ, "DISPLAY": display, "XDG_SESSION_TYPE": "x11"}
    if xauthority:
        env["XAUTHORITY"] = xauthority
    if not own:
        env["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
    return env
