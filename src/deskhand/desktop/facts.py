"""What windows are: their place, title, class, state and process, all asked for in one exchange with the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from deskhand.desktop.clients import pid_in, pid_request
from deskhand.desktop.x11 import XConnection, as_cardinals, as_text
from deskhand.messages import Rect, WindowInfo

_PROPERTIES: Final = ("WM_CLASS", "_NET_WM_NAME", "WM_NAME", "_NET_WM_STATE", "_NET_WM_PID")


def window_facts(x: XConnection, windows: Sequence[int], active: int) -> tuple[WindowInfo, ...]:
    """The windows that still exist, in the order given; ``active`` is the one to mark."""
    if not windows:
        return ()
    atoms = [x.atom(name) for name in _PROPERTIES]
    modal = x.atom("_NET_WM_STATE_MODAL")
    with x.lock:
        cookies: list[Any] = []
        for window in windows:
            cookies.append(x.core.GetGeometry(window))
            cookies.append(x.core.TranslateCoordinates(window, x.root, 0, 0))
            cookies.extend(x.property_request(window, atom) for atom in atoms)
        # Apart from the rest, as not every server has the extension.
        asked = [cookie for window in windows if (cookie := pid_request(x, window)) is not None]
        replies = x.replies([*cookies, *asked])
    width = len(cookies) // len(windows)
    pids = replies[len(cookies) :] or [None] * len(windows)
    found = []
    for index, (window, pid) in enumerate(zip(windows, pids, strict=True)):
        geometry, place, kind, name, plain_name, state, own_pid = replies[index * width : (index + 1) * width]
        if geometry is None or place is None:
            continue
        instance, _, _class = as_text(kind).partition("\0")
        # The pid outside any sandbox is the server's own knowledge of the client (XRes 1.2).
        outside = pid_in(pid) if pid is not None else None
        found.append(
            WindowInfo(
                id=window,
                title=as_text(name) or as_text(plain_name),
                app=instance,
                pid=outside if outside is not None else next(iter(as_cardinals(own_pid)), None),
                rect=Rect(place.dst_x, place.dst_y, geometry.width, geometry.height),
                active=window == active,
                modal=modal in as_cardinals(state),
            )
        )
    return tuple(found)
