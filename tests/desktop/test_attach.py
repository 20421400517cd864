"""Working on a display that is already there: seen and used, and left as it was."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.x11 import XConnection
from deskhand.errors import DesktopError
from desktop_world import directory_of, ended, processes_of, run, window

Opener = Callable[..., object]


def user_of(desktop: X11Desktop) -> Mapping[str, str]:
    """The environment of a user who sits at that desktop."""
    return {**desktop.client_env, "HOME": desktop.home}


async def test_an_attached_desktop_sees_what_is_there_and_leaves_it(
    opened: Opener, desktop: X11Desktop
) -> None:
    desktop.launch(["zenity", "--info", "--title=There before", "--text=x"])
    before = await asyncio.to_thread(window, desktop, "There before")
    attached = await opened(f"display:{desktop.display}", user_of(desktop))  # type: ignore[misc]
    assert attached.name == f"display:{desktop.display}"
    assert attached.isolation == "display"
    assert any("not isolated" in note for note in attached.notes)
    assert [info.id for info in attached.windows.list()] == [before.id]
    attached.launch(["mousepad"])
    await asyncio.to_thread(window, attached, "Mousepad")
    pids = processes_of(attached)
    directory = directory_of(attached)
    attached.close()
    assert ended(pids, 0)
    assert not os.path.exists(directory)
    assert desktop.alive()
    assert [info.id for info in desktop.windows.list()] == [before.id]


async def test_apps_launched_on_an_attached_desktop_can_be_read(opened: Opener, desktop: X11Desktop) -> None:
    attached = await opened(f"display:{desktop.display}", user_of(desktop))  # type: ignore[misc]
    assert attached.a11y_address is not None
    assert attached.a11y_address != desktop.a11y_address
    assert run(attached, "answer(os.environ['AT_SPI_BUS_ADDRESS'])") == attached.a11y_address
    assert run(attached, "answer(os.environ['DISPLAY'])") == desktop.display


async def test_the_displays_own_accessibility_bus_is_used_where_it_has_one(
    opened: Opener, desktop: X11Desktop
) -> None:
    x = XConnection(desktop.display, desktop.client_env["XAUTHORITY"])
    assert desktop.a11y_address is not None
    x.set_property(x.root, "AT_SPI_BUS", "STRING", 8, desktop.a11y_address.encode())
    x.close()
    attached = await opened(f"display:{desktop.display}", user_of(desktop))  # type: ignore[misc]
    assert attached.a11y_address == desktop.a11y_address


@pytest.mark.parametrize("what", ["nobody listens", "no registry", "a registry that hangs"])
async def test_a_display_whose_accessibility_bus_is_dead_gets_another(
    what: str, opened: Opener, desktop: X11Desktop
) -> None:
    assert desktop.a11y_address is not None
    address = desktop.a11y_address
    if what == "nobody listens":
        address = "unix:path=/tmp/there-is-no-such-bus"
    else:
        (registry,) = [pid for pid in processes_of(desktop) if _name(pid).startswith("at-spi2-registr")]
        os.kill(registry, signal.SIGKILL if what == "no registry" else signal.SIGSTOP)
    x = XConnection(desktop.display, desktop.client_env["XAUTHORITY"])
    x.set_property(x.root, "AT_SPI_BUS", "STRING", 8, address.encode())
    x.close()
    attached = await opened(f"display:{desktop.display}", user_of(desktop))  # type: ignore[misc]
    assert attached.a11y_address not in (None, address)
    assert any("accessibility bus does not answer" in note for note in attached.notes)
    assert run(attached, "answer(os.environ['AT_SPI_BUS_ADDRESS'])") == attached.a11y_address


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text()


async def test_apps_on_an_attached_desktop_inherit_no_keys(
    opened: Opener, desktop: X11Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    environ = {**os.environ, **user_of(desktop)}
    attached = await opened(f"display:{desktop.display}", environ)  # type: ignore[misc]
    assert "sk-very-secret" not in run(attached, "answer(repr(dict(os.environ)))")


@pytest.mark.parametrize(
    "name", ["display:", "display:99", "display:x", "display:host:0", "display::", "display::1.2.3"]
)
async def test_what_is_no_display_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match="display::99"):
        await open_desktop_backend(name, settings=load_settings())


async def test_a_display_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(DesktopError, match=":64999"):
        await open_desktop_backend(
            "display::64999", settings=load_settings(), environ={"HOME": str(tmp_path)}
        )
