"""Bad arguments are refused by name, before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from deskhand import Limits, Policy, Private, computer_task
from deskhand.orchestrator.order import prepare


class Total(BaseModel):
    total: int


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"goal": ""}, ValueError, "goal"),
        ({"goal": None}, TypeError, "goal"),
        ({"goal": 3}, TypeError, "goal"),
        ({"goal": "g", "timeout": 0}, ValueError, "timeout"),
        ({"goal": "g", "timeout": "5"}, TypeError, "timeout"),
        ({"goal": "g", "timeout": float("nan")}, ValueError, "timeout"),
        ({"goal": "g", "model": "gpt"}, ValueError, "model"),
        ({"goal": "g", "model": 7}, TypeError, "model"),
        ({"goal": "g", "inputs": ["a"]}, TypeError, "inputs"),
        ({"goal": "g", "inputs": {"a": 1}}, TypeError, "inputs"),
        ({"goal": "g", "secrets": {"a": None}}, TypeError, "secrets"),
        ({"goal": "g", "expect": ["button["]}, ValueError, "expect"),
        ({"goal": "g", "output": "int"}, TypeError, "output"),
        ({"goal": "g", "output": {"type": "nonsense"}}, ValueError, "output"),
        ({"goal": "g", "computer": "mine"}, ValueError, "computer"),
        ({"goal": "g", "computer": Private(share=("/no/such/directory",))}, ValueError, "share"),
        ({"goal": "g", "record": "/no/such/directory/x.mp4"}, ValueError, "record"),
    ],
)
def test_a_bad_argument_is_named_and_nothing_is_made(
    arguments: dict[str, Any], error: type[Exception], words: str, deskhand_home: Path
) -> None:
    with pytest.raises(error, match=words):
        computer_task(**arguments)
    assert not (deskhand_home / "tasks").exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Private(size=(10, 10)), "size"),
        (lambda: Private(network="lan"), "network"),  # type: ignore[arg-type]
        (lambda: Private(isolation="none"), "isolation"),  # type: ignore[arg-type]
        (lambda: Private(keep=-1), "keep"),
        (lambda: Limits(steps=0), "steps"),
        (lambda: Limits(cost=-1.0), "cost"),
        (lambda: Policy(confirm="maybe"), "confirm"),
        (lambda: Policy(verify="no"), "verify"),  # type: ignore[arg-type]
    ],
)
def test_a_bad_value_object_is_refused_when_it_is_made(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_a_pydantic_class_becomes_a_schema_and_is_checked_on_the_callers_side() -> None:
    order = prepare("g", model="embedded", output=Total)
    assert order.brief.output is not None
    assert order.brief.output["properties"]["total"]["type"] == "integer"
    assert order.brief.checks_output
    assert order.callbacks.output is Total


def test_a_brief_survives_the_pipe() -> None:
    order = prepare(
        "g",
        model="embedded",
        computer=Private(size=(800, 600), network="none"),
        inputs={"Name": "Zoë \ud83d"},
        limits=Limits(steps=3),
    )
    again = type(order.brief).model_validate_json(order.brief.model_dump_json())
    assert again == order.brief
    assert again.computer == Private(size=(800, 600), network="none")


def test_a_share_that_is_not_a_string_is_refused_with_the_form_it_takes() -> None:
    with pytest.raises(TypeError, match="DIR:rw"):
        Private(share=(("/data", "rw"),))  # type: ignore[arg-type]
