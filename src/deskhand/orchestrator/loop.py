"""The one model loop: ask the model, run its calls, record, repeat until `finish`, `ask` or a limit."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol

from deskhand.errors import ContextTooLong, ModelError, ModelRefused, StopTask, ToolError
from deskhand.messages import (
    Entry,
    Model,
    Observation,
    Results,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    Words,
)
from deskhand.orchestrator.brief import Brief
from deskhand.orchestrator.briefing import details
from deskhand.orchestrator.compact import (
    KEEP_TURNS,
    KEEP_TURNS_WHEN_REFUSED,
    crowded,
    summary_entry,
    summary_turn,
)
from deskhand.orchestrator.context import seen_in, view
from deskhand.orchestrator.limits import Meter
from deskhand.orchestrator.record import Record
from deskhand.orchestrator.result import Outcome
from deskhand.orchestrator.stuck import Repetition
from deskhand.orchestrator.untrusted import envelope, harmless
from deskhand.orchestrator.verify import CheckOutput, Eyewitness, Verification, verify
from deskhand.prompts import render
from deskhand.tools.arguments import Ask, Finish
from deskhand.tools.toolbox import parse_arguments

ALONE = (
    "Not done: `{name}` must be the only call of its turn. See what came of the others first, then call it."
)
NOT_RUN = (
    "Stopped before a step for which a person had to be asked. The answer: {answer}. The desktop below shows what "
    "had been done; if the answer allows it, go on from there."
)
NO_CALL = "Nothing happens without a tool call. Act, or end with `finish` (or `ask`)."
CUT_OFF = "Your reply was cut off before it came to a call. Be brief, and make one call."
QUIET_TURNS = 3
"""Turns without a call after which the task ends."""

READS_SCREEN = frozenset({"observe", "act", "find", "wait_for"})
"""Tools whose results quote the screen."""

AskPerson = Callable[[str], Awaitable[str | None]]
Check = Callable[[Finish], Awaitable[Verification]]
Agree = Callable[[str], Awaitable[bool]]


class Hand(Eyewitness, Protocol):
    """The desktop as the loop needs it."""

    async def observe(self) -> Observation: ...


class Tools(Protocol):
    """The tools of the child (`tools.toolbox.Toolbox`)."""

    def specs(self) -> list[ToolSpec]: ...

    async def call(self, call: ToolCall) -> ToolResult: ...


class Child:
    """A model at work on a desktop, with a context of its own."""

    def __init__(
        self,
        brief: Brief,
        *,
        model: Model,
        hand: Hand,
        tools: Tools,
        meter: Meter,
        record: Record,
        ask: AskPerson,
        agree: Agree,
        check_output: CheckOutput | None,
        transcript: list[Entry] | None = None,
        surroundings: str = "",
        check: Check | None = None,
    ) -> None:
        self.brief, self.model, self.hand, self.tools = brief, model, hand, tools
        self.meter, self.record, self.ask, self.agree = meter, record, ask, agree
        self.check_output, self.surroundings = check_output, surroundings
        self.check = check or self.plain_check
        self.denied = False
        self.transcript: list[Entry] = transcript if transcript is not None else []
        self._repetition = Repetition()
        self._quiet = 0
        self._rejected = 0
        self._refuted: Outcome | None = None

    async def run(self) -> Outcome:
        """Work until there is an outcome. Raises StopTask at a limit, ModelError, DesktopError."""
        await self.begin()
        return await self.go_on()

    async def resume(self, answer: str, *, fresh: bool) -> Outcome:
        """Go on with what the person answered; ``fresh`` says that the desktop is not the one it left."""
        seen = await self.look()
        state = render("fresh_desktop" if fresh else "same_desktop", observation=envelope(seen.text))
        last = self.transcript[-1] if self.transcript else None
        waiting = last.calls if isinstance(last, Turn) else ()
        if waiting:
            results = [
                ToolResult(
                    call_id=call.id,
                    name=call.name,
                    text=f"Answer: {answer}" if call.name == "ask" else NOT_RUN.format(answer=answer),
                )
                for call in waiting
            ]
            self.say(Results(results=tuple(results)))
            self.tell(state, seen)
        else:
            self.tell(f"{answer}\n\n{state}", seen)
        self.record.log.write("answer", answer=answer, fresh_desktop=fresh or None)
        return await self.go_on()

    async def go_on(self) -> Outcome:
        """Ask, act, record, until there is an outcome."""
        while True:
            self.meter.check()
            try:
                turn = await self.think()
            except ModelError as error:
                if self._refuted is None:
                    raise
                return replace(self._refuted, result=f"{self._refuted.result} (and then: {error})")
            outcome = await self.perform(turn)
            if outcome is not None:
                return outcome

    async def begin(self) -> None:
        """The rules, then the goal together with the first look at the desktop."""
        observation = await self.look()
        self.say(Words(role="system", text=render("system")))
        text = render(
            "brief",
            goal=self.brief.goal,
            details=details(self.brief, self.surroundings),
            seconds=f"{self.meter.remaining():.0f}",
            steps=f"{self.brief.limits.steps} turns" if self.brief.limits.steps else "no limit of turns",
            observation=envelope(observation.text),
        )
        self.tell(text, observation, goal=self.brief.goal, inputs=tuple(self.brief.inputs.items()))

    async def look(self) -> Observation:
        """One recorded look at the desktop."""
        start = time.monotonic()
        observation = await self.hand.observe()
        self.record.observation(observation, time.monotonic() - start)
        return replace(observation, text=self.record.log.scrub(observation.text))

    async def think(self) -> Turn:
        """One turn of the model, recorded."""
        specs = self.tools.specs()
        if self.meter.last_turn():
            specs = [spec for spec in specs if spec.name == "finish"]
        if crowded(self.transcript, self.model):
            await self.summarise()
        start = time.monotonic()
        try:
            turn = await self.model.turn(view(self.transcript), specs)
        except ContextTooLong:
            if not await self.summarise(refused=True):
                raise
            turn = await self.model.turn(view(self.transcript), specs)
        self.meter.add(turn.usage)
        self.record.model_call(self.model.name, turn, time.monotonic() - start)
        self.say(turn)
        if turn.stop == "refusal":
            raise ModelRefused(turn.text or "the model declined to go on")
        return turn

    async def summarise(self, *, refused: bool = False) -> bool:
        """Put a summary in the place of the older part of the conversation, and look anew. False: nothing is older.

        ``refused``: the provider did not take the conversation as it is, so it is not asked for the summary either.
        """
        words = ""
        if not refused:
            start = time.monotonic()
            turn = await summary_turn(self.transcript, self.model, self.tools.specs())
            if turn is not None:
                words = turn.text
                self.meter.count(turn.usage)
                self.record.model_call(self.model.name, turn, time.monotonic() - start)
        keep = KEEP_TURNS_WHEN_REFUSED if refused else KEEP_TURNS
        entry = summary_entry(self.transcript, words, keep=keep)
        if entry is None:
            return False
        self.say(entry)
        seen = await self.look()
        self.tell(render("after_summary", observation=envelope(seen.text)), seen)
        return True

    async def perform(self, turn: Turn) -> Outcome | None:
        """Run a turn's calls in order. An outcome when the task is over, else the answers go to the child."""
        if not turn.calls:
            return self.nudge(turn)
        self._quiet = 0
        if len(turn.calls) == 1 and turn.calls[0].name == "finish" and not turn.calls[0].invalid:
            return await self.finish(turn.calls[0])
        if len(turn.calls) == 1 and turn.calls[0].name == "ask" and not turn.calls[0].invalid:
            return await self.question(turn.calls[0])
        results = Results(results=tuple([await self.call(call) for call in turn.calls]))
        self.say(results)
        for note in (self._repetition.note(turn, results), self.meter.warning()):
            if note:
                self.say(Words(role="user", text=note))
        return None

    async def call(self, call: ToolCall) -> ToolResult:
        if call.name in ("finish", "ask") and not call.invalid:
            return ToolResult(
                call_id=call.id, name=call.name, text=ALONE.format(name=call.name), is_error=True
            )
        for concern in call.safety:
            if not await self.agree(concern):
                raise StopTask(
                    "denied", f"the model's provider wanted consent for this, and it was denied: {concern}"
                )
        start = time.monotonic()
        result = await self.tools.call(call)
        if result.observation is not None and result.batch is None:
            self.record.observation(result.observation, time.monotonic() - start)
        if result.batch is not None and any(step.effect == "denied" for step in result.batch.steps):
            self.denied = True
        if call.name in READS_SCREEN:
            # What a page got to know may be in what tools say of it, too: a dialog's words, an address.
            result = replace(result, text=envelope(self.record.log.scrub(result.text)))
        if (seen := result.observation) is not None:
            words = harmless(self.record.log.scrub(seen.text))
            result = replace(result, seen=seen_in(result.text, words), whole=seen.whole)
        return result

    def nudge(self, turn: Turn) -> Outcome | None:
        """A turn of words only: say so, and end when it goes on like this."""
        self._quiet += 1
        if self._quiet >= QUIET_TURNS:
            words = f" Its last words: {turn.text}" if turn.text else ""
            return Outcome(reason="gave_up", result=f"the model went on without acting.{words}")
        self.say(Words(role="user", text=CUT_OFF if turn.stop == "length" else NO_CALL))
        return None

    async def finish(self, call: ToolCall) -> Outcome | None:
        """Check the claim; a claim of success that does not hold goes back to the child once."""
        try:
            claim = parse_arguments(Finish, call)
        except ToolError as error:
            return self.told(call, str(error), is_error=True)
        if claim.status != "success":
            reason = "denied" if self.denied and claim.reason != "infeasible" else claim.reason
            return Outcome(reason=reason or "gave_up", result=claim.result)
        found = await self.check(claim)
        judged = found.judgement
        self.record.log.write(
            "verification",
            passed=found.passed,
            reason=found.reason,
            evidence=list(found.evidence),
            problem=found.problem,
            doubts=list(found.doubts) or None,
            judge={"verdict": judged.verdict, "why": judged.why} if judged is not None else None,
        )
        if found.passed:
            verified = None if self.brief.policy.verify == "off" else True
            return Outcome(
                reason=None, result=claim.result, verified=verified, evidence=found.evidence, data=claim.data
            )
        self._rejected += 1
        self._refuted = Outcome(
            reason=found.reason,
            result=f"not confirmed: {found.problem}. The child had reported: {claim.result}",
            evidence=found.evidence,
        )
        if self._rejected > 1 or found.final:
            return self._refuted
        # What stands in the way may be told in the screen's own words.
        problem = envelope(self.record.log.scrub(found.problem))
        return self.told(
            call, f"Not accepted:\n{problem}\nLook again; mend it, or finish honestly.", is_error=True
        )

    async def plain_check(self, claim: Finish) -> Verification:
        """The checks that need nothing but the desktop as it is."""
        return await verify(
            self.hand,
            evidence=claim.evidence,
            expect=self.brief.expect,
            data=claim.data,
            check_output=self.check_output,
            checks=self.brief.policy.verify != "off",
        )

    async def question(self, call: ToolCall) -> Outcome | None:
        """Put a question to whoever is there; nobody there ends the task."""
        try:
            asked = parse_arguments(Ask, call)
        except ToolError as error:
            return self.told(call, str(error), is_error=True)
        question = asked.question
        if asked.options:
            question = f"{question} ({' / '.join(asked.options)})"
        if asked.reason == "not_understood":
            self.record.log.write("question", question=question, clause=asked.clause)
            return Outcome(reason="not_understood", result=question)
        self.record.log.write("question", question=question)
        reply = await self.ask(question)
        if reply is None:
            return Outcome(reason="question", result=question)
        self.record.log.write("answer", answer=reply)
        return self.told(call, f"Answer: {reply}")

    def told(self, call: ToolCall, text: str, *, is_error: bool = False) -> Outcome | None:
        """Answer a call; there is no outcome yet."""
        self.say(
            Results(results=(ToolResult(call_id=call.id, name=call.name, text=text, is_error=is_error),))
        )
        return None

    def tell(self, text: str, seen: Observation, **fields: Any) -> None:
        """Tell the child something that quotes what was just seen."""
        where = seen_in(text, harmless(seen.text))
        images = (seen.image,) if seen.image is not None else ()
        self.say(
            Words(
                role="user",
                text=text,
                images=images,
                seen=where,
                whole=seen.whole,
                observation=seen,
                **fields,
            )
        )

    def say(self, entry: Entry) -> None:
        """Append to the transcript, in memory and on disk."""
        self.transcript.append(entry)
        self.record.entry(entry)
