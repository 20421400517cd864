"""The box that apps run in: bubblewrap, with a read-only system, a private home and only the sockets it needs."""

from __future__ import annotations

import functools
import os
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deskhand.desktop import seccomp
from deskhand.desktop.directory import DesktopDirectory
from deskhand.desktop.parts import PATH, install_command, missing, require, which
from deskhand.desktop.sweep import socket_path
from deskhand.errors import DesktopError

HOME = "/home/desk"
"""The private home as the apps see it. Its parent is made anew for every box, out of reach of what ran before."""

RUN = "/run/deskhand"
"""Where the apps find the cookie and the buses."""

_RULES = "seccomp"

_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SYSTEM = ("/usr", "/etc", "/opt", "/nix/store", "/gnu/store", "/run/current-system", "/var/cache/fontconfig")
_CLOSED = ("/", "/tmp", "/proc", "/dev", "/sys", "/run", "/var", "/usr", "/etc", "/home")
"""What cannot be shared whole: the box needs its own, or it would not be a box."""


@dataclass(frozen=True, slots=True)
class Share:
    """A directory or file of the user's, at the same path inside."""

    path: str
    writable: bool = False


def parse_shares(share: Sequence[str]) -> tuple[Share, ...]:
    """``"dir"`` (read only) or ``"dir:rw"``, as absolute paths. ValueError names the entry and what is wrong."""
    parsed = []
    for entry in share:
        path = entry.removesuffix(":rw")
        resolved = os.path.realpath(os.path.expanduser(path))
        if not path or not os.path.exists(resolved):
            raise ValueError(f"share: {entry!r} does not exist")
        if resolved in _CLOSED:
            raise ValueError(f"share: {entry!r} is too much to share; name the directory that is needed")
        parsed.append(Share(resolved, entry.endswith(":rw")))
    return tuple(parsed)


