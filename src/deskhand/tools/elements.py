"""Steps on elements: the element's own action first, the pointer or the keyboard second; effects are read back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from deskhand.errors import TargetError
from deskhand.messages import Node, Route
from deskhand.observers.node import comparable, flatten, quote, walk
from deskhand.observers.serialize import describe
from deskhand.tools.actions import Click, Expand, Focus, Invoke, Menu, Select, Toggle
from deskhand.tools.hands import click_at, raise_window, reach
from deskhand.tools.outcome import Outcome
from deskhand.tools.targets import LOOK_AGAIN, TARGET_TIMEOUT, Aim
from deskhand.tools.workspace import Workspace, in_thread

INVOKED_BY_CLICK: Final = frozenset(
    "button checkbox radio switch link menuitem menuitemcheckbox menuitemradio".split()
)
"""Roles on which a plain click and the element's own action mean the same. A list row's own action may open it,
where a click only selects, and a click into text puts the caret there: those go by pointer."""

_ITEMS: Final = ("menuitem", "menuitemcheckbox", "menuitemradio")
_STATES_OF_ON: Final = ("checked", "pressed", "selected")
READ_BACK: Final = 0.5
"""Seconds that a state or a value may take to follow the act, from its last change."""

READ_BACK_AT_MOST: Final = 10.0
"""Seconds that reading back may take in all: an app on a busy machine takes seconds for what was typed at once."""


def route_of(node: Node) -> Route:
    """The name of the element route for a node of this source."""
    return "page" if node.source == "page" else "element"


async def click(workspace: Workspace, step: Click, aim: Aim) -> Outcome:
    """Click an element by its own action where that means the same, else by pointer."""
    if aim.node is None:
        return await click_at(workspace, step, aim)
    node = await _opened(workspace, aim.node)
    refuse_disabled(node)
    means = workspace.elements(node)
    try:
        await raise_window(workspace, node)
        if is_plain(step) and node.role in INVOKED_BY_CLICK:
            effect = await means.invoke(node)
        else:
            effect = await means.click(node, step.button, step.count, step.modifiers)
        return Outcome(effect=effect, route=route_of(node))
    except TargetError as error:
        if error.effect != "not_supported":
            raise
    return await click_at(workspace, step, Aim(node=node, moved=aim.moved))


def is_plain(step: Click) -> bool:
    """Whether it is one click of the left button."""
    return step.button == "left" and step.count == 1 and not step.modifiers


async def invoke(workspace: Workspace, step: Invoke, aim: Aim) -> Outcome:
    """The element's main action, else a click on it."""
    node = await _opened(workspace, element(aim, step.kind))
    refuse_disabled(node)
    await raise_window(workspace, node)
    try:
        return Outcome(effect=await workspace.elements(node).invoke(node), route=route_of(node))
    except TargetError as error:
        if error.effect != "not_supported":
            raise
    return await click_at(workspace, Click(kind="click", target=step.target), Aim(node=node, moved=aim.moved))


async def _opened(workspace: Workspace, node: Node) -> Node:
    """An item of a closed menu, with the menus above it opened; any other element as it is.

    Items can be activated while their menu is closed, but not all apps survive it, and a person would not see it.
    """
    if node.role not in _ITEMS or (node.rect is not None and "offscreen" not in node.states):
        return node
    flat = flatten(await workspace.senses.roots())
    place = next((i for i, each in enumerate(flat.nodes) if each.handle == node.handle), None)
    if place is None:
        return node
    above = [flat.nodes[i] for i in flat.path(place) if flat.nodes[i].role in _ITEMS and flat.nodes[i].name]
    for item in reversed(above):
        if "expanded" not in item.states:
            await click(workspace, Click(kind="click", target=item.name), Aim(node=item))
            await _becomes(
                workspace, node, lambda now: now.rect is not None and "offscreen" not in now.states
            )
    return await workspace.senses.refresh(node) or node


async def toggle(workspace: Workspace, step: Toggle, aim: Aim) -> Outcome:
    """Flip, or bring to a state; the state is read back."""
    node = element(aim, step.kind)
    before = is_on(node)
    if step.on is not None and before == step.on:
        return Outcome(effect="done", message=f"it was {_on_off(before)} already", final=True)
    outcome = await invoke(workspace, Invoke(kind="invoke", target=step.target), aim)
    wanted = (not before) if step.on is None else step.on
    if await _becomes(workspace, node, lambda now: is_on(now) == wanted):
        return Outcome(effect="done", route=outcome.route, message=f"it is {_on_off(wanted)} now", final=True)
    return Outcome(
        effect="no_change", route=outcome.route, message=f"it still is {_on_off(before)}", final=True
    )


async def expand(workspace: Workspace, step: Expand, aim: Aim) -> Outcome:
    """Unfold or fold."""
    node = element(aim, step.kind)
    if ("expanded" in node.states) == step.on and node.states & {"expanded", "collapsed"}:
        return Outcome(effect="done", message="it was so already", final=True)
    await raise_window(workspace, node)
    try:
        return Outcome(effect=await workspace.elements(node).expand(node, step.on), route=route_of(node))
    except TargetError as error:
        if error.effect != "not_supported":
            raise
    return await click_at(workspace, Click(kind="click", target=step.target), aim)


async def focus(workspace: Workspace, step: Focus, aim: Aim) -> Outcome:
    """Give the keyboard to an element."""
    node = element(aim, step.kind)
    route = await take_focus(workspace, aim)
    if await _becomes(workspace, node, lambda now: "focused" in now.states):
        return Outcome(effect="done", route=route, final=True)
    return Outcome(effect="dispatched", route=route, final=True)


