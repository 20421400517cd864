"""Text that is only pixels: read where no tree tells of it, aimed at, waited for, and taken as evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from desk_helpers import all_done, effects
from deskhand import ToolError
from deskhand.messages import Node
from deskhand.observers import ocr
from deskhand.observers.node import walk
from deskhand.tools.desk import Desk, open_desktop

APP = Path(__file__).parents[1] / "apps" / "tk_ledger.py"

CANVAS = """<body style="margin:0"><h1>Chart of sales</h1><canvas id=c width=700 height=300></canvas><script>
const c = document.getElementById('c'), g = c.getContext('2d'); g.font = '18px sans-serif';
g.fillText('Revenue by quarter', 40, 60); g.fillText('Show details', 400, 200);
c.onclick = e => { document.title = e.offsetX > 390 && e.offsetX < 520 && e.offsetY > 180 && e.offsetY < 210
  ? 'details are shown' : 'missed'; };
</script>"""


async def ledger(desk: Desk, home: Path) -> Path:
    """Opens the window that has no tree; the file that it notes in what was pressed."""
    (home / "ledger.py").write_text(APP.read_text())
    (home / "pressed").touch()
    all_done(await desk.act([{"kind": "launch", "app": "/usr/bin/python3 ledger.py pressed"}]))
    await desk.wait_for("text[name='Add entry']", timeout=60)
    return home / "pressed"


def phrases(roots: tuple[Node, ...]) -> dict[str, Node]:
    return {node.name: node for node in walk(roots) if node.source == "text" and node.role == "text"}


@pytest.mark.long
async def test_a_window_without_a_tree_is_read_and_worked_by_its_text(desk: Desk, home: Path) -> None:
    pressed = await ledger(desk, home)
    seen = await desk.observe()
    assert "its text was read off the picture" in seen.text
    there = phrases(seen.roots)
    assert {"File", "Help", "Rent for October", "Add entry", "Balance: 1,204.50 EUR"} <= set(there)
    assert all(node.rect is not None and node.ref for node in there.values())

    report = all_done(await desk.act([{"kind": "click", "target": "text[name='Add entry']"}]))
    assert report.steps[0].route == "pointer"
    assert "Last pressed: Add entry" in report.after.text if report.after else False
    report = await desk.act(
        [
            {"kind": "click", "target": "text[name='File']"},
            {"kind": "click", "target": "text[name='Export as CSV']"},
            {"kind": "check", "selector": "text[name$='Export as CSV']"},
        ]
    )
    all_done(report)
    all_done(await desk.act([{"kind": "click", "target": there["Train to Hamburg"].ref}]))
    assert pressed.read_text().split("\n")[:3] == ["Add entry", "Export as CSV", "Train to Hamburg"]

    assert await desk.holds("Last pressed: Train to Hamburg")
    assert not await desk.holds("Last pressed: Books and paper")
    assert await desk.holds("absent:text[name='Last pressed: Add entry']")
    assert not await desk.holds("absent:text[name='Last pressed: Train to Hamburg']")
    assert await desk.matches("text[name*='Hamburg']")


@pytest.mark.long
async def test_text_that_is_no_longer_where_it_was_read_is_never_clicked(desk: Desk, home: Path) -> None:
    pressed = await ledger(desk, home)
    there = phrases((await desk.observe()).roots)
    all_done(await desk.act([{"kind": "click", "target": "text[name='Sort entries']"}]))
    report = await desk.act([{"kind": "click", "target": there["Rent for October"].ref}])
    assert effects(report) == ["stale_ref"]
    assert "called so now" in report.steps[0].message
    assert pressed.read_text().split() == ["Sort", "entries"]
    all_done(await desk.act([{"kind": "click", "target": "text[name='Rent for October']"}]))
    assert pressed.read_text().split("\n")[1] == "Rent for October"


@pytest.mark.long
async def test_text_on_a_canvas_is_read_on_request_and_can_be_clicked(
    desk: Desk, page: Callable[[str, str], str]
) -> None:
    all_done(await desk.act([{"kind": "launch", "app": page("chart.html", CANVAS)}]))
    assert "Revenue" not in (await desk.observe()).text
    seen = await desk.observe(text=True)
    assert "Revenue by quarter" in phrases(seen.roots)
    assert "Chart of sales" not in phrases(seen.roots)  # the page says that itself
    assert await desk.holds("Revenue by quarter")
    assert not await desk.holds("Revenue by month")
    all_done(await desk.act([{"kind": "click", "target": "text[name='Show details']"}]))
    windows = [window.title for window in await desk.windows()]
    assert any(title.startswith("details are shown") for title in windows)


async def test_without_the_extra_asking_for_text_names_it_and_the_rest_is_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ocr, "available", lambda: False)
    async with open_desktop() as desk:
        home = Path(desk.desktop.home)  # type: ignore[attr-defined]
        (home / "ledger.py").write_text(APP.read_text())
        (home / "pressed").touch()
        report = await desk.act([{"kind": "launch", "app": "/usr/bin/python3 ledger.py pressed"}])
        assert report.after is not None
        assert (report.after.image is not None, phrases(report.after.roots)) == (True, {})
        with pytest.raises(ToolError, match=r"deskhand\[ocr\]"):
            await desk.observe(text=True)


@pytest.mark.long
async def test_the_process_that_reads_is_started_again_when_it_dies_and_ends_with_the_desk() -> None:
    def readers() -> list[psutil.Process]:
        return [
            each
            for each in psutil.Process().children(recursive=True)
            if "deskhand.observers.text_worker" in " ".join(each.cmdline())
        ]

    async with open_desktop() as desk:
        home = Path(desk.desktop.home)  # type: ignore[attr-defined]
        await ledger(desk, home)
        (reader,) = readers()
        reader.kill()
        reader.wait(10)
        assert await desk.matches("text[name='Add entry']")
        assert len(readers()) == 1
    assert readers() == []
