"""A desk on the portable backend: small tasks by pixels and keys, with verdicts, on somebody's display."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pictures

from desk_helpers import effects
from deskhand.config import Settings
from deskhand.messages import Image, Json, Point
from deskhand.tools.desk import Desk, open_desktop
from deskhand.tools.wording import batch_text
from desktop_world import managed_display

BUTTON = """
import tkinter
root = tkinter.Tk()
root.geometry("240x120+200+150")
button = tkinter.Button(root, background="#d02020", activebackground="#d02020", command=lambda: press())
button.pack(expand=1, fill="both")
def press():
    button.configure(background="#20a040", activebackground="#20a040")
root.mainloop()
"""


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    """A desk on a display with a window manager."""
    with managed_display(tmp_path) as (display, authority):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("XAUTHORITY", authority)
        async with open_desktop(f"display:{display}", settings=Settings(backend="portable")) as opened:
            yield opened


async def act(desk: Desk, *steps: dict[str, Json]) -> str:
    """The report in words, after checking that nothing was left out."""
    report = await desk.act(list(steps))
    assert not report.not_run, batch_text(report)
    return batch_text(report)


def where(image: Image, red: bool) -> Point | None:
    """The middle, in pixels of the picture, of what is red (or else green) in it; None when there is little of it."""
    pixels = np.asarray(Pictures.open(io.BytesIO(image.data)).convert("RGB")).astype(int)
    first, second = (0, 1) if red else (1, 0)
    rows, columns = np.nonzero((pixels[:, :, first] > 120) & (pixels[:, :, second] < 60))
    return Point(int(np.median(columns)), int(np.median(rows))) if len(rows) > 5000 else None


async def test_a_note_is_written_and_saved_by_keys(desk: Desk, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    launched = await desk.act([{"kind": "launch", "app": "mousepad"}])
    assert effects(launched) == ["done"]
    assert "mousepad runs and something was shown" in batch_text(launched)
    await act(desk, {"kind": "type", "text": "Zoë <was> here"})
    await act(desk, {"kind": "key", "keys": "ctrl+s"})
    await act(desk, {"kind": "type", "text": str(note)})
    await act(desk, {"kind": "key", "keys": "Return"})
    async with asyncio.timeout(20):
        while not note.exists() or not note.read_text("utf-8"):
            await asyncio.to_thread(desk.desktop.changes.wait, 0.1)
    assert note.read_text("utf-8") == "Zoë <was> here"


async def test_a_button_is_found_in_the_picture_pressed_and_answers(desk: Desk) -> None:
    await desk.launch(["/usr/bin/python3", "-c", BUTTON])
    async with asyncio.timeout(20):
        while (place := where((await desk.screenshot()), red=True)) is None:
            await asyncio.to_thread(desk.desktop.changes.wait, 0.1)
    seen = await desk.observe(screenshot=True)
    assert '"whole screen" (active)' in seen.text
    assert seen.image is not None
    assert where(seen.image, red=True) == place
    report = await desk.act([{"kind": "click", "target": {"x": place.x, "y": place.y}}])
    (step,) = report.steps
    assert step.settled is not None
    assert (step.route, step.settled.verdict) == ("pointer", "settled")
    assert step.settled.changed > 0.01
    still = await desk.act([{"kind": "key", "keys": "shift"}])
    assert effects(still) == ["no_change"]
    after = await desk.screenshot()
    assert where(after, red=True) is None
    assert where(after, red=False) is not None


async def test_what_needs_windows_or_a_browser_is_refused_and_said(desk: Desk) -> None:
    for step in (
        {"kind": "window", "title": "Mousepad", "do": "close"},
        {"kind": "launch", "app": "https://example.com"},
    ):
        refused = await desk.act([step])
        assert effects(refused) == ["not_supported"]
        assert "this desktop" in batch_text(refused)
