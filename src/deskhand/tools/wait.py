"""Waiting for a selector, for any change on the screen, or for some seconds. Driven by what is painted."""

from __future__ import annotations

import asyncio

from deskhand.errors import TargetError
from deskhand.messages import Node, Settled
from deskhand.observers.selector import parse_selector
from deskhand.tools.actions import Check, Wait
from deskhand.tools.outcome import Outcome
from deskhand.tools.search import READ_AT_LEAST, READ_SECONDS, search
from deskhand.tools.targets import LOOK_AGAIN, _near
from deskhand.tools.workspace import Workspace

WAIT_TIMEOUT = 10.0
"""Default seconds of a wait."""


async def wait_selector(
    workspace: Workspace, selector: str, *, state: str, timeout: float
) -> list[Node] | None:
    """The matches once there are some (``present``), or an empty list once there are none (``absent``).

    None when ``timeout`` seconds have passed. InvalidStep for a selector that means nothing.
    """
    parsed = parse_selector(selector)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while True:
        seconds = min(READ_SECONDS, max(READ_AT_LEAST, deadline - loop.time()))
        found, _ = await search(workspace.senses, parsed, seconds=seconds)
        if bool(found) == (state == "present"):
            return found
        left = deadline - loop.time()
        if left <= 0:
            return None
        await asyncio.to_thread(workspace.settling.wait_painted, min(left, LOOK_AGAIN))


async def wait_change(workspace: Workspace, timeout: float) -> Settled:
    """Until the screen changes and rests, at most ``timeout`` seconds. Can be cancelled: the thread only looks."""
    return await asyncio.to_thread(workspace.settling.wait_change, timeout)


async def wait(workspace: Workspace, step: Wait) -> Outcome:
    """The step ``wait``. TargetError ``not_found`` when what was waited for did not come."""
    timeout = WAIT_TIMEOUT if step.timeout is None else step.timeout
    if step.seconds is not None:
        await asyncio.sleep(step.seconds)  # what was asked for
        return Outcome(effect="done", message=f"waited {step.seconds:g} s", final=True)
    if step.for_ == "change":
        settled = await wait_change(workspace, timeout)
        if settled.verdict == "no_change":
            raise TargetError("not_found", f"nothing changed on the screen within {timeout:g} s")
        return Outcome(effect="done", message=f"the screen changed after {settled.waited:.1f} s", final=True)
    selector = str(step.for_)
    found = await wait_selector(workspace, selector, state=step.state, timeout=timeout)
    if found is None:
        there = "still there" if step.state == "absent" else "not there"
        raise TargetError("not_found", f"{selector} is {there} after {timeout:g} s")
    return Outcome(effect="done", message=f"{selector} is {step.state}", final=True)


async def check(workspace: Workspace, step: Check) -> Outcome:
    """The step ``check``: must match now (or within ``timeout`` seconds if one was given)."""
    found = await wait_selector(workspace, step.selector, state="present", timeout=step.timeout or 0)
    if found:
        return Outcome(effect="done", message="holds", final=True)
    near = _near(parse_selector(step.selector), await workspace.senses.roots())
    raise TargetError(
        "not_found", f"{step.selector} does not hold here" + (f"; there are: {near}" if near else "")
    )
