"""Whether the browser's pages are about to look different: their documents change, or an animation with an end runs.

A small script in a world of its own (no page sees it) reports both over the browser's debugging protocol as they
happen; nothing is asked at the time of a verdict. Frames of other sites are not followed: what moves there is seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

_HOLDS_S: Final = 0.1
"""A change of the document makes another one, or a paint, likely for so long. Reports are up to 40 ms apart."""
_STREAM_S: Final = 1.2
"""A document that goes on changing for longer than this does so for ever."""
_LONG_MS: Final = 2000
"""Animations that last longer are for show: a slide show, the time that a notice has left."""
_OFTEN: Final = 2
"""An animation that begins more often than this, in one act or by itself, is one without end."""
_RESTLESS: Final = 3
_RESTLESS_S: Final = 3.5
"""So many changes by itself in so many seconds: it changes all the time, whatever is done."""
_ATTACH_S: Final = 5.0

_REPORT: Final = "deskhandStirs"
_SCRIPT: Final = """
(() => {
  if (globalThis.deskhandLooks) return;
  globalThis.deskhandLooks = true;
  const tell = what => { try { deskhandStirs(what) } catch {} };
  const seen = new WeakSet();
  function animations() {
    for (const each of document.getAnimations().slice(0, 100)) {
      if (seen.has(each) || each.playState !== "running" || !each.playbackRate || !each.effect) continue;
      const end = each.effect.getComputedTiming().endTime;
      if (typeof end !== "number" || !isFinite(end)) continue;
      seen.add(each);
      const left = (end - (Number(each.currentTime) || 0)) / Math.abs(each.playbackRate);
      if (left > 20) tell(Math.round(left) + " " + (each.animationName || each.transitionProperty || each.id || ""));
    }
  }
  let told = -1e9, last = -1e9, streak = 0;
  new MutationObserver(() => {
    const now = performance.now();
    if (now - last > 300) streak = 0;
    last = now;
    if (now - told < (streak < 40 ? 40 : 500)) return;
    told = now; streak += 1;
    tell("");
    animations();
  }).observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
  for (const kind of ["animationstart", "transitionrun"]) document.addEventListener(kind, animations, true);
})();
"""


class Stirring:
    """A signal of the settle engine. Written by the event loop, asked from any thread. Between acts it says nothing."""

    def __init__(self) -> None:
        self._acting = False
        self._restless = False
        self._alone: deque[float] = deque(maxlen=_RESTLESS)
        self._first = self._last = 0.0
        """When the document changed in this act; 0 when it has not."""
        self._ends: dict[str, float] = {}
        self._in_act: defaultdict[str, int] = defaultdict(int)
        self._by_itself: defaultdict[str, int] = defaultdict(int)
        self._tasks: set[asyncio.Task[None]] = set()

    def watch(self, context: BrowserContext) -> None:
        """Follow all pages of a browser from now on."""
        for page in context.pages:
            self._follow(page)
        context.on("page", self._follow)

    def act_begins(self) -> None:
        """What stirs from now on may be an act's doing."""
        now = time.monotonic()
        alone = self._alone
        self._restless = len(alone) == _RESTLESS and now - alone[0] < _RESTLESS_S
        self._first = self._last = 0.0
        self._ends, self._in_act = {}, defaultdict(int)
        self._acting = True

    def act_ends(self) -> None:
        """What stirs from now on does so by itself."""
        self._acting = False

    def __call__(self) -> bool:
        """Whether something that the act may have begun goes on."""
        if not self._acting:
            return False
        now = time.monotonic()
        if not self._restless and now - self._last < _HOLDS_S and now - self._first < _STREAM_S:
            return True
        return any(now < end and not self._endless(name) for name, end in tuple(self._ends.items()))

    def heard(self, report: str) -> None:
        """A page has stirred: empty for a change of the document, else milliseconds left and an animation's name."""
        now = time.monotonic()
        left, _, name = report.partition(" ")
        if not left:
            if self._acting:
                self._last, self._first = now, self._first or now
            else:
                self._alone.append(now)
        elif left.isdecimal() and int(left) <= _LONG_MS:
            if self._acting:
                self._in_act[name] += 1
                self._ends[name] = now + int(left) / 1000
            elif len(self._by_itself) < 500 or name in self._by_itself:
                self._by_itself[name] += 1

    def _endless(self, name: str) -> bool:
        return self._in_act.get(name, 0) > _OFTEN or self._by_itself.get(name, 0) > _OFTEN

    def _follow(self, page: Page) -> None:
        task = asyncio.ensure_future(self._attach(page))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attach(self, page: Page) -> None:
        from playwright.async_api import Error

        def called(event: dict[str, Any]) -> None:
            if event.get("name") == _REPORT:
                self.heard(str(event.get("payload", "")))

        world = "deskhand"
        with contextlib.suppress(Error, TimeoutError):  # a page that closes at once has nothing to say
            async with asyncio.timeout(_ATTACH_S):
                session = await page.context.new_cdp_session(page)
                session.on("Runtime.bindingCalled", called)
                await session.send("Page.enable")
                await session.send("Runtime.enable")  # or else new documents do not get the binding
                await session.send("Runtime.addBinding", {"name": _REPORT, "executionContextName": world})
                script = {"source": _SCRIPT, "worldName": world, "runImmediately": True}
                await session.send("Page.addScriptToEvaluateOnNewDocument", script)
