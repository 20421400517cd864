"""The page of a task, opened in a real browser."""

from __future__ import annotations

import io
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from deskhand.audit.log import AuditLog
from deskhand.audit.report import write_report
from deskhand.desktop.browser import find_browser
from deskhand.desktop.parts import require

HOSTILE = (
    '</script><script>document.title="owned"</script><img src=x onerror=alert(1)>\u202eevil\u2066\x1b[31m'
)
SIZE = (1280, 800)
TARGET = (400, 300, 200, 40)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1400, "height": 1000})
        browser.close()


def _picture(colour: tuple[int, int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", SIZE, colour).save(out, "PNG")
    return out.getvalue()


def _task(directory: Path, *, name: str = "Save", film: Path | None = None) -> Path:
    """A task that clicked one element, twice."""
    log = AuditLog.create(directory, "20261201-000000-calm-otter")
    log.write("task_started", goal=f"press {name}", model="embedded", computer="private")
    log.write("desktop_ready", size=list(SIZE), isolation="files", computer="private", seconds=0.3)
    log.write(
        "model_call",
        model="m",
        provider="m",
        input_tokens=1000,
        output_tokens=50,
        cost_usd=0.01,
        stop="calls",
    )
    before, after = log.store_image(_picture((200, 0, 0))), log.store_image(_picture((0, 0, 200)))
    for _ in range(2):
        log.write(
            "action",
            step={"kind": "click", "target": "e1"},
            target={"ref": "e1", "role": "button", "name": name, "rect": list(TARGET), "window": name, "app": "x"},
            risk="sensitive", route="pointer", effect="done", verdict="settled", seconds=0.3,
            settled={"verdict": "settled", "waited": 0.2, "changed": 0.01, "regions": [[0, 0, 100, 100]]},
            before=before, after=after,
        )  # fmt: skip
    log.write("consent", what=name, step={"kind": "click"}, allowed=True, by="policy")
    began = {}
    if film is not None:
        film.rename(directory / "recording.mp4")
        began = {"recording_t": -5.0}  # as if the task had taken its time
    log.write(
        "task_finished", status="success", reason=None, result=name, evidence=[{"check": name, "holds": True}],
        steps=1, seconds=2.0, usage={"input_tokens": 1000, "output_tokens": 50}, model="embedded",
        **began,
    )  # fmt: skip
    log.close()
    return directory


def _open(page: Page, directory: Path, tmp_path: Path) -> list[str]:
    """Open a task's page; what the console said and what it asked for beside itself."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if not _own(request.url) else None)
    path = tmp_path / "task.html"
    with path.open("w", encoding="utf-8") as out:
        write_report(directory, out)
    page.goto(path.as_uri())
    page.wait_for_selector("li[aria-current]")
    return said


def _own(url: str) -> bool:
    return url.startswith("blob:") or (url.startswith("file:") and url.endswith("task.html"))


def test_the_page_shows_the_steps_and_outlines_the_target_where_it_is(page: Page, tmp_path: Path) -> None:
    said = _open(page, _task(tmp_path / "20261201-000000-calm-otter"), tmp_path)
    assert page.locator("li.action").count() == 2
    assert "button “Save”" in page.locator("li[aria-current]").inner_text()
    assert page.locator("#facts").inner_text().replace("\n", " ").count("intact, 7 lines") == 1
    _holds(page, "document.querySelector('.stage img').naturalWidth == 1280")
    shot = Image.open(io.BytesIO(page.locator("#stage").screenshot()))
    scale = shot.width / (SIZE[0] + 2 * SIZE[0] / shot.width)  # the border of one pixel
    x, y, width, height = (round(edge * scale) for edge in TARGET)
    edge = shot.convert("RGB").getpixel((x + width // 2, y + 2))
    inside = shot.convert("RGB").getpixel((x + width // 2, y + height // 2))
    assert _is_near(edge, (229, 0, 122)), edge
    assert _is_near(inside, (200, 0, 0)), inside
    page.keyboard.press("a")
    _holds(page, "document.querySelector('.stage img').alt.includes('after')")
    assert page.locator(".box.changed").count() == 1
    assert said == []


def test_a_place_on_the_screen_has_a_ring_around_it(page: Page, tmp_path: Path) -> None:
    directory = tmp_path / "20261201-000000-calm-otter"
    log = AuditLog.create(directory, directory.name)
    log.write("desktop_ready", size=list(SIZE))
    before = log.store_image(_picture((0, 120, 0)))
    log.write("action", step={"kind": "click"}, target={"point": [640, 400]}, effect="done", before=before)
    log.close()
    said = _open(page, directory, tmp_path)
    _holds(page, "document.querySelector('.stage img').naturalWidth == 1280")
    shot = Image.open(io.BytesIO(page.locator("#stage").screenshot())).convert("RGB")
    x, y = shot.width / 2, shot.height / 2
    for place in ((x - 12, y), (x + 12, y), (x, y - 12), (x, y + 12)):
        found = shot.getpixel((round(place[0]), round(place[1])))
        assert _is_near(found, (229, 0, 122)), (place, found)
    assert _is_near(shot.getpixel((round(x), round(y))), (0, 120, 0))
    assert said == []


def _is_near(found: Any, wanted: tuple[int, int, int]) -> bool:
    return all(abs(a - b) < 40 for a, b in zip(found, wanted, strict=True))


def _film(path: Path, colour: str) -> Path:
    """Thirty seconds of one colour."""
    source = f"color=c={colour}:s=320x200:r=5:d=30"
    command = [require("ffmpeg"), "-v", "error", "-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", path]
    subprocess.run(command, check=True, timeout=60)
    return path


def _at(page: Page, seconds: float) -> None:
    _holds(page, f"Math.abs(document.querySelector('video').currentTime - {seconds}) < 0.05")
    _holds(page, "!document.querySelector('video').seeking")


def _colour_of_film(page: Page) -> Any:
    shot = Image.open(io.BytesIO(page.locator("video").screenshot())).convert("RGB")
    return shot.getpixel((shot.width // 2, shot.height // 4))


def test_the_recording_goes_to_the_step_that_is_chosen_and_back(page: Page, tmp_path: Path) -> None:
    directory = _task(tmp_path / "20261201-000000-calm-otter", film=_film(tmp_path / "film.mp4", "blue"))
    said = _open(page, directory, tmp_path)
    data = json.loads(page.locator("#data").text_content() or "")
    assert [(film["run"], film["from"]) for film in data["films"]] == [(0, -5.0)]
    page.keyboard.press("v")
    page.keyboard.press("End")
    _at(page, data["events"][-1]["t"] - data["films"][0]["from"])
    page.keyboard.press("Home")
    _at(page, data["events"][0]["t"] - data["films"][0]["from"])
    page.evaluate("document.querySelector('video').currentTime = 29")
    page.keyboard.press("Space")
    _holds(page, "document.querySelector('li[aria-current]').classList.contains('task_finished')")
    page.keyboard.press("Space")
    assert said == []


def test_each_run_of_a_task_has_its_own_recording(page: Page, tmp_path: Path) -> None:
    directory = tmp_path / "20261201-000000-calm-otter"
    log = AuditLog.create(directory, directory.name)
    log.write("task_started", goal="ask", model="embedded", computer="private")
    log.write("task_finished", status="clarification_needed", reason="question", recording_t=0.0)
    log.write("task_started", goal="ask", model="embedded", computer="private", resumed=True)
    log.write("task_finished", status="success", reason=None, recording_t=0.0)
    log.close()
    _film(directory / "recording.mp4", "red")
    _film(directory / "recording-2.mp4", "blue")
    said = _open(page, directory, tmp_path)
    page.keyboard.press("v")
    for place, wanted in ((0, (254, 0, 0)), (3, (0, 0, 254)), (1, (254, 0, 0))):
        page.locator("#steps li").nth(place).click()
        _holds(page, "document.querySelector('video').readyState >= 2")
        _wait_for(lambda wanted=wanted: _is_near(_colour_of_film(page), wanted))  # type: ignore[misc]
    assert said == []


def _holds(page: Page, expression: str) -> None:
    """Wait until an expression is true: from here, because the page's own policy forbids eval."""
    _wait_for(lambda: bool(page.evaluate(expression)))


def _wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end


def test_every_step_can_be_reached_by_keys_and_by_the_line_of_time(page: Page, tmp_path: Path) -> None:
    said = _open(page, _task(tmp_path / "20261201-000000-calm-otter"), tmp_path)
    kinds = ["task_started", "desktop_ready", "model_call", "action", "action", "consent", "task_finished"]

    def chosen() -> str:
        return (page.locator("li[aria-current]").get_attribute("class") or "").split()[0]

    page.keyboard.press("Home")
    walked = [chosen()]
    for key in ("j", "ArrowDown", "j", "j", "j", "j", "j"):
        page.keyboard.press(key)
        walked.append(chosen())
    assert walked == [*kinds, "task_finished"]
    page.keyboard.press("o")
    page.keyboard.press("Home")
    walked = [chosen()]
    for _ in range(4):
        page.keyboard.press("j")
        walked.append(chosen())
    assert walked == ["task_started", "action", "action", "consent", "task_finished"]
    assert page.locator("li.model_call").is_hidden()
    page.keyboard.press("ArrowUp")
    assert chosen() == "consent"
    page.keyboard.press("o")
    assert page.locator("li.model_call").is_visible()
    assert page.locator("#time i.task_finished").evaluate("part => part.style.width") == "0%"
    page.locator("#time i.action").first.dispatch_event("click")
    assert page.locator("li[aria-current] .n").inner_text() == "1.1"
    before = page.evaluate("document.documentElement.dataset.theme")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") != before
    assert said == []


def test_names_from_strangers_are_text_and_nothing_else(page: Page, tmp_path: Path) -> None:
    said = _open(page, _task(tmp_path / "20261201-000000-calm-otter", name=HOSTILE), tmp_path)
    assert page.title() != "owned"
    assert page.locator("#steps img").count() == 0
    shown = page.locator("li[aria-current]").inner_text()
    assert "</script>" in shown
    assert not {"\u202e", "\u2066", "\x1b"} & set(page.locator("body").inner_text())
    assert said == []


def test_a_name_of_a_megabyte_is_cut(page: Page, tmp_path: Path) -> None:
    said = _open(page, _task(tmp_path / "20261201-000000-calm-otter", name="x" * 2**20), tmp_path)
    assert (tmp_path / "task.html").stat().st_size < 200_000
    assert page.locator("li.action").count() == 2
    assert said == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.replace(b"press", b"PRESS"), "BROKEN at line 1"),
        (lambda data: data[:-40], "a torn last line"),
        (lambda data: data + b'{"v":9,"kind":"dream","shape":[1,{}]}\n', "BROKEN"),
    ],
)
def test_a_log_that_was_harmed_is_shown_and_said_to_be(
    page: Page, tmp_path: Path, change: Any, words: str
) -> None:
    directory = _task(tmp_path / "20261201-000000-calm-otter")
    log = directory / "audit.jsonl"
    log.write_bytes(change(log.read_bytes()))
    assert _open(page, directory, tmp_path) == []
    assert words in page.locator("#facts").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_light_or_dark_and_fits_a_phone(page: Page, tmp_path: Path, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    _open(page, _task(tmp_path / "20261201-000000-calm-otter", name="a" * 400), tmp_path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in ground.removeprefix("rgb(").removesuffix(")").split(",")) > 380
    assert light == (scheme == "light")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1400, "height": 1000})
