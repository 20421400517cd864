"""The environment that apps run in: nothing in it is inherited."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping

from deskhand.desktop.parts import PATH


def locale_for(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's language when it is UTF-8 and installed, else C.UTF-8."""
    name = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    if re.search(r"utf-?8", name, re.IGNORECASE) and _installed(name):
        language = environ.get("LANGUAGE")
        return {"LANG": name, **({"LANGUAGE": language} if language else {})}
    return {"LANG": "C.UTF-8"}


def _installed(name: str) -> bool:
    """Ask the C library for the locale without switching this process to it."""
    libc = ctypes.CDLL(None)
    libc.newlocale.restype, libc.newlocale.argtypes = (
        ctypes.c_void_p,
        [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p],
    )
    every_category = 0x1FBF  # LC_ALL_MASK, glibc's locale.h
    handle = libc.newlocale(every_category, name.encode(), None)
    if handle:
        libc.freelocale.argtypes = [ctypes.c_void_p]
        libc.freelocale(handle)
    return bool(handle)


def app_environment(
    *,
    home: str,
    runtime: str,
    display: str,
    xauthority: str,
    session_bus: str,
    a11y_bus: str,
    scale: int,
    locale: Mapping[str, str],
) -> dict[str, str]:
    """Everything that an app's environment holds: nothing of ours or the user's is inherited."""
    env = {
        "PATH": PATH,
        "HOME": home,
        "USER": "desk",
        "LOGNAME": "desk",
        "SHELL": "/bin/sh",
        "TMPDIR": "/tmp",
        "XDG_RUNTIME_DIR": runtime,
        "XDG_SESSION_TYPE": "x11",
        "XDG_CURRENT_DESKTOP": "X-Generic",
        "DISPLAY": display,
        "DBUS_SESSION_BUS_ADDRESS": session_bus,
        **({"XAUTHORITY": xauthority} if xauthority else {}),
        **locale,
        # Structure: each toolkit wants to be told on its own way that somebody reads it
        "AT_SPI_BUS_ADDRESS": a11y_bus,
        "ACCESSIBILITY_ENABLED": "1",
        "GNOME_ACCESSIBILITY": "1",
        "GTK_MODULES": "gail:atk-bridge",
        "QT_ACCESSIBILITY": "1",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "SAL_ACCESSIBILITY_ENABLED": "1",
        # Drawing: a software GL context costs half a second at the start and 60% of a core while idle
        "GSK_RENDERER": "cairo",
        "GDK_BACKEND": "x11",
        "QT_QPA_PLATFORM": "xcb",
        "XCURSOR_ANIM": "0",
        # Nothing outside: no portals, no virtual file systems, settings in the private home
        "GTK_USE_PORTAL": "0",
        "GIO_USE_VFS": "local",
        "GIO_USE_PORTALS": "0",
        "GSETTINGS_BACKEND": "keyfile",
    }
    if scale > 1:
        env |= {"GDK_SCALE": str(scale), "GDK_DPI_SCALE": str(1 / scale), "QT_SCALE_FACTOR": str(scale)}
    return env
