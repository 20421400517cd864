"""Commands of the user's that run when a task starts, asks and ends: what a notification or a ticket hangs on."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal

from deskhand.messages import Json

HookName = Literal["start", "question", "end"]

PATIENCE = 30
"""Seconds that a hook may run; it is ended then. The task does not wait for it."""

_logger = logging.getLogger(__name__)


def run_hook(hooks: Mapping[HookName, tuple[str, ...]], name: HookName, facts: Json) -> None:
    """Start the command for this moment, if there is one, with one JSON object on its standard input.

    It outlives the worker by `PATIENCE` at most. Its fault is not the task's: what goes wrong is logged.
    """
    command = hooks.get(name)
    if not command:
        return
    bounded = [shutil.which("timeout") or "timeout", "-k", "1", str(PATIENCE), *command]
    try:
        process = subprocess.Popen(
            bounded, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        _logger.warning("the hook %s did not start: %s", name, error)
        return
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(json.dumps({"hook": name, **facts}).encode() + b"\n")
