"""Reading the transcript: where the planner was, what it sees, and what came of its last turn."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deskhand.errors import Effect
from deskhand.messages import BatchReport, Entry, Results, StepReport, ToolResult, Transcript, Turn, Words
from deskhand.orchestrator.models.embedded.lexicon import ORDINALS, normal, without_article
from deskhand.orchestrator.models.embedded.moves import Memory
from deskhand.orchestrator.models.embedded.screen import Screen
from deskhand.tools.step import is_ref

_GOOD: frozenset[Effect] = frozenset({"done", "dispatched", "effect_unknown", "no_change", "skipped"})
_PRESSES = frozenset({"click", "invoke", "key"})


def remembered(transcript: Transcript) -> Memory:
    """The memory of the last turn, brought up to date by what came of it; a fresh one at the start."""
    for place in range(len(transcript) - 1, -1, -1):
        entry = transcript[place]
        if isinstance(entry, Turn) and (memory := Memory.load(entry.raw)) is not None:
            _take_in(transcript[place + 1 :], memory)
            return memory
    return Memory()


def last_look(transcript: Transcript) -> Screen | None:
    """The last observation, None when there was none."""
    for entry in reversed(transcript):
        if isinstance(entry, Words) and entry.observation is not None:
            return Screen(entry.observation)
        if isinstance(entry, Results):
            for result in reversed(entry.results):
                if result.observation is not None:
                    return Screen(result.observation)
                if result.batch is not None and result.batch.after is not None:
                    return Screen(result.batch.after)
    return None


def _take_in(entries: Sequence[Entry], memory: Memory) -> None:
    results = [result for entry in entries if isinstance(entry, Results) for result in entry.results]
    for result in results:
        _take(result, memory)
    if not results and memory.answer:
        # a resumed task: the answer comes as the caller's next words
        for entry in entries:
            if isinstance(entry, Words) and entry.role == "user":
                _answered(entry.text, memory)


def _take(result: ToolResult, memory: Memory) -> None:
    if result.name == "ask" and not result.is_error:
        _answered(result.text.removeprefix("Answer:").strip(), memory)
    elif result.name == "finish":
        memory.refused = result.text
    elif result.batch is not None:
        _count(result.batch, memory)
    elif result.is_error:
        memory.trouble, memory.tries, memory.pending = result.text, memory.tries + 1, []


def _answered(text: str, memory: Memory) -> None:
    """An answer amends the clause that was asked about."""
    if text and memory.answer:
        bare = re.sub(r"\s+one$", "", normal(without_article(text)))
        if memory.about and bare in ORDINALS:
            text = f"the {bare} {memory.about}"
        memory.amended[str(memory.asked)] = memory.answer.replace("{}", text)
        memory.answer, memory.item, memory.stage, memory.tries, memory.trouble = "", 0, 0, 0, ""


def _count(batch: BatchReport, memory: Memory) -> None:
    """How far a batch came."""
    pending, memory.pending = memory.pending, []
    then, memory.pending_then = memory.pending_then, ""
    if not pending:
        return  # it was a look
    good = 0
    for report in batch.steps:
        if report.effect not in _GOOD:
            memory.trouble = report.message or report.effect
            break
        good += 1
        memory.no_change = _pressed(report) if report.effect == "no_change" else ""
    reached = pending[min(good, len(pending)) - 1] if good else memory.item
    if reached > memory.item:
        memory.item, memory.acts = reached, 0
    if good < len(pending):
        # a batch that stopped after some steps goes on from there, one that did nothing was a try
        memory.tries = 0 if good else memory.tries + 1
        return
    trouble, memory.tries, memory.trouble = memory.trouble, 0, ""
    if memory.pending_stage is not None:
        memory.stage = memory.pending_stage
    if memory.pending_said:
        memory.said.append(memory.pending_said)
    if memory.pending_done:
        memory.advance()
    if then and good > len(pending):
        memory.said.append(then)
        memory.advance()
    elif then and trouble:
        memory.trouble, memory.tries = trouble, 1


def _pressed(report: StepReport) -> str:
    """What a press without effect was on; empty for steps that need not change anything."""
    if report.step.get("kind") not in _PRESSES:
        return ""
    named = report.target.name if report.target is not None else ""
    aimed = str(report.step.get("keys") or report.step.get("target") or "it")
    return named or ("it" if is_ref(aimed) else aimed)
