"""The computer itself: private display, buses, sandbox, capture, input, recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deskhand.config import Settings
    from deskhand.desktop.base import Desktop
    from deskhand.terms import Private


async def open_desktop_backend(
    computer: str | Private, *, settings: Settings, environ: Mapping[str, str] | None = None
) -> Desktop:
    """The desktop that ``computer`` names: ``"private"``, a `Private`, or ``"display::99"`` to attach to a display.

    ``environ`` is the user's environment: the language for a private desktop's apps, and for an attached display
    what its clients need (XAUTHORITY, the buses). ValueError for a name that is none of these; MissingPart or
    DesktopError when the desktop cannot be had.
    """
    environ = environ or {}
    if isinstance(computer, str) and computer.startswith("display:"):
        from deskhand.desktop.attach import open_attached, open_portable

        display = computer.removeprefix("display:")
        if settings.backend == "portable":
            return await open_portable(display, environ=environ)
        return await open_attached(display, settings=settings, environ=environ)
    from deskhand.terms import Private

    if computer == "private":
        computer = Private()
    if not isinstance(computer, Private):
        raise ValueError(f"computer must be 'private', Private(...) or 'display::N', not {computer!r}")
    from deskhand.desktop.private import open_private

    return await open_private(computer, settings=settings, environ=environ)
