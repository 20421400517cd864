"""A private desktop: ready when it says so, its own in everything, gone without a trace."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend, parts, private
from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.recording import duration_of
from deskhand.desktop.sweep import lock_path, socket_path
from deskhand.desktop.x11 import XConnection
from deskhand.errors import DesktopError, MissingPart
from deskhand.terms import Private
from desktop_world import ask_bus, directory_of, ended, processes_of, run, window


def traces(desktop: X11Desktop) -> list[str]:
    """The files that a desktop has outside of its directory, and the directory."""
    number = int(desktop.display.removeprefix(":"))
    return [
        path
        for path in (directory_of(desktop), socket_path(number), lock_path(number))
        if os.path.lexists(path)
    ]


async def test_a_private_desktop_is_ready_with_all_that_it_promises(desktop: X11Desktop) -> None:
    assert desktop.name == "private"
    assert desktop.screen.size == (1280, 800)
    assert desktop.isolation == "files"
    assert desktop.alive()
    assert desktop.a11y_address is not None
    owned = await ask_bus(desktop.a11y_address, "NameHasOwner", "s", ["org.a11y.atspi.Registry"])
    assert owned.body == [True]


@pytest.mark.parametrize(
    ("argv", "title"),
    [
        (["gnome-calculator"], "Calculator"),
        (["mousepad"], "Mousepad"),
        (["zenity", "--forms", "--title=Visit", "--add-entry=Name"], "Visit"),
        (["chromium", "--no-sandbox", "--no-first-run", "about:blank"], "Chromium"),
    ],
)
async def test_real_apps_show_their_windows(desktop: X11Desktop, argv: list[str], title: str) -> None:
    pid = desktop.launch(argv)
    found = await asyncio.to_thread(window, desktop, title)
    assert found.pid in processes_of(desktop)
    assert pid in processes_of(desktop)


async def test_two_desktops_at_once_share_nothing(opened: Callable[..., object]) -> None:
    one, other = await asyncio.gather(opened(), opened())  # type: ignore[arg-type]
    one.launch(["zenity", "--info", "--title=Only here", "--text=x"])
    await asyncio.to_thread(window, one, "Only here")
    Path(one.home, "secret.txt").write_text("x")
    assert one.display != other.display
    assert one.a11y_address != other.a11y_address
    assert other.windows.list() == () or not other.windows.list()
    assert "secret.txt" not in run(other, "answer(os.listdir(os.environ['HOME']) + os.listdir('/tmp'))")


async def test_apps_of_one_desktop_share_home_and_temporary_files(desktop: X11Desktop) -> None:
    run(
        desktop,
        "open('/tmp/note', 'w').write('a'); open(os.path.expanduser('~/note'), 'w').write('b'); answer(1)",
    )
    assert (
        run(desktop, "answer(open('/tmp/note').read() + open(os.path.expanduser('~/note')).read())") == "ab"
    )


async def test_size_and_scale_are_those_that_were_asked_for(opened: Callable[..., object]) -> None:
    desktop = await opened(Private(size=(1366, 700), scale=2))  # type: ignore[misc]
    assert desktop.screen.size == (1366, 700)
    x = XConnection(desktop.display, desktop.client_env["XAUTHORITY"])
    try:
        assert "Xft.dpi:\t192" in x.text(x.root, "RESOURCE_MANAGER")
    finally:
        x.close()


async def test_the_display_is_closed_to_who_has_no_cookie(desktop: X11Desktop, tmp_path: Path) -> None:
    with pytest.raises(DesktopError):
        XConnection(desktop.display)
    assert os.stat(desktop.client_env["XAUTHORITY"]).st_mode & 0o777 == 0o600
    assert os.stat(directory_of(desktop)).st_mode & 0o777 == 0o700


async def test_a_client_with_another_desktops_marker_is_refused(desktop: X11Desktop) -> None:
    with pytest.raises(DesktopError, match="not the display"):
        XConnection(desktop.display, desktop.client_env["XAUTHORITY"], "another")


async def test_closing_ends_every_process_and_removes_every_file_within_a_second(desktop: X11Desktop) -> None:
    desktop.launch(["mousepad"])
    desktop.launch(["sh", "-c", "setsid -f sleep 1000; exec zenity --info --text=x --title=Forked"])
    await asyncio.to_thread(window, desktop, "Forked")
    pids = processes_of(desktop)
    assert len(pids) > 8
    before = time.monotonic()
    desktop.close()
    assert time.monotonic() - before < 1
    assert ended(pids, 0)
    assert traces(desktop) == []
    desktop.close()


async def test_a_desktop_whose_server_was_killed_says_so_and_still_closes_clean(desktop: X11Desktop) -> None:
    server = [pid for pid in processes_of(desktop) if Path(f"/proc/{pid}/comm").read_text() == "Xvfb\n"]
    os.kill(server[0], signal.SIGKILL)
    assert ended(server, 2)
    assert not desktop.alive()
    desktop.close()
    assert traces(desktop) == []


async def test_a_desktop_whose_server_hangs_says_so_and_closes_within_a_second_and_a_half(
    desktop: X11Desktop,
) -> None:
    server = [pid for pid in processes_of(desktop) if Path(f"/proc/{pid}/comm").read_text() == "Xvfb\n"]
    pids = processes_of(desktop)
    os.kill(server[0], signal.SIGSTOP)
    assert not desktop.alive()
    before = time.monotonic()
    desktop.close()
    assert time.monotonic() - before < 1.5
    assert ended(pids, 0)
    assert traces(desktop) == []


async def test_a_recording_that_nobody_stopped_is_finished_with_its_desktop(
    desktop: X11Desktop, tmp_path: Path
) -> None:
    desktop.record(str(tmp_path / "all.mp4"))
    desktop.close()
    assert duration_of(str(tmp_path / "all.mp4")) is not None


async def test_a_closed_desktop_starts_nothing(desktop: X11Desktop) -> None:
    desktop.close()
    with pytest.raises(DesktopError, match="closed"):
        desktop.launch(["true"])
    assert not desktop.alive()


@pytest.mark.parametrize("moment", [0.0, 0.01, 0.03, 0.06])
async def test_a_start_that_is_cancelled_leaves_nothing(moment: float, temporary: Path) -> None:
    start = asyncio.ensure_future(open_desktop_backend("private", settings=load_settings()))
    await asyncio.wait({start}, timeout=moment)
    if not start.cancel():
        start.result().close()
    await asyncio.wait({start})
    assert {path.name for path in temporary.glob("deskhand-*/*")} <= {".lock"}


async def test_a_start_that_fails_on_the_way_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.setattr(private, "WINDOW_MANAGER_CONFIG", "not a configuration")
    monkeypatch.setattr(private, "require", lambda program: "/bin/false" if program == "openbox" else program)
    with pytest.raises(DesktopError, match="window manager"):
        await open_desktop_backend("private", settings=load_settings())
    assert {path.name for path in temporary.glob("deskhand-*/*")} <= {".lock"}


@pytest.mark.parametrize(
    ("program", "package"),
    [("Xvfb", "xvfb"), ("dbus-daemon", "dbus"), ("openbox", "openbox"), ("setpriv", "util-linux")],
)
async def test_a_missing_program_is_named_with_the_command_that_brings_it(
    program: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {"Xvfb", "dbus-daemon", "openbox", "setpriv", "bwrap"} - {program}:
        found = parts.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    monkeypatch.setattr(parts, "PATH", str(tmp_path))
    monkeypatch.setattr(parts, "_family", lambda: "debian")
    with pytest.raises(MissingPart, match=rf"apt-get install -y {package}"):
        await open_desktop_backend("private", settings=load_settings())


async def test_without_an_accessibility_bus_apps_get_a_dead_address_and_the_user_is_told(
    opened: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **keywords: object) -> None:
        raise DesktopError("it broke")

    monkeypatch.setattr(private, "start_registry", broken)
    desktop = await opened()  # type: ignore[misc]
    assert desktop.a11y_address is None
    assert any("as structure" in note for note in desktop.notes)
    address = run(desktop, "answer(os.environ['AT_SPI_BUS_ADDRESS'])")
    assert address.startswith("unix:path=/run/deskhand/")


@pytest.mark.parametrize("name", ["nowhere", "", "display", "privat"])
async def test_a_computer_that_is_none_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match="computer"):
        await open_desktop_backend(name, settings=load_settings())


@pytest.mark.parametrize("argv", [["no-such-program-here"], ["/etc/passwd"], [], ["/no/such/thing"]])
async def test_what_cannot_be_started_is_an_error_at_once(desktop: X11Desktop, argv: list[str]) -> None:
    with pytest.raises(DesktopError):
        desktop.launch(argv)
