"""`computer_task` as a tool of gptme: name this module in gptme's ``TOOL_MODULES``. Only gptme imports it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gptme.message import Message
from gptme.tools.base import Parameter, ToolSpec, ToolUse

from deskhand.orchestrator.brief import TaskStatus
from deskhand.orchestrator.task import computer_task

_INSTRUCTIONS = """
Hand a task to a child agent with a private computer of its own (screen, mouse, keyboard, browser, desktop apps). It
comes back with one small status; no screenshot enters this conversation. Use it for what needs a graphical app or a
live web page, not for what files, a shell or an HTTP request can do.

The child sees nothing of this conversation: name in the goal the app or URL, every value to enter, when it is done and
what to report. Success is checked on the screen; do not redo it. When the status is clarification_needed, `result` is
the question: call the tool again with resume=<conversation> and the answer as the goal.
""".strip()

_FORMAT = (
    "Use a code block with the language tag `computer_task`, the goal in it. "
    "Options follow the tag: timeout=SECONDS, resume=CONVERSATION, model=NAME."
)

_EXAMPLE = """
> User: What is 12 × 34? Use the calculator app.
> Assistant:
{call}
> System: {{"status": "success", "result": "12 × 34 is 408.", "verified": true}}
""".strip()

_SHOWN = ("status", "reason", "result", "verified", "evidence", "data", "conversation", "recording", "logdir")


def execute(
    code: str | None, args: Sequence[str] | None, kwargs: Mapping[str, str] | None
) -> Iterator[Message]:
    """Run one task; a wrong argument is told to the model, with nothing started."""
    try:
        told = _told(computer_task(**_arguments(code, args or (), kwargs or {})))
    except (TypeError, ValueError) as error:
        told = f"computer_task was not started: {error}"
    yield Message("system", told)


def _examples(tool_format: Any) -> str:
    goal = "In gnome-calculator compute 12 × 34 and tell me the result"
    return _EXAMPLE.format(call=ToolUse("computer_task", [], goal).to_output(tool_format))


def _arguments(code: str | None, args: Sequence[str], kwargs: Mapping[str, str]) -> dict[str, Any]:
    """The task's arguments from a code block (options behind its tag) or from a tool call."""
    options = dict(arg.split("=", 1) for arg in args if "=" in arg) | dict(kwargs)
    if loose := [arg for arg in args if "=" not in arg]:
        raise ValueError(f"options are NAME=VALUE, not {loose[0]!r}")
    if unknown := options.keys() - {"goal", "timeout", "resume", "model"}:
        raise ValueError(f"unknown option {min(unknown)!r}; known are timeout, resume and model")
    found: dict[str, Any] = {"goal": (code or options.get("goal") or "").strip()}
    if "timeout" in options:
        try:
            found["timeout"] = float(options["timeout"])
        except ValueError:
            raise ValueError(f"timeout is a number of seconds, not {options['timeout']!r}") from None
    return found | {name: options[name] for name in ("resume", "model") if options.get(name)}


def _told(status: TaskStatus) -> str:
    """What of the status the conversation needs."""
    return json.dumps(
        {name: value for name, value in status.items() if name in _SHOWN and value not in (None, [])}
    )


tool = ToolSpec(
    name="computer_task",
    desc="Have a task done in graphical apps or on web pages by a child agent with a computer of its own",
    instructions=_INSTRUCTIONS,
    instructions_format={"markdown": _FORMAT},
    examples=_examples,
    execute=execute,
    block_types=["computer_task"],
    parameters=[
        Parameter(name="goal", type="string", description="What is to be done and reported", required=True),
        Parameter(name="timeout", type="string", description="Seconds in all (300)"),
        Parameter(name="resume", type="string", description="The conversation to answer"),
        Parameter(name="model", type="string", description="The child's model, when the user names one"),
    ],
)
