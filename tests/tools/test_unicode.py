"""Any text arrives exactly: typed into fields of several toolkits, which note by themselves what they got."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from desk_helpers import all_done
from deskhand.messages import Json
from deskhand.tools.desk import Desk, open_desktop
from desktop_world import managed_display
from strings import strings

APPS = Path(__file__).parents[1] / "apps"
FIELD = "textbox[name='Text']"
FEW, ALL = 15, 200
HOW_MANY = [FEW, pytest.param(ALL, marks=[pytest.mark.long, pytest.mark.timeout(600)])]


async def _typed(desk: Desk, texts: Sequence[str]) -> None:
    """Type each text and empty the field after it, in batches; every text must be read back as it is."""
    steps: list[Json] = []
    for text in texts:
        steps.append({"kind": "type", "target": FIELD, "text": text, "settle": "none"})
        steps.append({"kind": "fill", "target": FIELD, "text": "", "settle": "none"})
    for start in range(0, len(steps), 32):
        all_done(await desk.act(steps[start : start + 32]))


def _lines(path: Path) -> list[str]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("count", HOW_MANY)
@pytest.mark.parametrize("app", ["gtk3_text.py", "gtk4_text.py"])
async def test_any_text_arrives_exactly_in_a_field_of(app: str, count: int, desk: Desk, home: Path) -> None:
    shutil.copy(APPS / app, home / app)
    await desk.launch(["/usr/bin/python3", f"/home/desk/{app}", "/home/desk/held"])
    texts = strings(count)
    await _typed(desk, texts)
    assert _lines(home / "held") == texts


@pytest.mark.parametrize("count", HOW_MANY)
async def test_any_text_arrives_exactly_in_a_field_of_a_page(count: int, desk: Desk, home: Path) -> None:
    shutil.copy(APPS / "text.html", home / "text.html")
    await desk.launch("file:///home/desk/text.html")
    texts = strings(count)
    await _typed(desk, texts)
    browser: Any = desk.workspace.browser
    page = await browser.current(await desk.windows())
    assert await page.evaluate("log") == texts


@pytest.fixture
async def attached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    """A desk on a display with a window manager that is not ours: a terminal cannot start in the box of root's apps."""
    with managed_display(tmp_path) as (display, authority):
        monkeypatch.setenv("XAUTHORITY", authority)
        async with open_desktop(f"display:{display}") as desk:
            yield desk


@pytest.mark.parametrize("count", HOW_MANY)
async def test_any_line_of_the_basic_plane_arrives_exactly_in_tk(
    count: int, attached: Desk, tmp_path: Path
) -> None:
    texts = strings(count, bmp_line=True)
    out = tmp_path / "held"
    await attached.launch(["/usr/bin/python3", str(APPS / "tk_text.py"), str(out)])
    await _lines_typed(attached, texts)
    await _noted(attached, out, texts)


@pytest.mark.parametrize("count", HOW_MANY)
async def test_any_line_of_the_basic_plane_arrives_exactly_in_xterm(
    count: int, attached: Desk, tmp_path: Path
) -> None:
    texts = strings(count, bmp_line=True)
    out, script = tmp_path / "held", tmp_path / "note.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        f"    print(json.dumps(line[:-1]), file=open({str(out)!r}, 'a'), flush=True)\n"
    )
    await attached.launch(["xterm", "-u8", "-e", "/usr/bin/python3", "-X", "utf8", str(script)])
    await _lines_typed(attached, texts)
    await _noted(attached, out, texts)


async def _lines_typed(desk: Desk, texts: Sequence[str]) -> None:
    """Type each text with Return after it. Nobody can read it back there, and it is not said to have been."""
    steps: list[Json] = [{"kind": "type", "text": each, "enter": True, "settle": "none"} for each in texts]
    for start in range(0, len(steps), 32):
        report = await desk.act(steps[start : start + 32])
        assert {step.effect for step in report.steps} == {"dispatched"}


async def _noted(desk: Desk, path: Path, texts: Sequence[str]) -> None:
    """What the application noted is what was typed; it is given ten seconds to read all of it."""
    for _ in range(100):
        if path.exists() and len(_lines(path)) >= len(texts):
            break
        await desk.act([{"kind": "wait", "seconds": 0.1}])
    assert _lines(path) == texts
