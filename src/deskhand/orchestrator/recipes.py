"""Recipes: steps written down, with parameters, checks and outputs; from a file or from the log of a task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deskhand.audit.log import FILE_NAME
from deskhand.audit.read import Event, read_events
from deskhand.errors import DeskhandError
from deskhand.messages import Json
from deskhand.observers.selector import parse_selector
from deskhand.tools.plan import parse_steps
from deskhand.tools.step import is_ref

FAILED = {"not_supported", "stale_ref", "ambiguous", "not_found", "busy", "denied", "covered", "skipped"}
"""Effects of steps that a replay leaves out: nothing had been done."""

SHORTEST = 2
"""Characters of an input's value at least, for it to be looked for inside of longer texts."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


_PLACE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""``${name}``; ``$${`` is ``${`` itself."""


class Recipe(BaseModel):
    """Steps of the action vocabulary that can be run without a model.

    ``parameters``: names with their defaults; None must be given. ``${name}`` stands for one in any text of ``steps``,
    ``expect`` and ``outputs``. ``expect``: selectors or quotes that must hold at the end. ``outputs``: by name, the
    selector of the element whose value (else name) is the result's ``data``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    goal: str = ""
    parameters: dict[str, str | None] = Field(default_factory=dict)
    steps: list[dict[str, Any]] = Field(min_length=1)
    expect: list[str] = Field(default_factory=list)
    outputs: dict[str, str] = Field(default_factory=dict)

    def filled(self, inputs: Mapping[str, str]) -> Recipe:
        """The recipe with its parameters' values put in, and checked as a whole. ValueError names what is wrong."""
        if unknown := sorted(inputs.keys() - self.parameters.keys()):
            known = ", ".join(self.parameters) or "it has none"
            raise ValueError(f"inputs: the recipe has no parameter {unknown[0]!r} ({known})")
        values = {name: inputs.get(name, default) for name, default in self.parameters.items()}
        if missing := [name for name, value in values.items() if value is None]:
            raise ValueError(f"inputs: the recipe needs a value for {', '.join(missing)}")

        def put(value: Any) -> Any:
            if isinstance(value, str):
                return _PLACE.sub(lambda found: str(values[found[1]]) if found[1] else "${", value)
            if isinstance(value, list):
                return [put(each) for each in value]
            if isinstance(value, dict):
                return {key: put(each) for key, each in value.items()}
            return value

        try:
            filled = Recipe.model_validate({**put(self.model_dump()), "parameters": {}})
        except KeyError as error:
            raise ValueError(
                f"the recipe uses ${{{error.args[0]}}}, which is none of its parameters"
            ) from None
        filled.check()
        return filled

    def check(self) -> None:
        """ValueError for a step or a selector that could not run."""
        for number, step in enumerate(self.steps, 1):
            try:
                parse_steps([step], images={})
            except DeskhandError as error:
                raise ValueError(f"step {number} of the recipe: {error}") from None
            if any(is_ref(target) for target in _targets(step)):
                raise ValueError(
                    f"step {number} of the recipe: a ref means nothing in another run; use a selector"
                )
        for name, selector in self.outputs.items():
            try:
                parse_selector(selector)
            except DeskhandError as error:
                raise ValueError(f"output {name!r} of the recipe: {error}") from None

    def dump(self) -> str:
        """The recipe as YAML."""
        kept = self.model_dump(exclude_defaults=True)
        return str(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=110))


def load_recipe(path: str | Path) -> Recipe:
    """A recipe from a YAML (or JSON) file. ValueError says what is wrong with it, and where."""
    try:
        read = yaml.safe_load(Path(path).read_text("utf-8"))
        recipe = Recipe.model_validate(read)
    except OSError as error:
        raise ValueError(f"the recipe {str(path)!r} cannot be read: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise ValueError(f"the recipe {str(path)!r} is not YAML: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise ValueError(f"the recipe {str(path)!r}: {where}: {first['msg']}") from None
    for name in recipe.parameters:
        if not _NAME.fullmatch(name):
            raise ValueError(f"the recipe {str(path)!r}: {name!r} cannot be a parameter's name")
    return recipe if recipe.name else recipe.model_copy(update={"name": Path(path).stem})


def recipe_of(directory: Path) -> Recipe:
    """What a successful task did, as a recipe: its inputs are the parameters.

    Elements are found again by what the child aimed at, where that was a selector, else by the selector that told them
    apart when they were acted on. ValueError when the task did not succeed, or did what cannot be done again.
    """
    events = list(read_events(directory / FILE_NAME))
    start = next((event for event in events if event["kind"] == "task_started"), {})
    end = next((event for event in reversed(events) if event["kind"] == "task_finished"), {})
    if end.get("status") != "success":
        raise ValueError(f"{directory.name} did not end in success: there is nothing to replay")
    inputs = {str(label): str(value) for label, value in (start.get("inputs") or {}).items()}
    names = {label: _parameter(label) for label in inputs}
    steps = [_again(event) for event in events if event["kind"] == "action" and event["effect"] not in FAILED]
    if not steps:
        raise ValueError(f"{directory.name} has no steps that could be done again")
    evidence = [str(item["check"]) for item in end.get("evidence") or [] if item.get("holds")]
    put = _Parameters({names[label]: value for label, value in inputs.items()})
    return Recipe(
        name=directory.name,
        goal=put(str(start.get("goal", ""))),
        parameters={names[label]: value for label, value in inputs.items()},
        steps=[put(step) for step in steps],
        expect=[put(check) for check in evidence],
    )


def _parameter(label: str) -> str:
    """A field's label as a parameter's name: ``E-mail`` is ``e_mail``."""
    name = re.sub(r"\W+", "_", label.strip().lower(), flags=re.ASCII).strip("_")
    return name if _NAME.fullmatch(name) else f"input_{name}".rstrip("_")


class _Parameters:
    """Puts parameters in the place of their values, wherever these occur."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = sorted(values.items(), key=lambda item: -len(item[1]))

    def __call__(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self(each) for each in value]
        if isinstance(value, dict):
            return {key: each if key == "kind" else self(each) for key, each in value.items()}
        if not isinstance(value, str):
            return value
        value = value.replace("${", "$${")
        for name, given in self._values:
            if value == given or (len(given) >= SHORTEST and given in value):
                value = value.replace(given, f"${{{name}}}")
        return value


def _again(event: Event) -> Json:
    """A step of a log, aimed at what can be found again. ValueError when it was aimed at bare pixels."""
    step, target = dict(event["step"]), event.get("target") or {}
    aimed = step.get("target")
    selector = target.get("selector") or ""
    if aimed is None and step.get("path") is None:
        return step
    if isinstance(aimed, str) and not is_ref(aimed):
        step["target"] = [aimed, selector] if selector and selector != aimed else aimed
    elif selector and "path" not in step:
        step["target"] = selector
    elif any(is_ref(each) or isinstance(each, dict) for each in _targets(step)):
        raise ValueError(f"step {event['seq']} ({step['kind']}) was aimed at a place that has no name")
    return step


def _targets(step: Json) -> Iterator[Any]:
    for aimed in (step.get("target"), step.get("path") if step.get("kind") == "drag" else None):
        yield from aimed if isinstance(aimed, list) else [aimed]
