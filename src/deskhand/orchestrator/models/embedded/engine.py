"""The planner itself: from what came of the last turn to the next one, one clause after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from deskhand.errors import Effect
from deskhand.messages import Json, Observation, Results, ToolResult, Transcript, Turn, Words
from deskhand.orchestrator.models.embedded import controls, evidence, places, reading, values
from deskhand.orchestrator.models.embedded.clauses import parse_goal
from deskhand.orchestrator.models.embedded.grammar import Clause, Item
from deskhand.orchestrator.models.embedded.lexicon import HERE, Verb, normal, without_article
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Look, Memory, Move, Next, Scene
from deskhand.orchestrator.models.embedded.screen import Screen

LOOKS = 3
"""Looks that are taken for a target, or attempts at an act, before the planner says that it cannot."""

_LOOK_SECONDS = 2.5
"""Seconds that one such look waits for the screen to change."""

_GOOD: frozenset[Effect] = frozenset({"done", "dispatched", "effect_unknown", "no_change", "skipped"})
_ACTING: frozenset[Verb] = frozenset(
    {"press", "command", "type", "fill", "choose", "check", "save", "compute", "close", "search"}
)

RULES: Mapping[Verb, Callable[[Scene], Move]] = {
    "open": places.open_,
    "within": places.within,
    "press": controls.press,
    "command": controls.command,
    "type": values.type_text,
    "fill": values.fill,
    "choose": values.choose,
    "check": controls.check,
    "compute": controls.compute,
    "search": values.search,
    "save": places.save,
    "wait": places.wait,
    "close": places.close,
    "scroll": places.scroll,
    "expect": places.expect,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a turn does: a tool and its arguments, and the words that say why."""

    tool: str
    arguments: Json
    words: str = ""


def decide(transcript: Transcript, goal: str, inputs: Mapping[str, str]) -> tuple[Call, Memory]:
    """The next call for a goal, and the memory that goes with it. The transcript is all it knows."""
    memory = _remembered(transcript)
    screen = _look(transcript)
    clauses = _amended(parse_goal(goal, inputs), memory)
    memory.turns += 1
    _digest(transcript, memory, clauses, screen)
    clauses = _amended(parse_goal(goal, inputs), memory)
    return _Planner(clauses, memory, screen).next(), memory


# --- what the transcript says -------------------------------------------------------------------------------------


def _remembered(transcript: Transcript) -> Memory:
    for entry in reversed(transcript):
        if isinstance(entry, Turn) and (memory := Memory.load(entry.raw)) is not None:
            return memory
    return Memory()


def _look(transcript: Transcript) -> Screen | None:
    """The last observation."""
    for entry in reversed(transcript):
        if isinstance(entry, Words) and entry.observation is not None:
            return Screen(entry.observation)
        if isinstance(entry, Results):
            for result in reversed(entry.results):
                seen = result.observation or (result.batch.after if result.batch else None)
                if seen is not None:
                    return Screen(seen)
    return None


def _digest(transcript: Transcript, memory: Memory, clauses: Sequence[Clause], screen: Screen | None) -> None:
    """Take in what came of the last turn: progress, trouble, or an answer."""
    last = max((i for i, entry in enumerate(transcript) if isinstance(entry, Turn)), default=-1)
    if last < 0:
        return
    for entry in transcript[last + 1 :]:
        if isinstance(entry, Results):
            for result in entry.results:
                _take(result, memory)
        elif entry_text := (entry.text if isinstance(entry, Words) and entry.role == "user" else ""):
            if memory.answer and not any(isinstance(e, Results) for e in transcript[last + 1 :]):
                _answered(entry_text, memory)


def _take(result: ToolResult, memory: Memory) -> None:
    if result.name == "ask" and not result.is_error:
        _answered(result.text.removeprefix("Answer:").strip(), memory)
    elif result.name == "finish":
        memory.finishing += 1
        memory.trouble = result.text
    elif result.batch is not None:
        _progress(result, memory)
    elif result.name == "act" and result.is_error:
        memory.trouble, memory.tries = result.text, memory.tries + 1
        memory.pending = []


def _answered(text: str, memory: Memory) -> None:
    """Read the answer as the clause it stands for."""
    if not (text and memory.answer):
        return
    key = str(memory.clause)
    memory.amended[key] = memory.answer.replace("{}", text)
    memory.answer, memory.item, memory.tries, memory.trouble = "", 0, 0, ""


