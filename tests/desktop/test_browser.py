"""A desktop's own Chromium: driven over a pipe from outside, in the box, with and without a network."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from deskhand.desktop import browser, parts, sandbox
from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.leash import marked
from deskhand.errors import MissingPart
from deskhand.terms import Private
from desktop_world import ended, processes_of, window

PAGE = (
    "data:text/html,<title>Order</title><h1>Hello</h1><a download='a.txt' href='data:text/plain,hi'>get</a>"
)


async def drive(desktop: X11Desktop) -> tuple[str, str, str]:
    """Open a page, read it, and download a file; its title, its heading and what was downloaded."""
    command = desktop.browser_command()
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            command.profile,
            executable_path=command.executable,
            args=list(command.args),
            env=dict(command.env),
            headless=False,
            chromium_sandbox=command.chromium_sandbox,
            downloads_path=command.downloads,
            no_viewport=True,
        )
        try:
            page = context.pages[0]
            await page.goto(PAGE)
            async with page.expect_download() as coming:
                await page.get_by_text("get").click()
            download = await coming.value
            path = await download.path()
            return await page.title(), await page.inner_text("h1"), Path(path).read_text()
        finally:
            await context.close()


@pytest.mark.parametrize("network", ["host", "none"])
async def test_the_browser_is_driven_from_outside_with_or_without_a_network(
    opened: Callable[..., object], network: str
) -> None:
    desktop = await opened(Private(network=network))  # type: ignore[misc,arg-type]
    assert await drive(desktop) == ("Order", "Hello", "hi")


async def test_the_browser_works_where_apps_are_not_boxed(
    opened: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "probe", lambda: "bubblewrap does not work here")
    assert await drive(await opened()) == ("Order", "Hello", "hi")  # type: ignore[misc]


async def test_the_browser_ends_with_its_desktop(desktop: X11Desktop) -> None:
    command = desktop.browser_command()
    async with async_playwright() as playwright:
        await playwright.chromium.launch_persistent_context(
            command.profile,
            executable_path=command.executable,
            args=list(command.args),
            env=dict(command.env),
            headless=False,
            chromium_sandbox=command.chromium_sandbox,
        )
        window(desktop, "Chromium")
        pids = processes_of(desktop)
        desktop.close()
        assert ended(pids, 0)


def test_the_browser_ends_when_the_process_that_drives_it_is_killed(temporary: Path) -> None:
    script = """
import asyncio, sys, tempfile
tempfile.tempdir = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from playwright.async_api import async_playwright
from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend
from desktop_world import directory_of, window
async def main():
    desktop = await open_desktop_backend("private", settings=load_settings())
    command = desktop.browser_command()
    playwright = await async_playwright().start()
    await playwright.chromium.launch_persistent_context(command.profile, executable_path=command.executable,
        args=list(command.args), env=dict(command.env), headless=False, chromium_sandbox=command.chromium_sandbox)
    window(desktop, "Chromium")
    print(directory_of(desktop), flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(temporary), str(Path(__file__).parents[1])],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    directory = holder.stdout.readline().strip()
    holder.stdout.close()
    pids = marked(directory)
    assert len(pids) > 10
    holder.kill()
    holder.wait()
    assert ended(pids, 2)


def test_a_browser_that_is_missing_is_named_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(parts, "PATH", str(tmp_path))
    monkeypatch.setattr(parts, "_family", lambda: "fedora")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert not browser.has_browser()
    with pytest.raises(MissingPart, match="dnf install -y chromium"):
        browser.find_browser()


def test_playwrights_own_build_is_found_where_the_system_has_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(parts, "PATH", "/nonexistent")
    monkeypatch.setenv("HOME", str(tmp_path))
    build = tmp_path / ".cache/ms-playwright/chromium-1200/chrome-linux64/chrome"
    build.parent.mkdir(parents=True)
    build.touch(0o755)
    assert browser.find_browser() == str(build)
