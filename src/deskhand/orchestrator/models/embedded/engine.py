"""The planner itself: one clause after the other, up to the next call that is needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from deskhand.messages import Json, Observation, Transcript
from deskhand.orchestrator.models.embedded import (
    choosing,
    controls,
    evidence,
    explore,
    gather,
    moving,
    places,
    reading,
    saving,
    searching,
    values,
)
from deskhand.orchestrator.models.embedded.clauses import parse_goal
from deskhand.orchestrator.models.embedded.grammar import Clause, Item
from deskhand.orchestrator.models.embedded.lexicon import Verb, meaning
from deskhand.orchestrator.models.embedded.moves import Act, Ask, Fail, Look, Memory, Move, Next, Scene
from deskhand.orchestrator.models.embedded.progress import last_look, remembered
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.orchestrator.models.embedded.targets import is_here, place_said

LOOKS = 3
"""Looks that are taken for a target, or attempts at an act, before the planner says that it cannot."""

_ACTS = 8
"""Acts on one item of a clause without getting further, whatever they report: a bound, so that nothing goes round."""

_LOOK_SECONDS = (0.4, 1.0, 2.5)
"""Seconds that each such look waits for the screen to change."""

_LATE = 2.0
"""Seconds that the last press has to bring something: what an app does without a sign of work comes within two."""

_LONGEST = 1500
"""Characters of a result."""

RULES: Mapping[Verb, Callable[[Scene], Move]] = {
    "open": places.open_,
    "within": places.within,
    "press": controls.press,
    "command": controls.command,
    "type": values.type_text,
    "fill": values.fill,
    "choose": choosing.choose,
    "check": controls.check,
    "compute": controls.compute,
    "search": searching.search,
    "focus": values.focus,
    "expand": explore.expand,
    "find": explore.find,
    "recall": gather.recall,
    "mark": controls.mark,
    "drag": moving.drag,
    "save": saving.save,
    "wait": places.wait,
    "close": places.close,
    "scroll": places.scroll,
    "expect": places.expect,
}
_UNDONE: frozenset[Verb] = frozenset({"open", "within", "wait", "scroll", "expect", "find", "recall"})
"""What brings nothing about that a goal would want to hear of afterwards."""

_FILLS: frozenset[Verb] = frozenset({"type", "fill", "choose", "check"})
_ENTERS = frozenset({"fill", "toggle", "select"})
"""Clauses and steps that may be done in one turn with the press that follows them."""

_PRESSES: frozenset[Verb] = frozenset({"press", "command", "mark", "drag", "search"})
"""What shows by its effect alone."""

_SEEKING: frozenset[Verb] = frozenset(
    {"press", "choose", "check", "command", "fill", "type", "read", "expect"}
)
"""What may be behind a tab, in a closed section or on a further page."""

_STRANGE = (
    "I did not understand “{}”. I work without a language model and follow literal steps: open, press, type, "
    "set … to …, choose, check, save as, wait for, tell me …. What should I do there?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a turn does: a tool and its arguments, and the words that say why."""

    tool: str
    arguments: Json
    words: str = ""


def decide(transcript: Transcript, goal: str, inputs: Mapping[str, str]) -> tuple[Call, Memory]:
    """The next call for a goal, and the memory that goes with it. The transcript is all it knows."""
    memory = remembered(transcript)
    memory.turns += 1
    clauses = [
        _amended(clause, memory.amended.get(str(place)))
        for place, clause in enumerate(parse_goal(goal, inputs))
    ]
    return _Planner(clauses, memory, last_look(transcript)).next(), memory


def _amended(clause: Clause, answer: str | None) -> Clause:
    """A clause as the answer about it has it; one clause stays one, so that the places of the others hold."""
    if answer is None:
        return clause
    anew = parse_goal(answer)
    return anew[0] if len(anew) == 1 else Clause(verb="unknown", said=answer)


