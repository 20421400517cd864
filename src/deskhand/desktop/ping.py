"""Wait until the active window has read the input that was sent to it."""

from __future__ import annotations

import itertools
import struct
import time

from xcffib import xproto

from deskhand.desktop.clients import client_pid, server_pid, wait_at_rest
from deskhand.desktop.x11 import XConnection

PING_DEADLINE = 1.0
"""Seconds a window that answers pings has to answer one; a busy one is then not waited for any longer."""

_UNKNOWN = 0.15
"""Seconds given to a window that knows no ping when its process is not known either."""

_serial = itertools.count(1)


def wait_until_read(x: XConnection) -> bool:
    """Whether the active window has read the input that was sent before.

    It answers a ``_NET_WM_PING`` (EWMH) when it comes to it in its event queue, so everything older has been translated
    by then. One that knows no ping (Tk, xterm) has read it all when its process waits for more.
    """
    x.sync()
    window = next(iter(x.cardinals(x.root, "_NET_ACTIVE_WINDOW")), 0)
    ping, protocols = x.atom("_NET_WM_PING"), x.atom("WM_PROTOCOLS")
    if not window or ping not in x.cardinals(window, "WM_PROTOCOLS"):
        pid = client_pid(x, window) if window else None
        if pid is not None:
            server = server_pid(x)
            return wait_at_rest([pid] if server is None else [pid, server], PING_DEADLINE)
        time.sleep(_UNKNOWN)
        return False
    listener = XConnection(x.display, x.xauthority)
    try:
        listener.core.ChangeWindowAttributes(
            listener.root, xproto.CW.EventMask, [xproto.EventMask.SubstructureNotify]
        )
        listener.sync()
        stamp = 0x40000000 | next(_serial)
        event = struct.pack("=BBHII5I", 33, 32, 0, window, protocols, ping, stamp, window, 0, 0)
        with x.lock:
            x.core.SendEvent(False, window, xproto.EventMask.NoEvent, event)
            x.flush()
        end = time.monotonic() + PING_DEADLINE
        while (left := end - time.monotonic()) > 0:
            answer = listener.wait_event(left)
            if isinstance(answer, xproto.ClientMessageEvent) and answer.type == protocols:
                data = answer.data.data32
                if data[0] == ping and data[1] == stamp:
                    return True
        return False
    finally:
        listener.close()
