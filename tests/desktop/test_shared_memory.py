"""The numbers of shared memory segments mean something else outside of the box: boxed apps get none."""

from __future__ import annotations

import errno
from pathlib import Path

from deskhand.config import load_settings
from deskhand.demo import duration
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.composed import X11Desktop
from deskhand.messages import WindowInfo
from desktop_world import run


async def test_a_boxed_app_gets_no_shared_memory_whose_number_the_display_would_look_up_outside() -> None:
    desktop = await open_desktop_backend("private", settings=load_settings())
    try:
        assert isinstance(desktop, X11Desktop)
        said = run(
            desktop,
            """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
answer([libc.shmget(0, 4096, 0o1600), ctypes.get_errno()])
""",
        )
    finally:
        desktop.close()
    assert said == [-1, errno.ENOSYS]


async def test_an_app_starts_while_a_recording_shares_memory_with_the_display(tmp_path: Path) -> None:
    def is_calculator(window: WindowInfo) -> bool:
        return "Calculator" in window.title

    desktop = await open_desktop_backend("private", settings=load_settings())
    try:
        recorder = desktop.record(str(tmp_path / "it.mp4"))
        desktop.launch(["gnome-calculator"])
        assert isinstance(desktop, X11Desktop)
        window = desktop.windows.wait_for(is_calculator, 15)
        assert window is not None
        recorder.stop()
    finally:
        desktop.close()
    assert duration(str(tmp_path / "it.mp4")) > 0