class _Planner:
    def __init__(self, clauses: Sequence[Clause], memory: Memory, screen: Screen | None) -> None:
        self.clauses, self.memory = clauses, memory
        self.looked = screen is not None
        self.screen = screen or Screen(Observation(text=""))

    def next(self) -> Call:
        """Go through clauses that need nothing, up to the first that needs a call."""
        memory = self.memory
        if memory.refused:
            return self._fail(
                Fail(result=f"I did what was said, but it could not be confirmed: {memory.refused}")
            )
        if (strange := self._strange()) is not None:
            return strange
        if not self.looked:
            return Call(tool="observe", arguments={}, words="look")
        while memory.clause < len(self.clauses):
            clause = self.clauses[memory.clause]
            call = self._read(clause) if clause.verb == "read" else self._do(clause)
            if call is not None:
                return call
        return self._succeed()

    def _strange(self) -> Call | None:
        """What was not understood is said before anything is done."""
        memory = self.memory
        if not self.clauses:
            return self._ask(Ask(question=_STRANGE.format(""), reason="not_understood"), "")
        for place, clause in enumerate(self.clauses[memory.clause :], memory.clause):
            if clause.verb == "unknown":
                memory.asked = place
                return self._ask(
                    Ask(question=_STRANGE.format(clause.said), reason="not_understood"), clause.said
                )
        return None

    def _do(self, clause: Clause) -> Call | None:
        where = self._elsewhere(clause)
        if where and not is_here(where, self.screen):
            there = Clause(verb="within", said=where, items=(Item(where),))
            move = places.within(self._scene(there))
            if not isinstance(move, Next):
                return self._carry_out(move, clause)
        return self._carry_out(RULES[clause.verb](self._scene(clause)), clause)

    def _elsewhere(self, clause: Clause) -> str:
        """The place that a clause names and that has to be gone to first ("compute … in X")."""
        if clause.verb == "compute":
            return clause.place
        if self.screen.windows or not clause.items:
            return ""
        # on an empty desktop, a place can only be an application
        if clause.verb == "type":
            return clause.items[0].text
        return (
            (place_said(clause.items[-1]) or "")
            if clause.verb in ("press", "check", "choose")
            else clause.place
        )

    def _scene(self, clause: Clause) -> Scene:
        return Scene(clause=clause, screen=self.screen, memory=self.memory)

    def _carry_out(self, move: Move, clause: Clause) -> Call | None:
        """The call of a move, or None when the clause needed none."""
        memory = self.memory
        if (
            isinstance(move, Look)
            and clause.verb in _SEEKING
            and (memory.through or memory.ways or memory.tries)
        ):
            move = explore.way(self._scene(clause)) or move
        if isinstance(move, Look) and memory.tries >= 1:
            move = explore.past_what_is_in_the_way(self._scene(clause)) or move
        if isinstance(move, Look):
            if memory.tries < LOOKS:
                seconds = _LOOK_SECONDS[memory.tries]
                memory.tries += 1
                memory.pending = []
                wait = {"kind": "wait", "for": "change", "timeout": seconds, "optional": True}
                return Call(tool="act", arguments={"steps": [wait]}, words=f"look again: {clause.said}")
            move = move.otherwise
        match move:
            case Act():
                return self._act(move, clause)
            case Ask():
                memory.asked = memory.clause
                return self._ask(move, clause.said)
            case Fail():
                return self._fail(move, clause)
            case Next():
                self._pass(move, clause)
        return None

    def _act(self, move: Act, clause: Clause) -> Call:
        memory = self.memory
        memory.acts += 1
        if memory.tries >= LOOKS or memory.acts > _ACTS:
            why = memory.trouble or "it had no effect that I can see"
            return self._fail(Fail(result=f"“{clause.said}” did not work: {why}"), clause)
        counts = clause.verb not in _UNDONE or (clause.verb == "open" and not memory.acted)
        if counts and not (memory.item or memory.stage or memory.tries):
            memory.acted = clause.verb not in _UNDONE
            memory.seen, memory.before = evidence.fingerprint(self.screen), evidence.holders(self.screen)
        memory.pending = list(move.items or [memory.item] * len(move.steps))
        memory.pending_done, memory.pending_stage = move.done, move.stage
        if move.tried:
            memory.ways.extend(move.tried)
            memory.acts = 0
        if move.kept:
            memory.kept = list(move.kept)
        told = clause.verb not in _UNDONE or clause.verb == "open"
        memory.pending_said = clause.said if (move.done or move.stage) and told else ""
        if clause.verb in ("within", "open"):
            memory.scope = ""
        steps = [dict(step) for step in move.steps]
        memory.pending_then = ""
        if move.done and not move.tried and (press := self._press_after(clause, steps)) is not None:
            controls.hurried([*steps, press])
            memory.pending_then = self.clauses[memory.clause + 1].said
            memory.seen += evidence.entered(steps, self.screen)
            steps.append(press)
        return Call(tool="act", arguments={"steps": steps}, words=clause.said)

    def _press_after(self, clause: Clause, steps: Sequence[Json]) -> Json | None:
        """The press that comes next, when this look shows already what to press: then both are one turn."""
        following = self.clauses[self.memory.clause + 1 : self.memory.clause + 2]
        entering = all(step["kind"] in _ENTERS for step in steps) and len(steps) < controls.BATCH
        if not (entering and following and clause.verb in _FILLS and following[0].verb == "press"):
            return None
        scene = Scene(clause=following[0], screen=self.screen, memory=self.memory.at_next())
        move = controls.press(scene)
        if not isinstance(move, Act) or len(move.steps) != 1 or not move.done or move.tried:
            return None
        step = move.steps[0]
        node = next((each for each in self.screen.nodes if each.ref and each.ref == step.get("target")), None)
        plain = step["kind"] == "click" and step.get("button", "left") == "left" and "count" not in step
        return dict(step) if plain and node is not None and node.role == "button" else None

    def _pass(self, move: Next, clause: Clause) -> None:
        memory = self.memory
        if move.said:
            memory.said.append(move.said)
        memory.proof.extend(move.proof)
        if move.held is not None:
            memory.held = move.held
        if clause.how == "through":
            memory.through = True
        if move.items is not None:
            memory.item, memory.tries, memory.acts = move.items, 0, 0
            return
        if clause.verb in ("within", "open"):
            text = clause.items[0].text
            memory.scope = "" if is_here(text, self.screen) else text
        memory.advance()

    def _read(self, clause: Clause) -> Call | None:
        """Read back what is asked for; what is not there yet is looked for again."""
        memory = self.memory
        several = sum(len(each.items) for each in self.clauses if each.verb == "read") > 1
        while memory.item < len(clause.items):
            item = clause.items[memory.item]
            found = reading.read(item, self.screen, frozenset(memory.seen), acted=memory.acted)
            if found is not None and self._echo(found.text):
                found = None  # the answer may still be on its way
            if found is None:
                return self._carry_out(
                    Look(otherwise=Fail(result=f"I see nothing that says “{item.text}”.")), clause
                )
            memory.told.append(f"{item.text}: {found.text}" if several else found.text)
            memory.proof.extend(found.proof)
            memory.no_change = ""
            memory.item += 1
            memory.tries = 0
        memory.advance()
        return None

    def _echo(self, text: str) -> bool:
        """Whether this is only what was entered, although "=" was pressed last."""
        done = [
            each
            for each in self.clauses[: self.memory.clause]
            if each.verb not in _UNDONE and each.verb != "read"
        ]
        if not done or done[-1].verb not in ("press", "compute"):
            return False
        last = done[-1]
        signs = (
            [item.text for item in last.items]
            if last.verb == "press"
            else [*re.sub(r"\s", "", last.value or ""), "="]
        )
        entered = "".join(meaning(sign) for sign in signs[:-1])
        shown = "".join(meaning(sign) for sign in re.sub(r"\s", "", text))
        return meaning(signs[-1]) == "=" and len(signs) > 2 and shown == entered

    # --- the ends -----------------------------------------------------------------------------------------------------

    def _succeed(self) -> Call:
        memory = self.memory
        if (memory.no_change or self._unseen()) and not memory.waited:
            memory.waited = True
            wait = {"kind": "wait", "for": "change", "timeout": _LATE, "optional": True}
            return Call(tool="act", arguments={"steps": [wait]}, words="wait for what comes of it")
        if memory.no_change and not evidence.of_change(self.screen, memory.seen, memory.before):
            return self._fail(Fail(result=f"Pressing “{memory.no_change}” changed nothing that can be seen."))
        done = "; ".join(memory.said) or "nothing had to be done"
        if self._unseen():
            return self._fail(Fail(result="Nothing on the screen shows what came of it."))
        result = "\n".join(memory.told) if memory.told else f"Done: {done}."
        arguments = {"result": result[:_LONGEST], "status": "success", "evidence": self._evidence()}
        return Call(tool="finish", arguments=arguments, words=result)

    def _unseen(self) -> bool:
        """Whether the last thing that was done was a press that has brought nothing, and taken nothing away."""
        memory = self.memory
        acts = [each for each in self.clauses if each.verb not in _UNDONE and each.verb != "read"]
        if not acts or not memory.acted or memory.told or acts[-1].verb not in _PRESSES:
            return False
        shown = [each for each in memory.proof if evidence.holds(each, self.screen)]
        return not shown and not evidence.of_change(self.screen, memory.seen, memory.before)

    def _evidence(self) -> list[str]:
        """What was read, and the state that was reached; else what the last act brought or took away."""
        memory, screen = self.memory, self.screen
        proof = [each for each in memory.proof if evidence.holds(each, screen)]
        proof += [each for clause in self.clauses for each in evidence.of_state(clause, screen)]
        proof = (
            proof or evidence.of_change(screen, memory.seen, memory.before) or evidence.holders(screen)[:1]
        )
        return list(dict.fromkeys(proof))[:8]

    def _fail(self, move: Fail, clause: Clause | None = None) -> Call:
        at = f" (at “{clause.said}”)" if clause is not None and clause.said not in move.result else ""
        before = f" Done before: {'; '.join(self.memory.said)}." if self.memory.said else ""
        result = f"{move.result}{at}{before}"[:_LONGEST]
        return Call(
            tool="finish",
            arguments={"result": result, "status": "failure", "reason": move.reason},
            words=result,
        )

    def _ask(self, move: Ask, clause: str) -> Call:
        self.memory.answer, self.memory.about = move.answer, move.about
        arguments: Json = {"question": move.question, "reason": move.reason}
        if clause:
            arguments["clause"] = clause
        return Call(tool="ask", arguments=arguments, words=move.question)
