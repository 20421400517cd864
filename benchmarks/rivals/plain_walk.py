"""The plainest way to read a tree: element by element, each question asked when the one before it is answered."""

from __future__ import annotations

from typing import Any

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

_ROOT = "/org/a11y/atspi/accessible/root"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_MOST = 20_000
_FIRST = 600
"""Cells of a sheet that are read: as many as can be seen."""


class PlainWalk:
    """A connection to an accessibility bus."""

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus

    @classmethod
    async def connect(cls, address: str) -> PlainWalk:
        return cls(await MessageBus(bus_address=address).connect())

    async def read(self, app: str) -> list[dict[str, Any]]:
        """Role, name, states, rectangle and value of every element of the app with this bus name, depth first."""
        found: list[dict[str, Any]] = []
        stack = [_ROOT]
        while stack and len(found) < _MOST:
            path = stack.pop()
            interfaces = await self._call(app, path, _ACCESSIBLE, "GetInterfaces") or [[]]
            element = {
                "text": "",
                "role": await self._call(app, path, _ACCESSIBLE, "GetRole"),
                "name": await self._get(app, path, _ACCESSIBLE, "Name") or "",
                "description": await self._get(app, path, _ACCESSIBLE, "Description"),
                "states": await self._call(app, path, _ACCESSIBLE, "GetState"),
            }
            if "org.a11y.atspi.Component" in interfaces[0]:
                extents = "org.a11y.atspi.Component"
                element["rect"] = await self._call(app, path, extents, "GetExtents", "u", 0)
            if "org.a11y.atspi.Text" in interfaces[0]:
                text = await self._call(app, path, "org.a11y.atspi.Text", "GetText", "ii", 0, -1)
                element["text"] = text[0] if text else ""
            if "org.a11y.atspi.Value" in interfaces[0]:
                element["value"] = await self._get(app, path, "org.a11y.atspi.Value", "CurrentValue")
            if (await self._get(app, path, _ACCESSIBLE, "ChildCount") or 0) > _MOST:
                children = [await self._first(app, path)]
            else:
                children = await self._call(app, path, _ACCESSIBLE, "GetChildren") or [[]]
            stack.extend(child for who, child in reversed(children[0]) if who == app)
            found.append(element)
        return found[1:]  # without the application itself

    async def _first(self, app: str, path: str) -> list[Any]:
        """The first of the children of a sheet that has billions."""
        asked = [
            await self._call(app, path, _ACCESSIBLE, "GetChildAtIndex", "i", index) for index in range(_FIRST)
        ]
        return [answer[0] for answer in asked if answer]

    def close(self) -> None:
        self._bus.disconnect()

    async def _call(
        self, app: str, path: str, interface: str, member: str, signature: str = "", *body: Any
    ) -> Any:
        answer = await self._bus.call(
            Message(
                destination=app,
                path=path,
                interface=interface,
                member=member,
                signature=signature,
                body=list(body),
            )
        )
        return None if answer.message_type is MessageType.ERROR else answer.body

    async def _get(self, app: str, path: str, interface: str, name: str) -> Any:
        body = await self._call(app, path, "org.freedesktop.DBus.Properties", "Get", "ss", interface, name)
        return body[0].value if body else None
