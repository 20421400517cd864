"""The caller's side of the wall: hand a task over, follow it, and return what comes back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from deskhand.config import data_home
from deskhand.messages import Json, Model
from deskhand.orchestrator.brief import TaskStatus
from deskhand.orchestrator.collect import collect
from deskhand.orchestrator.follow import Cancel, Follower
from deskhand.orchestrator.order import Order, prepare
from deskhand.orchestrator.peers import open_peer
from deskhand.orchestrator.result import running_status
from deskhand.terms import Limits, Policy, Private

__all__ = ["Cancel", "acomputer_task", "computer_task", "follow_order", "prepare", "run_order"]


def run_order(order: Order, cancel: Cancel | None = None) -> TaskStatus:
    """Do a prepared task and return its status. Whatever happens here, nothing of the task is left running, except
    what was asked to go on.

    KeyboardInterrupt cancels the task, waits for its end and is raised again.
    """
    follower = Follower(order, open_peer(order))
    try:
        follower.follow(cancel)
    except BaseException:
        follower.cancel("person")
        with suppress(BaseException):
            follower.follow(None)
        raise
    finally:
        follower.peer.end(
            reported=follower.status is not None, goes_on=follower.in_background or follower.kept
        )
        follower.close()
        order.callbacks.close()
    if follower.status is not None:
        return follower.status
    if follower.in_background:
        return running_status(order.directory, order.brief.conversation)
    return follower.composed()


def computer_task(
    goal: str | None,
    timeout: float = 300,
    model: str | Model | None = None,
    *,
    context: str | None = None,
    inputs: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    expect: Sequence[str] = (),
    output: Any = None,
    computer: str | Private = "private",
    limits: Limits | None = None,
    policy: Policy | None = None,
    record: bool | str | os.PathLike[str] = False,
    background: bool = False,
    resume: str | None = None,
    on_event: Callable[[Json], object] | None = None,
) -> TaskStatus:
    """Have a task done on a desktop of its own, and return one small status dict.

    ``timeout`` is seconds of wall clock, start-up included. ``resume`` names a conversation: with ``goal`` the answer
    to its question, with ``goal=None`` a background task to wait for. ValueError or TypeError name a wrong argument
    before anything starts; everything after that is a status. Needs no event loop and works where one is running.
    """
    if resume is not None and goal is None:
        return collect(data_home(), resume, timeout)
    order = prepare(
        goal, timeout, model, context=context, inputs=inputs, secrets=secrets, expect=expect, output=output,
        computer=computer, limits=limits, policy=policy, record=record, background=background, resume=resume,
        on_event=on_event,
    )  # fmt: skip
    return run_order(order)


async def acomputer_task(
    goal: str | None,
    timeout: float = 300,
    model: str | Model | None = None,
    *,
    context: str | None = None,
    inputs: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    expect: Sequence[str] = (),
    output: Any = None,
    computer: str | Private = "private",
    limits: Limits | None = None,
    policy: Policy | None = None,
    record: bool | str | os.PathLike[str] = False,
    background: bool = False,
    resume: str | None = None,
    on_event: Callable[[Json], object] | None = None,
) -> TaskStatus:
    """`computer_task` for async code: cancelling it ends the task. Async callbacks run on the caller's loop."""
    if resume is not None and goal is None:
        return await asyncio.to_thread(collect, data_home(), resume, timeout)
    order = prepare(
        goal, timeout, model, context=context, inputs=inputs, secrets=secrets, expect=expect, output=output,
        computer=computer, limits=limits, policy=policy, record=record, background=background, resume=resume,
        on_event=on_event,
    )  # fmt: skip
    return await follow_order(order)


async def follow_order(order: Order) -> TaskStatus:
    """`run_order` beside a running event loop."""
    order.callbacks.loop = asyncio.get_running_loop()
    cancel = Cancel()
    running = asyncio.ensure_future(asyncio.to_thread(run_order, order, cancel))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancel.set("caller")
        with suppress(Exception):
            await asyncio.shield(running)
        raise
    finally:
        if running.done():
            cancel.close()
