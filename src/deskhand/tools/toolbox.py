"""The child's tools: what a model is offered and what its calls do (``finish`` and ``ask`` the loop answers)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from deskhand.errors import InvalidStep, TargetError, ToolError
from deskhand.messages import BatchReport, Rect, ToolCall, ToolResult, ToolSpec
from deskhand.terms import Policy
from deskhand.tools.arguments import Act, Ask, Find, Finish, Observe, WaitFor, schema_of
from deskhand.tools.explain import explain, short
from deskhand.tools.schema import act_schema, kinds_table
from deskhand.tools.wording import batch_text

if TYPE_CHECKING:
    from deskhand.tools.desk import Desk

_M = TypeVar("_M", bound=BaseModel)

_OBSERVE: Final = """\
Look at the desktop: windows, and the active window's elements with refs (e12), or its picture where it has none. \
Acts already return what changed, so look only when that was not enough. Narrow with query or role."""

_ACT: Final = """\
Do steps in order; each waits until the screen rests. All are validated before any runs. Stops at the first step \
that fails, and says what ran, what did not, and what changed on the screen.
Up to 32 steps if all targets are selectors (each is looked for, and waited for, when its step is reached: one batch \
can go through several screens); up to 8 if any target is a ref or a point.
Selector: role[attr='v'][state], e.g. button[name='Save'], dialog textbox[name^='File'], checkbox[checked], \
row:has-text('Ana') button, tab:nth(2). Attributes name description value role app window; operators = ^= $= *= ~=. \
If several elements match, nothing is done.
Kinds:
"""

_FIND: Final = """\
Search all windows by selector. Lists up to 50 matches with refs, where they are, and the total. Never picks for you."""

_WAIT_FOR: Final = "Wait until a selector matches (or no longer does), or for any change on the screen."

_FINISH: Final = """\
End the task; the only call of its turn. Only this reaches the caller. success only when you saw that the goal is \
reached: evidence is checked on the live desktop."""

_ASK: Final = """\
Ask the caller, when the goal is ambiguous or a value is missing. Do not ask what you can find out yourself."""


