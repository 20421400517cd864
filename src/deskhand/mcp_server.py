"""``computer mcp``: one tool, `computer_task`, and the logs as resources, for any MCP host."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from deskhand.audit.images import ImageStore
from deskhand.audit.live import plain_line
from deskhand.audit.log import FILE_NAME
from deskhand.audit.review import Reviewer
from deskhand.audit.store import TaskStore
from deskhand.config import data_home
from deskhand.errors import DeskhandError, Reason, Status
from deskhand.mcp_http import address, is_loopback, serve_http
from deskhand.messages import Json
from deskhand.orchestrator.task import acomputer_task
from deskhand.terms import Limits, Policy, Private

TOKEN_VARIABLE = "DESKHAND_MCP_TOKEN"

_PROGRESS = {
    "task_started",
    "desktop_ready",
    "model_call",
    "action",
    "consent",
    "question",
    "verification",
    "error",
}

_DESCRIPTION = """\
Hands a task to a child agent with its own private computer (screen, mouse, keyboard, browser, desktop apps) and \
returns one small status. Use it for what needs a graphical app or a live web page: fill and submit forms, click \
through a site, work in desktop programs. Do not use it for what files, a shell or an HTTP request can do.
The child sees nothing of this conversation: name in the goal the app or URL, every value to enter, when it is done \
and what to report. Success is checked on the screen; do not redo it. On clarification_needed `result` is the \
question: answer it with resume=conversation and the answer as goal. Tasks take seconds to minutes: for long ones \
raise timeout, or use background and collect later with resume=conversation and no goal."""


class Evidence(BaseModel):
    check: str
    holds: bool


class Usage(BaseModel):
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    images: int
    cost_usd: float | None


class TaskResult(BaseModel):
    """The status of a task. Who keeps `audit_hash`, the last hash of its log, will notice if that is rewritten."""

    status: Status
    reason: Reason | None = None
    result: str
    verified: bool | None = None
    evidence: list[Evidence] = Field(default_factory=list)
    data: Any = None
    agent_id: str
    conversation: str
    logdir: str | None = None
    recording: str | None = None
    final_image: str | None = None
    audit_hash: str | None = None
    steps: int
    seconds: float
    usage: Usage
    model: str
    computer: str


async def computer_task(
    ctx: Context[Any, Any],
    goal: Annotated[str | None, Field(description="What is to be done and reported")] = None,
    timeout: Annotated[float, Field(description="Seconds in all")] = 300,
    context: Annotated[str | None, Field(description="Facts the child may need")] = None,
    inputs: Annotated[dict[str, str] | None, Field(description="Values by field label")] = None,
    expect: Annotated[
        list[str] | None, Field(description="Selectors that must hold at the end: text[name*='Thank you']")
    ] = None,
    output: Annotated[dict[str, Any] | None, Field(description="JSON schema of `data`")] = None,
    model: Annotated[str | None, Field(description="provider:name; leave out normally")] = None,
    computer: Annotated[str, Field(description="'private' or 'display::N'")] = "private",
    profile: Annotated[str | None, Field(description="Named profile that keeps logins")] = None,
    network: Literal["host", "none"] = "host",
    max_steps: Annotated[int, Field(description="Model turns at most")] = 50,
    record: Annotated[bool, Field(description="Keep an MP4")] = False,
    background: Annotated[bool, Field(description="Return at once")] = False,
    resume: Annotated[
        str | None, Field(description="A conversation to answer, or without goal to wait for")
    ] = None,
) -> TaskResult:
    """Run one task for the host: progress for each step, an orderly end when the call is cancelled."""
    if computer != "private" and profile:
        raise ToolError("profile goes with computer='private' only")
    async with _Progress(ctx) as progress:
        try:
            running = acomputer_task(
                goal,
                timeout,
                model,
                context=context,
                inputs=inputs,
                expect=tuple(expect or ()),
                output=output,
                computer=Private(profile=profile, network=network) if computer == "private" else computer,
                limits=Limits(steps=max_steps),
                policy=Policy(confirm=_person(ctx)),
                record=record,
                background=background,
                resume=resume,
                on_event=progress,
            )
            status = await _whole(running)
        except (ValueError, TypeError, DeskhandError) as error:
            raise ToolError(str(error)) from error
    return TaskResult.model_validate(status)


class _Consent(BaseModel):
    allow: bool = Field(description="Whether the task may do this")


class _Answer(BaseModel):
    answer: str = Field(description="What the task should know")


def _person(ctx: Context[Any, Any]) -> Callable[[Json], Awaitable[bool | str]] | None:
    """Who answers the task's questions: the host's user, where host and protocol allow to ask in mid-call."""
    capabilities = ctx.client_capabilities
    if capabilities is None or capabilities.elicitation is None or not _can_ask(ctx.protocol_version):
        return None

    async def ask(question: Json) -> bool | str:
        words = str(question.get("question", ""))
        if question.get("kind") == "consent":
            allowed = await ctx.elicit(words, _Consent)
            return allowed.action == "accept" and allowed.data.allow
        answered = await ctx.elicit(words, _Answer)
        return answered.data.answer if answered.action == "accept" else ""

    return ask


def _can_ask(protocol: str | None) -> bool:
    # Versions are dates. From this one on, a server cannot send requests of its own.
    return protocol is not None and protocol < "2026-07-28"


async def _whole(running: Awaitable[Any]) -> Any:
    """Await a task; when we are cancelled meanwhile, cancel it and wait until it has really ended."""
    task = asyncio.ensure_future(running)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        raise


class _Progress:
    """Passes a task's events on as progress, from whichever thread they come, in their order."""

    def __init__(self, ctx: Context[Any, Any]) -> None:
        self._ctx = ctx
        self._reviewer = Reviewer()
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    def __call__(self, event: Json) -> None:
        row = self._reviewer.row(event)
        if row.kind in _PROGRESS:
            words = plain_line(row).strip()
            message = words if row.kind == "action" else f"{row.kind.replace('_', ' ')}: {words}"
            self._loop.call_soon_threadsafe(self._messages.put_nowait, message)

    async def __aenter__(self) -> _Progress:
        self._pump = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):  # cancelled: nobody listens any more
            self._pump.cancel()
            return
        self._loop.call_soon_threadsafe(self._messages.put_nowait, None)
        await self._pump

    async def _run(self) -> None:
        count = 0
        while (message := await self._messages.get()) is not None:
            count += 1
            await self._ctx.report_progress(count, None, message)


