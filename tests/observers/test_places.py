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


async def still(desk: Desk) -> None:
    """Wait until nothing has been painted for a moment: a window that comes up moves into its place first."""
    for _ in range(20):
        desk.desktop.changes.collect()
        if not await asyncio.to_thread(desk.desktop.changes.wait, 0.4):
            return


async def press_each(desk: Desk, log: Path) -> None:
    """Click in the middle of each with the pointer alone; the app must have been pressed there, and there only."""
    await still(desk)
    nodes = await places(desk)
    assert len(nodes) == 12
    for node in nodes:
        assert node.rect is not None
        log.unlink(missing_ok=True)
        await asyncio.to_thread(desk.desktop.input.click, node.rect.center)
        async with asyncio.timeout(10):
            while not log.exists() or not log.read_text():
                await asyncio.to_thread(desk.desktop.changes.wait, 0.1)
                desk.desktop.changes.collect()
        assert log.read_text() == f"{node.name}\n"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["gtk3", "gtk4"])
@pytest.mark.parametrize("scale", [1, 2])
async def test_buttons_are_where_they_say(kind: str, scale: int) -> None:
    async with open_desktop(Private(scale=scale)) as desk:
        log = await start(desk, kind)
        await press_each(desk, log)
        first = (await places(desk))[0]
        assert first.rect is not None
        # As large as text of this scale needs it, and not larger.
        assert 16 * scale <= first.rect.height <= 60 * scale


@pytest.mark.long
@pytest.mark.parametrize("kind", ["gtk3", "gtk4"])
@pytest.mark.parametrize("scale", [1, 2])
async def test_buttons_are_where_they_say_on_a_second_monitor(kind: str, scale: int) -> None:
    async with open_desktop(Private(scale=scale, size=(2000, 1000))) as desk:
        env = dict(desk.desktop.client_env)
        for monitor in (
            ("left", "1000/264x1000/264+0+0", "screen"),
            ("right", "1000/264x1000/264+1000+0", "none"),
        ):
            argv = ["/usr/bin/xrandr", "--setmonitor", *monitor]
            await asyncio.to_thread(subprocess.run, argv, env=env, check=True)
        log = await start(desk, kind)
        await desk.act([{"kind": "window", "do": "move", "title": "Places", "x": 1100, "y": 120}])
        nodes = await places(desk)
        assert all(node.rect is not None and node.rect.x >= 1100 for node in nodes)
        await press_each(desk, log)


@pytest.mark.long
@pytest.mark.parametrize("scale", [1, 2])
async def test_elements_of_the_browser_and_of_apps_made_of_it_are_where_they_say(scale: int) -> None:
    async with open_desktop(Private(scale=scale)) as desk:
        home = Path(desk.desktop.home)  # type: ignore[attr-defined]
        (home / "places.html").write_text(PAGE, "utf-8")
        await desk.launch("file:///home/desk/places.html", timeout=30)
        await press_each_by_title(desk)
    async with open_desktop(Private(scale=scale)) as desk:
        home = Path(desk.desktop.home)  # type: ignore[attr-defined]
        (home / "places.html").write_text(PAGE, "utf-8")
        argv = [
            "chromium",
            "--app=file:///home/desk/places.html",
            "--force-renderer-accessibility",
            "--no-sandbox",
        ]
        argv += [
            "--no-first-run",
            "--test-type",
            "--user-data-dir=/home/desk/electron",
            f"--force-device-scale-factor={scale}",
        ]
        await desk.launch(argv, timeout=30)
        await press_each_by_title(desk)
        assert {node.source for node in walk((await desk.observe()).roots)} == {"native"}


async def press_each_by_title(desk: Desk) -> None:
    """The page says in its title which button was pressed last."""
    await desk.wait_for("button[name='Place 11'][visible]", timeout=20)
    await still(desk)
    for number in range(12):
        node = (await places(desk))[number]  # each time anew: a bar may slide in above
        assert node.rect is not None
        await asyncio.to_thread(desk.desktop.input.click, node.rect.center)
        title = f"Pressed {node.name.split()[1]}"
        async with asyncio.timeout(10):
            while not any(window.title.startswith(title) for window in await desk.windows()):
                await asyncio.to_thread(desk.desktop.changes.wait, 0.1)
                desk.desktop.changes.collect()
