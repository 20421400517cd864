"""What dead workers left is removed by its lock; what lives, or is not ours, stays."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.desktop.directory import DesktopDirectory, base_directory
from deskhand.desktop.display import number_is_free
from deskhand.desktop.sweep import DISPLAY_FILE, lock_path, remove_display_files, socket_path, sweep
from deskhand.errors import DesktopError

pytestmark = pytest.mark.usefixtures("temporary")


@pytest.fixture
def number() -> Iterator[int]:
    """A display number that nobody uses, cleaned afterwards."""
    free = next(number for number in range(20_000, 30_000) if number_is_free(number))
    yield free
    for path in (socket_path(free), lock_path(free)):
        Path(path).unlink(missing_ok=True)


def abandoned(display: int | None = None) -> DesktopDirectory:
    """A directory as a worker leaves it that was killed: everything is there, the lock is not held."""
    directory = DesktopDirectory.create()
    if display is not None:
        directory.write(DISPLAY_FILE, str(display))
    os.close(directory._lock)
    directory._lock = -1
    return directory


def dead_display(number: int) -> None:
    """The files of an X server that was killed."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(socket_path(number))
    server.close()
    Path(lock_path(number)).write_text(f"{2**22 + 1:>10}\n")


def test_a_dead_workers_directory_is_removed_and_a_living_ones_stays() -> None:
    living, dead = DesktopDirectory.create(), abandoned()
    dead.make("home", "Documents")
    assert sweep() == [dead.path]
    assert not os.path.exists(dead.path)
    assert os.path.isdir(living.path)
    living.remove()
    assert sweep() == []


def test_a_removal_that_was_itself_interrupted_is_finished() -> None:
    dead = abandoned()
    os.rename(dead.path, os.path.join(base_directory(), "dead-" + os.path.basename(dead.path)))
    assert sweep() == [dead.path]
    assert os.listdir(base_directory()) == [".lock"]


def test_a_dead_workers_display_files_go_too(number: int) -> None:
    abandoned(number)
    dead_display(number)
    sweep()
    assert number_is_free(number)


def test_a_display_that_answers_is_left_alone_though_a_dead_worker_names_it(number: int) -> None:
    abandoned(number)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(socket_path(number))
        server.listen()
        sweep()
        assert os.path.exists(socket_path(number))


def test_a_server_that_is_still_dying_is_waited_for(number: int) -> None:
    """The kernel kills a server with its worker; for a moment it still answers, and nobody would come back for it."""
    abandoned(number)
    listen = (
        "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen();"
        " print(flush=True); time.sleep(0.2)"
    )
    server = subprocess.Popen([sys.executable, "-c", listen, socket_path(number)], stdout=subprocess.PIPE)
    assert server.stdout is not None
    server.stdout.readline()
    sweep()
    assert number_is_free(number)
    server.communicate()


def test_a_display_whose_lock_names_a_living_process_is_left_alone(number: int) -> None:
    Path(lock_path(number)).write_text(f"{os.getpid():>10}\n")
    assert not remove_display_files(number)
    assert os.path.exists(lock_path(number))


def test_what_is_no_directory_of_ours_stays() -> None:
    note = Path(base_directory(), "note")
    note.write_text("keep")
    sweep()
    assert note.read_text() == "keep"


@pytest.mark.parametrize("trap", ["open to others", "a link", "a file"])
def test_a_base_that_others_could_have_prepared_is_refused(trap: str, tmp_path: Path) -> None:
    base = Path(tempfile.gettempdir(), f"deskhand-{os.geteuid()}")
    if trap == "open to others":
        base.mkdir()
        base.chmod(0o755)
    elif trap == "a link":
        base.symlink_to(tmp_path)
    else:
        base.touch(0o600)
    with pytest.raises(DesktopError, match=base.name):
        DesktopDirectory.create()


def test_a_long_temporary_directory_gives_way_so_that_sockets_fit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("x" * 80)))
    assert base_directory() == f"/tmp/deskhand-{os.geteuid()}"
