"""A stand-in for a provider's HTTP server: plays scripted replies in three formats, keeps every request, makes faults.

In a test: ``with Wire([{"text": "Hello"}]) as wire: …`` or the fixture ``wire``; on its own, until it is ended:
``python tests/wire.py SCRIPT.json [--keep REQUESTS.jsonl]``, which prints one JSON line with the variables to set.

A reply is a dict; every field is optional:

- ``text``: what the model says
- ``calls``: ``[{"name": …, "input": {…}, "id": …}]``; ``"toolset"`` marks a member of a toolset, ``"namespace"`` one
  of a namespace; in Responses a call named ``computer`` is a computer call; ``"arguments"`` is sent in place of
  ``input`` just as it is
- ``thinking``: words of reasoning that come first, signed
- ``stop``: ``end``, ``calls``, ``length`` or ``refusal``
- ``usage``: ``{"input": …, "output": …, "cached": …, "written": …}``
- ``http``, ``headers``, ``message``, ``code``: an error status in the shape of the format
- ``raw``: a body as it stands; ``body``: one given as JSON
- ``hang``: seconds of silence first
- ``drop``: True: the connection breaks in the middle of the reply
- ``stall``: seconds of silence in the middle of a streamed reply, after which the rest comes
- ``cut``: this many of the last events of a streamed reply are left out, and the reply ends in order
- ``event``: an event in the middle of a streamed reply, as JSON
"""

from __future__ import annotations

import argparse
import json
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import pytest

from wire_formats import FORMATS, Events, error_body, event_bytes

Json: TypeAlias = dict[str, Any]
Script: TypeAlias = "Iterable[Json] | Callable[[Request], Json]"


@dataclass
class Request:
    """One request as it came. ``left`` is set when the client went away before it had its reply."""

    path: str
    headers: dict[str, str]
    body: Json
    number: int
    left: threading.Event = field(default_factory=threading.Event)


class Wire:
    """The server, on a free port of loopback, while the ``with`` block runs.

    ``plain``: it answers in one piece whatever it is asked for. ``connections`` counts those that were made.
    """

    plain = False
    connections = 0

    def __init__(self, script: Script = ()) -> None:
        self.requests: list[Request] = []
        self.on_request: Callable[[Request], None] | None = None
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._next: Callable[[Request], Json | None] = lambda request: None
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.wire = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self.play(script)

    def play(self, script: Script) -> None:
        """From now on answer from ``script``: replies in order, or a function of the request."""
        if callable(script):
            self._next = script
        else:
            left = iter(list(script))
            self._next = lambda request: next(left, None)

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def environ(self) -> dict[str, str]:
        """What leads the SDKs here."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "any",
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "any",
        }

    @property
    def bodies(self) -> list[Json]:
        """The bodies of all requests so far."""
        return [request.body for request in self.requests]

    def __enter__(self) -> Wire:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler: _Handler, body: Json) -> None:
        """Keep the request and play the next reply."""
        with self._lock:
            request = Request(
                handler.path, {k.lower(): v for k, v in handler.headers.items()}, body, len(self.requests)
            )
            self.requests.append(request)
            if self.on_request is not None:
                self.on_request(request)
            reply = self._next(request)
        if reply is None:
            reply = {"http": 400, "message": "the script is used up"}
        if reply.get("hang") and self.silence(handler, request, float(reply["hang"])):
            return
        if not reply.keys() - {"hang"}:
            return
        handler.play(request, reply)

    def silence(self, handler: _Handler, request: Request, seconds: float) -> bool:
        """Say nothing for a while; True when the client is gone, or this server is."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._ending.is_set():
            readable, _, _ = select.select([handler.connection], [], [], min(left, 0.05))
            if readable:  # nothing can arrive but the end of the connection
                request.left.set()
                return True
        return self._ending.is_set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    wire: Wire

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is a part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.wire.connections += 1

    def log_message(self, *_: Any) -> None:
        """Nothing: the requests are kept."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        self.close_connection = False
        self.server.wire.answer(self, body)

    def play(self, request: Request, reply: Json) -> None:
        """Send one reply, or one fault."""
        encode = FORMATS.get(request.path.partition("?")[0].removeprefix("/v1"))
        status, kind = 200, "application/json"
        if encode is None:
            status, data = 404, b'{"error": {"message": "no such path"}}'
        elif "raw" in reply:
            status, data = int(reply.get("http", 200)), str(reply["raw"]).encode()
        elif "body" in reply:
            status, data = int(reply.get("http", 200)), json.dumps(reply["body"]).encode()
        elif reply.get("http", 200) >= 400:
            status, data = int(reply["http"]), json.dumps(error_body(request.path, reply)).encode()
        else:
            whole, events = encode(request, reply)
            data = json.dumps(whole).encode()
            if request.body.get("stream") and not self.server.wire.plain:
                self.stream(request, reply, events)
                return
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in reply.get("headers", {}).items():
            self.send_header(name, str(value))
        self.end_headers()
        if reply.get("drop"):
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        else:
            self.wfile.write(data)

    def stream(self, request: Request, reply: Json, events: Events) -> None:
        """Send a reply event by event, each in a chunk of its own."""
        if "event" in reply:
            events = [*events[: len(events) // 2], ("", reply["event"]), *events[len(events) // 2 :]]
        events = events[: len(events) - int(reply.get("cut", 0))]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(events):
            if number == len(events) // 2:
                if reply.get("drop"):
                    self.close_connection = True
                    return
                if reply.get("stall") and self.server.wire.silence(self, request, float(reply["stall"])):
                    return
            data = event_bytes(event)
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


# --- doors -------------------------------------------------------------------------------------------------------


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """A running stand-in, with the environment leading every SDK to it. Give it a script with ``wire.play``."""
    with Wire() as running:
        for name, value in running.environ.items():
            monkeypatch.setenv(name, value)
        yield running


def main(argv: Sequence[str] | None = None) -> int:
    """Serve a script until a signal ends it."""
    parser = argparse.ArgumentParser(description="Play a script as a model API on loopback.")
    parser.add_argument("script", type=Path, help="a JSON list of replies")
    parser.add_argument("--keep", type=Path, help="append each request to this file, one JSON line each")
    arguments = parser.parse_args(argv)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with Wire(json.loads(arguments.script.read_text())) as running:
        if arguments.keep is not None:
            running.on_request = _keeper(arguments.keep)
        sys.stdout.write(json.dumps({"url": running.url, "environ": running.environ}) + "\n")
        sys.stdout.flush()
        ended.wait()
    return 0


def _keeper(path: Path) -> Callable[[Request], None]:
    def keep(request: Request) -> None:
        with path.open("a", encoding="utf-8") as out:
            out.write(
                json.dumps({"path": request.path, "headers": request.headers, "body": request.body}) + "\n"
            )

    return keep


if __name__ == "__main__":
    sys.exit(main())
