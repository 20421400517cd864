"""The frozen values that cross the seams between the rooms. No behaviour beyond arithmetic on themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from deskhand.errors import Effect

Json: TypeAlias = dict[str, Any]

# --- geometry: screen pixels unless a docstring says otherwise -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """A point in screen pixels."""

    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle in screen pixels; right and bottom edges are exclusive."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.x + self.width

    @property
    def bottom(self) -> int:
        return self.y + self.height

    @property
    def center(self) -> Point:
        return Point(self.x + self.width // 2, self.y + self.height // 2)

    @property
    def area(self) -> int:
        return max(0, self.width) * max(0, self.height)

    def contains(self, point: Point) -> bool:
        return self.x <= point.x < self.right and self.y <= point.y < self.bottom

    def intersection(self, other: Rect) -> Rect | None:
        """The common part, or None where they do not overlap."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        return Rect(x, y, right - x, bottom - y) if right > x and bottom > y else None

    def union(self, other: Rect) -> Rect:
        x, y = min(self.x, other.x), min(self.y, other.y)
        return Rect(x, y, max(self.right, other.right) - x, max(self.bottom, other.bottom) - y)


# --- what is seen ------------------------------------------------------------------------------------------------

Source = Literal["native", "page", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One element of a native tree, a page or recognised text.

    ``role`` is ARIA's (``window`` and ``application`` included). ``states`` holds what is true of it, from: checked,
    mixed, selected, disabled, expanded, collapsed, focused, busy, modal, pressed, editable, readonly, required,
    invalid, password, multiline, offscreen, active. ``rect`` is in screen pixels, None when it is not on the screen
    or was not asked for. ``value`` is None when there is none; a password's is never read. ``hint`` is a word of ours
    on what it takes (``date, YYYY-MM-DD``). ``handle`` is the observer's own key to find it again and is never shown;
    ``ref`` is set once a ref table has shown it.
    """

    role: str
    name: str = ""
    value: str | None = None
    description: str = ""
    hint: str = ""
    states: frozenset[str] = frozenset()
    rect: Rect | None = None
    actions: tuple[str, ...] = ()
    level: int | None = None
    url: str = ""
    source: Source = "native"
    app: str = ""
    window: str = ""
    handle: Any = field(default=None, compare=False, repr=False)
    ref: str = field(default="", compare=False)
    children: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An encoded picture and the transform from its pixels to the screen's.

    ``origin`` is the screen pixel of the image's top left corner; ``scale`` is screen pixels per image pixel, by axis.
    ``id`` is how steps name it (``"i3"``).
    """

    data: bytes = field(repr=False)
    width: int
    height: int
    id: str = ""
    media_type: str = "image/png"
    origin: Point = Point(0, 0)
    scale: tuple[float, float] = (1.0, 1.0)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def to_screen(self, x: float, y: float) -> Point:
        """The screen pixel of a point in this image; ValueError names the valid range when it lies outside."""
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise ValueError(
                f"({x:g}, {y:g}) is outside image {self.id}: x must be 0–{self.width - 1}, y 0–{self.height - 1}"
            )
        return Point(
            self.origin.x + int((x + 0.5) * self.scale[0]),
            self.origin.y + int((y + 0.5) * self.scale[1]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowInfo:
    """A top-level window. ``id`` is the X window; ``pid`` None when unknown; ``rect`` is its client area."""

    id: int
    title: str
    app: str = ""
    pid: int | None = None
    rect: Rect = Rect(0, 0, 0, 0)
    active: bool = False
    modal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One look at the desktop.

    ``text`` is what the child reads; ``roots`` is the same as `Node`s, for planners and tests (never sent to a
    provider); ``image`` is there when asked for or when nothing else could say it. ``whole``: the text shows a whole
    tree, not only what changed.
    """

    text: str
    whole: bool = field(default=False, compare=False)
    roots: tuple[Node, ...] = field(default=(), compare=False, repr=False)
    windows: tuple[WindowInfo, ...] = ()
    image: Image | None = None
    kind: Literal["native", "page", "screen"] = "native"
    url: str = ""


# --- what happened -----------------------------------------------------------------------------------------------

Verdict = Literal["settled", "settled_except", "no_change", "still_changing"]
Route = Literal["element", "pointer", "keyboard", "page", "none"]
Risk = Literal["read", "write", "sensitive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How the screen came to rest after an act.

    ``waited`` is seconds from the act to the verdict; ``changed`` the fraction of the screen's pixels that changed
    because of it; ``regions`` where; ``moving`` what still moves (with its kind); ``thinking`` says that the app was
    still busy when the verdict was given.
    """

    verdict: Verdict
    waited: float
    changed: float = 0.0
    regions: tuple[Rect, ...] = ()
    moving: tuple[tuple[Rect, str], ...] = ()
    thinking: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a step's target was resolved to. ``note`` is ``target_reacquired`` when it had moved;
    ``selector`` is one that told the element apart when it was acted on."""

    ref: str = ""
    role: str = ""
    name: str = ""
    rect: Rect | None = None
    window: str = ""
    app: str = ""
    point: Point | None = None
    note: str = ""
    selector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What became of one step of a batch. ``message`` is one line for the child; ``value`` what a step read."""

    index: int
    step: Json
    effect: Effect
    message: str
    target: Target | None = None
    route: Route = "none"
    settled: Settled | None = None
    seconds: float = 0.0
    value: str | None = None
    risk: Risk = "write"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReport:
    """What became of a batch. ``stopped`` says why it ended early (empty when all ran); ``not_run`` counts the rest.

    ``after`` is the observation at the end, as a diff against what the child saw last; its ``roots`` are whole.
    """

    steps: tuple[StepReport, ...]
    not_run: int = 0
    stopped: str = ""
    after: Observation | None = None


# --- the child's conversation ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model sees it: ``schema`` is the JSON schema of its arguments (an object)."""

    name: str
    description: str
    schema: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a model made. ``invalid`` holds the raw text when its arguments were not a JSON object.

    ``safety``: what the provider wants a person to agree with before the call runs, in its words.
    """

    id: str
    name: str
    arguments: Json = field(default_factory=dict)
    invalid: str = ""
    safety: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The answer to one call.

    ``seen`` is where in ``text`` (from, to) stands what was on the screen; the rest reports what was done. ``whole``
    says that it is a whole tree.
    """

    call_id: str
    name: str
    text: str
    images: tuple[Image, ...] = ()
    is_error: bool = False
    seen: tuple[int, int] = (0, 0)
    whole: bool = False
    observation: Observation | None = field(default=None, compare=False, repr=False)
    batch: BatchReport | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call or of a whole task. ``cost_usd`` None: the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    images: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            images=self.images + other.images,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )


Stop = Literal["calls", "end", "length", "refusal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a model: its words and its calls. ``raw`` is the provider's own content, to be replayed untouched.

    ``outdated`` is set where a transcript is shown to a provider: what came before this turn was shortened since, so
    reasoning that is bound to it no longer fits.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    stop: Stop = "end"
    model: str = ""
    raw: Any = field(default=None, compare=False, repr=False)
    outdated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the child is told: ``role`` ``system`` is the rules, ``user`` all else (the brief, nudges, answers).

    ``goal`` and ``inputs`` (field label, value) are set on the brief only, for models that do not read prose. ``seen``
    and ``whole`` are as in `ToolResult`. ``replaces``: a summary of that many entries that came after the brief.
    """

    role: Literal["system", "user"]
    text: str
    images: tuple[Image, ...] = ()
    goal: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    seen: tuple[int, int] = (0, 0)
    whole: bool = False
    replaces: int = 0
    observation: Observation | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The answers to the calls of the turn before, in order."""

    results: tuple[ToolResult, ...]


Entry: TypeAlias = Words | Turn | Results
Transcript: TypeAlias = Sequence[Entry]


@runtime_checkable
class Model(Protocol):
    """What thinks. Implement this to bring your own.

    ``turn`` gets the whole transcript (first the system words, then the brief with the first observation, then turns
    and results) and the tools on offer; it returns one `Turn`, or raises `ModelError`.
    """

    name: str

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn: ...


def with_children(node: Node, children: Sequence[Node]) -> Node:
    """The same node with other children."""
    return replace(node, children=tuple(children))
