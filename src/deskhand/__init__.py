"""A hired hand for the screen.

Hand over a goal; a child with its own model context does it on its own desktop; every screenshot stays with the
child; you get one small status dict and a tamper-evident audit log::

    from deskhand import computer_task

    status = computer_task("Compute 12 × 34 in the calculator and tell me the result")

Importing this opens nothing and loads none of the model, page or protocol packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deskhand.desktop.base import Desktop as Desktop
    from deskhand.errors import ComputerLost as ComputerLost
    from deskhand.errors import DeskhandError as DeskhandError
    from deskhand.errors import DesktopError as DesktopError
    from deskhand.errors import InvalidStep as InvalidStep
    from deskhand.errors import MissingPart as MissingPart
    from deskhand.errors import ModelError as ModelError
    from deskhand.errors import ModelRefused as ModelRefused
    from deskhand.errors import StopTask as StopTask
    from deskhand.errors import TargetError as TargetError
    from deskhand.errors import ToolError as ToolError
    from deskhand.messages import Model as Model
    from deskhand.orchestrator.batch.run import computer_tasks as computer_tasks
    from deskhand.orchestrator.brief import TaskStatus as TaskStatus
    from deskhand.orchestrator.recipes import Recipe as Recipe
    from deskhand.orchestrator.recipes import load_recipe as load_recipe
    from deskhand.orchestrator.replay import replay_task as replay_task
    from deskhand.orchestrator.replay import run_recipe as run_recipe
    from deskhand.orchestrator.task import acomputer_task as acomputer_task
    from deskhand.orchestrator.task import computer_task as computer_task
    from deskhand.terms import Limits as Limits
    from deskhand.terms import Policy as Policy
    from deskhand.terms import Private as Private
    from deskhand.tools.desk import open_desktop as open_desktop
    from deskhand.tools.desk import open_desktop_sync as open_desktop_sync

__version__ = "0.1.0"

_HOMES = {
    "deskhand.orchestrator.task": ("computer_task", "acomputer_task"),
    "deskhand.orchestrator.batch.run": ("computer_tasks",),
    "deskhand.orchestrator.brief": ("TaskStatus",),
    "deskhand.orchestrator.recipes": ("Recipe", "load_recipe"),
    "deskhand.orchestrator.replay": ("replay_task", "run_recipe"),
    "deskhand.tools.desk": ("open_desktop", "open_desktop_sync"),
    "deskhand.desktop.base": ("Desktop",),
    "deskhand.messages": ("Model",),
    "deskhand.terms": ("Limits", "Policy", "Private"),
    "deskhand.errors": (
        "DeskhandError",
        "MissingPart",
        "DesktopError",
        "ComputerLost",
        "ModelError",
        "ModelRefused",
        "ToolError",
        "InvalidStep",
        "TargetError",
        "StopTask",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if (module := _HOME_OF.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