def _progress(result: ToolResult, memory: Memory) -> None:
    """How far a batch came."""
    batch = result.batch
    assert batch is not None
    good = 0
    for report in batch.steps:
        if report.effect not in _GOOD:
            memory.trouble = report.message or report.effect
            break
        good += 1
        if report.effect == "no_change" and report.step.get("kind") in ("click", "invoke", "key"):
            target = (
                report.target.name
                if report.target and report.target.name
                else str(report.step.get("keys", ""))
            )
            memory.no_change = target
        else:
            memory.no_change = ""
    pending, memory.pending = memory.pending, []
    if not pending:
        memory.tries += good == 0
        return
    if good:
        memory.item = max(memory.item, pending[min(good, len(pending)) - 1])
    if good >= len(pending):
        if memory.pending_stage is not None:
            memory.stage = memory.pending_stage
        memory.tries = 0
        memory.trouble = ""
        if memory.pending_said:
            memory.said.append(memory.pending_said)
        if memory.pending_done:
            memory.advance()
    elif good == 0:
        memory.tries += 1
    else:
        memory.tries = 0


def _amended(clauses: Sequence[Clause], memory: Memory) -> list[Clause]:
    """The clauses with those that were asked about read anew from their answers."""
    result: list[Clause] = []
    for place, clause in enumerate(clauses):
        if (words := memory.amended.get(str(place))) is None:
            result.append(clause)
            continue
        anew = [each for each in parse_goal(words)]
        # one clause stays one clause, so that the places of the others hold
        result.append(anew[0] if len(anew) == 1 else Clause(verb="unknown", said=words))
    return result


# --- deciding -----------------------------------------------------------------------------------------------------


