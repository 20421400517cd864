"""The public façade of a desktop: look, act, find, wait. The child, scripts and tests share it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import inspect
import itertools
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from deskhand.config import Settings, load_settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.base import Desktop, Recorder
from deskhand.errors import DeskhandError, InvalidStep, TargetError
from deskhand.messages import BatchReport, Image, Json, Node, Observation, Point, Rect, StepReport, WindowInfo
from deskhand.observers.selector import parse_selector
from deskhand.terms import Private
from deskhand.tools import evidence as proofs
from deskhand.tools.batch import Batch
from deskhand.tools.pictures import Pictures
from deskhand.tools.plan import parse_steps
from deskhand.tools.recording import Recording
from deskhand.tools.search import READ_SECONDS, search
from deskhand.tools.sync import SyncDesk, running_desk
from deskhand.tools.targets import place_of
from deskhand.tools.wait import WAIT_TIMEOUT, wait_change, wait_selector
from deskhand.tools.wiring import connect
from deskhand.tools.workspace import Gate, OnStep, Workspace, in_thread

REMEMBERED_LOOKS: Final = 32
"""Whole trees kept to tell what was there before: ``absent:`` proves nothing of what never was."""


class Desk:
    """One desktop to work on.

    Coordinates are screen pixels, except in a step's ``{"x", "y"}``, which are pixels of the image it names. One batch
    runs at a time: another one that comes meanwhile is refused at once (TargetError ``busy``). DesktopError when the
    desktop breaks.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._pictures = Pictures(workspace.desktop.screen)
        self._pictures.wanted = workspace.on_step is not None
        self._acting = asyncio.Lock()
        self._recorder: Recorder | None = None
        self._numbers = itertools.count(1)
        self._looks: list[tuple[float, tuple[Node, ...]]] = []

    @property
    def desktop(self) -> Desktop:
        """The computer itself: screen, input, windows."""
        return self.workspace.desktop

    # --- looking --------------------------------------------------------------------------------------------------

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
    ) -> Observation:
        """What is on the desktop: the windows, and the active (or named) window's elements with refs.

        ``url`` reads a page instead, without disturbing the open tabs. ``screenshot`` adds a picture, ``region`` one of
        that part of the screen, enlarged, ``monitor`` one of that monitor (from 1, left to right). A picture is there
        unasked when nothing else can say what is there. ``text`` reads what is only pixels: in pictures, canvases, PDFs
        (extra ``ocr``; ToolError without it). ToolError when the region or the monitor is not on the screen.
        """
        seen = await self.workspace.senses.observe(
            query=query,
            role=role,
            window=window,
            url=url,
            screenshot=screenshot,
            region=region,
            monitor=monitor,
            limit=limit,
            offset=offset,
            detail=detail,
            text=text,
        )
        if seen.image is not None:
            self.workspace.remember(seen.image, seen.roots)
        self._remember_look(seen.roots)
        return seen

    async def find(self, selector: str, limit: int = 50) -> tuple[list[Node], int]:
        """The first ``limit`` elements that match, in all windows, and how many match. InvalidStep: bad selector."""
        found, _ = await self._search(selector)
        return found[:limit], len(found)

    async def find_text(self, selector: str, limit: int = 50) -> str:
        """`find` in words: one element a line, with its named ancestors and the total."""
        found, roots = await self._search(selector)
        if not found:
            return f"nothing matches {selector}"
        lines = [f"- {place_of(node, roots)}" for node in found[:limit]]
        if len(found) > limit:
            lines.append(f"… {len(found) - limit} more of {len(found)}")
        return "\n".join(lines)

    async def wait_for(
        self, selector: str, state: str = "present", timeout: float = WAIT_TIMEOUT
    ) -> Node | None:
        """The first match once there is one; for ``absent`` None once there is none.

        TargetError ``not_found`` when ``timeout`` seconds have passed.
        """
        found = await self._wait(selector, state, timeout)
        return found[0] if found else None

    async def wait_text(self, selector: str, *, state: str, timeout: float) -> tuple[str, bool]:
        """`wait_for` in words, and whether it came; ``change`` as the selector waits for anything to change."""
        if selector.strip() == "change":
            settled = await wait_change(self.workspace, timeout)
            if settled.verdict == "no_change":
                return f"nothing changed on the screen within {timeout:g} s", False
            return (await self.look_again()).text, True
        try:
            found = await self._wait(selector, state, timeout)
        except TargetError as error:
            return str(error), False
        roots = self._looks[-1][1] if self._looks else ()
        return "\n".join(f"- {place_of(node, roots)}" for node in found[:10]) or f"{selector} is absent", True

    async def screenshot(self, region: Rect | None = None) -> Image:
        """The screen, or a region of it, at its own size. A step may aim at its pixels by ``image.id``."""
        frame = await in_thread(self.desktop.screen.grab, region)
        data = await asyncio.to_thread(frame.png)
        height, width = frame.pixels.shape
        image = Image(
            data=data,
            width=width,
            height=height,
            id=f"s{next(self._numbers)}",
            origin=Point(frame.rect.x, frame.rect.y),
        )
        self.workspace.remember(image, await self._roots())
        return image

    async def last_clicks(self, count: int = 3) -> tuple[str, Image | None]:
        """The last clicks on bare pixels, in words and as one picture with a cross where each hit; None without any."""
        return await asyncio.to_thread(self.workspace.clicks.look_back, count)

    async def read_page(self, url: str) -> str:
        """A web page as text, without disturbing the open tabs."""
        return (await self.observe(url=url)).text

    async def look_again(self) -> Observation:
        """What changed since the last look, as text; everything as ``roots``."""
        seen = await self.workspace.senses.look_again()
        self._remember_look(seen.roots)
        return seen

    def looks_since(self, moment: float) -> list[tuple[Node, ...]]:
        """The trees that were seen after ``moment`` (`time.monotonic`), oldest first, as far as they are remembered."""
        return [roots for when, roots in self._looks if when > moment]

    async def windows(self) -> Sequence[WindowInfo]:
        """The windows, topmost first."""
        return await in_thread(self.desktop.windows.list)

    # --- acting ---------------------------------------------------------------------------------------------------

    async def act(self, steps: Sequence[Json], on_no_change: str = "auto") -> BatchReport:
        """Run a batch of steps, each settled before the next.

        InvalidStep before anything runs when any step cannot mean anything. What a step could not do is in the report,
        with what is on the screen instead.
        """
        plan = parse_steps(steps, on_no_change=on_no_change, images=self.workspace.images)
        if self._acting.locked():
            raise TargetError("busy", "another batch is running on this desktop: wait for it to end")
        async with self._acting:
            report = await Batch(self.workspace, plan, self._pictures).run()
        if report.after is not None:
            self._remember_look(report.after.roots)
        return report

    async def launch(self, app: str | Sequence[str], timeout: float | None = None) -> BatchReport:
        """Start an app (command line, name, or URL) and wait for its window. TargetError when it cannot be started."""
        step: Json = {"kind": "launch", "app": app if isinstance(app, str) else list(app)}
        report = await self.act([step if timeout is None else step | {"timeout": timeout}])
        done = report.steps[0]
        if done.effect != "done":
            raise TargetError(done.effect, done.message)
        return report

    # --- evidence -------------------------------------------------------------------------------------------------

    async def holds(self, evidence: str) -> bool:
        """Whether a piece of evidence is true of the desktop now: a selector, a quote, or ``absent:SELECTOR``.

        ``absent:`` holds only of what was seen here before. Nothing is true of empty or meaningless evidence.
        """
        before = [look for _, look in self._looks]
        roots = await self._roots()
        titles = [window.title for window in await self.windows()]
        selector = proofs.absent_selector(evidence)
        if proofs.holds(evidence, roots, titles) is (selector is not None) and proofs.may_be_text(evidence):
            # Only pixels may say it, or say what should be gone.
            roots = await self._roots(text=READ_SECONDS)
        if not proofs.holds(evidence, roots, titles):
            return False
        return selector is None or any(proofs.matches(selector, look) for look in before)

    async def matches(self, selector: str) -> bool:
        """Whether a selector matches anything now. InvalidStep when it means nothing."""
        return bool((await self._search(selector))[0])

    # --- recording ------------------------------------------------------------------------------------------------

    def record(self, path: str | os.PathLike[str], *, fps: int = 10) -> Recording:
        """Record the screen into an MP4, for the length of an ``async with``; awaited, until `stop_recording`.

        A recording that is running when the desk ends is finished then. ValueError when one is running already;
        DesktopError when the file cannot be written; MissingPart without ffmpeg.
        """
        file = os.fspath(path)
        return Recording(file, lambda: self._start_recording(file, fps), self.stop_recording)

    async def _start_recording(self, path: str, fps: int) -> Recorder:
        if self._recorder is not None:
            raise ValueError(f"a recording is running already, into {self._recorder.path}")
        self._recorder = await in_thread(self.desktop.record, path, fps=fps)
        return self._recorder

    async def stop_recording(self, within: float | None = None) -> str | None:
        """Finish the file; its path, None when nothing was recorded. DesktopError when the file is no good.

        ``within`` is about how many seconds that may take: a recorder that hangs is killed.
        """
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return None
        await in_thread(recorder.stop, within)
        return recorder.path

    # --- the end --------------------------------------------------------------------------------------------------

    async def aclose(self) -> None:
        """End what this desk itself started: a recording. The desktop ends with `open_desktop`. Idempotent."""
        with contextlib.suppress(DeskhandError):
            await self.stop_recording()

    async def _roots(self, text: float | None = None) -> tuple[Node, ...]:
        roots = await self.workspace.senses.roots(text)
        self._remember_look(roots)
        return roots

    async def _search(self, selector: str) -> tuple[list[Node], Sequence[Node]]:
        found, roots = await search(self.workspace.senses, parse_selector(selector))
        self._remember_look(tuple(roots))
        return found, roots

    async def _wait(self, selector: str, state: str, timeout: float) -> list[Node]:
        if state not in ("present", "absent"):
            raise InvalidStep(f"state must be 'present' or 'absent', not {state!r}")
        found = await wait_selector(self.workspace, selector, state=state, timeout=timeout)
        if found is None:
            there = "still there" if state == "absent" else "not there"
            raise TargetError("not_found", f"{selector} is {there} after {timeout:g} s")
        self._remember_look(await self.workspace.senses.roots())
        return found

    def _remember_look(self, roots: tuple[Node, ...]) -> None:
        if roots:
            self._looks.append((time.monotonic(), roots))
            del self._looks[:-REMEMBERED_LOOKS]