class Toolbox:
    """The tools on one desk, as far as the policy allows them.

    ``call`` never raises for what a model did wrong: the result says what is valid. Errors of the desktop itself
    (`DesktopError`) and `StopTask` pass through.
    """

    def __init__(self, desk: Desk, policy: Policy | None = None) -> None:
        self._desk = desk
        allowed = policy.tools if policy is not None else None
        self._specs = tuple(
            spec
            for spec in all_specs()
            if allowed is None or spec.name in allowed or spec.name in ("finish", "ask")
        )

    def specs(self) -> list[ToolSpec]:
        """The tools on offer."""
        return list(self._specs)

    async def call(self, call: ToolCall) -> ToolResult:
        """Do what a model asked for. ``text`` quotes the screen."""
        try:
            return await self._answer(call)
        except ToolError as error:
            effect = f"{error.effect}: " if isinstance(error, TargetError) else ""
            return ToolResult(call_id=call.id, name=call.name, text=f"{effect}{error}", is_error=True)

    async def _answer(self, call: ToolCall) -> ToolResult:
        names = [spec.name for spec in self._specs]
        if call.name not in names:
            known = call.name in [spec.name for spec in all_specs()]
            why = "is not allowed in this task" if known else "does not exist"
            raise ToolError(f"the tool {short(call.name)} {why}; there are {', '.join(names)}")
        if call.invalid:
            raise InvalidStep(f"{call.name}: the arguments are not a JSON object: {short(call.invalid)}")
        match call.name:
            case "observe":
                return await self._observe(call)
            case "act":
                return await self._act(call)
            case "find":
                return await self._find(call)
            case "wait_for":
                return await self._wait_for(call)
        # Only validated here: the loop knows what an end and a question mean.
        arguments: type[BaseModel] = Finish if call.name == "finish" else Ask
        parse_arguments(arguments, call)
        return ToolResult(call_id=call.id, name=call.name, text="")

    async def _observe(self, call: ToolCall) -> ToolResult:
        asked = parse_arguments(Observe, call)
        gate = self._desk.workspace.gate
        if asked.url is not None and gate is not None:
            refusal = await gate({"kind": "observe", "url": asked.url}, None, None)
            if refusal is not None:
                raise TargetError("denied", refusal)
        if asked.clicks:
            text, image = await self._desk.last_clicks(asked.clicks)
            pictures = (image,) if image is not None else ()
            return ToolResult(call_id=call.id, name=call.name, text=text, images=pictures)
        seen = await self._desk.observe(
            query=asked.query,
            role=asked.role,
            window=asked.window,
            url=asked.url,
            screenshot=asked.screenshot,
            region=Rect(*asked.region) if asked.region else None,
            monitor=asked.monitor,
            limit=asked.limit,
            offset=asked.offset,
            detail=asked.detail,
            text=asked.text,
        )
        images = (seen.image,) if seen.image is not None else ()
        return ToolResult(call_id=call.id, name=call.name, text=seen.text, images=images, observation=seen)

    async def _act(self, call: ToolCall) -> ToolResult:
        asked = parse_arguments(Act, call)
        report = await self._desk.act(_unwrapped(asked.steps), on_no_change=asked.on_no_change)
        images = (report.after.image,) if report.after is not None and report.after.image is not None else ()
        return ToolResult(
            call_id=call.id,
            name=call.name,
            text=batch_text(report),
            images=images,
            is_error=_failed(report),
            observation=report.after,
            batch=report,
        )

    async def _find(self, call: ToolCall) -> ToolResult:
        asked = parse_arguments(Find, call)
        text = await self._desk.find_text(asked.selector, limit=asked.limit)
        return ToolResult(call_id=call.id, name=call.name, text=text)

    async def _wait_for(self, call: ToolCall) -> ToolResult:
        asked = parse_arguments(WaitFor, call)
        text, found = await self._desk.wait_text(asked.selector, state=asked.state, timeout=asked.timeout)
        return ToolResult(call_id=call.id, name=call.name, text=text, is_error=not found)


def all_specs() -> tuple[ToolSpec, ...]:
    """Every tool there is, in the order they are shown."""
    return (
        ToolSpec(name="observe", description=_OBSERVE, schema=schema_of(Observe)),
        ToolSpec(name="act", description=_ACT + kinds_table(), schema=act_schema()),
        ToolSpec(name="find", description=_FIND, schema=schema_of(Find)),
        ToolSpec(name="wait_for", description=_WAIT_FOR, schema=schema_of(WaitFor)),
        ToolSpec(name="finish", description=_FINISH, schema=schema_of(Finish)),
        ToolSpec(name="ask", description=_ASK, schema=schema_of(Ask)),
    )


def parse_arguments(model: type[_M], call: ToolCall) -> _M:
    """A call's arguments, checked. InvalidStep names the field and says what would be right; nulls count as absent."""
    given = {key: value for key, value in call.arguments.items() if value is not None}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidStep(f"{call.name}: {explain(model, error)}") from None


def _unwrapped(steps: Any) -> Any:
    """Some models write the list as a JSON string, or send one step without its list: both can only mean one thing."""
    if isinstance(steps, str):
        try:
            steps = json.loads(steps)
        except ValueError:
            raise InvalidStep("act: steps must be a list of step objects, not text") from None
    return [steps] if isinstance(steps, dict) else steps


def _failed(report: BatchReport) -> bool:
    """Whether the last step that ran did nothing because it could not."""
    failed = ("not_supported", "stale_ref", "ambiguous", "not_found", "busy", "denied", "covered")
    return bool(report.steps) and report.steps[-1].effect in failed


__all__: Sequence[str] = ("Toolbox", "all_specs", "parse_arguments")
