"""Whatever kills the process that holds a desktop: nothing of it lives on, and the next start removes its files."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.desktop.leash import marked
from deskhand.desktop.sweep import lock_path, socket_path, sweep
from desktop_world import ended

HOLDER = """
import asyncio, json, os, sys, tempfile
tempfile.tempdir = sys.argv[1]
sys.path.insert(0, sys.argv[3])
from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.processes import become_subreaper, descendants
from deskhand.terms import Private
from desktop_world import directory_of, running, window

async def main():
    become_subreaper()
    desktop = await open_desktop_backend(Private(isolation=sys.argv[2]), settings=load_settings())
    desktop.launch(["chromium", "--no-sandbox", "--no-first-run", "about:blank"])
    forks = "setsid -f sleep 1000; setsid -f sh -c 'setsid -f sleep 1001'; exec zenity --info --title=Forked"
    desktop.launch(["sh", "-c", forks])
    window(desktop, "Chromium"), window(desktop, "Forked")
    print(json.dumps([directory_of(desktop), desktop.display]), flush=True)
    {end}

asyncio.run(main())
"""

WAIT_FOR_EVER = "await asyncio.Event().wait()"


def hold(
    temporary: Path, isolation: str, end: str = WAIT_FOR_EVER
) -> tuple[subprocess.Popen[str], str, int, list[int]]:
    """A process that holds a desktop with Chromium and apps that forked away; its directory, display and processes."""
    script = HOLDER.replace("{end}", end)
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(temporary), isolation, str(Path(__file__).parents[1])],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    line = holder.stdout.readline()
    holder.stdout.close()
    directory, display = json.loads(line)
    return holder, directory, int(display.removeprefix(":")), marked(directory)


@pytest.mark.parametrize("isolation", ["files", "display"])
def test_nothing_lives_on_when_its_process_is_killed_and_the_next_start_removes_the_rest(
    isolation: str, temporary: Path
) -> None:
    holder, directory, number, pids = hold(temporary, isolation)
    assert len(pids) > 10
    holder.kill()
    holder.wait()
    assert ended(pids, 2)
    assert marked(directory) == []
    assert sweep() == [directory]
    assert not os.path.exists(directory)
    assert not os.path.lexists(socket_path(number))
    assert not os.path.lexists(lock_path(number))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_nothing_lives_on_when_its_process_is_told_to_end(number: int, temporary: Path) -> None:
    holder, directory, _, pids = hold(temporary, "auto")
    holder.send_signal(number)
    holder.wait()
    assert ended(pids, 2)
    assert marked(directory) == []


def test_nothing_lives_on_after_an_exception(temporary: Path) -> None:
    holder, directory, _, pids = hold(temporary, "auto", "raise SystemExit('something went wrong')")
    holder.wait()
    assert ended(pids, 2)
    assert marked(directory) == []


def test_a_subreaper_that_closes_its_desktop_has_no_running_children_left(temporary: Path) -> None:
    end = "desktop.close(); assert running(descendants(os.getpid())) == []"
    holder, directory, _, pids = hold(temporary, "display", end)
    assert holder.wait() == 0
    assert ended(pids, 0)
    assert not os.path.exists(directory)


def unlocked(directory: str) -> None:
    """Wait until nobody holds a directory's lock: a child that was just forked does for the moment until its exec."""
    if os.path.exists(os.path.join(directory, "lock")):
        with open(os.path.join(directory, "lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)


@pytest.mark.parametrize("moment", [10, 20, 40, 60, 80, 120])
def test_nothing_lives_on_when_the_process_is_killed_while_the_desktop_starts(
    moment: int, temporary: Path
) -> None:
    script = """
import asyncio, sys, tempfile, threading, os, signal
tempfile.tempdir = sys.argv[1]
import deskhand.desktop.private
from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend
signal.setitimer(signal.ITIMER_REAL, int(sys.argv[2]) / 1000)
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
async def main():
    await open_desktop_backend("private", settings=load_settings())
    await asyncio.Event().wait()
asyncio.run(main())
"""
    killed = subprocess.run([sys.executable, "-c", script, str(temporary), str(moment)])
    assert killed.returncode == -signal.SIGKILL
    directories = [str(path) for path in temporary.glob("deskhand-*/*") if path.is_dir()]
    for directory in directories:
        unlocked(directory)
    sweep()
    assert ended(
        [pid for directory in directories for pid in marked(directory)], 1
    )  # that were just being started
    assert [path for path in temporary.glob("deskhand-*/*") if path.name != ".lock"] == []
