"""From a step and its resolved target to the function that performs it."""

from __future__ import annotations

from deskhand.tools import elements, entry, hands, places, wait, web
from deskhand.tools.actions import (
    Check,
    Click,
    Clipboard,
    Dialog,
    Drag,
    Expand,
    Fill,
    Focus,
    Invoke,
    Key,
    Launch,
    Menu,
    Move,
    Navigate,
    Press,
    Release,
    Scroll,
    Select,
    Step,
    Tab,
    Toggle,
    Type,
    Upload,
    Wait,
    Window,
)
from deskhand.tools.outcome import Outcome
from deskhand.tools.targets import Aim
from deskhand.tools.workspace import Workspace


async def perform(workspace: Workspace, step: Step, aim: Aim | None) -> Outcome:
    """Do one step, once. ``aim`` is its target, resolved; None for a step that has none.

    TargetError when it could not be done and nothing was; DesktopError when the desktop broke.
    """
    if aim is not None:
        return await _aimed(workspace, step, aim)
    return await _unaimed(workspace, step)


async def _aimed(workspace: Workspace, step: Step, aim: Aim) -> Outcome:
    match step:
        case Click():
            return await elements.click(workspace, step, aim)
        case Invoke():
            return await elements.invoke(workspace, step, aim)
        case Toggle():
            return await elements.toggle(workspace, step, aim)
        case Select():
            return await elements.select(workspace, step, aim)
        case Expand():
            return await elements.expand(workspace, step, aim)
        case Focus():
            return await elements.focus(workspace, step, aim)
        case Fill():
            return await entry.fill(workspace, step, aim)
        case Type():
            return await entry.type_(workspace, step, aim)
        case Press():
            return await hands.press(workspace, step, aim)
        case Release():
            return await hands.release(workspace, step, aim)
        case Move():
            return await hands.move(workspace, step, aim)
        case Drag():
            return await hands.drag(workspace, step, aim)
        case Scroll():
            return await hands.scroll(workspace, step, aim)
        case Window():
            return await places.window(workspace, step, aim)
        case Upload():
            return await web.upload(workspace, step, aim.node)
    raise AssertionError(f"{step.name} has no target")


async def _unaimed(workspace: Workspace, step: Step) -> Outcome:
    match step:
        case Type():
            return await entry.type_(workspace, step, None)
        case Menu():
            return await elements.menu(workspace, step)
        case Key():
            return await entry.press_keys(workspace, step)
        case Release():
            return await hands.release(workspace, step, None)
        case Scroll():
            return await hands.scroll(workspace, step, None)
        case Launch():
            return await places.launch(workspace, step)
        case Window():
            return await places.window(workspace, step, None)
        case Clipboard():
            return await places.clipboard(workspace, step)
        case Navigate():
            return await web.navigate(workspace, step)
        case Tab():
            return await web.tab(workspace, step)
        case Dialog():
            return await web.dialog(workspace, step)
        case Wait():
            return await wait.wait(workspace, step)
        case Check():
            return await wait.check(workspace, step)
    raise AssertionError(f"{step.name} needs a target")
