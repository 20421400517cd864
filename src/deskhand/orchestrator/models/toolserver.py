"""The child's tools as an MCP server on a private unix socket, for the program of a command-line agent."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage

from deskhand.messages import Json, ToolResult, ToolSpec

NAME = "desk"
"""What the agents call the server; the model sees it as a part of the tools' names."""

LINE_LIMIT = 64 * 2**20

_LONGEST_DESCRIPTION = 1900
"""Characters. Claude Code cuts descriptions at 2048; what is longer goes on in the schema, which is passed whole."""

_ID_KEYS = ("claudecode/toolUseId", "callId")
"""Where Claude Code and Codex put the id that the model gave to the call."""

Called = Callable[[str, str, Json], Awaitable[ToolResult]]


class ToolServer:
    """Listens at ``path`` (mode 0600). ``called(id, name, arguments)`` answers a call; the id is "" when unknown."""

    def __init__(self, path: str, tools: Sequence[ToolSpec], called: Called) -> None:
        self.path, self._called = path, called
        self._tools = [_tool(spec) for spec in tools]
        self._listening: asyncio.Server | None = None
        self._connections: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        previous = os.umask(0o177)
        try:
            sock.bind(self.path)
        finally:
            os.umask(previous)
        self._listening = await asyncio.start_unix_server(self._serve, sock=sock, limit=LINE_LIMIT)

    async def aclose(self) -> None:
        """Stop listening, and end the calls that still wait."""
        if self._listening is not None:
            self._listening.close()
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections, timeout=1)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        server: Server[Any] = Server(NAME, on_list_tools=self._list, on_call_tool=self._call)
        incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_read, reader, incoming)
                group.start_soon(_write, outgoing, writer)
                await server.run(read_stream, write_stream, server.create_initialization_options())
                group.cancel_scope.cancel()
        except asyncio.CancelledError:
            pass  # closed: asyncio would report the end of a connection's task as an error
        finally:
            self._connections.discard(task)
            with suppress(Exception):
                writer.close()

    async def _list(self, _: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools)

    async def _call(self, _: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        meta: Any = params.meta or {}
        ident = next((str(meta[key]) for key in _ID_KEYS if meta.get(key)), "")
        result = await self._called(ident, params.name, dict(params.arguments or {}))
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=result.text or "(nothing)")]
        content += [
            types.ImageContent(
                type="image", data=base64.b64encode(image.data).decode(), mime_type=image.media_type
            )
            for image in result.images
        ]
        return types.CallToolResult(content=content, is_error=result.is_error)


def _tool(spec: ToolSpec) -> types.Tool:
    description, schema = spec.description, spec.schema
    if len(description) > _LONGEST_DESCRIPTION:
        cut = description.rfind("\n", 0, _LONGEST_DESCRIPTION)
        cut = cut if cut > 0 else _LONGEST_DESCRIPTION
        schema = {**schema, "description": description[cut:].strip()}
        description = description[:cut] + "\n(goes on in the schema's description)"
    return types.Tool(name=spec.name, description=description, input_schema=schema)


async def _read(
    reader: asyncio.StreamReader, incoming: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    async with incoming:
        with suppress(ConnectionError, ValueError):
            while line := await reader.readline():
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError as error:
                    await incoming.send(error)
                else:
                    await incoming.send(SessionMessage(message))


async def _write(outgoing: MemoryObjectReceiveStream[SessionMessage], writer: asyncio.StreamWriter) -> None:
    async with outgoing:
        with suppress(ConnectionError):
            async for message in outgoing:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(text.encode() + b"\n")
                await writer.drain()
