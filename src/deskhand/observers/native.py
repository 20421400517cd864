"""The native tree of a desktop: apps on its accessibility bus, read, found again and acted on by element."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from deskhand.errors import DesktopError, Effect, TargetError
from deskhand.messages import Node, WindowInfo
from deskhand.observers.assemble import assemble
from deskhand.observers.atspi import (
    NULL,
    REGISTRY,
    ROOT,
    Bus,
    CallFailed,
    Handle,
    NotAnswering,
    states_of,
)
from deskhand.observers.busy import NativeBusy
from deskhand.observers.harvest import harvest
from deskhand.observers.node import comparable, quote, walk
from deskhand.observers.raw import App

ACTION_DEADLINE: Final = 1.0
"""Seconds that an element's action may take. One that opens a modal dialog only answers when that is closed."""

_ACTIONS: Final[dict[str, tuple[str, ...]]] = {
    "invoke": ("click", "press", "activate", "jump", "open", "invoke", "dodefault", "do default", "select"),
    "toggle": ("toggle", "check", "uncheck", "click", "press", "activate"),
    "expand": ("expand", "expand or contract", "collapse", "open", "show menu", "showmenu"),
    "menu": ("show menu", "showmenu", "menu", "popup"),
    "select": ("select", "click", "press", "activate"),
}
"""What may be called which, the best first. An action that is not named here is never taken for one that is."""


class NativeTree:
    """The apps of one accessibility bus."""

    def __init__(self, address: str) -> None:
        self._bus = Bus(address)
        self._apps: dict[str, App] = {}
        self.busy = NativeBusy(self._bus)

    async def connect(self) -> None:
        """Connect, and announce a listener: apps only offer their cache once somebody listens."""
        await self._bus.connect()
        try:
            await self._bus.call(
                REGISTRY,
                "/org/a11y/atspi/registry",
                "Registry",
                "RegisterEvent",
                "sass",
                "window:activate",
                [],
                "",
                timeout=2.0,
            )
            await self.busy.watch()
        except (CallFailed, TimeoutError) as error:
            raise DesktopError(f"the accessibility registry does not answer: {error}") from error

    async def aclose(self) -> None:
        """Disconnect. Idempotent."""
        await self.busy.aclose()
        await self._bus.aclose()

    async def apps(self) -> tuple[App, ...]:
        """The apps on the bus now, with the pids that their connections have outside any sandbox."""
        try:
            (children,) = await self._bus.call(REGISTRY, ROOT, "Accessible", "GetChildren")
        except CallFailed:
            return ()
        except TimeoutError:
            raise NotAnswering("the accessibility registry") from None
        names = list(dict.fromkeys(bus for bus, path in children if path != NULL))
        await asyncio.gather(*(self._meet(bus) for bus in names if bus not in self._apps))
        for gone in set(self._apps) - set(names):
            del self._apps[gone]
        return tuple(self._apps[bus] for bus in names if bus in self._apps)

    async def read(
        self, pid: int, windows: Sequence[WindowInfo] = (), popups: Sequence[WindowInfo] = ()
    ) -> tuple[Node, ...]:
        """The windows of the app with this pid, the active one first; empty when it has no tree.

        ``windows`` and ``popups`` are the X server's, topmost first; with them rectangles are right for every toolkit.
        NotAnswering (a TargetError, ``busy``) when the app does not answer within 0.3 s.
        """
        apps = [app for app in await self.apps() if app.pid == pid]
        trees = await asyncio.gather(*(harvest(self._bus, app) for app in apps))
        return tuple(root for tree in trees for root in assemble(tree, windows, popups))

    # --- acting -----------------------------------------------------------------------------------------------

    async def actions(self, node: Node) -> tuple[str, ...]:
        """The names of the actions that the element offers, as it calls them."""
        handle = handle_of(node)
        if "Action" not in handle.interfaces:
            return ()
        try:
            (found,) = await self._bus.call(handle.bus, handle.path, "Action", "GetActions")
        except (CallFailed, TimeoutError):
            return ()
        return tuple(str(each[0]) for each in found)

    async def perform(self, node: Node, action: str) -> Effect:
        """Have the element do what ``action`` means: ``invoke``, ``toggle``, ``expand``, ``menu``, ``select``.

        ``done`` when the app says it did it; ``dispatched`` when it has not answered yet (a modal dialog may be open:
        look); ``effect_unknown`` when it says it did not; ``not_supported`` when it offers no action of that meaning.
        """
        handle = handle_of(node)
        if _deafens(node, handle):
            return "not_supported"
        offered = [name.casefold().replace("_", " ") for name in await self.actions(node)]
        wanted = next((name for name in _ACTIONS.get(action, (action,)) if name in offered), None)
        if wanted is None:
            return "not_supported"
        answer = await self._ask(handle, "Action", "DoAction", "i", offered.index(wanted))
        return _effect(answer)

    async def focus(self, node: Node) -> Effect:
        """Give the element the keyboard focus."""
        handle = handle_of(node)
        if "Component" not in handle.interfaces:
            return "not_supported"
        answer = await self._ask(handle, "Component", "GrabFocus")
        if answer is False and await self._focused(handle):
            return "done"  # GTK 4 says no to what has the focus already
        return _effect(answer)

    async def set_text(self, node: Node, text: str) -> Effect:
        """Replace the element's text, and read it back: ``done`` only when it then holds exactly ``text``."""
        handle = handle_of(node)
        if "EditableText" not in handle.interfaces or {"readonly", "disabled"} & node.states:
            return "not_supported"
        answer = await self._ask(handle, "EditableText", "SetTextContents", "s", text)
        if answer is None:
            return "dispatched"
        if await self._text(handle) == text or await self._rewritten(handle, text):
            return "done"
        if "password" in node.states:
            return "effect_unknown"  # its text is not ours to compare
        return "effect_unknown" if answer is not False else "not_supported"

    async def read_text(self, node: Node) -> str | None:
        """What a field holds, to the character; None for a password or what has no text of its own."""
        handle = handle_of(node)
        if "Text" not in handle.interfaces or "password" in node.states:
            return None
        return await self._text(handle)

    async def set_value(self, node: Node, value: float) -> Effect:
        """Set a slider, spin button or the like, and read it back."""
        handle = handle_of(node)
        if "Value" not in handle.interfaces:
            return "not_supported"
        from dbus_fast import Variant

        try:
            await self._bus.call(
                handle.bus,
                handle.path,
                "org.freedesktop.DBus.Properties",
                "Set",
                "ssv",
                "org.a11y.atspi.Value",
                "CurrentValue",
                Variant("d", float(value)),
                timeout=ACTION_DEADLINE,
            )
            now = float(await self._bus.get(handle, "Value", "CurrentValue"))
        except CallFailed as error:
            if error.gone:
                raise TargetError(
                    "stale_ref", f"{node.role} {quote(node.name, 80)} is gone: observe again"
                ) from None
            return "not_supported"
        except TimeoutError:
            return "dispatched"
        return "done" if abs(now - value) < 1e-6 * max(1.0, abs(value)) else "effect_unknown"

    async def select(self, node: Node, option: str | None = None) -> Effect:
        """Select the element, or the option of that name inside it. TargetError ``not_found`` lists the options."""
        target = node if option is None else _option(node, option)
        handle = handle_of(target)
        if handle.parent and handle.index >= 0:
            parent = Handle(handle.bus, handle.parent)
            for holder in (handle_of(node), parent) if option is not None else (parent,):
                answer = await self._ask(holder, "Selection", "SelectChild", "i", handle.index)
                if answer is True:
                    return "done"
        return await self.perform(target, "select")

    async def _focused(self, handle: Handle) -> bool:
        try:
            (states,) = await self._bus.call(handle.bus, handle.path, "Accessible", "GetState")
        except (CallFailed, TimeoutError):
            return False
        return "focused" in states_of(states)

    async def _text(self, handle: Handle) -> str | None:
        try:
            count = int(await self._bus.get(handle, "Text", "CharacterCount"))
            (text,) = await self._bus.call(handle.bus, handle.path, "Text", "GetText", "ii", 0, count)
        except (CallFailed, TimeoutError):
            return None
        return str(text)

    async def _rewritten(self, handle: Handle, text: str) -> bool:
        """The longer way, for apps that only know how to delete and insert."""
        try:
            count = int(await self._bus.get(handle, "Text", "CharacterCount"))
        except (CallFailed, TimeoutError):
            return False
        if count:
            await self._ask(handle, "EditableText", "DeleteText", "ii", 0, count)
        await self._ask(handle, "EditableText", "InsertText", "isi", 0, text, len(text.encode()))
        return await self._text(handle) == text

    async def _ask(
        self, handle: Handle, interface: str, member: str, signature: str = "", *body: Any
    ) -> bool | None:
        """An act: what the app says of it, None when it has not answered in time."""
        try:
            answer = await self._bus.call(
                handle.bus, handle.path, interface, member, signature, *body, timeout=ACTION_DEADLINE
            )
        except TimeoutError:
            return None
        except CallFailed as error:
            if error.name.endswith((".UnknownObject", ".ServiceUnknown", ".NameHasNoOwner")):
                raise TargetError("stale_ref", "the element is gone: observe again") from None
            return False
        return bool(answer[0]) if answer else True

    async def _meet(self, bus: str) -> None:
        try:
            (pid,) = await self._bus.call(
                "org.freedesktop.DBus",
                "/org/freedesktop/DBus",
                "org.freedesktop.DBus",
                "GetConnectionUnixProcessID",
                "s",
                bus,
            )
        except (CallFailed, TimeoutError):
            return
        self._apps[bus] = App(bus, int(pid))


