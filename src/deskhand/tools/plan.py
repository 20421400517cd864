"""Validates a whole batch before any of it runs; an error names step and field, and says what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from deskhand.desktop.keys import parse_keys
from deskhand.errors import InvalidStep
from deskhand.messages import Image, Json
from deskhand.observers.selector import parse_selector
from deskhand.tools.actions import STEP_TYPES, Check, Key, OnNoChange, Step, Wait
from deskhand.tools.explain import explain, short
from deskhand.tools.step import MAX_STEPS, MAX_STEPS_FROM_ONE_LOOK, POINTER, AimedAt, Spot, StepBase, is_ref

_INSTEAD: Final = {
    "double_click": "click with count=2",
    "triple_click": "click with count=3",
    "right_click": "click with button='right'",
    "left_click": "click",
    "middle_click": "click with button='middle'",
    "hover": "move",
    "mouse_move": "move",
    "set_value": "fill",
    "input": "fill",
    "type_text": "type",
    "keypress": "key",
    "hotkey": "key",
    "open": "launch (an application or URL) or navigate",
    "goto": "navigate",
    "check_box": "toggle with on=true",
    "uncheck": "toggle with on=false",
    "collapse": "expand with on=false",
    "sleep": "wait with seconds",
    "wait_for": "wait with for=selector",
    "assert": "check",
    "screenshot": "the tool observe",
    "observe": "the tool observe",
    "find": "the tool find",
    "finish": "the tool finish",
}
"""Names models tend to use for what we call otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A batch that may run: every step is valid in itself, and every point lies in an image that was shown."""

    steps: tuple[Step, ...]
    on_no_change: OnNoChange = "auto"


def parse_steps(
    raw: Sequence[Json], *, on_no_change: str = "auto", images: Mapping[str, Image] | None = None
) -> Plan:
    """Validate all of a batch. InvalidStep names the first step and field that is wrong.

    ``images`` are the pictures that points may name, oldest first; None leaves points unchecked.
    """
    if on_no_change not in ("auto", "never", "always"):
        raise InvalidStep(f"on_no_change must be 'auto', 'never' or 'always', not {on_no_change!r}")
    if not isinstance(raw, (list, tuple)) or not raw:
        raise InvalidStep(
            'steps must be a list of at least one step, such as [{"kind":"click","target":"e4"}]'
        )
    if len(raw) > MAX_STEPS:
        raise InvalidStep(f"{len(raw)} steps: a batch has at most {MAX_STEPS}; send the first part and look")
    steps = tuple(_parse(number, each) for number, each in enumerate(raw, 1))
    looks = [number for number, step in enumerate(steps, 1) if _trusts_a_look(step)]
    if looks and len(steps) > MAX_STEPS_FROM_ONE_LOOK:
        raise InvalidStep(
            f"step {looks[0]} aims at a ref or a point, and such a batch has at most {MAX_STEPS_FROM_ONE_LOOK} steps"
            f" (this one has {len(steps)}): aim at selectors, or send fewer"
        )
    for number, step in enumerate(steps, 1):
        _check_meaning(number, step, images)
    return Plan(steps=steps, on_no_change=on_no_change)  # type: ignore[arg-type]


def _parse(number: int, raw: Any) -> Step:
    if not isinstance(raw, dict):
        raise InvalidStep(f"step {number}: must be an object with a kind, not {short(raw)}")
    kind = raw.get("kind")
    model = STEP_TYPES.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise InvalidStep(f"step {number}: {_unknown_kind(kind)}")
    # A model that fills in every field of the schema sends nulls for those it does not mean.
    given = {key: value for key, value in raw.items() if value is not None}
    if kind == "wait" and given.pop("change", False) is True:
        given.setdefault("for", "change")
    try:
        step: Step = model.model_validate(given)
    except ValidationError as error:
        raise InvalidStep(f"step {number} ({kind}): {explain(model, error)}") from None
    return step


def _unknown_kind(kind: Any) -> str:
    if not isinstance(kind, str):
        return f"field 'kind' is missing; it is one of {', '.join(STEP_TYPES)}"
    if instead := _INSTEAD.get(kind):
        return f"kind {kind!r} is unknown; use {instead}"
    close = difflib.get_close_matches(kind.lower(), STEP_TYPES, n=2)
    hint = f"did you mean {' or '.join(close)}?" if close else f"it is one of {', '.join(STEP_TYPES)}"
    return f"kind {short(kind)} is unknown; {hint}"


def _trusts_a_look(step: StepBase) -> bool:
    return any(
        isinstance(aim, Spot) or is_ref(aim) or (isinstance(aim, list) and any(is_ref(each) for each in aim))
        for aim in step.aims
    )


def _check_meaning(number: int, step: StepBase, images: Mapping[str, Image] | None) -> None:
    """Selectors, keys and points: wrong ones are found before the first step runs, not in the middle."""
    where = f"step {number} ({step.name})"
    for aim in step.aims:
        _check_aim(f"{where}: target", aim, images)
    if step.until is not None:
        _check_selector(f"{where}: until", step.until)
    if isinstance(step, Check):
        _check_selector(f"{where}: selector", step.selector)
    if isinstance(step, Wait) and step.for_ not in (None, "change"):
        _check_selector(f"{where}: for", str(step.for_))
    if isinstance(step, Key):
        try:
            parse_keys(step.keys)
        except InvalidStep as error:
            raise InvalidStep(f"{where}: keys: {error}") from None


def _check_aim(where: str, aim: AimedAt, images: Mapping[str, Image] | None) -> None:
    if isinstance(aim, Spot):
        if images is not None:
            spot_image(where, aim, images)
        return
    for each in aim if isinstance(aim, list) else [aim]:
        if not is_ref(each) and each != POINTER:
            _check_selector(where, each)


def _check_selector(where: str, text: str) -> None:
    try:
        parse_selector(text)
    except InvalidStep as error:
        raise InvalidStep(f"{where}: {error}") from None


def spot_image(where: str, spot: Spot, images: Mapping[str, Image]) -> Image:
    """The image that a point names. InvalidStep when there is none, or when the point lies outside it."""
    if not images:
        raise InvalidStep(
            f"{where}: no image has been shown; take one with observe(screenshot=true), or use a ref"
        )
    name = spot.image or list(images)[-1]
    image = images.get(name)
    if image is None:
        raise InvalidStep(f"{where}: image {name!r} is not at hand; there are {', '.join(images)}")
    try:
        image.to_screen(spot.x, spot.y)
    except ValueError as error:
        raise InvalidStep(f"{where}: {error}") from None
    return image