class _Planner:
    def __init__(self, clauses: Sequence[Clause], memory: Memory, screen: Screen | None) -> None:
        self.clauses, self.memory = clauses, memory
        self.screen = screen or Screen(Observation(text=""))
        self.looked = screen is not None

    def next(self) -> Call:
        """Go through clauses that need nothing, up to the first that needs a call."""
        memory = self.memory
        if (strange := self._strange()) is not None:
            return strange
        if memory.finishing:
            return self._again()
        if not self.looked:
            return Call(tool="observe", arguments={}, words="look")
        while memory.clause < len(self.clauses):
            clause = self.clauses[memory.clause]
            if clause.verb == "read":
                call = self._read(clause)
            else:
                call = self._act_on(clause)
            if call is not None:
                return call
        return self._finish()

    def _strange(self) -> Call | None:
        """Say what was not understood before anything is done; the first such clause from where we are."""
        if not self.clauses:
            return _ask(
                Ask(
                    question="The goal says nothing that I could do. What should I do?",
                    reason="not_understood",
                ),
                "",
            )
        for place, clause in enumerate(self.clauses[self.memory.clause :], self.memory.clause):
            if clause.verb == "unknown":
                self.memory.clause, self.memory.item = place, 0
                self.memory.answer = "{}"
                question = (
                    f"I did not understand “{clause.said}”. I work without a language model and follow literal steps: "
                    "open, press, type, set … to …, choose, check, save as, wait for, tell me …. What should I do there?"
                )
                return _ask(Ask(question=question, reason="not_understood"), clause.said)
        return None

    def _act_on(self, clause: Clause) -> Call | None:
        memory = self.memory
        following = self.clauses[memory.clause + 1] if memory.clause + 1 < len(self.clauses) else None
        if (
            clause.place
            and clause.verb in ("compute", "press", "type", "check")
            and (moved := self._be_there(clause))
        ):
            return moved
        rule = RULES[clause.verb]
        move = rule(Scene(clause=clause, screen=self.screen, memory=memory, following=following))
        return self._carry_out(move, clause)

    def _be_there(self, clause: Clause) -> Call | None:
        """The place of a clause ("… in the calculator") is gone to first."""
        if clause.verb == "type" or normal(without_article(clause.place)) in HERE:
            return None
        there = Clause(verb="within", said=clause.place, items=(Item(clause.place),))
        move = places.within(Scene(clause=there, screen=self.screen, memory=self.memory))
        return None if isinstance(move, Next) else self._carry_out(move, clause)

    def _carry_out(self, move: Move, clause: Clause) -> Call | None:
        memory = self.memory
        if isinstance(move, Look):
            if memory.tries < LOOKS:
                memory.tries += 1
                memory.pending = []
                wait = {"kind": "wait", "for": "change", "timeout": _LOOK_SECONDS, "optional": True}
                return Call(tool="act", arguments={"steps": [wait]}, words=f"look again for: {clause.said}")
            move = move.otherwise
        match move:
            case Act():
                return self._act(move, clause)
            case Ask():
                memory.answer = move.answer
                return _ask(move, clause.said)
            case Fail():
                return self._fail(move, clause)
            case Next():
                if move.said:
                    memory.said.append(move.said)
                memory.proof.extend(move.proof)
                self._note_scope(clause)
                memory.advance()
        return None

    def _act(self, move: Act, clause: Clause) -> Call:
        memory = self.memory
        if memory.tries >= LOOKS:
            return self._fail(Fail(result=f"“{clause.said}” did not work: {memory.trouble}"), clause)
        if clause.verb in _ACTING and memory.item == 0 and memory.stage == 0 and memory.tries == 0:
            memory.seen = evidence.fingerprint(self.screen)
            memory.before = evidence.holders(self.screen)
            memory.acted = True
        memory.pending = list(move.items or [memory.item] * len(move.steps))
        memory.pending_done, memory.pending_stage = move.done, move.stage
        memory.pending_said = move.said or (clause.said if move.done and clause.verb not in ("wait",) else "")
        if clause.verb in ("within", "open"):
            memory.scope = ""
            memory.pending_said = ""
        return Call(tool="act", arguments={"steps": [dict(step) for step in move.steps]}, words=clause.said)

    def _note_scope(self, clause: Clause) -> None:
        if clause.verb in ("within", "open"):
            text = clause.items[0].text
            name = normal(without_article(text))
            whole = name in HERE or self.screen.window_for(text) or self.screen.root_for(text) is not None
            self.memory.scope = "" if whole else text

    def _read(self, clause: Clause) -> Call | None:
        """Read back what is asked for; what is not there yet is looked for again."""
        memory = self.memory
        while memory.item < len(clause.items):
            item = clause.items[memory.item]
            seen = set(memory.seen)
            before = [each.key for each in self.screen.written() if evidence.digest(each) in seen]
            found = reading.read(item, self.screen, before, acted=memory.acted)
            if found is None:
                otherwise = Fail(
                    result=f"I found nothing on the screen that says “{item.text}”.{self._so_far()}"
                )
                return self._carry_out(Look(otherwise=otherwise), clause)
            memory.told.append(
                found.text if len(clause.items) == 1 and not self._many() else f"{item.text}: {found.text}"
            )
            memory.proof.extend(found.proof)
            memory.no_change = ""
            memory.item += 1
            memory.tries = 0
        memory.advance()
        return None

    def _many(self) -> bool:
        return sum(len(clause.items) for clause in self.clauses if clause.verb == "read") > 1

    # --- the end --------------------------------------------------------------------------------------------------

    def _finish(self) -> Call:
        memory = self.memory
        if memory.no_change:
            return self._fail(
                Fail(result=f"Pressing “{memory.no_change}” changed nothing that can be seen."), None
            )
        result = (
            "\n".join(memory.told)
            if memory.told
            else "Done: " + ("; ".join(memory.said) or "nothing had to be done") + "."
        )
        return _end(result[:1500], "success", self._evidence())

    def _evidence(self) -> list[str]:
        """What was read, else the state that was reached, else what the last act brought or took away."""
        memory, screen = self.memory, self.screen
        proof = [each for each in memory.proof if evidence.holds(each, screen)]
        proof += [each for clause in self.clauses for each in evidence.of_state(clause, screen)]
        proof = (
            proof or evidence.of_change(screen, memory.seen, memory.before) or evidence.holders(screen)[:1]
        )
        return list(dict.fromkeys(proof))[:8]

    def _again(self) -> Call:
        """Success was claimed and did not hold: once more with what is there now, then honestly."""
        if self.memory.finishing == 1 and self.looked:
            return self._fail(
                Fail(result=f"I did what was said, but it could not be confirmed: {self.memory.trouble}"),
                None,
            )
        return self._fail(Fail(result=self.memory.trouble), None)

    def _so_far(self) -> str:
        done = "; ".join(self.memory.said)
        return f" Done before: {done}." if done else ""

    def _fail(self, move: Fail, clause: Clause | None) -> Call:
        so_far = "" if "Done before" in move.result else self._so_far()
        stopped = f" (at “{clause.said}”)" if clause is not None and clause.said not in move.result else ""
        return _end(f"{move.result}{stopped}{so_far}"[:1500], move.reason, [])


def _ask(move: Ask, clause: str) -> Call:
    reason = "not_understood" if move.reason == "not_understood" else "question"
    arguments: Json = {"question": move.question, "reason": reason}
    if clause:
        arguments["clause"] = clause
    return Call(tool="ask", arguments=arguments, words=move.question)


def _end(result: str, outcome: str, evidence: Sequence[str]) -> Call:
    arguments: Json = {"result": result, "status": "success" if outcome == "success" else "failure"}
    if outcome != "success":
        arguments["reason"] = outcome
    if evidence:
        arguments["evidence"] = list(evidence)
    return Call(tool="finish", arguments=arguments, words=result)
