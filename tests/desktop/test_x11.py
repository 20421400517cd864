"""The connection to a display: cookies, markers, deadlines."""

from __future__ import annotations

import os
import signal
import struct
import time
from pathlib import Path

import pytest

from deskhand.desktop.capture import MssScreen
from deskhand.desktop.changes import DamageChanges
from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.x11 import XConnection, read_cookie
from deskhand.errors import DesktopError
from desktop_world import Bare
from desktop_world import xauthority_entry as entry


def test_a_cookie_may_hold_colons(bare: Bare) -> None:
    display, authority, _ = bare
    x = XConnection(display, authority)
    assert x.size == (640, 481)
    x.close()
    screen = MssScreen(display, authority)
    assert screen.size == (640, 481)
    screen.close()


def test_without_the_cookie_the_display_is_closed_to_us(bare: Bare, tmp_path: Path) -> None:
    display, _, _ = bare
    other = tmp_path / "other"
    other.write_bytes(entry(b"", b"MIT-MAGIC-COOKIE-1", b"0123456789abcdef"))
    for open_it in (XConnection, MssScreen, DamageChanges):
        with pytest.raises(DesktopError, match="cannot connect"):
            open_it(display, str(other))


def test_the_environment_is_neither_read_nor_written(bare: Bare, monkeypatch: pytest.MonkeyPatch) -> None:
    display, authority, _ = bare
    monkeypatch.setenv("XAUTHORITY", "/nonexistent")
    monkeypatch.setenv("DISPLAY", ":4242")
    before = dict(os.environ)
    screen = MssScreen(display, authority)
    changes = DamageChanges(display, authority)
    assert screen.grab().pixels.shape == (481, 640)
    screen.close()
    changes.close()
    assert dict(os.environ) == before


def test_the_entry_of_the_display_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "Xauthority"
    path.write_bytes(
        entry(b"1", b"MIT-MAGIC-COOKIE-1", b"one")
        + entry(b"2", b"XDM-AUTHORIZATION-1", b"other")
        + entry(b"2", b"MIT-MAGIC-COOKIE-1", b"two")
    )
    assert read_cookie(":2", str(path)) == (b"MIT-MAGIC-COOKIE-1", b"two")
    assert read_cookie("host:1.0", str(path)) == (b"MIT-MAGIC-COOKIE-1", b"one")
    with pytest.raises(DesktopError, match="no cookie for display :3"):
        read_cookie(":3", str(path))
    with pytest.raises(DesktopError, match="cannot read"):
        read_cookie(":1", str(tmp_path / "none"))


def test_a_torn_authority_file_holds_no_cookie(tmp_path: Path) -> None:
    path = tmp_path / "Xauthority"
    path.write_bytes(entry(b"1", b"MIT-MAGIC-COOKIE-1", b"one")[:-5])
    with pytest.raises(DesktopError):
        XConnection(":1", str(path))


def test_a_display_with_another_marker_is_never_captured_or_typed_on(shared: X11Desktop) -> None:
    for open_it in (XConnection, MssScreen, DamageChanges):
        with pytest.raises(DesktopError, match="is not the display that was opened"):
            open_it(shared.display, shared.client_env["XAUTHORITY"], "another")


def test_a_hung_server_is_an_error_within_its_deadline(
    bare: Bare,
) -> None:
    display, authority, server = bare
    x = XConnection(display, authority)
    server.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(DesktopError, match="has not answered"):
        x.sync(0.3)
    x.close()
    assert time.monotonic() - began < 1


def test_a_killed_server_is_a_desktop_error_everywhere(
    bare: Bare,
) -> None:
    display, authority, server = bare
    x, screen, changes = (
        XConnection(display, authority),
        MssScreen(display, authority),
        DamageChanges(display, authority),
    )
    server.kill()
    server.wait()
    for use in (
        x.sync,
        lambda: x.size,
        screen.grab,
        lambda: screen.size,
        screen.cursor,
        changes.collect,
        changes.busy,
    ):
        with pytest.raises(DesktopError):
            use()
    with pytest.raises(DesktopError):
        changes.wait(5)
    x.close()
    screen.close()
    changes.close()
    Path(f"/tmp/.X11-unix/X{display[1:]}").unlink(missing_ok=True)
    Path(f"/tmp/.X{display[1:]}-lock").unlink(missing_ok=True)


def test_properties_and_atoms_are_read_back(shared: X11Desktop) -> None:
    x = XConnection(shared.display, shared.client_env["XAUTHORITY"])
    x.set_property(x.root, "DH_TEST", "CARDINAL", 32, struct.pack("=3I", 1, 2, 3))
    x.set_property(x.root, "DH_TEXT", "UTF8_STRING", 8, "žluť".encode())
    assert x.cardinals(x.root, "DH_TEST") == (1, 2, 3)
    assert x.text(x.root, "DH_TEXT") == "žluť"
    assert x.get_property(x.root, "DH_NONE") is None
    assert x.get_property(0x7FFFFF, "DH_TEXT") is None
    assert x.atom_name(x.atom("DH_TEXT")) == "DH_TEXT"
    x.close()
