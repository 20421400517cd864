"""A scripted desktop for the planner's tests: a tree, what steps do to it, and the loop around a model in small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deskhand.messages import (
    BatchReport,
    Json,
    Node,
    Observation,
    Rect,
    Results,
    StepReport,
    Target,
    ToolCall,
    ToolResult,
    Turn,
    WindowInfo,
    Words,
    with_children,
)
from deskhand.observers.node import walk
from deskhand.orchestrator.models.embedded import EmbeddedModel
from deskhand.tools.desk import Desk
from deskhand.tools.toolbox import Toolbox

Rule = Callable[["World", Json, Node | None], str | None]


def node(role: str, name: str = "", *children: Node, **more: Any) -> Node:
    """A node with a rectangle (elements without one are not on the screen)."""
    states = frozenset(more.pop("states", "").split())
    return Node(
        role=role,
        name=name,
        children=children,
        states=states,
        rect=more.pop("rect", Rect(0, 0, 10, 10)),
        **more,
    )


@dataclass
class World:
    """``roots`` with refs by place; ``rules`` get each step first and return an effect when it was theirs."""

    roots: tuple[Node, ...] = ()
    apps: dict[str, tuple[Node, ...]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    steps: list[Json] = field(default_factory=list)
    """What was done, without the waits for a change."""
    waits: list[Json] = field(default_factory=list)
    kind: Any = "native"

    def observe(self) -> Observation:
        self.roots = tuple(self._numbered(root, [0]) if i == 0 else root for i, root in enumerate(self.roots))
        count = [0]
        self.roots = tuple(self._numbered(root, count) for root in self.roots)
        windows = tuple(
            WindowInfo(id=i, title=root.name, app=root.app, active=i == 0)
            for i, root in enumerate(self.roots)
        )
        return Observation(text="tree", roots=self.roots, windows=windows, kind=self.kind)

    def _numbered(self, each: Node, count: list[int]) -> Node:
        count[0] += 1
        ref = f"e{count[0]}"
        return replace(each, ref=ref, children=tuple(self._numbered(child, count) for child in each.children))

    def by_ref(self, ref: str) -> Node | None:
        return next((each for each in walk(self.roots) if each.ref == ref), None)

    def put(self, old: Node, **changes: Any) -> None:
        """Change the element with this ref."""
        self.roots = tuple(_swapped(root, old.ref, changes) for root in self.roots)

    def say(self, *nodes: Node) -> None:
        """Add elements at the end of the first root."""
        self.roots = (with_children(self.roots[0], (*self.roots[0].children, *nodes)), *self.roots[1:])

    def value(self, name: str) -> str | None:
        return next(each.value for each in walk(self.roots) if each.name == name)

    def do(self, step: Json) -> StepReport:
        (self.waits if step.get("for") == "change" else self.steps).append(step)
        target = step.get("target")
        aimed = self.by_ref(target) if isinstance(target, str) else None
        if isinstance(target, str) and aimed is None:
            return StepReport(
                index=len(self.steps), step=step, effect="stale_ref", message="the element is gone"
            )
        effect = next((made for rule in self.rules if (made := rule(self, step, aimed)) is not None), None)
        effect = effect or self._usual(step, aimed)
        shown = Target(ref=aimed.ref, role=aimed.role, name=aimed.name) if aimed else None
        message = "" if effect in ("done", "no_change") else f"{effect} in the scripted world"
        return StepReport(index=len(self.steps), step=step, effect=effect, message=message, target=shown)  # type: ignore[arg-type]

    def _usual(self, step: Json, aimed: Node | None) -> str:
        kind = step["kind"]
        if kind == "launch":
            if step["app"] not in self.apps:
                return "not_found"
            self.roots = (*self.apps[step["app"]], *self.roots)
        elif kind == "window" and step.get("do") == "focus":
            self.roots = tuple(sorted(self.roots, key=lambda root: root.name != step["title"]))
        elif kind == "window" and step.get("do") == "close":
            self.roots = tuple(root for root in self.roots if root.name != step["title"])
        elif kind == "fill" and aimed:
            self.put(aimed, value=step["text"])
        elif kind == "type" and aimed:
            self.put(aimed, value=(aimed.value or "") + step["text"])
        elif kind == "toggle" and aimed:
            on = step.get("on", "checked" not in aimed.states)
            self.put(aimed, states=(aimed.states - {"checked"}) | ({"checked"} if on else set()))
        elif kind == "select" and aimed:
            if "option" in step:
                self.put(aimed, value=step["option"])
            else:
                self.put(aimed, states=aimed.states | {"checked"})
        elif kind == "wait":
            return "done" if step.get("for") != "change" else "no_change"
        else:
            return "done" if kind in ("key", "scroll") else "no_change"
        return "done"


def _swapped(each: Node, ref: str, changes: dict[str, Any]) -> Node:
    if each.ref == ref:
        return replace(each, **changes)
    return with_children(each, [_swapped(child, ref, changes) for child in each.children])


@dataclass
class Outcome:
    """How a run ended: the last call's name and arguments, and all steps that were done."""

    end: str
    arguments: Json
    steps: Sequence[Json]

    @property
    def result(self) -> str:
        return str(self.arguments.get("result") or self.arguments.get("question"))

    @property
    def succeeded(self) -> bool:
        return self.end == "finish" and self.arguments["status"] == "success"


