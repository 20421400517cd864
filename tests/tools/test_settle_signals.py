"""What holds a verdict although nothing moves: what apps and pages say of their work."""

from __future__ import annotations

from pathlib import Path

from deskhand.messages import Settled
from deskhand.tools.desk import Desk

APPS = Path(__file__).parent.parent / "apps"
SLACK = 0.7  # seconds by which a crowded test machine may be late


async def press(desk: Desk) -> Settled:
    """A key on the active window; how the screen settled."""
    report = await desk.act([{"kind": "key", "keys": "x"}])
    settled = report.steps[0].settled
    assert settled is not None
    return settled


async def launch_slow(desk: Desk, home: Path, *arguments: str) -> None:
    """The program that is busy at each key; returns when it can be read."""
    (home / "slow.py").write_text((APPS / "gtk3_busy.py").read_text())
    await desk.launch(["/usr/bin/python3", "/home/desk/slow.py", *arguments])
    await desk.wait_for("*[name='ready']", timeout=10)


async def test_an_app_that_says_in_its_tree_that_it_is_busy_is_waited_for(desk: Desk, home: Path) -> None:
    await launch_slow(desk, home, "1.0")
    for number in (1, 2):
        settled = await press(desk)
        assert settled.verdict == "settled"
        assert 1.0 <= settled.waited < 1.0 + 0.3 + SLACK
        assert await desk.holds(f"done {number}")


async def test_what_was_busy_and_has_vanished_holds_nothing(desk: Desk, home: Path) -> None:
    await launch_slow(desk, home, "1.0", "gone")
    settled = await press(desk)
    assert not settled.thinking
    assert settled.waited < 2