def _deafens(node: Node, handle: Handle) -> bool:
    """Whether the element's own action could make its app deaf.

    GTK 3 runs it inside the handling of our call: when it opens a dialog the old way (``gtk_dialog_run``), the app
    answers nothing on this bus until the dialog is closed. So what can be clicked is to be clicked, and an item of a
    closed menu is to be reached through its menu.
    """
    if handle.toolkit != "gtk":
        return False
    return node.role.startswith("menuitem") or (node.rect is not None and "offscreen" not in node.states)


def handle_of(node: Node) -> Handle:
    """The native handle of a node. TargetError when it is not a native one."""
    if not isinstance(node.handle, Handle):
        raise TargetError("not_supported", f"{node.role} {quote(node.name, 80)} is not a native element")
    return node.handle


def _option(node: Node, option: str) -> Node:
    inside = [each for each in walk(node.children) if each.name and each.role != "text"]
    wanted = comparable(option)
    found = [each for each in inside if comparable(each.name) == wanted]
    if not found:
        names = ", ".join(quote(each.name, 40) for each in inside[:20])
        raise TargetError("not_found", f"no option {quote(option, 80)}; there are: {names or 'none'}")
    if len(found) > 1:
        raise TargetError("ambiguous", f"{len(found)} options are called {quote(option, 80)}")
    return found[0]


def _effect(answer: bool | None) -> Effect:
    if answer is None:
        return "dispatched"
    return "done" if answer else "effect_unknown"
