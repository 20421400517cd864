"""What every step of the action vocabulary has: what it may aim at, how often it runs, when it gives up."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from deskhand.messages import Json, Risk

MAX_STEPS: Final = 32
MAX_STEPS_FROM_ONE_LOOK: Final = 8
"""Steps in a batch that aims at refs or points: they all trust one look at a screen that each of them changes."""
MAX_REPEATS: Final = 20
MAX_TEXT: Final = 100_000

_REF: Final = re.compile(r"e\d{1,9}")

Text: TypeAlias = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Words: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
ButtonName: TypeAlias = Literal["left", "right", "middle", "back", "forward"]
Modifier: TypeAlias = Literal["ctrl", "shift", "alt", "super"]


class StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False, str_max_length=MAX_TEXT)


class Spot(StrictModel):
    """A point in pixels of an image that the child was shown (``image``: its id; the last one when absent)."""

    x: float = Field(allow_inf_nan=False)
    y: float = Field(allow_inf_nan=False)
    image: str | None = None


AimedAt: TypeAlias = Words | Annotated[list[Words], Field(min_length=1, max_length=10)] | Spot
Where: TypeAlias = Annotated[
    AimedAt,
    Field(
        description="ref like e12, selector, list of selectors (first that exists), or {x,y} in image pixels"
    ),
]


POINTER: Final = "pointer"
"""The target that stands for wherever the pointer is."""


def is_ref(target: object) -> bool:
    """Whether a target is a ref (``"e12"``), not a selector."""
    return isinstance(target, str) and _REF.fullmatch(target.strip()) is not None


class StepBase(StrictModel):
    """What every step takes."""

    optional: bool = Field(False, description="skip this step if its target is absent")
    until: Words | None = Field(None, description="selector: repeat this step until it matches")
    times: int | None = Field(None, ge=1, le=MAX_REPEATS, description="how often; with until: at most")
    timeout: float | None = Field(
        None, gt=0, le=120, description="seconds to wait for the target (default 5)"
    )
    settle: Literal["auto", "none"] = Field("auto", description="none: do not wait for the screen to rest")

    @property
    def name(self) -> str:
        """The step's kind."""
        return str(getattr(self, "kind"))  # noqa: B009 - declared by each step, with its own literal

    @property
    def aims(self) -> tuple[AimedAt, ...]:
        """Everything the step aims at."""
        target = getattr(self, "target", None)
        return () if target is None else (target,)

    @property
    def risk(self) -> Risk:
        """What the kind alone says; who is aimed at may make it ``sensitive``."""
        return "write"

    def asked(self) -> Json:
        """The step as it was asked for, JSON-ready."""
        return {"kind": self.name} | self.model_dump(mode="json", by_alias=True, exclude_unset=True)