async def run(
    goal: str,
    world: World,
    *,
    inputs: dict[str, str] | None = None,
    answers: Sequence[str] = (),
    turns: int = 40,
) -> Outcome:
    """The loop in small: until `finish`, or an `ask` that nobody answers."""
    model = EmbeddedModel()
    seen = world.observe()
    transcript: list[Any] = [
        Words(role="system", text="rules"),
        Words(role="user", text=goal, goal=goal, inputs=tuple((inputs or {}).items()), observation=seen),
    ]
    left = list(answers)
    for _ in range(turns):
        turn: Turn = await model.turn(transcript, [])
        transcript.append(turn)
        (call,) = turn.calls
        if call.name == "finish" or (call.name == "ask" and not left):
            return Outcome(call.name, call.arguments, world.steps)
        result = _answer(call, world, left)
        transcript.append(Results(results=(result,)))
    raise AssertionError(f"no end after {turns} turns: {world.steps[-5:]}")


def _answer(call: ToolCall, world: World, left: list[str]) -> ToolResult:
    if call.name == "ask":
        return ToolResult(call_id=call.id, name="ask", text=f"Answer: {left.pop(0)}")
    if call.name == "observe":
        return ToolResult(call_id=call.id, name="observe", text="", observation=world.observe())
    reports = []
    steps = call.arguments["steps"]
    for step in steps:
        reports.append(world.do(step))
        if reports[-1].effect != "done":
            break
    batch = BatchReport(steps=tuple(reports), not_run=len(steps) - len(reports), after=world.observe())
    return ToolResult(call_id=call.id, name="act", text="", batch=batch, observation=batch.after)


TURNS = 30


async def carry_out(desk: Desk, goal: str) -> dict[str, Any]:
    """The arguments of the last call (``finish`` or ``ask``); what it names as evidence has to hold."""
    tools, model = Toolbox(desk), EmbeddedModel()
    transcript: list[Any] = [Words(role="user", text=goal, goal=goal, observation=await desk.observe())]
    for _ in range(TURNS):
        turn = await model.turn(transcript, tools.specs())
        (call,) = turn.calls
        if call.name in ("finish", "ask"):
            for proof in call.arguments.get("evidence", []):
                assert await desk.holds(proof), proof
            return call.arguments
        transcript += [turn, Results(results=(await tools.call(call),))]
    raise AssertionError(f"no end after {TURNS} turns")
