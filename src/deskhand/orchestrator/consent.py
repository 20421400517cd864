"""Consent: sensitive acts that the caller did not name are put to whoever is there, before they happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from deskhand.audit.log import AuditLog
from deskhand.config import load_settings
from deskhand.errors import StopTask
from deskhand.messages import Json, Node, Target
from deskhand.orchestrator.brief import Brief
from deskhand.orchestrator.limits import Meter
from deskhand.orchestrator.link import CallerGone, Link
from deskhand.orchestrator.place import Place
from deskhand.orchestrator.rules import Rules

_YES = {"y", "yes", "allow", "true", "ok", "ja", "oui", "sí", "si", "sim", "是", "はい"}


class Gate:
    """Called before each act with what it is aimed at and where; returns a refusal, or None to go on."""

    def __init__(
        self, brief: Brief, link: Link, log: AuditLog, meter: Meter, send_clock: Callable[[], None]
    ) -> None:
        self._brief, self._link, self._log, self._meter, self._send_clock = (
            brief,
            link,
            log,
            meter,
            send_clock,
        )
        self._rules = Rules(brief, load_settings().risk_words)
        self._decided: dict[str, bool] = {}
        self.pending = ""
        """What the task ended over, for want of somebody to ask."""

    async def __call__(
        self, step: Json, target: Target | None, node: Node | None, place: Place | None = None
    ) -> str | None:
        why = self.sensitive(step, target, node, place)
        if not why:
            return None
        allowed, by = await self.decide(why, step, target)
        self._log.write("consent", what=why, step=step, target=target, allowed=allowed, by=by)
        return None if allowed else f"denied: {why}. Do not try to reach it another way."

    async def agree(self, why: str) -> bool:
        """Whether something that the provider wants a person to see may happen; recorded like every consent."""
        allowed, by = await self.decide(why, {}, None)
        self._log.write("consent", what=why, allowed=allowed, by=by)
        return allowed

    def sensitive(
        self, step: Json, target: Target | None, node: Node | None, place: Place | None = None
    ) -> str:
        """What makes this act sensitive and not authorised by the caller's own words; empty when nothing does."""
        return self._rules.sensitive(step, target, node, place or Place())

    async def decide(self, why: str, step: Json, target: Target | None) -> tuple[bool, str]:
        """Whether it may happen, and who said so. StopTask ``consent`` when nobody is there to ask."""
        confirm = self._brief.policy.confirm
        if confirm in ("allow", "deny"):
            return confirm == "allow", "policy"
        if why in self._decided:
            return self._decided[why], "earlier answer"
        question = {
            "kind": "consent",
            "question": f"The task wants to do this: {why}. Allow it?",
            "what": why,
            "step": step,
            "target": {"role": target.role, "name": target.name, "app": target.app} if target else None,
        }
        self.pending = why
        if not self._brief.answers and not self._link.watchers:
            self._log.write("consent", what=why, step=step or None, target=target, allowed=False, by="nobody")
            raise StopTask("consent", f"{why} needs consent, and nobody was there to give it")
        self._meter.pause()
        self._send_clock()
        try:
            async with asyncio.timeout(self._brief.limits.human_wait):
                answer = await self._link.ask_person("confirm", question, caller=self._brief.answers)
        except TimeoutError:
            raise StopTask("nobody_answered", f"{why} needs consent, and nobody answered") from None
        except CallerGone:
            raise StopTask("consent", f"{why} needs consent, and nobody was there to give it") from None
        finally:
            self._meter.resume()
            self._send_clock()
        self.settle(why, answer)
        return self._decided[why], "person"

    def settle(self, why: str, answer: object) -> None:
        """Take an answer to `pending` for the rest of the task: a yes allows it, anything else does not."""
        yes = str(answer).strip().casefold().partition(" ")[0].rstrip(".,!") in _YES
        self._decided[why] = answer is True or yes
        self.pending = ""
