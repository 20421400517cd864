"""Capture through mss's shared memory, and encoding."""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import mss
import mss.linux.xcb
import numpy as np
from mss.exception import ScreenShotError

from deskhand.desktop.base import Frame
from deskhand.desktop.x11 import MARKER, read_cookie
from deskhand.errors import DesktopError
from deskhand.messages import Point, Rect

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

mss_xcb: Any = mss.linux.xcb

_connecting = threading.Lock()


class MssScreen:
    """The screen of an X display. With ``marker`` the connection that captures must find it on the root first.

    DesktopError when the display cannot be reached or is another one.
    """

    def __init__(self, display: str, xauthority: str | None = None, marker: str | None = None) -> None:
        self._display, self._xauthority, self._marker = display, xauthority, marker
        self._lock = threading.Lock()
        self._mss: mss.MSS | None = None
        self._size = (0, 0)
        self._fd = -1
        with self._lock:
            self._connect()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, as they are now."""
        with self._lock:
            return self._current_size()

    @property
    def monitors(self) -> Sequence[Rect]:
        """The monitors' places on the screen; the whole screen when the server knows of none."""
        with self._lock, self._translated():
            implementation: Any = self._live()._impl  # mss itself asks once and remembers
            known = implementation.monitors()
            found = known[1:] or known[:1]
            return tuple(Rect(m["left"], m["top"], m["width"], m["height"]) for m in found)

    def grab(self, rect: Rect | None = None) -> Frame:
        """The pixels of ``rect`` (all when None), clipped to the screen.

        DesktopError when the display is gone, ValueError when nothing of ``rect`` is on the screen.
        """
        with self._lock:
            if rect is None:
                self._current_size()
            whole = Rect(0, 0, *self._size)
            wanted = whole if rect is None else whole.intersection(rect)
            if wanted is None:
                raise ValueError(
                    f"{rect} is outside the screen, which is {whole.width}x{whole.height} pixels"
                )
            with self._translated():
                shot = self._live().grab((wanted.x, wanted.y, wanted.right, wanted.bottom))
        pixels = np.frombuffer(shot.raw, dtype=np.uint32).reshape(wanted.height, wanted.width)
        return Frame(pixels, wanted)

    def cursor(self) -> Point:
        """Where the pointer is."""
        with self._lock, self._translated():
            image = mss_xcb.xfixes_get_cursor_image(self._connection())
            return Point(image.x, image.y)

    def close(self) -> None:
        """Close the connection. Idempotent; does not wait for a server that hangs."""
        if not self._lock.acquire(timeout=0.2):
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._fd)) as twin:
                twin.shutdown(socket.SHUT_RDWR)
            self._lock.acquire()
        try:
            found, self._mss = self._mss, None
            if found is not None:
                with contextlib.suppress(ScreenShotError):  # the server went first
                    found.close()
        finally:
            self._lock.release()

    # --- the connection, under the lock -----------------------------------------------------------------------------

    def _live(self) -> mss.MSS:
        if self._mss is None:
            raise DesktopError(f"the screen of {self._display} is closed")
        return self._mss

    def _connection(self) -> Any:
        implementation: Any = self._live()._impl
        return implementation.conn

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """mss's errors, as ours. It asserts that there is a reply; there is none when the server has gone."""
        try:
            yield
        except (ScreenShotError, AssertionError) as error:
            raise DesktopError(
                f"cannot capture {self._display}: {str(error) or 'the display is gone'}"
            ) from error

    def _connect(self) -> None:
        cookie = read_cookie(self._display, self._xauthority) if self._xauthority else None
        with self._translated():
            self._mss = _open_mss(self._display, cookie)
            connection = self._connection()
            mss_xcb.xfixes_query_version(
                connection, mss_xcb.XFIXES_MAJOR_VERSION, mss_xcb.XFIXES_MINOR_VERSION
            )
            self._size = self._geometry()
            if self._marker is not None and _marker(connection, self._implementation_root()) != self._marker:
                self._mss.close()
                raise DesktopError(
                    f"{self._display} is not the display that was opened: nothing was captured"
                )
            self._fd = mss_xcb.LIB.xcb.xcb_get_file_descriptor(ctypes.byref(connection))

    def _implementation_root(self) -> Any:
        implementation: Any = self._live()._impl
        return implementation.root

    def _geometry(self) -> tuple[int, int]:
        geometry = mss_xcb.get_geometry(self._connection(), self._implementation_root())
        return geometry.width, geometry.height

    def _current_size(self) -> tuple[int, int]:
        with self._translated():
            size = self._geometry()
        if size != self._size:  # mss sizes its shared memory once
            self._live().close()
            self._connect()
        return self._size


