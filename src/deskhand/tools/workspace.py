"""What a batch works with: the desktop, the senses, the settle engine, and the hooks of whoever runs it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, ParamSpec, Protocol, TypeAlias, TypeVar

from deskhand.desktop.apps import App, resolve_app
from deskhand.desktop.base import Desktop
from deskhand.errors import Effect, InvalidStep
from deskhand.messages import Image, Json, Node, Observation, Rect, Settled, StepReport, Target, WindowInfo
from deskhand.observers.page import Browser
from deskhand.tools.clicks import Clicks
from deskhand.tools.pixels import PixelText

P = ParamSpec("P")
T = TypeVar("T")

Gate: TypeAlias = Callable[[Json, Target | None, Node | None], Awaitable[str | None]]
"""Asked before each step acts, with the step as asked for and what it was resolved to; an answer is a refusal."""

OnStep: TypeAlias = Callable[[StepReport, Image | None, Image | None], Awaitable[None]]
"""Told of each step that ran, with pictures of the screen before and after."""

REMEMBERED_IMAGES: Final = 20

FOLLOWS: Final = 0.1
"""Seconds that a tree may be behind what is painted."""

_SECRET: Final = re.compile(r"<secret:([^<>\s]+)>")


class Senses(Protocol):
    """What can be seen: `observers.eyes.Eyes`, or a fake one in tests."""

    async def observe(
        self,
        *,
        query: str | None = None,
        role: str | None = None,
        window: str | None = None,
        url: str | None = None,
        screenshot: bool = False,
        region: Rect | None = None,
        monitor: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        detail: bool = False,
        text: bool = False,
    ) -> Observation: ...

    async def read_ahead(self) -> None:
        """Read everything now if that is quick, for a ``look_again(ahead=True)`` soon."""
        ...

    async def look_again(self, *, ahead: bool = False) -> Observation:
        """What changed since the last look, as text; the whole as roots. ``ahead``: by the last reading."""
        ...

    async def roots(self, text: float | None = None) -> tuple[Node, ...]:
        """Everything there is, live, with refs: all windows and the page.

        ``text``: with what the active window says in pixels only, read for at most so many seconds.
        """
        ...

    def recent(self) -> tuple[float, tuple[Node, ...]] | None:
        """The last whole reading, with the moment it began; None when there is none, or an app did not answer it."""
        ...

    async def resolve(self, ref: str) -> tuple[Node, bool]:
        """The element of a ref, live, and whether it had moved. TargetError when it is not what it was."""
        ...

    async def refresh(self, node: Node) -> Node | None:
        """The same element as it is now; None when it is gone."""
        ...

    def was_shown(self, root: Node) -> bool:
        """Whether this window, or page, was in what was last told of the desktop."""
        ...

    def window_of(self, node: Node) -> WindowInfo | None: ...


class Elements(Protocol):
    """Acting on elements of one kind of tree, without the pointer.

    Each raises TargetError ``not_supported`` where the element has no such action of its own.
    """

    async def invoke(self, node: Node) -> Effect: ...

    async def click(self, node: Node, button: str, count: int, modifiers: Sequence[str]) -> Effect:
        """Click inside the tree's own means, where they check that nothing is in the way."""
        ...

    async def set_text(self, node: Node, text: str) -> Effect: ...

    async def read_text(self, node: Node) -> str | None:
        """What a field holds, to the character; None when that cannot be known, or is a password."""
        ...

    async def select(self, node: Node, option: str | None) -> Effect: ...

    async def expand(self, node: Node, on: bool) -> Effect: ...

    async def focus(self, node: Node) -> Effect: ...

    async def show(self, node: Node) -> Node:
        """Scroll the element onto the screen; the element with its place there."""
        ...


class Settling(Protocol):
    """The settle engine: `tools.settle.Settler`, or a fake one in tests. All calls block."""

    def before(self, kind: str) -> Any: ...

    def after(self, baseline: Any, least: float = 0.0) -> Settled:
        """The verdict on what was done since ``before``; none within ``least`` seconds."""
        ...

    def wait_change(self, timeout: float) -> Settled:
        """Wait for a change and its coming to rest. Not within an act."""
        ...

    def wait_painted(self, timeout: float) -> bool:
        """Wait for the next change since the last call; may be called in the middle of an act."""
        ...

    def painted_since(self, moment: float) -> bool:
        """Whether anything changed on the screen since ``moment`` (monotonic clock)."""
        ...

    def close(self) -> None: ...


@dataclass(kw_only=True)
class Workspace:
    """One desktop and all that acts on it. ``browser`` drives the desktop's own browser (`observers.page`)."""

    desktop: Desktop
    senses: Senses
    settling: Settling
    native: Elements
    page: Elements
    text: Elements = field(default_factory=PixelText)
    browser: Browser | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)
    gate: Gate | None = None
    on_step: OnStep | None = None
    images: dict[str, Image] = field(default_factory=dict)
    pictured: dict[str, Sequence[Node]] = field(default_factory=dict)
    """The elements that were there when an image was taken, by its id."""
    clicks: Clicks = field(default_factory=Clicks)
    acted: float = 0.0
    """The moment (monotonic clock) at which the last act had been carried out."""
    resolve_app: Callable[[str | Sequence[str]], App] = resolve_app
    """What a launch step's ``app`` means. ValueError when nothing is installed under that name."""

    def elements(self, node: Node) -> Elements:
        """How to act on this node."""
        return {"page": self.page, "text": self.text}.get(node.source, self.native)

    async def glimpse(self) -> Sequence[Node]:
        """What the screen shows: by the last reading while nothing was painted since, else by a new one.

        For what is said of pixels; who waits for an element asks `Senses.roots`, as trees change without a paint, too.
        """
        recent = self.senses.recent()
        if recent is None or recent[0] < self.acted:
            return await self.senses.roots()
        painted = await in_thread(self.settling.painted_since, recent[0] - FOLLOWS)
        return await self.senses.roots() if painted else recent[1]

    def remember(self, image: Image, roots: Sequence[Node] = ()) -> None:
        """Keep an image's transform, and what it shows: steps may aim at its pixels."""
        self.images.pop(image.id, None)
        self.images[image.id] = image
        self.pictured[image.id] = roots
        while len(self.images) > REMEMBERED_IMAGES:
            oldest = next(iter(self.images))
            self.images.pop(oldest)
            self.pictured.pop(oldest, None)

    def reveal(self, text: str) -> str:
        """The text with secrets in the place of their names, for the moment of typing. InvalidStep: no such secret."""

        def value(found: re.Match[str]) -> str:
            if found[1] not in self.secrets:
                known = ", ".join(self.secrets) or "none"
                raise InvalidStep(f"there is no secret {found[1]!r}; there are: {known}")
            return self.secrets[found[1]]

        return _SECRET.sub(value, text)

    def holds_secret(self, text: str) -> bool:
        """Whether a step's text names a secret."""
        return _SECRET.search(text) is not None


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call of the desktop in a thread: the one seam between asyncio and X.

    When cancelled it waits for the call to come back, so that no key is pressed after everything was let go of.
    """
    task = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise
