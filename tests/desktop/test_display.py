"""Starting a display: what a server that dies on the way leaves."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from deskhand.desktop.directory import DesktopDirectory
from deskhand.desktop.display import start_display
from deskhand.desktop.sweep import lock_path, socket_path
from deskhand.errors import DesktopError


class ClosedInBetween:
    """A household that is closed, its server killed, when that has its socket and has not said that it is ready."""

    number = -1

    def start(
        self, argv: Sequence[str], *, env: Mapping[str, str], pass_fds: Sequence[int] = (), **more: Any
    ) -> subprocess.Popen[bytes]:
        if self.number >= 0:
            raise DesktopError("the desktop is closed")
        self.number = int(argv[1].removeprefix(":"))
        words = [word for word in argv if word != "-displayfd" and word != str(*pass_fds)]
        server = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not os.path.exists(socket_path(self.number)):
            time.sleep(0.01)
        server.kill()
        server.wait()
        return server


@pytest.mark.usefixtures("temporary")
def test_a_server_that_was_killed_while_it_started_leaves_no_files() -> None:
    directory, household = DesktopDirectory.create(), ClosedInBetween()
    try:
        with pytest.raises(DesktopError, match="closed"):
            start_display(
                directory,
                household,  # type: ignore[arg-type]
                xauthority=directory.join("xauthority"),
                size=(320, 240),
                scale=1,
                deadline=time.monotonic() + 10,
            )
    finally:
        directory.remove()
    left = [
        path for path in (socket_path(household.number), lock_path(household.number)) if os.path.lexists(path)
    ]
    assert left == []