def _open_mss(display: str, cookie: tuple[bytes, bytes] | None) -> mss.MSS:
    """mss on ``display`` with a cookie of ours.

    mss offers no way to pass one and libxcb would look for it in the process's environment, which is not a desktop's to
    change. So for the length of this constructor, and for this thread alone, mss's own connect is ours.
    """
    if cookie is None:
        return mss.MSS(display=display)
    mss_xcb.initialize()
    name, data = cookie
    thread = threading.get_ident()
    theirs = mss_xcb.connect

    def ours(where: str | bytes | None = None) -> Any:
        if threading.get_ident() != thread:
            return theirs(where)
        return _connect_with_cookie(display, name, data)

    with _connecting:
        theirs = mss_xcb.connect
        mss_xcb.connect = ours
        try:
            return mss.MSS(display=display)
        finally:
            mss_xcb.connect = theirs


def _connect_with_cookie(display: str, name: bytes, data: bytes) -> tuple[Any, int]:
    class AuthInfo(ctypes.Structure):
        """``xcb_auth_info_t`` of xcb.h."""

        _fields_ = [
            ("namelen", ctypes.c_int),
            ("name", ctypes.c_char_p),
            ("datalen", ctypes.c_int),
            ("data", ctypes.c_char_p),
        ]

    library: Any = mss_xcb.LIB
    # A binding of our own: argument types set on a shared one would be seen by mss as well.
    prototype = ctypes.CFUNCTYPE(
        ctypes.POINTER(mss_xcb.Connection),
        ctypes.c_char_p,
        ctypes.POINTER(AuthInfo),
        ctypes.POINTER(ctypes.c_int),
    )
    connect = prototype(("xcb_connect_to_display_with_auth_info", library.xcb))
    auth = AuthInfo(
        len(name), name, len(data), ctypes.cast(ctypes.create_string_buffer(data, len(data)), ctypes.c_char_p)
    )
    number = ctypes.c_int()
    connection = connect(display.encode(), ctypes.byref(auth), ctypes.byref(number))
    if library.xcb.xcb_connection_has_error(connection):
        library.xcb.xcb_disconnect(connection)
        raise DesktopError(f"cannot connect to the X display {display}")
    for extension in (library.randr_id, library.render_id, library.shm_id, library.xfixes_id):
        mss_xcb.prefetch_extension_data(connection, extension)
    mss_xcb._ATOM_CACHE[ctypes.addressof(connection.contents)] = {}
    return connection.contents, number.value


def _marker(connection: Any, root: Any) -> str:
    name = mss_xcb.intern_atom(connection, MARKER)
    anything = mss_xcb.Atom(0)
    reply = mss_xcb.get_property(connection, 0, root, name, anything, 0, 64)
    return bytes(mss_xcb.get_property_value(reply)).decode(errors="replace")


# --- encoding ---------------------------------------------------------------------------------------------------------


def picture(frame: Frame) -> Picture:
    """The frame as a Pillow image (RGB)."""
    from PIL import Image

    height, width = frame.pixels.shape
    pixels = np.ascontiguousarray(frame.pixels)
    return Image.frombuffer("RGB", (width, height), pixels.tobytes(), "raw", "BGRX", width * 4, 1)


def encode_png(frame: Frame) -> bytes:
    """The frame as PNG at compression level 1: encoding, not capture, is what a screenshot costs."""
    buffer = io.BytesIO()
    picture(frame).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def encode_jpeg(frame: Frame, quality: int = 75) -> bytes:
    """The frame as JPEG."""
    buffer = io.BytesIO()
    picture(frame).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()
