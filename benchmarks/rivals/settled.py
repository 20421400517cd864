"""settled-computer, driven by JSON lines: one act per line in, its verdict out. Runs in that package's own venv.

Its own server functions do everything (`server._settle_for` and the body of its ``wait`` tool), with what it ships as
defaults; only the encoding of pictures is left out, so that neither side's figures contain it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import replace
from typing import Any

out = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # its X library prints to stdout when it misses an Xauthority file

import pyautogui  # noqa: E402
from settled_computer import engine, server  # noqa: E402


async def act(kind: str, x: int, y: int) -> engine.SettleResult:
    if kind == "hover":
        return await server._settle_for("hover", lambda: pyautogui.moveTo(x, y))
    if kind == "drag":
        return await server._settle_for("drag", lambda: drag(x, y))
    result = await server._settle_for("click", lambda: pyautogui.click(x, y))
    if result.reason == "residual" and result.motion_box:
        server._residual_advice(result.motion_box)
    return result


def drag(x: int, y: int) -> None:
    """To the screen's corner and back."""
    pyautogui.moveTo(x, y)
    pyautogui.dragTo(0, 0, duration=0.2, button="left")
    pyautogui.dragTo(x, y, duration=0.2, button="left")


async def wait(seconds: float) -> engine.SettleResult:
    state = server.state
    state.ensure()
    settings = replace(
        state.base,
        react_deadline=seconds,
        max_wait=seconds + 5.0,
        ignore_regions=state.effective_ignore(),
    )
    result = await engine.wait_settled(state.grab, settings, baseline=state.last_frame)
    state.last_frame = result.frame
    return result


async def main() -> None:
    loop = asyncio.get_running_loop()
    server.state.ensure()
    print(json.dumps({"ready": True}), file=out)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order: dict[str, Any] = json.loads(line)
        began, cpu = time.monotonic(), time.process_time()
        answer: dict[str, Any] = {}
        try:
            if order["kind"] == "reset":
                server.state.book = engine.LatencyBook()
            elif order["kind"] == "wait":
                result = await wait(order["seconds"])
                answer["reason"] = result.reason
            else:
                result = await act(order["kind"], order["x"], order["y"])
                answer["reason"] = result.reason
        except server.ToolError as error:
            answer["error"] = str(error)
        answer |= {"began": began, "ended": time.monotonic(), "cpu": time.process_time() - cpu}
        print(json.dumps(answer), file=out)


asyncio.run(main())
