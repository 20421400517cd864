"""A model of your own: anything that has a name and answers one turn at a time. It runs in your process."""

from __future__ import annotations

from collections.abc import Sequence

from deskhand import computer_task
from deskhand.messages import Results, ToolCall, ToolSpec, Transcript, Turn


class Adder:
    """Does one sum, and hands over what the desktop says about it."""

    name = "adder"

    async def turn(self, transcript: Transcript, tools: Sequence[ToolSpec]) -> Turn:
        if not isinstance(transcript[-1], Results):
            steps = [
                {"kind": "launch", "app": "gnome-calculator"},
                {"kind": "key", "keys": "t:20+22;Return"},
                {"kind": "check", "selector": "*[name*='42']"},
            ]
            return Turn(calls=(ToolCall(id="1", name="act", arguments={"steps": steps}),), stop="calls")
        arguments = {"status": "success", "result": "20 + 22 = 42", "evidence": ["*[name*='42']"]}
        return Turn(calls=(ToolCall(id="2", name="finish", arguments=arguments),), stop="calls")


status = computer_task("Add 20 and 22 in the calculator", timeout=120, model=Adder())
print(status["status"], status["verified"], "–", status["result"])
