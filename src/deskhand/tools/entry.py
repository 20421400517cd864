"""Entering text: typed, set or pasted, and read back to the character. ``done`` only for what was read back."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from typing import Final

from deskhand.desktop.keymap import NoSpareKeys
from deskhand.desktop.keys import parse_keys
from deskhand.errors import TargetError
from deskhand.messages import Node, Route
from deskhand.observers.node import normalise, quote, walk
from deskhand.observers.serialize import describe
from deskhand.tools.actions import Fill, Key, Type
from deskhand.tools.elements import (
    READ_BACK,
    READ_BACK_AT_MOST,
    element,
    refuse_disabled,
    route_of,
    take_focus,
)
from deskhand.tools.hands import raise_window, text_pieces
from deskhand.tools.outcome import Outcome
from deskhand.tools.targets import Aim
from deskhand.tools.workspace import Workspace, in_thread

PASTE_DEADLINE: Final = 2.0
"""Seconds an application may take to ask for what is pasted."""

_DEAD_KEYS: Final = re.compile("([\ufe50-\ufe93\uff20]+)")
"""Characters that GTK 3 takes for dead keys and the Compose key when they are typed: it looks at 16 bits of a key."""

_FIELDS: Final = ("textbox", "searchbox", "combobox", "spinbutton", "terminal")
_SHOWN: Final = 200


async def type_(workspace: Workspace, step: Type, aim: Aim | None) -> Outcome:
    """Type at the caret. ``done`` only when the text was read back from the field it went to."""
    if aim is not None:
        await take_focus(workspace, aim)
    field = await focused_field(workspace)
    came, differs = await _enter(workspace, field, step.text)
    if step.enter:
        await in_thread(workspace.desktop.input.chord, ("Return",))
    where = f"into {_named(field)}" if field is not None else "no field has the focus"
    if came:
        return Outcome(effect="done", route="keyboard", message=where, final=True)
    message = where if differs is None else f"{where}; it reads differently"
    return Outcome(effect="dispatched", route="keyboard", message=message, value=differs, final=True)


async def press_keys(workspace: Workspace, step: Key) -> Outcome:
    """Chords and texts in order. With a text that could not be read back it is no more than ``dispatched``."""
    unread = False
    for stroke in parse_keys(step.keys):
        if stroke.kind == "text":
            came, _ = await _enter(workspace, await focused_field(workspace), stroke.text)
            unread = unread or not came
        else:
            await in_thread(workspace.desktop.input.chord, stroke.keys, hold=step.hold)
    return Outcome(effect="dispatched", route="keyboard", final=unread)


async def fill(workspace: Workspace, step: Fill, aim: Aim) -> Outcome:
    """Replace what a field holds: set, else typed, else pasted; ``done`` only when it reads as wanted."""
    node = element(aim, step.kind)
    refuse_disabled(node)
    if "readonly" in node.states:
        raise TargetError("not_supported", f"{describe(node)} is read only")
    await raise_window(workspace, node)
    text = workspace.reveal(step.text)
    secret = "password" in node.states or workspace.holds_secret(step.text)
    route: Route = route_of(node)
    try:
        await workspace.elements(node).set_text(node, text)
    except TargetError as error:
        if error.effect != "not_supported":
            raise
        route = "keyboard"
        await _retype(workspace, aim, text)
    if secret:
        return Outcome(effect="dispatched", route=route, message="not read back: it is secret", final=True)
    if await _reads(workspace, node, lambda now: same(now, text) or _same_number(node, now, text)):
        return Outcome(effect="done", route=route, final=True)
    now = await _held(workspace, node)
    if now is None:
        return Outcome(effect="dispatched", route=route, message="could not be read back", final=True)
    if route != "keyboard" and await _again_by_hand(workspace, aim, text, now):
        return Outcome(effect="done", route="keyboard", final=True)
    now = await _held(workspace, node)
    return Outcome(
        effect="effect_unknown",
        route=route,
        message="it reads differently",
        value=None if now is None else now[:_SHOWN],
        final=True,
    )


async def paste(workspace: Workspace, text: str, field: Node | None = None) -> bool:
    """Paste text where the keyboard is, and put back what the clipboard held. Whether an application took it."""
    board = workspace.desktop.clipboard
    before = await in_thread(board.read)
    held = None if field is None else await _held(workspace, field)
    try:
        await in_thread(board.write, text)
        terminal = field is not None and field.role == "terminal"
        chord = ("Control_L", "Shift_L", "v") if terminal else ("Control_L", "v")
        await in_thread(workspace.desktop.input.chord, chord)
        if not await in_thread(board.wait_taken, PASTE_DEADLINE):
            return False
        if field is not None and held is not None:  # what is typed next must not come before it
            await _reads(workspace, field, lambda now: arrived(held, now, text))
        return True
    finally:
        if before is None:
            await in_thread(board.clear)
        else:
            await in_thread(board.write, before)


async def focused_field(workspace: Workspace) -> Node | None:
    """The text field that has the keyboard, in the active window."""
    fields = [
        node
        for node in walk(await workspace.senses.roots())
        if "focused" in node.states and node.role in _FIELDS
    ]
    active = await in_thread(workspace.desktop.windows.active)
    here = [node for node in fields if active is None or node.window == active.title]
    return next(reversed(here or fields), None)


def same(held: str, wanted: str) -> bool:
    """Whether a field holds a text, to the character: only how lines end, and which space is meant, is left open."""
    return _plain(held) == _plain(wanted)


def arrived(before: str, after: str, typed: str) -> bool:
    """Whether a field holds a text once more often than before, to the character."""
    was, now, text = _plain(before), _plain(after), _plain(typed)
    return now.count(text) > was.count(text) or (now == text and was != text)


def _same_number(node: Node, held: str, wanted: str) -> bool:
    """Whether a number field shows the number that was wanted, with as many decimals as it likes."""
    if node.role not in ("spinbutton", "slider"):
        return False
    with contextlib.suppress(ValueError):
        return float(held.replace(",", ".")) == float(wanted.replace(",", "."))
    return False


def _plain(text: str) -> str:
    # Editable regions of pages turn some spaces into no-break ones, so that they can be seen.
    return text.replace("\r\n", "\n").replace("\u00a0", " ")


async def _enter(workspace: Workspace, field: Node | None, text: str) -> tuple[bool, str | None]:
    """Type a text into the field that has the focus; whether it was read back there, and what the field reads instead.

    Where the keyboard garbled it and the field was empty, it is set or pasted over once more.
    """
    revealed = workspace.reveal(text)
    secret = workspace.holds_secret(text)
    before = None if field is None or secret else await _held(workspace, field)
    await _type(workspace, revealed, field)
    if field is None or before is None:
        return False, None
    if await _reads(workspace, field, lambda now: arrived(before, now, revealed)):
        return True, None
    now = await _held(workspace, field)
    if now is None or same(now, before):
        return False, None
    if not before and not revealed.isascii() and await _again(workspace, field, revealed):
        return True, None
    return False, now[:_SHOWN]


async def _type(workspace: Workspace, revealed: str, field: Node | None) -> None:
    """By keyboard, in pieces short enough to be cancelled between; pasted where keys would not do."""
    native = field is not None and field.source == "native"
    for part in _DEAD_KEYS.split(revealed) if native else [revealed]:
        if _DEAD_KEYS.fullmatch(part):
            await paste(workspace, part, field)
            continue
        for piece in text_pieces(part):
            try:
                await in_thread(workspace.desktop.input.type, piece)
            except NoSpareKeys:
                await paste(workspace, piece, field)


async def _again(workspace: Workspace, field: Node, text: str) -> bool:
    """Replace what a field holds by its own means, then by pasting; whether it then reads as wanted."""
    with contextlib.suppress(TargetError):
        await workspace.elements(field).set_text(field, text)
        if await _reads(workspace, field, lambda now: same(now, text)):
            return True
    await in_thread(workspace.desktop.input.chord, ("Control_L", "a"))
    await paste(workspace, text, field)
    return await _reads(workspace, field, lambda now: same(now, text))


async def _again_by_hand(workspace: Workspace, aim: Aim, text: str, held: str) -> bool:
    """Type what a field did not take when it was set; then paste it, unless typing came to the same as setting did."""
    node = element(aim, "fill")
    await _retype(workspace, aim, text)
    if await _reads(workspace, node, lambda now: same(now, text)):
        return True
    if text.isascii() or await _held(workspace, node) == held:
        return False  # the application makes it read so
    await in_thread(workspace.desktop.input.chord, ("Control_L", "a"))
    await paste(workspace, text, node)
    return await _reads(workspace, node, lambda now: same(now, text))


async def _retype(workspace: Workspace, aim: Aim, text: str) -> None:
    """Select all and type over it: what a person does where a field takes no text from outside."""
    await take_focus(workspace, aim)
    await in_thread(workspace.desktop.input.chord, ("Control_L", "a"))
    if text:
        await _type(workspace, text, aim.node)
    else:
        await in_thread(workspace.desktop.input.chord, ("Delete",))


async def _held(workspace: Workspace, node: Node) -> str | None:
    """What a field holds: to the character where that can be asked for, else as its tree says it. None: unknown."""
    if "password" in node.states:
        return None
    with contextlib.suppress(TargetError):
        exact = await workspace.elements(node).read_text(node)
        if exact is not None:
            return exact
    now = await workspace.senses.refresh(node)
    return None if now is None else now.value


async def _reads(workspace: Workspace, node: Node, true: Callable[[str], bool]) -> bool:
    """Whether a field comes to read as wanted: `READ_BACK` seconds from its last change, `READ_BACK_AT_MOST` in all."""
    loop = asyncio.get_running_loop()
    end = loop.time() + READ_BACK_AT_MOST
    deadline = loop.time() + READ_BACK
    value: str | None = None
    while True:
        now = await _held(workspace, node)
        if now is not None and true(now):
            return True
        if now != value:
            value, deadline = now, min(end, loop.time() + READ_BACK)
        left = deadline - loop.time()
        if now is None or left <= 0:
            return False
        await asyncio.to_thread(workspace.settling.wait_painted, min(left, 0.1))


def _named(node: Node) -> str:
    """The field without what it holds."""
    return f"{node.role} {quote(node.name, 60)}" if normalise(node.name) else node.role
