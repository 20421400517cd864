"""Turns pydantic's validation errors into one sentence for a model: which field, and what would be right."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import BaseModel, ValidationError


def explain(model: type[BaseModel], error: ValidationError) -> str:
    """The first thing that is wrong with the arguments of ``model``."""
    problem = error.errors(include_url=False, include_context=False)[0]
    field = str(problem["loc"][0]) if problem["loc"] else ""
    names = [each.alias or name for name, each in model.model_fields.items()]
    if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
        close = difflib.get_close_matches(field, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}"
        return f"field {field!r} is not known here; {hint}"
    shape = next((each for name, each in model.model_fields.items() if field in (name, each.alias)), None)
    wanted = shape.description if shape is not None else None
    if problem["type"] == "missing" and len(problem["loc"]) == 1:
        return f"field {field!r} is missing" + (f" ({wanted})" if wanted else "")
    said = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if not field:
        return said
    given = short(problem["input"])
    if len(problem["loc"]) > 1 and wanted:  # the branches of a union: the description says it better
        return f"field {field!r} must be {wanted}, not {given}"
    return f"field {field!r} {said}, not {given}" + (f" ({wanted})" if wanted else "")


def short(value: Any) -> str:
    """A value as it goes into a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
