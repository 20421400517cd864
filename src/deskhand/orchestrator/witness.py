"""What was on the screen just before each act: without it nobody can tell what an act brought about."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from deskhand.errors import Effect
from deskhand.messages import Image, Json, Node, StepReport, Target
from deskhand.observers.node import flatten, text_of, walk
from deskhand.observers.selector import selector_for
from deskhand.orchestrator.place import Place, place_of
from deskhand.orchestrator.signs import signature

_LOOKS_ONLY: Final = frozenset("scroll move wait check focus expand observe".split())
"""Kinds of step that change nothing but what is in view."""

_IDLE_KEYS: Final = frozenset(
    "escape esc tab shift+tab up down left right home end page_up page_down pageup pagedown".split()
)
_ENTERS_TEXT: Final = frozenset({"fill", "type", "clipboard"})
_GOES_SOMEWHERE: Final = frozenset({"launch", "navigate", "tab", "window"})
_DISMISSES: Final = frozenset("close dismiss ok okay accept later skip cancel × x".split()) | {
    "got it",
    "no thanks",
}
_CONTEXT: Final = frozenset("row listitem treeitem article group dialog alertdialog form region".split())
_CONTEXT_CHARACTERS: Final = 300
FAILED: Final[frozenset[Effect]] = frozenset(
    ("not_supported", "stale_ref", "ambiguous", "not_found", "busy", "denied", "covered")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What is on the screen at one moment: the trees, the windows' titles, and whose window is active."""

    roots: tuple[Node, ...] = ()
    titles: tuple[str, ...] = ()
    app: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One step that was carried out. ``before`` is None when it never came to that; ``around`` is the text of the row
    or group that its target stands in, ``said`` what a dialog that it answered had said."""

    step: Json
    effect: Effect
    target: Target | None = None
    before: Scene | None = None
    around: str = ""
    said: str = ""

    @property
    def kind(self) -> str:
        return str(self.step.get("kind", ""))

    @property
    def failed(self) -> bool:
        return self.effect in FAILED

    @property
    def commits(self) -> bool:
        """Whether it may have changed something besides what is in view."""
        if self.kind in _LOOKS_ONLY or self.effect == "skipped":
            return False
        return not (self.kind == "key" and str(self.step.get("keys", "")).strip().lower() in _IDLE_KEYS)

    @property
    def enters_text(self) -> bool:
        return self.kind in _ENTERS_TEXT and not self.step.get("enter")

    @property
    def passes_by(self) -> bool:
        """Whether what counts may have happened before it: it only goes somewhere, or closes what was in the way."""
        return self.kind in _GOES_SOMEWHERE or self.enters_text or self.dismisses

    @property
    def dismisses(self) -> bool:
        """Whether it may do no more than close a message."""
        if self.kind == "dialog":
            return True
        return self.target is not None and self.target.name.strip().casefold() in _DISMISSES

    def words(self) -> str:
        """All that was named or typed in it."""
        said = [
            str(part)
            for key in ("text", "app", "url", "option", "keys", "title", "files", "path", "target")
            if (value := self.step.get(key)) is not None
            for part in (value if isinstance(value, list) else [value])
        ]
        if self.target is not None:
            said += [self.target.name, self.target.window, self.target.app]
        return " ".join([*said, self.around])


Permit = Callable[[Json, Target | None, Node | None, Place], Awaitable[str | None]]
Ask = Callable[[Json, Target | None, Node | None], Awaitable[str | None]]
Told = Callable[[StepReport, Image | None, Image | None], Awaitable[None]]


@dataclass
class Witness:
    """Keeps the scene before each act, as the gate and the record of a desk come by. ``first`` is how it all began."""

    look: Callable[[], Awaitable[Scene]]
    first: Scene | None = None
    acts: list[Act] = field(default_factory=list)
    last_act: float = 0.0
    _before: Scene | None = None
    _around: str = ""
    _selector: str = ""

    def gate(self, permit: Permit) -> Ask:
        """The same gate, which looks before it lets an act happen: ``permit`` is told of the place, too."""

        async def ask(step: Json, target: Target | None, node: Node | None) -> str | None:
            kind = str(step.get("kind"))
            if kind in _LOOKS_ONLY:
                return await permit(step, target, node, Place())
            scene = await self.look()
            if node is None and (target is not None or kind in ("key", "press", "release", "type")):
                # What is aimed at by pixels or by keys is judged by what is there.
                node = _meant(target, scene.roots)
                if node is not None:
                    target = replace(
                        target or Target(), role=node.role, name=node.name, window=node.window, app=node.app
                    )
            place = place_of(step, target, node, scene.roots, scene.app)
            refusal = await permit(step, target, node, place)
            if refusal is None and self._before is None:
                self._before = scene
                self._around = around(node, scene.roots) if node is not None else ""
                self._selector = _selector_of(node, scene.roots) if node is not None else ""
            return refusal

        return ask

    def on_step(self, told: Told) -> Told:
        """The same hook, which remembers what became of the step."""

        async def note(report: StepReport, before: Image | None, after: Image | None) -> None:
            if report.target is not None and self._selector:
                report = replace(report, target=replace(report.target, selector=self._selector))
            self.note(report)
            await told(report, before, after)

        return note

    def note(self, report: StepReport) -> None:
        scene, self._before = self._before, None
        self.acts.append(
            Act(
                step=report.step,
                effect=report.effect,
                target=report.target,
                before=scene,
                around=self._around,
                said=report.message if report.step.get("kind") == "dialog" else "",
            )
        )
        self._around = self._selector = ""
        self.last_act = time.monotonic()

    def forget_before(self) -> None:
        """A person used the desktop: what was there before the acts so far says nothing about them any more."""
        self.acts = [replace(act, before=None) for act in self.acts]

    def befores(self) -> list[Scene]:
        """The scenes before the last act that counts, and before those that it may only have followed up."""
        return [act.before for act in self._tail() if act.before is not None]

    def dismissed(self) -> list[str]:
        """What the messages said that were closed since the last act that counts."""
        return [said for act in self._tail() if act.dismisses and (said := act.said or act.around)]

    def passed_by(self) -> frozenset[tuple[str, str, str]]:
        """The dialogs that were there before the last act that counts and that it took place beside."""
        tail = self._tail()
        if not tail or tail[0].target is None or tail[0].before is None:
            return frozenset()
        return frozenset(
            signature(node)
            for node in walk(tail[0].before.roots)
            if node.role in ("dialog", "alertdialog")
            and "modal" not in node.states
            and node.source == "page"
            and not any(_is_target(each, tail[0].target) for each in walk(node.children))
        )

    def _tail(self) -> list[Act]:
        acts: list[Act] = []
        run_of_text = False
        for act in reversed([act for act in self.acts if act.commits and not act.failed and act.before]):
            if run_of_text and not act.enters_text:
                break
            acts.append(act)
            if not act.passes_by:
                break
            run_of_text = act.enters_text
        return acts


def _selector_of(node: Node, roots: Sequence[Node]) -> str:
    """A selector for the element among all that is there: what a replay finds it by."""
    there = next((each for each in walk(roots) if each is node or (node.ref and each.ref == node.ref)), node)
    return selector_for(there, roots)


def _is_target(node: Node, target: Target) -> bool:
    if node.ref and target.ref:
        return node.ref == target.ref
    return (node.role, node.name) == (target.role, target.name)


def _meant(target: Target | None, roots: Sequence[Node]) -> Node | None:
    """The smallest element under a point; without a point, what has the keyboard."""
    if target is None or target.point is None:
        focused = [node for node in walk(roots) if "focused" in node.states and node.role != "window"]
        return focused[-1] if focused else None
    there = [
        node
        for node in walk(roots)
        if node.rect is not None and node.rect.contains(target.point) and "offscreen" not in node.states
    ]
    named = [node for node in there if node.name] or there
    # Of two of one size the inner one, which comes later.
    return min(reversed(named), key=lambda node: node.rect.area if node.rect else 0, default=None)


def around(node: Node, roots: Sequence[Node]) -> str:
    """The text of the nearest row, group or dialog around a node; empty when that is half the screen."""
    flat = flatten(roots)
    for index, other in enumerate(flat.nodes):
        same = (
            other.handle == node.handle
            if node.handle is not None
            else (other.role, other.name) == (node.role, node.name)
        )
        if same and other.role == node.role:
            for above in flat.path(index):
                if flat.nodes[above].role in _CONTEXT:
                    text = text_of(flat.nodes[above])
                    return text if len(text) <= _CONTEXT_CHARACTERS else ""
            return ""
    return ""
