"""What an app on a private desktop can and cannot reach; each claim is tried by a program that runs there."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend, sandbox
from deskhand.desktop.composed import X11Desktop
from deskhand.desktop.sweep import socket_path
from deskhand.errors import DesktopError
from deskhand.terms import Private
from desktop_world import ask_bus, directory_of, run

CONNECT = """
def connects(path):
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
        return True
    except OSError:
        return False
"""


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user with a home, an SSH agent, a session bus and a key in the environment."""
    with tempfile.TemporaryDirectory(prefix="dh-user-", dir="/var/tmp") as home:
        monkeypatch.setenv("HOME", home)
        Path(home, "diary.txt").write_text("dear diary")
        sockets = []
        for name, variable in (("agent", "SSH_AUTH_SOCK"), ("bus", "DBUS_SESSION_BUS_ADDRESS")):
            path = str(Path(home, name))
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen()
            sockets.append(listener)
            monkeypatch.setenv(variable, path if name == "agent" else f"unix:path={path}")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
        yield Path(home)
        for listener in sockets:
            listener.close()


@pytest.fixture
async def guarded(user: Path) -> AsyncIterator[X11Desktop]:
    """A private desktop opened by that user."""
    desktop = await open_desktop_backend("private", settings=load_settings(), environ=os.environ)
    assert isinstance(desktop, X11Desktop)
    yield desktop
    desktop.close()


async def test_an_app_cannot_reach_the_users_files_agent_or_bus(guarded: X11Desktop, user: Path) -> None:
    found = run(
        guarded,
        CONNECT
        + """
home = sys.argv[1]
answer([os.path.exists(home), os.path.exists(home + "/diary.txt"), connects(home + "/agent"), connects(home + "/bus"),
        os.environ["DBUS_SESSION_BUS_ADDRESS"].endswith(home + "/bus"), "SSH_AUTH_SOCK" in os.environ])
""",
        str(user),
    )
    assert found == [False] * 6


async def test_no_process_that_an_app_can_see_has_our_environment(guarded: X11Desktop) -> None:
    found = run(
        guarded,
        """
seen = []
for pid in os.listdir("/proc"):
    if pid.isdigit():
        seen.append(open(f"/proc/{pid}/environ").read())
answer({"count": len(seen), "all": "".join(seen) + repr(dict(os.environ))})
""",
    )
    assert 2 <= found["count"] <= 4
    assert "sk-very-secret" not in found["all"]
    assert "OPENAI" not in found["all"]


async def test_an_app_cannot_read_what_other_users_could_not(guarded: X11Desktop) -> None:
    found = run(
        guarded,
        """
def reads(path):
    try:
        return bool(open(path).read())
    except OSError:
        return False
answer([reads("/etc/shadow"), reads("/etc/passwd")])
""",
    )
    assert found == [False, True]


async def test_an_app_cannot_write_to_the_system_or_to_what_guards_it(guarded: X11Desktop) -> None:
    found = run(
        guarded,
        """
import subprocess
def writes(path):
    try:
        open(path, "a").close()
        return True
    except OSError:
        return False
found = [path for path in ("/usr/x", "/etc/x", "/run/deskhand/x", "/tmp/.X11-unix/x", "/proc/sysrq-trigger",
        "/proc/sys/kernel/core_pattern",
        "/run/deskhand/xauthority", "/run/deskhand/openbox.xml") if writes(path)]
if os.geteuid() == 0 and subprocess.run(["unshare", "-U", "true"], capture_output=True).returncode == 0:
    found.append("a user namespace of its own, as root")
answer(found)
""",
    )
    assert found == []


async def test_an_app_cannot_swap_the_mount_points_of_the_next_box(guarded: X11Desktop) -> None:
    found = run(
        guarded,
        """
def swaps(path):
    try:
        os.rename(path, path + "-old")
        os.symlink("/etc", path)
        return True
    except OSError:
        return False
answer([name for name in os.listdir("/tmp") if swaps("/tmp/" + name)] + [p for p in (os.environ["HOME"],) if swaps(p)])
""",
    )
    assert found == []
    assert run(guarded, "answer(os.listdir('/tmp/.X11-unix'))") == [f"X{guarded.display[1:]}"]


