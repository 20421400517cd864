"""What the planner can decide for a clause, and what it remembers from turn to turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeAlias

from deskhand.errors import Reason
from deskhand.messages import Json
from deskhand.orchestrator.models.embedded.grammar import Clause
from deskhand.orchestrator.models.embedded.screen import Screen


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Run these steps. ``items``: how many items of the clause are done after each; ``done``: then the clause is.

    ``tried`` are ways that were gone on the search for something, so that they are not gone again; ``kept`` is
    remembered until the clause is done.
    """

    steps: tuple[Json, ...]
    items: tuple[int, ...] = ()
    done: bool = True
    stage: int | None = None
    tried: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Wait a little for the screen to change and look again, a bounded number of times; then ``otherwise``."""

    otherwise: Ask | Fail | Next


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """Nothing to do: for this clause, or up to ``items`` of it. ``said`` and ``proof`` go into the result.

    ``held`` is what was found out, for a later clause to enter.
    """

    said: str = ""
    items: int | None = None
    proof: tuple[str, ...] = ()
    held: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Only the caller can say.

    ``answer`` is how the answer reads as a clause: ``{}`` stands for what was answered. ``about`` is the name that
    several elements have, for an answer such as "the second".
    """

    question: str
    reason: Reason = "question"
    answer: str = "{}"
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """It cannot be done; ``result`` says what was reached and what stood in the way."""

    result: str
    reason: Reason = "gave_up"


Move: TypeAlias = Act | Look | Next | Ask | Fail


@dataclass(slots=True, kw_only=True)
class Memory:
    """Where the planner is. It travels in ``Turn.raw``, so a resumed task goes on where it stopped."""

    clause: int = 0
    item: int = 0
    stage: int = 0
    tries: int = 0
    acts: int = 0
    turns: int = 0
    scope: str = ""
    pending: list[int] = field(default_factory=list)
    pending_done: bool = True
    pending_stage: int | None = None
    pending_said: str = ""
    pending_then: str = ""
    trouble: str = ""
    no_change: str = ""
    waited: bool = False
    seen: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    acted: bool = False
    said: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    proof: list[str] = field(default_factory=list)
    amended: dict[str, str] = field(default_factory=dict)
    answer: str = ""
    about: str = ""
    asked: int = 0
    refused: str = ""
    held: str = ""
    ways: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    through: bool = False

    def at_next(self) -> Memory:
        """As it would be at the next clause."""
        return replace(
            self, clause=self.clause + 1, item=0, stage=0, tries=0, acts=0, trouble="", ways=[], kept=[]
        )

    def advance(self) -> None:
        """Go to the next clause."""
        self.clause += 1
        self.item = self.stage = self.tries = self.acts = 0
        self.trouble = ""
        self.ways, self.kept = [], []

    def dump(self) -> Json:
        return {"planner": asdict(self)}

    @classmethod
    def load(cls, raw: Any) -> Memory | None:
        """The memory in a turn's raw content; None when it is not ours."""
        kept = raw.get("planner") if isinstance(raw, Mapping) else None
        if not isinstance(kept, Mapping):
            return None
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in kept.items() if name in known})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a rule decides on: the clause, the screen, where we are. Rules never change the memory."""

    clause: Clause
    screen: Screen
    memory: Memory

    @property
    def tried(self) -> int:
        return self.memory.tries
