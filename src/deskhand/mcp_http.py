"""An ASGI app on a socket, for whoever shows a bearer token and nobody else."""

from __future__ import annotations

import hmac
import ipaddress
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


async def serve_http(app: App, host: str, port: int, token: str, *, tell: bool) -> None:
    """Serve ``app`` until a signal ends it, to whoever shows the token; ``tell`` says the token on stderr."""
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        bound = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"deskhand: serving http://{shown}:{bound}/mcp\n")
        if tell:
            sys.stderr.write(f"deskhand: Authorization: Bearer {token}\n")
        sys.stderr.flush()
        guarded = _Guard(app, token)
        config = uvicorn.Config(guarded, log_config=None, access_log=False, timeout_graceful_shutdown=3)
        await uvicorn.Server(config).serve(sockets=[listener])


class _Guard:
    """An ASGI app that answers only who shows the token."""

    def __init__(self, app: App, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or (scope["type"] == "http" and self._shown(scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b"This server needs its bearer token.\n"})

    def _shown(self, scope: Scope) -> bool:
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(shown) == 1 and hmac.compare_digest(shown[0], self._expected)


def address(http: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``; ValueError when it is not that."""
    host, _, port = http.rpartition(":")
    if not (host and port.isdigit() and int(port) < 65536):
        raise ValueError(f"--http takes HOST:PORT, not {http!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
