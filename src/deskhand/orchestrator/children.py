"""Which kind of child a model needs. What only some of them need is imported for those."""

from __future__ import annotations

from deskhand.orchestrator.loop import Child
from deskhand.orchestrator.models import is_agent


def child_class(spec: str) -> type[Child]:
    """The child for the model that ``spec`` names; ``"caller"`` is a model on the caller's side."""
    if spec == "caller" or not is_agent(spec):
        return Child
    from deskhand.orchestrator.agent import AgentChild

    return AgentChild
