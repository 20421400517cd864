"""A desktop for a script: no model, no goal, only steps."""

from __future__ import annotations

from pathlib import Path

from deskhand import Private, open_desktop_sync

with open_desktop_sync(Private(size=(1024, 768), network="none")) as desk:
    desk.launch("gnome-calculator")
    report = desk.act(
        [
            {"kind": "key", "keys": "t:6*7;Return"},
            {"kind": "check", "selector": "*[name*='42']"},
        ]
    )
    for step in report.steps:
        print(step.effect, "–", step.message)
    picture = desk.screenshot()
    Path("calculator.png").write_bytes(picture.data)
    print(f"calculator.png: {picture.width}×{picture.height}")
