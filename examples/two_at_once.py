"""Two tasks at the same time, each on a desktop of its own."""

from __future__ import annotations

import asyncio

from deskhand import acomputer_task


async def main() -> None:
    goals = [f"In gnome-calculator compute {sum_} and tell me the result" for sum_ in ("12 × 34", "56 + 78")]
    for status in await asyncio.gather(*(acomputer_task(goal, 120, "embedded") for goal in goals)):
        print(status["status"], "–", status["result"])


asyncio.run(main())
