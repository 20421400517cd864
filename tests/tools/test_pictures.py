"""Pictures that were asked for on a real desktop: of a second monitor, of a small part; what is aimed at in them."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from desk_helpers import all_done
from deskhand import InvalidStep, Private, ToolError
from deskhand.tools.desk import open_desktop

PAGE = """<title>waiting</title><body style="margin:0"><button style="position:fixed;left:300px;top:40px;width:9px;
height:9px;padding:0;font-size:6px" onclick="document.title = 'pressed ' + ++count">x</button>
<script>let count = 0</script>"""


async def test_pixels_of_a_second_monitor_and_of_an_enlarged_part_are_aimed_at() -> None:
    async with open_desktop(Private(size=(1600, 600))) as desk:
        for monitor in (
            ("left", "800/211x600/158+0+0", "screen"),
            ("right", "800/211x600/158+800+0", "none"),
        ):
            argv = ["/usr/bin/xrandr", "--setmonitor", *monitor]
            await asyncio.to_thread(subprocess.run, argv, env=dict(desk.desktop.client_env), check=True)
        place = Path(desk.desktop.browser_command().downloads, "small.html")
        place.write_text(PAGE)
        await desk.launch(f"file://{place}", timeout=30)
        title = "waiting - Chromium"
        all_done(await desk.act([{"kind": "window", "do": "move", "title": title, "x": 850, "y": 20}]))
        all_done(
            await desk.act([{"kind": "window", "do": "resize", "title": title, "width": 700, "height": 500}])
        )
        button = await desk.wait_for("button[name='x']")
        assert button is not None
        assert button.rect is not None
        assert button.rect.x > 1000

        seen = await desk.observe(monitor=2)
        image = seen.image
        assert image is not None
        assert (image.origin.x, image.origin.y, image.width, image.height) == (800, 0, 800, 600)
        assert "monitors: 1 [0, 0, 800, 600], 2 [800, 0, 800, 600]" in seen.text
        at = {"x": button.rect.center.x - 800, "y": button.rect.center.y, "image": image.id}
        all_done(await desk.act([{"kind": "click", "target": at}]))
        await desk.wait_for("document[name='pressed 1']")

        near = button.rect
        around = type(near)(near.x - 20, near.y - 20, 50, 50)
        seen = await desk.observe(region=around)
        image = seen.image
        assert image is not None
        assert (image.width, image.height) == (200, 200)
        assert (
            f"Picture {image.id}: [{around.x}, {around.y}, 50, 50] of the screen; enlarged 4 times"
            in seen.text
        )
        all_done(await desk.act([{"kind": "click", "target": {"x": 98, "y": 98, "image": image.id}}]))
        await desk.wait_for("document[name='pressed 2']")

        with pytest.raises(InvalidStep, match=f"outside image {image.id}: x must be 0–199, y 0–199"):
            await desk.act([{"kind": "click", "target": {"x": 200, "y": 98, "image": image.id}}])
        with pytest.raises(ToolError, match="x must be 0–1599, y 0–599"):
            await desk.observe(region=type(near)(1600, 0, 10, 10))
        with pytest.raises(ToolError, match="no monitor 3"):
            await desk.observe(monitor=3)
