"""``computer run`` and ``replay``: without a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from deskhand.cli_base import (
    AsJson,
    Inputs,
    Then,
    Timeout,
    app,
    as_pairs,
    directory_of,
    examples,
    fail,
    finish,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from deskhand.orchestrator.recipes import Recipe


@app.command(
    epilog=examples(
        "computer run order.yaml --input name=Ana --input size=M",
        "computer run order.yaml --input name=Ana --record order.mp4 --json",
    )
)
def run(
    recipe: Annotated[Path, typer.Argument(metavar="STEPS.yaml", help="The recipe.")],
    inputs: Inputs = None,
    model: Then = None,
    timeout: Timeout = 300,
    computer: Annotated[str, typer.Option(help="As for a task.")] = "private",
    record: Annotated[str | None, typer.Option(metavar="PATH", help="Record it as MP4.")] = None,
    as_json: AsJson = False,
) -> None:
    """Do steps that are written down, without a model.

    The result, the log and the exit status are those of a task.
    """
    from deskhand.orchestrator.recipes import load_recipe

    _do_recipe(lambda: load_recipe(recipe), inputs, model, timeout, computer, record, as_json=as_json)


@app.command(
    epilog=examples(
        "computer replay calm-otter --input name=Ben",
        "computer replay calm-otter --save order.yaml     write it down as a recipe instead",
    )
)
def replay(
    conversation: Annotated[
        str, typer.Argument(metavar="CONV|RECIPE", help="A task that succeeded, or a recipe's file.")
    ],
    inputs: Inputs = None,
    model: Then = None,
    timeout: Timeout = 300,
    computer: Annotated[str, typer.Option(help="As for a task.")] = "private",
    record: Annotated[str | None, typer.Option(metavar="PATH", help="Record it as MP4.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the recipe there and do nothing.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Do a task again without a model, with other inputs.

    It stops where the screen differs from what it was, or hands over to the model that --model names.
    """
    from deskhand.orchestrator.recipes import load_recipe, recipe_of

    def found() -> Recipe:
        is_file = conversation.endswith((".yaml", ".yml", ".json"))
        return load_recipe(conversation) if is_file else recipe_of(directory_of(conversation))

    if save is not None:
        try:
            save.write_text(found().dump(), "utf-8")
        except ValueError as error:
            fail(str(error))
        print(save)
        return
    _do_recipe(found, inputs, model, timeout, computer, record, as_json=as_json)


def _do_recipe(
    found: Callable[[], Recipe],
    inputs: list[str] | None,
    model: str | None,
    timeout: float,
    computer: str,
    record: str | None,
    *,
    as_json: bool,
) -> NoReturn:
    from deskhand.audit.live import TaskView
    from deskhand.orchestrator.replay import run_recipe

    view = TaskView(sys.stderr if as_json else sys.stdout)
    try:
        with view:
            status = run_recipe(
                found(),
                timeout,
                inputs=as_pairs(inputs or [], "--input"),
                model=model,
                computer=computer,
                record=record or False,
                on_event=view,
            )
    except (ValueError, TypeError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finish(status, as_json=as_json)
