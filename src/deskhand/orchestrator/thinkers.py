"""The models of a task: the child's own, and another one for a second look at its success."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from deskhand.config import Settings
from deskhand.messages import Model
from deskhand.orchestrator.assess import JUDGED, OpenModel
from deskhand.orchestrator.brief import Brief
from deskhand.orchestrator.link import Link
from deskhand.orchestrator.models import make_model, parse_spec
from deskhand.orchestrator.models.caller import CallerModel


class Thinkers:
    """Opens a task's models, and closes the child's. ``remaining``: the seconds that a call may take at most."""

    def __init__(self, link: Link, settings: Settings, remaining: Callable[[], float]) -> None:
        self._link, self._settings, self._remaining = link, settings, remaining
        self._model: Model | None = None

    async def for_child(self, brief: Brief) -> Model:
        """The child's model: the one that it had, unless that is the caller's, who may be another one by now."""
        if self._model is None or brief.model == "caller":
            await self.close()
            self._model = await self._open(brief.model, brief.model_name)
        return self._model

    def for_second_look(self, brief: Brief) -> OpenModel | None:
        """How to get the model of a second look; None where there is none, and the rules alone decide."""
        own = self._settings.verify_model
        spec = own or brief.model
        if spec == "caller":
            if brief.model_name.startswith("scripted"):
                return None
        elif own is None and parse_spec(spec)[0] not in JUDGED:
            return None
        return lambda: self._open(spec, brief.model_name)

    async def _open(self, spec: str, name: str) -> Model:
        if spec == "caller":
            return CallerModel(self._link, name)
        return await asyncio.to_thread(make_model, spec, self._settings, timeout=self._remaining)

    async def close(self) -> None:
        """End what the child's model holds: connections, or a program of its own. Idempotent."""
        if close := getattr(self._model, "aclose", None):
            with suppress(Exception):
                await close()
        self._model = None