async def test_neither_bus_can_start_anything(guarded: X11Desktop) -> None:
    assert guarded.a11y_address is not None
    for address in (guarded.a11y_address, guarded.a11y_address.replace("accessibility", "session")):
        names = await ask_bus(address, "ListActivatableNames")
        assert names.body == [["org.freedesktop.DBus"]]


async def test_an_app_has_no_capabilities(guarded: X11Desktop) -> None:
    status = run(guarded, "answer(open('/proc/self/status').read())")
    caps = {line.split()[1] for line in status.splitlines() if line.startswith("Cap")}
    assert caps == {"0" * 16}


async def test_a_shared_directory_is_read_only_unless_said_otherwise(user: Path, tmp_path: Path) -> None:
    reading, writing = user / "Reports", tmp_path / "out"
    reading.mkdir()
    writing.mkdir()
    (reading / "q3.txt").write_text("up")
    desktop = await open_desktop_backend(
        Private(share=(str(reading), f"{writing}:rw")), settings=load_settings(), environ=os.environ
    )
    assert isinstance(desktop, X11Desktop)
    try:
        found = run(
            desktop,
            """
reading, writing = sys.argv[1:]
open(writing + "/new.txt", "w").write("made inside")
try:
    open(reading + "/new.txt", "w")
    refused = False
except OSError:
    refused = True
answer([open(reading + "/q3.txt").read(), open(os.path.expanduser("~/Reports/q3.txt")).read(), refused])
""",
            str(reading),
            str(writing),
        )
    finally:
        desktop.close()
    assert found == ["up", "up", True]
    assert (writing / "new.txt").read_text() == "made inside"
    assert (reading / "q3.txt").exists()


@pytest.mark.parametrize("share", ["/", "/tmp", "/no/such/dir", "", "/etc:rw", ":rw"])
async def test_a_share_that_is_too_much_or_nothing_is_refused_by_name(share: str) -> None:
    with pytest.raises(ValueError, match="share"):
        await open_desktop_backend(Private(share=(share,)), settings=load_settings())


@pytest.mark.parametrize(("network", "reached"), [("host", True), ("none", False)])
async def test_the_network_is_there_or_not_as_asked(network: str, reached: bool) -> None:
    """Abstract sockets belong to the network: those of other displays are among them."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        name = f"\0/tmp/.X11-unix/X{os.getpid() % 10_000 + 50_000}"
        abstract.bind(name)
        abstract.listen()
        spec = Private(network=network)  # type: ignore[arg-type]
        desktop = await open_desktop_backend(spec, settings=load_settings())
        assert isinstance(desktop, X11Desktop)
        try:
            found = run(
                desktop,
                CONNECT
                + """
def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 2).close()
        return True
    except OSError:
        return False
answer([listens(int(sys.argv[1])), connects("\\0" + sys.argv[2]), connects(sys.argv[3])])
""",
                str(server.getsockname()[1]),
                name[1:],
                socket_path(int(desktop.display[1:])),
            )
        finally:
            desktop.close()
    assert found == [reached, reached, True]


async def test_without_bubblewrap_the_display_is_isolated_and_the_user_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "probe", lambda: "bubblewrap does not work here: refused")
    desktop = await open_desktop_backend("private", settings=load_settings())
    assert isinstance(desktop, X11Desktop)
    try:
        assert desktop.isolation == "display"
        assert any("your files" in note and "refused" in note for note in desktop.notes)
        assert run(desktop, "answer(os.environ['HOME'])") == desktop.home
        assert desktop.home.startswith(directory_of(desktop))
    finally:
        desktop.close()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (Private(isolation="files"), "files cannot be isolated"),
        (Private(network="none"), "network cannot be withheld"),
    ],
)
async def test_what_needs_bubblewrap_is_refused_without_it(
    spec: Private, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "probe", lambda: "bubblewrap does not work here")
    with pytest.raises(DesktopError, match=message):
        await open_desktop_backend(spec, settings=load_settings())


def test_bubblewrap_that_does_not_work_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sandbox, "which", lambda program: str(broken))
    monkeypatch.setattr(sandbox, "require", lambda program: str(broken))
    why = sandbox.probe.__wrapped__()
    assert why is not None
    assert "No permissions" in why
