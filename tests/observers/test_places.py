"""Where elements say they are, is where they are pressed: at scale 1 and 2, on a second monitor."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from deskhand.messages import Node
from deskhand.observers.node import walk
from deskhand.terms import Private
from deskhand.tools.desk import Desk, open_desktop

APP = Path(__file__).parents[1] / "apps" / "places.py"
PAGE = """<!doctype html><meta charset=utf-8><title>Places</title><style>button {margin: 6px}</style>
<div id=all></div><script>
for (let n = 0; n < 12; n++) {
  const button = document.createElement('button');
  button.textContent = 'Place ' + n;
  button.onclick = () => document.title = 'Pressed ' + n;
  all.append(button, n % 3 == 2 ? document.createElement('br') : '');
}</script>"""


async def start(desk: Desk, kind: str) -> Path:
    """Start the app; the file in which it writes down what was pressed."""
    home = Path(desk.desktop.home)  # type: ignore[attr-defined]
    shutil.copy(APP, home)
    await desk.launch(["/usr/bin/python3", "/home/desk/places.py", kind, "/home/desk/pressed"], timeout=20)
    await desk.wait_for("button[name='Place 11'][visible]")
    return home / "pressed"


async def places(desk: Desk) -> list[Node]:
    """The buttons as they are now, in the order of their numbers."""
    found, _ = await desk.find("button[name^='Place']")
    return sorted(found, key=lambda node: int(node.name.split()[1]))


async def still(desk: Desk) -> list[Node]:
    """The buttons once they stand still: a window that comes up moves into its place first."""
    before, now = [], await places(desk)
    while not now or [node.rect for node in now] != [node.rect for node in before]:
        await asyncio.sleep(0.4)
        before, now = now, await places(desk)
    return now


async def press_each(desk: Desk, log: Path) -> None:
    """Click in the middle of each with the pointer alone; the app must have been pressed there, and there only."""
    nodes = await still(desk)
    assert len(nodes) == 12
    for node in nodes:
        assert node.rect is not None
        log.unlink(missing_ok=True)
        await asyncio.to_thread(desk.desktop.input.click, node.rect.center)
        async with asyncio.timeout(10):
            while not log.exists() or not log.read_text():  # noqa: ASYNC110 - a file tells nobody
                await asyncio.sleep(0.02)
        assert log.read_text() == f"{node.name}\n"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["gtk3", "gtk4", "qt"])
@pytest.mark.parametrize("scale", [1, 2])
async def test_buttons_are_where_they_say(kind: str, scale: int) -> None:
    async with open_desktop(Private(scale=scale)) as desk:
        log = await start(desk, kind)
        await press_each(desk, log)
        first = (await places(desk))[0]
        assert first.rect is not None
        # As large as text of this scale needs it, and not larger.
        assert 16 * scale <= first.rect.height <= 60 * scale


async def two_monitors(desk: Desk) -> None:
    """Two monitors side by side, each half of the screen."""
    env = dict(desk.desktop.client_env)
    for monitor in (
        ("left", "1000/264x1000/264+0+0", "screen"),
        ("right", "1000/264x1000/264+1000+0", "none"),
    ):
        argv = ["/usr/bin/xrandr", "--setmonitor", *monitor]
        await asyncio.to_thread(subprocess.run, argv, env=env, check=True)


async def move_right(desk: Desk) -> None:
    """The window to the right monitor; its elements say they are there."""
    await desk.act([{"kind": "window", "do": "move", "title": "Places", "x": 1010, "y": 20}])
    assert all(node.rect is not None and node.rect.x >= 1010 for node in await still(desk))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["gtk3", "gtk4", "qt"])
@pytest.mark.parametrize("scale", [1, 2])
async def test_buttons_are_where_they_say_on_a_second_monitor(kind: str, scale: int) -> None:
    async with open_desktop(Private(scale=scale, size=(2000, 1000))) as desk:
        await two_monitors(desk)
        log = await start(desk, kind)
        await move_right(desk)
        await press_each(desk, log)


async def browse(desk: Desk) -> None:
    """The page in the desktop's own browser."""
    (Path(desk.desktop.home) / "places.html").write_text(PAGE, "utf-8")  # type: ignore[attr-defined]
    await desk.launch("file:///home/desk/places.html", timeout=30)
    await desk.wait_for("button[name='Place 11'][visible]", timeout=20)


async def run_electron_like(desk: Desk, scale: int) -> None:
    """The page in a window of its own, as Electron's apps have it: a Chromium that is not the desktop's browser."""
    (Path(desk.desktop.home) / "places.html").write_text(PAGE, "utf-8")  # type: ignore[attr-defined]
    argv = ["chromium", "--app=file:///home/desk/places.html", "--force-renderer-accessibility"]
    argv += ["--no-sandbox", "--no-first-run", "--test-type", "--user-data-dir=/home/desk/electron"]
    await desk.launch([*argv, f"--force-device-scale-factor={scale}", "--window-size=600,400"], timeout=30)
    await desk.wait_for("button[name='Place 11'][visible]", timeout=20)
    assert {node.source for node in walk((await desk.observe()).roots)} == {"native"}


@pytest.mark.long
@pytest.mark.parametrize("scale", [1, 2])
async def test_elements_of_the_browser_are_where_they_say(scale: int) -> None:
    async with open_desktop(Private(scale=scale)) as desk:
        await browse(desk)
        assert "page" in {node.source for node in walk((await desk.observe()).roots)}
        await press_each_by_title(desk)


@pytest.mark.long
@pytest.mark.parametrize("scale", [1, 2])
async def test_elements_of_an_app_made_of_a_browser_are_where_they_say(scale: int) -> None:
    async with open_desktop(Private(scale=scale)) as desk:
        await run_electron_like(desk, scale)
        await press_each_by_title(desk)


@pytest.mark.long
@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("kind", ["browser", "electron-like"])
async def test_elements_of_pages_are_where_they_say_on_a_second_monitor(kind: str, scale: int) -> None:
    async with open_desktop(Private(scale=scale, size=(2000, 1000))) as desk:
        await two_monitors(desk)
        await (browse(desk) if kind == "browser" else run_electron_like(desk, scale))
        await desk.act([{"kind": "window", "do": "resize", "title": "Places", "width": 800, "height": 600}])
        await move_right(desk)
        await press_each_by_title(desk)


async def press_each_by_title(desk: Desk) -> None:
    """The page says in its title which button was pressed last."""
    await still(desk)
    for number in range(12):
        node = (await places(desk))[number]  # each time anew: a bar may slide in above
        assert node.rect is not None
        await asyncio.to_thread(desk.desktop.input.click, node.rect.center)
        title = f"Pressed {node.name.split()[1]}"
        async with asyncio.timeout(10):
            while not any(window.title.startswith(title) for window in await desk.windows()):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
