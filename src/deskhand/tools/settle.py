"""When is the app done? Reaction, then stillness, by what the display reports; what moves by itself does not count."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from deskhand.config import SettleSettings
from deskhand.desktop.base import Desktop
from deskhand.errors import DeskhandError
from deskhand.messages import Rect, Settled, Verdict
from deskhand.tools.before import Before
from deskhand.tools.motion import Beat, Region, components, covers, grown, merged, touching
from deskhand.tools.thinking import LOOK, Signal, Thinking, Work
from deskhand.tools.timing import RESIDUAL, Timing, Timings
from deskhand.tools.tracker import Change, Tracker

_READING = (
    0.1  # seconds before a verdict at which the processor clock is read, to tell it apart from earlier work
)
_ASKING = (
    0.008  # seconds before a verdict at which it is asked whether the app is at work: that takes some of them
)
_STOPPED = 0.25  # seconds without a frame after which fast motion has stopped
_REGIONS = 8  # rectangles a verdict names at most


@dataclass(slots=True)
class _Seen:
    """What changed of one region because of the act."""

    region: Region
    last: float
    rect: Rect


@dataclass(slots=True, eq=False)
class Baseline:
    """How things were just before an act. Opaque to callers; good for one `Settler.after`."""

    kind: str
    began: float
    acted: float
    """When the act had been carried out: from then on the app has its time to react."""
    before: Before
    moving: tuple[Region, ...]
    moving_rects: tuple[Rect, ...]
    moved_last: tuple[float, ...]
    late: tuple[Rect, ...]
    serial: int
    work: Work
    seen: dict[int, _Seen] = field(default_factory=dict)
    asked: tuple[float, bool] = (0.0, False)
    """When a verdict was due as it was last asked whether the app is at work, and the answer."""


class Settler:
    """The settle engine of one desktop: follows its screen from now until `close`.

    ``signals`` are asked, before a verdict is given, whether an app is still at work. All methods block and may be
    called from any thread, one act at a time; they raise DesktopError when the display is gone or `close` was called.
    """

    def __init__(self, desktop: Desktop, settings: SettleSettings, signals: Sequence[Signal] = ()) -> None:
        self._desktop, self._timings = desktop, Timings(settings)
        busy_cursor: Signal | None = getattr(desktop.changes, "busy", None)
        self._thinking = Thinking((*signals, *([busy_cursor] if busy_cursor is not None else ())))
        self._tracker = Tracker(
            desktop.screen, desktop.changes, tuple(Rect(*region) for region in settings.ignore_regions)
        )
        self._current: Baseline | None = None
        self._verdict_at: float | None = None
        self._moving_then: set[int] = set()
        self._awaited = self._tracker.serial

    # --- the seam -----------------------------------------------------------------------------------------------------

    def before(self, kind: str) -> Baseline:
        """Remember how things are; call this just before the act. ``kind`` is the step's."""
        pid = self._active_pid()
        tracker = self._tracker
        with tracker.changed:
            tracker.look()
            now = time.monotonic()
            moving = tuple(tracker.motion.moving(now))
            baseline = Baseline(
                kind=kind,
                began=now,
                acted=now,
                before=tracker.keep(),
                moving=moving,
                moving_rects=tuple(touching([region.rect for region in moving])),
                moved_last=tuple(region.last for region in moving),
                late=self._late(moving),
                serial=tracker.serial,
                work=self._thinking.begin(pid, now),
            )
            self._current = baseline
            tracker.changed.notify_all()  # whoever waits for an earlier act sees that it is over
            tracker.begin(now, act=kind != "wait")
            return baseline

    def after(self, baseline: Baseline, least: float = 0.0) -> Settled:
        """Wait until the screen has come to rest after the act, and say how; at most the configured ``max_wait``.

        No verdict before ``least`` seconds after the act: some acts show first and are carried out later.
        """
        timing = self._timings.of(baseline.kind)
        baseline.acted = time.monotonic()
        settled = self._settle(baseline, timing, least)
        self._timings.learn(baseline.kind, settled)
        return settled

    def wait_change(self, timeout: float) -> Settled:
        """Wait up to ``timeout`` seconds for a change that nothing was moving already, and for it to settle.

        A change since the last verdict counts. ``no_change`` when none came.
        """
        baseline = self.before("wait")
        if baseline.late:
            with self._tracker.changed:
                baseline.began = self._verdict_at or baseline.began
                for rect in baseline.late:
                    self._remember(baseline, rect)
        timing = self._timings.of("wait")
        cap = timeout + timing.max_wait
        return self._settle(baseline, replace(timing, react=timeout, max_wait=cap, patience=cap))

    def wait_painted(self, timeout: float) -> bool:
        """Wait up to ``timeout`` seconds for a change since the last verdict or call, without waiting for it to settle.

        The going on of what moves by itself is none.
        """
        end = time.monotonic() + timeout
        tracker = self._tracker
        with tracker.changed:
            while True:
                new = [change for change in tracker.log if change.serial > self._awaited]
                self._awaited = tracker.serial
                if any(not change.region.moves(change.time) for change in new):
                    return True
                left = end - time.monotonic()
                if left <= 0:
                    return False
                tracker.wait(left)

    def painted_since(self, moment: float) -> bool:
        """Whether anything but a caret has changed on the screen since ``moment`` (monotonic), as of now."""
        with self._tracker.changed:
            self._tracker.look()
            return any(change.region.kind() != "caret" for change in self._tracker.since(moment))

    def close(self) -> None:
        """Stop following the screen; whoever waits in another thread gets a DesktopError at once. Idempotent."""
        self._tracker.close()

    # --- judging ------------------------------------------------------------------------------------------------------

    def _settle(self, baseline: Baseline, timing: Timing, least: float = 0.0) -> Settled:
        tracker = self._tracker
        with tracker.changed:
            try:
                while True:
                    if (
                        self._current is not baseline
                    ):  # another act has begun: whoever waited for this one has gone
                        return self._result(
                            baseline, "still_changing" if baseline.seen else "no_change", [], False
                        )
                    now = time.monotonic()
                    self._take_in(baseline, now)
                    verdict, wake = self._judge(baseline, now, timing, least)
                    if verdict is None:
                        tracker.wait(max(0.0, wake - now))
                        continue
                    serial = tracker.serial
                    tracker.look()  # what was painted a moment ago and is not taken in yet
                    if tracker.serial == serial or now >= baseline.acted + timing.max_wait:
                        return verdict
            finally:
                if self._current is baseline:
                    self._current = None
                    self._end(baseline)

    def _judge(
        self, baseline: Baseline, now: float, timing: Timing, least: float
    ) -> tuple[Settled | None, float]:
        """The verdict, or None and when to judge again if nothing changes until then."""
        began, acted = baseline.began, baseline.acted
        waiting = baseline.kind == "wait"
        going_on = [each for each in baseline.seen.values() if each.region.cycles(began, now, RESIDUAL)]
        drawing = [each for each in baseline.seen.values() if each not in going_on]
        turning = [each for each in going_on if each.region.kind() not in ("caret", "clock")]
        reacted = bool(drawing or turning) or self._stopped(baseline, now)
        if drawing:
            last = max(each.last for each in drawing)
            still_at = (last if waiting else max(last, acted)) + timing.quiet
        else:
            still_at = now if reacted else acted + timing.react
        still_at = max(still_at, acted + least)
        due = min(still_at, acted + timing.patience)
        for ahead in (_READING, _ASKING):
            if now < due - ahead:
                return None, due - ahead
        if baseline.asked[0] != due or (now >= due and baseline.asked[1]):
            # Endless motion costs processor time: that says nothing of work.
            thinking = not (waiting and not baseline.seen) and self._thinking.busy(
                baseline.work, now, computing=not turning
            )
            baseline.asked = due, thinking
        thinking = baseline.asked[1]
        if now < due:
            return None, due
        if thinking and now < acted + timing.max_wait:
            return None, min(now + LOOK, acted + timing.max_wait)
        verdict: Verdict
        if now < still_at:
            verdict = "still_changing"
        elif reacted:
            verdict = "settled"
        else:
            verdict = "no_change"
        return self._result(baseline, verdict, [seen.region for seen in going_on], thinking), now

    def _take_in(self, baseline: Baseline, now: float) -> None:
        """Sort new changes into what the act may have done and what was moving anyway; read the processor clock."""
        for change in self._tracker.since(baseline.began):
            if change.serial > baseline.serial:
                baseline.serial = change.serial
                if not _expected(change, baseline):
                    self._note(baseline, change)
        self._thinking.note(baseline.work, now)

    @staticmethod
    def _note(baseline: Baseline, change: Change) -> None:
        seen = baseline.seen.get(id(change.region))
        if seen is None:
            baseline.seen[id(change.region)] = _Seen(change.region, change.time, change.rect)
        else:
            seen.last, seen.rect = change.time, seen.rect.union(change.rect)

    @staticmethod
    def _remember(baseline: Baseline, rect: Rect) -> None:
        region = Region(rect, baseline.began)
        region.note(rect, Beat(baseline.began, False))
        baseline.seen[id(region)] = _Seen(region, baseline.began, rect)

    def _stopped(self, baseline: Baseline, now: float) -> bool:
        """Whether something that was moving fast has come to a halt since."""
        return any(
            region.kind() in ("video", "spinner", "progress")
            and baseline.began - last <= _STOPPED
            and now - max(region.last, baseline.began) > _STOPPED
            for region, last in zip(baseline.moving, baseline.moved_last, strict=True)
        )

    # --- results ------------------------------------------------------------------------------------------------------

    def _result(
        self, baseline: Baseline, verdict: Verdict, cycling: Sequence[Region], thinking: bool
    ) -> Settled:
        on_the_way = [region for region in baseline.moving if region.last > baseline.began]
        moving = [*on_the_way, *cycling]
        for region in moving:
            region.known = True
        kinds = tuple((region.rect, region.kind()) for region in moving)
        if verdict == "settled" and any(kind != "caret" for _, kind in kinds):
            verdict = "settled_except"
        share, regions = self._difference(baseline)
        if not regions and verdict != "no_change":
            regions = merged((seen.rect for seen in baseline.seen.values()), _REGIONS)
        return Settled(
            verdict=verdict,
            waited=time.monotonic() - baseline.acted,
            changed=share,
            regions=regions,
            moving=kinds,
            thinking=thinking,
            note="the screen had changed before this, after the last look" if baseline.late else "",
        )

    def _difference(self, baseline: Baseline) -> tuple[float, tuple[Rect, ...]]:
        """What is different now from before the act, as a share of the screen and as rectangles."""
        frame = self._tracker.frame
        if not baseline.seen or frame.shape != baseline.before.shape:
            return (1.0 if frame.shape != baseline.before.shape else 0.0), ()
        count, parts = 0, []
        for place in merged((seen.rect for seen in baseline.seen.values()), _REGIONS):
            area = slice(place.y, place.bottom), slice(place.x, place.right)
            different = frame[area] != baseline.before.at(place, frame)
            for rect in baseline.moving_rects:
                if common := grown(rect).intersection(place):
                    rows = slice(common.y - place.y, common.bottom - place.y)
                    different[rows, common.x - place.x : common.right - place.x] = False
            count += int(different.sum())
            parts.extend(components(different, place.x, place.y))
        return count / frame.size, merged(parts, _REGIONS)

    def _end(self, baseline: Baseline) -> None:
        now = time.monotonic()
        self._tracker.end()
        self._verdict_at, self._awaited = now, self._tracker.serial
        self._moving_then = {id(region) for region in self._tracker.motion.moving(now)}
        self._thinking.end(baseline.work, now)

    # --- what was before ----------------------------------------------------------------------------------------------

    def _late(self, moving: Sequence[Region]) -> tuple[Rect, ...]:
        """What changed between the last verdict and now, and was not moving by itself."""
        if self._verdict_at is None:
            return ()
        known = self._moving_then | {id(region) for region in moving}
        late = [
            change.rect
            for change in self._tracker.since(self._verdict_at)
            if id(change.region) not in known and not change.region.known
        ]
        return merged(late, _REGIONS)

    def _active_pid(self) -> int | None:
        try:
            active = self._desktop.windows.active()
        except DeskhandError:
            return None
        return active.pid if active is not None else None


def _expected(change: Change, baseline: Baseline) -> bool:
    """Whether a change is the going on of what moved before the act."""
    return any(covers(rect, change.rect) for rect in baseline.moving_rects)
