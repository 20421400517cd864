"""A command-line agent as the child: the same loop, whose calls the agent's program makes itself."""

from __future__ import annotations

from deskhand.messages import ToolCall, ToolResult
from deskhand.orchestrator.loop import Child
from deskhand.orchestrator.models.agent import Agent


class AgentChild(Child):
    """A `Child` whose model is an `Agent`: limits, record, consent, `finish` and `ask` are those of every child.

    The agent's program waits for each call's answer, so none of its model calls is made before the limits were
    checked: the last answer of a turn goes out with the next `Model.turn`.
    """

    async def call(self, call: ToolCall) -> ToolResult:
        """Run a call once the program asks for it, and answer it; a call that it answered itself is not run."""
        assert isinstance(self.model, Agent)
        own = await self.model.reached(call)
        if own is not None:
            return ToolResult(call_id=call.id, name=call.name, text=own, is_error=True)
        result = await super().call(call)
        self.model.answered(result)
        return result
