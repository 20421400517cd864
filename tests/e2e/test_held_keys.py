"""Whoever kills a task in the middle of an act on a user's display: no key and no button stays down there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from desktop_world import managed_display
from pad import RECT, Pad
from process_tree import descendants
from watching import Script

CALLER = """
import sys
from deskhand import computer_task
computer_task("hold", 60, sys.argv[1], computer=sys.argv[2], on_event=lambda event: None)
"""
CENTER = RECT.center

PRESSED = {"kind": "press", "target": "pointer"}
CHORD = {"kind": "key", "keys": "ctrl+shift+F9", "hold": 10, "settle": "none"}
WAIT = {"kind": "wait", "seconds": 50}
WAY = [{"x": CENTER.x, "y": CENTER.y}] + [{"x": CENTER.x + 90 * (i % 2), "y": CENTER.y} for i in range(1, 32)]
LOOK = {"calls": [{"name": "observe", "input": {"screenshot": True}}]}


@pytest.mark.parametrize("victim", ["worker", "both"])
@pytest.mark.parametrize(
    ("steps", "keys", "button"),
    [
        ([PRESSED, WAIT], 0, True),
        ([CHORD], 3, False),
        ([{"kind": "drag", "path": WAY, "modifiers": ["ctrl"]}], 1, True),
    ],
    ids=["button", "chord", "drag"],
)
def test_a_kill_in_the_middle_of_an_act_leaves_nothing_down_on_a_display_that_lives_on(
    steps: list[dict[str, object]],
    keys: int,
    button: bool,
    victim: str,
    scripted: Script,
    tmp_path: Path,
) -> None:
    with managed_display(tmp_path) as (display, authority):
        pad = Pad(display, authority)
        caller = subprocess.Popen(
            [sys.executable, "-c", CALLER, scripted([LOOK, {"calls": [{"name": "act", "input": {"steps": steps}}]}]),
             f"display:{display}"],
            env={**os.environ, "XAUTHORITY": authority},
        )  # fmt: skip
        try:
            assert pad.wait_held(keys, button, 20), "the act did not begin"
            worker = next(each for each in descendants(caller.pid) if "orchestrator.worker" in each.command)
            for pid in [worker.pid, caller.pid] if victim == "both" else [worker.pid]:
                os.kill(pid, signal.SIGKILL)
            assert pad.wait_released(5)
        finally:
            caller.kill()
            caller.wait()
        assert not pad.keys_down()
        assert not pad.pointer_mask() & 0x1F00
        pad.close()