async def take_focus(workspace: Workspace, aim: Aim) -> Route:
    """Focus the target by its own means, or by clicking it."""
    node = aim.node
    if node is not None:
        await raise_window(workspace, node, keyboard=True)
        if "focused" in node.states and node.source != "page":  # a page may be focused without the keyboard
            return "none"
        try:
            await workspace.elements(node).focus(node)
        except TargetError as error:
            if error.effect != "not_supported":
                raise
        else:
            if await _becomes(workspace, node, lambda now: "focused" in now.states):
                return route_of(node)
    point = await reach(workspace, aim)
    await in_thread(workspace.desktop.input.click, point)
    return "pointer"


async def select(workspace: Workspace, step: Select, aim: Aim) -> Outcome:
    """Choose an option by its text, or the target itself."""
    node = element(aim, step.kind)
    refuse_disabled(node)
    await raise_window(workspace, node)
    try:
        effect = await workspace.elements(node).select(node, step.option)
    except TargetError as error:
        if error.effect != "not_supported":
            raise
        return await _select_by_hand(workspace, step, aim)
    if step.option is None:
        if await _becomes(workspace, node, is_on):
            return Outcome(effect="done", route=route_of(node), final=True)
    elif await _becomes(workspace, node, lambda now: _shows(now, step.option or "")):
        return Outcome(effect="done", route=route_of(node), final=True)
    return Outcome(effect=effect, route=route_of(node))


async def _select_by_hand(workspace: Workspace, step: Select, aim: Aim) -> Outcome:
    """Open the list, then click the option of that text."""
    node = element(aim, step.kind)
    if step.option is None:
        return await click_at(workspace, Click(kind="click", target=step.target), aim)
    await expand(workspace, Expand(kind="expand", target=step.target), aim)
    option = await _appears(
        workspace, step.option, ("option", "menuitem", "listitem", "cell", "gridcell", "row")
    )
    if option is None:
        raise TargetError("not_found", f"{describe(node)} has no option {quote(step.option, 60)}")
    return await click(workspace, Click(kind="click", target=step.target), Aim(node=option))


async def menu(workspace: Workspace, step: Menu) -> Outcome:
    """Walk down a menu: each item is looked for, and waited for, when its menu is open."""
    outcome = Outcome(effect="dispatched")
    for depth, name in enumerate(step.path):
        roles = (*_ITEMS, "button") if depth == 0 else (*_ITEMS, "button", "checkbox", "radio")
        item = await _appears(workspace, name, roles)
        if item is None:
            where = f" in {quote(step.path[depth - 1], 40)}" if depth else ""
            raise TargetError("not_found", f"there is no menu item {quote(name, 60)}{where}")
        outcome = await click(workspace, Click(kind="click", target="menuitem"), Aim(node=item))
    return outcome


# --- looking ------------------------------------------------------------------------------------------------------


def is_on(node: Node) -> bool:
    """Whether a checkbox, switch, toggle button, tab or option is on."""
    return any(state in node.states for state in _STATES_OF_ON)


def _on_off(on: bool) -> str:
    return "on" if on else "off"


def element(aim: Aim, kind: str) -> Node:
    """The element of an aim. TargetError when it is a point."""
    if aim.node is None:
        raise TargetError(
            "not_supported", f"{kind} needs an element, not a point: use click, or a ref or selector"
        )
    return aim.node


def refuse_disabled(node: Node) -> None:
    """TargetError when the element is disabled."""
    if "disabled" in node.states:
        raise TargetError("not_supported", f"{describe(node)} is disabled")


def _shows(node: Node, option: str) -> bool:
    wanted = comparable(option)
    if comparable(node.value or "") == wanted:
        return True
    return any(is_on(each) and comparable(each.name) == wanted for each in walk(node.children))


async def _becomes(workspace: Workspace, node: Node, true: Callable[[Node], bool]) -> bool:
    """Whether an element comes to satisfy a condition; looks again as things are painted.

    It has `READ_BACK` seconds from its last change, and `READ_BACK_AT_MOST` in all.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + READ_BACK_AT_MOST
    deadline = loop.time() + READ_BACK
    value = node.value
    while True:
        now = await workspace.senses.refresh(node)
        if now is not None and true(now):
            return True
        if now is not None and now.value != value:
            value, deadline = now.value, min(end, loop.time() + READ_BACK)
        left = deadline - loop.time()
        if now is None or left <= 0:
            return False
        await asyncio.to_thread(workspace.settling.wait_painted, min(left, 0.1))


async def _appears(workspace: Workspace, name: str, roles: tuple[str, ...]) -> Node | None:
    """The visible element of this name and one of these roles, waited for; the innermost when several overlap."""
    wanted = plain_label(name)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + TARGET_TIMEOUT
    while True:
        found = [
            node
            for node in walk(await workspace.senses.roots())
            if node.role in roles and plain_label(node.name) == wanted and "disabled" not in node.states
        ]
        seen = [node for node in found if node.rect is not None and "offscreen" not in node.states]
        if seen:
            return seen[-1]
        left = deadline - loop.time()
        if left <= 0:
            return found[-1] if found else None
        await asyncio.to_thread(workspace.settling.wait_painted, min(left, LOOK_AGAIN))


def plain_label(text: str) -> str:
    """A menu label without case, mnemonic and ellipsis: ``_Save As…`` is ``save as``."""
    return comparable(text).replace("_", "").removesuffix("…").removesuffix("...").strip()
