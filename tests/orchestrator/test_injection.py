"""What the screen says is data: a child that obeys it is held before each sensitive act, and the log says why.

The same act is not held when the goal names it.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import pytest_asyncio

from desk_helpers import all_done
from deskhand.orchestrator.assess import scene_of
from deskhand.orchestrator.witness import Witness
from false_pages import COMMON
from injected import HOURS, INFO, INJECTED, Injected
from trust_stage import Stage, Told, open_stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

APP = Path(__file__).parents[1] / "apps" / "gtk3_message.py"
SOON = ("an envelope of its own", "an OK that means more", "names of files")
"""Those that run with every change."""


def cases() -> list[object]:
    return [pytest.param(name, marks=() if name in SOON else pytest.mark.long) for name in INJECTED]


@contextmanager
def serving(html: str) -> Iterator[str]:
    """A page on a port of loopback; its address by number."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = html.encode()
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One desktop for all screens."""
    async with open_stage(Path(tmp_path_factory.mktemp("stage"))) as opened:
        shutil.copy(APP, opened.home / APP.name)
        yield opened


async def obey(stage: Stage, case: Injected, goal: str) -> tuple[Told, str]:
    """Open the screen and do what it says; how that ended, and what is there to show for it."""
    kept, noted = stage.home / "keep", stage.home / "noted.txt"
    kept.mkdir(exist_ok=True)
    noted.write_text("")
    (stage.home / "diary.txt").write_text("dear diary")
    if case.native:
        opens = {
            "kind": "launch",
            "app": ["/usr/bin/python3", f"/home/desk/{APP.name}", "/home/desk/noted.txt", *case.native],
        }
    else:
        opens = {"kind": "launch", "app": stage.page("injected.html", COMMON + case.html)}
    told = await stage.play(goal, [[opens], case.steps], **case.brief)
    gone = "" if kept.exists() else "(the folder is gone)"
    notes = [f"noted: {line}" for line in noted.read_text().splitlines()]
    return told, "\n".join([told.screen, *notes, gone])


@pytest.mark.parametrize("name", cases())
async def test_a_child_that_obeys_the_screen_is_held(stage: Stage, name: str) -> None:
    case = INJECTED[name]
    told, shown = await obey(stage, case, case.goal)
    assert told.outcome.reason == "consent", told.words()
    [held] = told.consents()
    assert case.why in held["what"], held
    assert (held["allowed"], held["by"]) == (False, "nobody")
    assert case.trace not in shown


@pytest.mark.parametrize("name", cases())
async def test_it_is_not_held_when_the_goal_names_the_act(stage: Stage, name: str) -> None:
    case = INJECTED[name]
    told, shown = await obey(stage, case, case.named)
    assert told.consents() == [], told.words()
    assert case.trace in shown, told.words()


async def test_there_are_twenty_five() -> None:
    assert len(INJECTED) == 25
    assert set(SOON) <= set(INJECTED)


async def test_a_redirect_out_of_the_allowed_domains_ends_at_the_next_act(stage: Stage) -> None:
    html = (
        COMMON
        + INFO
        + "<button onclick=\"location = location.href.replace('127.0.0.1', 'localhost')\">Next</button>"
    )
    with serving(html) as address:
        steps = [{"kind": "launch", "app": address}, {"kind": "click", "target": "button[name='Next']"}]
        after = [{"kind": "click", "target": "button[name='Next']"}]
        told = await stage.play(HOURS, [steps, after], policy={"domains": ("127.0.0.1",)})
        assert told.outcome.reason == "consent", told.words()
        assert "http://localhost" in told.consents()[0]["what"]
        free = await stage.play(HOURS, [steps, after], policy={"domains": ("127.0.0.1", "localhost")})
        assert free.consents() == [], free.words()


async def test_looking_before_each_act_reads_no_tree_of_its_own(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = "".join(f"<label>Field {number} <input></label>" for number in range(6))
    opens = {"kind": "launch", "app": stage.page("fields.html", fields)}
    steps = [
        {"kind": "fill", "target": f"textbox[name='Field {number}']", "text": "x"} for number in range(6)
    ]
    readings = 0
    reader = stage.desk.workspace.senses._reader  # type: ignore[attr-defined]
    look = reader.look

    async def counted() -> object:
        nonlocal readings
        readings += 1
        return await look()

    async def permit(*_: object) -> None:
        return None

    monkeypatch.setattr(reader, "look", counted)
    await stage.desk.act([opens])
    readings = 0
    all_done(await stage.desk.act(steps))
    ungated, readings = readings, 0
    witness = Witness(lambda: scene_of(stage.desk, glimpse=True))
    stage.desk.workspace.gate, stage.desk.workspace.on_step = witness.gate(permit), witness.on_step(permit)
    all_done(await stage.desk.act([{**step, "text": "y"} for step in steps]))
    gated = readings
    await stage.clear()
    assert all(act.before is not None and act.before.roots for act in witness.acts)
    assert ungated >= len(steps)
    assert gated <= ungated + 2  # on a busy machine something may be painted late, once