@functools.cache
def probe() -> str | None:
    """None when bubblewrap works here, else why it does not. Tried once per process (about 30 ms)."""
    if which("bwrap") is None:
        absent = [part for part in missing() if part.name == "bubblewrap"]
        return f"bubblewrap is not installed ({install_command(absent)})"
    rules = os.memfd_create("seccomp")
    try:
        os.write(rules, seccomp.program())
        os.lseek(rules, 0, os.SEEK_SET)
        done = subprocess.run(
            [require("bwrap"), "--seccomp", f"{rules}", *_namespaces("none"), *_system(), "--", "/bin/true"],
            env={"PATH": PATH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            pass_fds=(rules,),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run here: {error}"
    finally:
        os.close(rules)
    if done.returncode == 0:
        return None
    return f"bubblewrap does not work here: {done.stderr.decode(errors='replace').strip()[-200:]}"


def _namespaces(network: str) -> list[str]:
    # --unshare-pid with --die-with-parent is the only pair that leaves no process after a SIGKILL of bwrap or of us
    argv = "--unshare-user --unshare-uts --unshare-ipc --unshare-pid --unshare-cgroup-try".split()
    argv += "--die-with-parent --new-session --cap-drop ALL --clearenv --hostname desk".split()
    if os.geteuid() == 0 and _can_forbid_namespaces():
        # As root nothing in the box needs any (Chromium goes without its own sandbox); for others Chromium does
        argv.append("--disable-userns")
    return argv if network == "host" else [*argv, "--unshare-net"]


@functools.cache
def _can_forbid_namespaces() -> bool:
    """``--disable-userns`` came with bubblewrap 0.8."""
    said = subprocess.run(
        [require("bwrap"), "--help"], env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=5
    )
    return b"--disable-userns" in said.stdout


@functools.cache
def _system() -> tuple[str, ...]:
    """The read-only system, without what another local user could not read (as root the box could)."""
    argv = []
    for path in _SYSTEM:
        if os.path.isdir(path):
            argv += ["--ro-bind", path, path]
    for name in _LINKS:
        path = f"/{name}"
        if os.path.islink(path):
            argv += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            argv += ["--ro-bind", path, path]
    for path, is_directory in _confidential("/etc"):
        argv += ["--perms", "0000", "--tmpfs", path] if is_directory else ["--ro-bind", "/dev/null", path]
    resolver = os.path.realpath("/etc/resolv.conf")
    if not resolver.startswith("/etc/") and os.path.exists(resolver):
        argv += ["--ro-bind", resolver, resolver]
    argv += ["--proc", "/proc", "--dev", "/dev"]
    if os.geteuid() == 0:
        # The kernel asks for the user, not for capabilities, before it lets anybody write to /proc/sys, and bubblewrap
        # leaves that writable for a root without them: a core pattern would run a program outside.
        argv += ["--remount-ro", "/proc"]
    return tuple(argv)


def _confidential(top: str) -> list[tuple[str, bool]]:
    """What below ``top`` others may not read: (path, whether it is a directory)."""
    found = []
    for directory, names, files in os.walk(top):
        for name in [*names, *files]:
            path = os.path.join(directory, name)
            try:
                mode = os.lstat(path).st_mode
            except OSError:
                continue
            if stat.S_ISDIR(mode) and mode & 0o005 != 0o005:
                names.remove(name)
                found.append((path, True))
            elif stat.S_ISREG(mode) and not mode & 0o004:
                found.append((path, False))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """How programs of one desktop are boxed. All of its boxes see the same home, /tmp and display.

    ``home`` and ``web`` are directories outside; ``web`` (the browser's profile and downloads) has the same path
    inside, because who drives the browser names paths to it.
    """

    directory: DesktopDirectory
    home: str
    web: str
    display_number: int
    network: str
    shares: tuple[Share, ...]
    env: Mapping[str, str]

    def argv(self, command: Sequence[str]) -> list[str]:
        """The command that runs ``command`` in a box."""
        env = [word for name, value in self.env.items() for word in ("--setenv", name, value)]
        return [
            "/bin/sh",  # opens the rules for bubblewrap, which takes them by descriptor, and becomes it
            "-c",
            'exec 9<"$0" && exec "$@"',
            self.directory.join(_RULES),
            require("bwrap"),
            "--seccomp",
            "9",
            *_namespaces(self.network),
            *_system(),
            *self._mounts(),
            *env,
            "--chdir",
            HOME,
            "--",
            *command,
        ]

    def sees(self, path: str) -> bool:
        """Whether a host path is there, at the same place, inside the box."""
        roots = [*_SYSTEM, *(f"/{name}" for name in _LINKS), *(share.path for share in self.shares)]
        return any(path == root or path.startswith(root + "/") for root in roots)

    def showing(self, path: str) -> Sandbox:
        """The same, with a host directory to read that it did not see: a browser that lives in the user's home."""
        return self if self.sees(path) else replace(self, shares=(*self.shares, Share(path)))

    def _mounts(self) -> list[str]:
        x_socket = socket_path(self.display_number)
        argv = ["--perms", "0755", "--tmpfs", "/home", "--bind", self.home, HOME]
        argv += ["--bind", self.directory.join("tmp"), "/tmp"]
        argv += ["--ro-bind", self.directory.join("run"), RUN]
        argv += ["--bind", self.directory.join("runtime"), f"/run/user/{os.geteuid()}"]
        for first in os.listdir(self.directory.join("points")):
            argv += ["--ro-bind", self.directory.join("points", first), f"/tmp/{first}"]
        argv += ["--ro-bind", x_socket, x_socket]
        for share in (*self.shares, Share(self.web, writable=True)):
            argv += ["--bind" if share.writable else "--ro-bind", share.path, share.path]
        return argv

    def prepare(self) -> None:
        """Make the directories that `argv` mounts. Before the first box."""
        for name in ("tmp", "run", "runtime", "points"):
            self.directory.make(name)
        os.chmod(self.directory.join("tmp"), 0o1777)
        self.directory.write(_RULES, seccomp.program())
        os.makedirs(self.web, 0o700, exist_ok=True)
        self._add_point(socket_path(self.display_number), is_directory=False)
        for share in (*self.shares, Share(self.web)):
            self._add_point(share.path, is_directory=os.path.isdir(share.path))
            _link_from_home(share.path, self.home)

    def _add_point(self, path: str, *, is_directory: bool) -> None:
        """Make a mount point below the shared /tmp that no app can swap for a link to somewhere else.

        bubblewrap follows links when it makes mount points, and apps can write in /tmp. So the first name below /tmp is
        itself mounted, read only, from a tree that only we write, in every box: a mount point cannot be renamed.
        """
        if not path.startswith("/tmp/"):
            return
        first = path.split("/")[2]
        point = self.directory.join("points", *path.split("/")[2:])
        above = self.directory.join("tmp", first)
        deep = path.count("/") > 2
        if is_directory:
            os.makedirs(point, 0o755, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(point), 0o755, exist_ok=True)
            open(point, "a").close()
        if deep or is_directory:
            os.makedirs(above, 0o755, exist_ok=True)
        else:
            open(above, "a").close()


def _link_from_home(path: str, home: str) -> None:
    """Put a share of the user's home into the private home under the same name, where dialogs look for it."""
    user_home = os.path.realpath(os.path.expanduser("~"))
    if path.startswith(user_home + "/"):
        link = os.path.join(home, os.path.relpath(path, user_home))
        if not os.path.lexists(link):
            os.makedirs(os.path.dirname(link), 0o700, exist_ok=True)
            os.symlink(path, link)


def decide(isolation: str, network: str) -> tuple[bool, tuple[str, ...]]:
    """Whether apps are boxed, and what the user should know. DesktopError when what was asked cannot be had."""
    if isolation == "display":
        why: str | None = "isolation='display' was asked for"
    else:
        why = probe()
    if why is None:
        return True, ("root: Chromium runs without its own sandbox",) if os.geteuid() == 0 else ()
    if isolation == "files":
        raise DesktopError(f"files cannot be isolated: {why}")
    if network == "none":
        raise DesktopError(f"the network cannot be withheld: {why}")
    return False, (f"apps can read your files and use your network: {why}",)