def read_log(conversation: str) -> str:
    """The audit log of a task."""
    try:
        path = TaskStore(data_home()).path(conversation) / FILE_NAME
        return path.read_text(encoding="ascii", errors="backslashreplace")
    except (ValueError, OSError):
        raise ResourceError(f"there is no conversation {conversation!r}") from None


def read_image(conversation: str, digest: str) -> bytes:
    """A picture of a task, by its SHA-256."""
    try:
        found = ImageStore(TaskStore(data_home()).path(conversation) / "images").find(digest)
    except ValueError as error:
        raise ResourceError(str(error)) from None
    if found is None:
        raise ResourceError(f"{conversation} has no image {digest}")
    return found[0].read_bytes()


def build_server() -> MCPServer[Any]:
    """The server: one tool, two kinds of resource."""
    tool = Tool.from_function(
        computer_task,
        title="Computer task",
        description=_DESCRIPTION,
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
        ),
    )
    tool.parameters = _compact(tool.parameters)
    server: MCPServer[Any] = MCPServer(
        "deskhand", title="deskhand", version=_version(), tools=[tool], log_level="WARNING"
    )
    server.resource("audit://{conversation}", name="audit log", mime_type="application/x-ndjson")(read_log)
    server.resource("audit://{conversation}/images/{digest}", name="audit image", mime_type="image/png")(
        read_image
    )
    return server


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("deskhand")
    except PackageNotFoundError:
        return ""


def _compact(schema: Any) -> Any:
    """The schema without what a host's model pays for and learns nothing from: titles, and ``or null`` of optionals."""
    if isinstance(schema, list):
        return [_compact(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    compact = {
        key: _compact(item) for key, item in schema.items() if not (key == "title" and isinstance(item, str))
    }
    if isinstance(choices := compact.get("anyOf"), list):
        real = [choice for choice in choices if choice != {"type": "null"}]
        if len(real) == 1:
            del compact["anyOf"]
            compact = {**real[0], **compact}
    if compact.get("default", ...) is None:
        del compact["default"]
    return compact


# --- how it is served --------------------------------------------------------------------------------------------


def serve(http: str | None = None) -> None:
    """Serve on stdin and stdout, or with ``http`` (``HOST:PORT``) as streamable HTTP at ``/mcp``, until told to end.

    Over HTTP every request needs the bearer token: that of DESKHAND_MCP_TOKEN, else a new one that is said on stderr.
    ValueError for an address that is none, or that others can reach while no token was chosen.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    server = build_server()
    if http is None:
        try:
            server.run("stdio")
        finally:
            # The transport kept stdout for the protocol and gives it back now: whatever a print left in a buffer goes
            # where the rest of it went.
            os.dup2(2, 1)
        return
    host, port = address(http)
    chosen = os.environ.get(TOKEN_VARIABLE)
    if not chosen and not is_loopback(host):
        raise ValueError(f"--http {http} can be reached by others: choose a token first, in {TOKEN_VARIABLE}")
    app, token = server.streamable_http_app(host=host), chosen or secrets.token_urlsafe(32)
    anyio.run(lambda: serve_http(app, host, port, token, tell=chosen is None))
