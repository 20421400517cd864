"""What holds a verdict although nothing moves: what apps and pages say of their work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deskhand.messages import Settled
from deskhand.tools.desk import Desk

APPS = Path(__file__).parent.parent / "apps"
FAR_BELOW_THE_CAP = 5.0  # seconds: a verdict that is held in vain comes after eight


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
        assert 0.8 <= settled.waited < FAR_BELOW_THE_CAP
        assert await desk.holds(f"done {number}")


async def test_what_was_busy_and_has_vanished_holds_nothing(desk: Desk, home: Path) -> None:
    await launch_slow(desk, home, "1.0", "gone")
    settled = await press(desk)
    assert not settled.thinking
    assert settled.waited < FAR_BELOW_THE_CAP


BUILDS = """const hidden = document.createElement('div'); hidden.hidden = true; document.body.append(hidden); let n = 0;
const t = setInterval(() => { hidden.append(++n); if (n == 16) { clearInterval(t); out.textContent = 'done' } }, 50)"""
"""A document is built bit by bit where nobody sees it, then something is shown."""
FADES = "out.textContent = 'done'; out.className = 'shown'"
"""Something is shown by an animation that does not begin at once."""


@pytest.mark.long  # on a crowded machine the page begins later than an app has time to react
@pytest.mark.parametrize("work", [BUILDS, FADES])
async def test_a_page_that_builds_or_animates_out_of_sight_is_waited_for(
    desk: Desk, page: Callable[[str, str], str], work: str
) -> None:
    style = "<style>@keyframes show { from { opacity: 0 } } .shown { animation: show 0.1s 0.7s both }</style>"
    body = f"{style}<h1 id=out>ready</h1><script>addEventListener('keydown', () => {{ {work} }})</script>"
    await desk.act([{"kind": "launch", "app": page("work.html", body)}])
    await desk.wait_for("heading[name='ready']", timeout=10)
    settled = await press(desk)
    assert settled.verdict == "settled"
    assert 0.7 <= settled.waited < FAR_BELOW_THE_CAP


@pytest.mark.long  # what a document does by itself has to be watched for a while
async def test_a_page_that_changes_out_of_sight_for_ever_is_not_waited_for(
    desk: Desk, page: Callable[[str, str], str]
) -> None:
    forever = "setInterval(() => document.body.dataset.n = Math.random(), 30)"
    spin = "document.body.animate({ outlineOffset: ['0px', '1px'] }, { duration: 300, iterations: Infinity })"
    body = f"<h1>ready</h1><script>addEventListener('keydown', () => {{ {forever}; {spin} }})</script>"
    await desk.act([{"kind": "launch", "app": page("forever.html", body)}])
    await desk.wait_for("heading[name='ready']", timeout=10)
    first = await press(desk)
    assert not first.thinking
    assert first.waited < FAR_BELOW_THE_CAP
    await desk.act([{"kind": "wait", "seconds": 2}])
    second = await press(desk)
    assert not second.thinking
    assert second.waited < FAR_BELOW_THE_CAP
