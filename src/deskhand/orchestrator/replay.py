"""Doing a recipe: its steps in the place of a model, in a task like any other."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deskhand.audit.store import TaskStore
from deskhand.config import data_home, load_settings
from deskhand.messages import Json, Model, Results, ToolCall, ToolResult, ToolSpec, Transcript, Turn
from deskhand.orchestrator.brief import TaskStatus
from deskhand.orchestrator.models import make_model
from deskhand.orchestrator.recipes import Recipe, recipe_of
from deskhand.orchestrator.task import computer_task
from deskhand.terms import Policy, Private
from deskhand.tools.step import MAX_STEPS

# A line of `find`: role, name in quotes, ref and states, and after a colon the value in quotes.
_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_FOUND = re.compile(rf"- \S+(?: {_QUOTED})?(?:.*?: {_QUOTED})?")
_ESCAPED = re.compile(r"\\(n|t|[0-9a-f]{1,6} ?|.)", re.S)


class RecipeModel:
    """Says the steps of a recipe (without parameters), then reads its outputs and finishes.

    On the first step that does not go as written it stops and says what differed; with ``then`` that model goes on from
    there. ``deviated`` says whether it came to that.
    """

    def __init__(self, recipe: Recipe, then: Callable[[], Model] | None = None) -> None:
        self.name = f"recipe:{recipe.name}" if recipe.name else "recipe"
        self.deviated = False
        self._recipe, self._then = recipe, then
        starts = range(0, len(recipe.steps), MAX_STEPS)
        self._batches = [recipe.steps[start : start + MAX_STEPS] for start in starts]
        self._outputs = list(recipe.outputs.items())
        self._data: dict[str, str] = {}
        self._asked = ""
        self._next: Model | None = None
        self._ids = itertools.count(1)

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        if self._next is not None:
            return await self._next.turn(transcript, tools)
        last = transcript[-1] if transcript else None
        result = last.results[-1] if isinstance(last, Results) else None
        if result is not None and result.is_error:
            return await self._deviate(result, transcript, tools)
        if self._asked and result is not None:
            found = _value(result.text)
            if found is None:
                return await self._deviate(result, transcript, tools)
            self._data[self._asked] = found
        if self._batches:
            return self._call("act", steps=list(self._batches.pop(0)), on_no_change="never")
        if self._outputs:
            self._asked, selector = self._outputs.pop(0)
            return self._call("find", selector=selector, limit=1)
        ending: Json = {
            "result": "All steps of the recipe were done.",
            "evidence": self._recipe.expect,
        }
        return self._call("finish", **ending, **({"data": self._data} if self._data else {}))

    async def _deviate(self, result: ToolResult, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        self.deviated = True
        if self._then is not None:
            self._next = self._then()
            return await self._next.turn(transcript, tools)
        return self._call("finish", result=_differs(result.text), status="failure", reason="gave_up")

    def _call(self, name: str, **arguments: Any) -> Turn:
        call = ToolCall(id=f"recipe_{next(self._ids)}", name=name, arguments=arguments)
        return Turn(calls=(call,), stop="calls", model=self.name)


def _differs(text: str) -> str:
    """What of a report says why it stopped: the step that failed, and the sentence on what was not run."""
    lines = [line.strip() for line in text.replace("<screen>", "").replace("</screen>", "").splitlines()]
    stop = next((n for n, line in enumerate(lines) if line.startswith("Stopped:")), None)
    if stop is None:
        return "what the recipe expects does not hold: " + " ".join(line for line in lines if line)
    return " ".join(lines[max(0, stop - 1) : stop + 1])


def _value(text: str) -> str | None:
    """The value, else the name, of the first element of `find`'s answer; None when there is none."""
    line = next((line.strip() for line in text.splitlines() if line.strip().startswith("- ")), None)
    found = _FOUND.match(line) if line is not None else None
    if found is None:
        return None
    shown = found[2] if found[2] is not None else found[1] or ""
    return _ESCAPED.sub(_unescaped, shown)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if code in ("n", "t"):
        return {"n": "\n", "t": "\t"}[code]
    return (
        chr(int(code, 16)) if re.fullmatch(r"[0-9a-f]{1,6} ?", code) and int(code, 16) <= 0x10FFFF else code
    )


def run_recipe(
    recipe: Recipe,
    timeout: float = 300,
    *,
    inputs: Mapping[str, str] | None = None,
    model: str | Model | None = None,
    computer: str | Private = "private",
    policy: Policy | None = None,
    **more: Any,
) -> TaskStatus:
    """Do a recipe with values for its parameters: a task with a log, a recording and a status dict like any other.

    Its own steps are authorised by whoever wrote it; what ``model`` does after a deviation is not. ValueError names
    what is wrong with the recipe or its inputs, before anything starts.
    """
    filled = recipe.filled(inputs or {})
    then = None if model is None else (lambda: _made(model))
    player = RecipeModel(filled, then)
    goal = filled.goal or f"do the recipe {filled.name or 'given'}"
    if policy is None:
        policy = Policy(verify="checks", confirm=lambda question: not player.deviated)
    return computer_task(goal, timeout, player, computer=computer, policy=policy, **more)


def replay_task(
    conversation: str,
    timeout: float = 300,
    *,
    inputs: Mapping[str, str] | None = None,
    model: str | Model | None = None,
    **more: Any,
) -> TaskStatus:
    """Do again what a successful task did, with other ``inputs`` (by the names that `recipe_of` gives them).

    ValueError when there is nothing to replay. Other arguments are those of `run_recipe`.
    """
    directory = TaskStore(data_home()).find(conversation)
    return run_recipe(recipe_of(Path(directory)), timeout, inputs=inputs, model=model, **more)


def _made(model: str | Model) -> Model:
    return make_model(model, load_settings()) if isinstance(model, str) else model