@contextlib.asynccontextmanager
async def open_desktop(
    computer: str | Private = "private",
    *,
    settings: Settings | None = None,
    on_event: Callable[[Json], Any] | None = None,
    gate: Gate | None = None,
    on_step: OnStep | None = None,
    secrets: Mapping[str, str] | None = None,
) -> AsyncIterator[Desk]:
    """A desktop without a child: ``"private"``, `Private` or ``"display::99"``. It ends with the block.

    ``on_event`` is called with each step's report as a dict, ``on_step`` awaited with the report and pictures before
    and after; ``gate`` is asked before each step acts and refuses by answering; ``secrets`` are typed where a step's
    text says ``<secret:name>``. ValueError for a computer that means nothing; MissingPart or DesktopError when it
    cannot be had.
    """
    settings = settings or load_settings()
    desktop = await open_desktop_backend(computer, settings=settings, environ=dict(os.environ))
    async with contextlib.AsyncExitStack() as undo:
        undo.push_async_callback(asyncio.to_thread, desktop.close)
        workspace = await connect(desktop, settings, secrets=secrets or {}, undo=undo)
        workspace.gate = gate
        workspace.on_step = on_step if on_event is None else reporting(on_event, on_step)
        desk = Desk(workspace)
        undo.push_async_callback(desk.aclose)
        yield desk


@contextlib.contextmanager
def open_desktop_sync(computer: str | Private = "private", **options: Any) -> Iterator[SyncDesk]:
    """`open_desktop` without an event loop: the same methods as plain calls. The same options."""
    with running_desk(open_desktop(computer, **options)) as desk:
        yield desk


def reporting(on_event: Callable[[Json], Any], on_step: OnStep | None) -> OnStep:
    """An `OnStep` that tells ``on_event`` too, as a plain dict without pictures."""

    async def tell(report: StepReport, before: Image | None, after: Image | None) -> None:
        event = on_event({"kind": "action", **dataclasses.asdict(report)})
        if inspect.isawaitable(event):
            await event
        if on_step is not None:
            await on_step(report, before, after)

    return tell
