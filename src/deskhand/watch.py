"""``computer watch``: a local page with a task's screen, its steps, and a person's hand on it."""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from deskhand.audit.log import FILE_NAME
from deskhand.audit.read import follow, read_events
from deskhand.audit.review import Reviewer, Row
from deskhand.audit.table import safe
from deskhand.desktop.capture import MssScreen, encode_jpeg
from deskhand.desktop.changes import DamageChanges
from deskhand.desktop.input import XInput
from deskhand.desktop.x11 import XConnection
from deskhand.errors import DeskhandError, InvalidStep
from deskhand.messages import Json, Point
from deskhand.orchestrator.control import NotRunning, connect, send

COMMANDS = ("pause", "take_over", "go_on", "stop")

RATE = 0.1
"""Seconds between two pictures at least: ten a second."""
STILL = 2.0
"""Seconds after which a still screen is sent again, which finds out whether anyone looks."""
LOOK = 0.3
"""Seconds between two looks at the task's state."""
QUALITY = 80
"""JPEG quality of the live picture."""
LIMIT = 2**20
"""Bytes of a request's body at most."""

_PARTS = "deskhand-frame"
_POLICY = (
    "default-src 'none'; img-src 'self'; connect-src 'self'; script-src 'self'; style-src 'unsafe-inline'"
)


class Watched(Protocol):
    """What a page shows and does."""

    ended: threading.Event

    def state(self) -> Json:
        """What the page shows above the screen: ``goal``, ``held``, ``asking``, ``over`` (how it ended)."""
        ...

    def steps(self, stop: threading.Event) -> Iterator[Row]:
        """The steps as they are done, until the end or ``stop``."""
        ...

    def display(self) -> tuple[str, str | None]:
        """DISPLAY and XAUTHORITY. `NotRunning` while there is none."""
        ...

    def control(self, command: Json) -> bool:
        """Pause, take over, go on, stop, or answer; whether it had an effect."""
        ...

    def act(self, events: list[Json]) -> bool:
        """Do what a person did on the picture, as long as the desktop is theirs."""
        ...

    def close(self) -> None: ...


class Hand:
    """A person's hand on a display; what is held is let go of at the end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hand: tuple[XConnection, XInput] | None = None

    def act(self, display: tuple[str, str | None], events: list[Json]) -> None:
        with self._lock:
            if self._hand is None:
                connection = XConnection(*display)
                self._hand = connection, XInput(connection)
            for event in events:
                with suppress(InvalidStep):  # a key that no keyboard here has
                    _do(self._hand[1], event)

    def let_go(self) -> None:
        with self._lock:
            hand, self._hand = self._hand, None
            if hand is not None:
                with suppress(DeskhandError):
                    hand[1].release_all()
                    hand[1].close()
                hand[0].close()


class WatchedTask:
    """The task as this page sees it: its worker's answers, and its display while a person works on it."""

    def __init__(self, directory: Path) -> None:
        """`NotRunning` when the task has ended."""
        self.directory = directory
        self.ended = threading.Event()
        self.goal = safe(str(next(read_events(directory / FILE_NAME), {}).get("goal", "")))
        self._presence = connect(directory)
        self._presence.sendall(b'{"command": "watch"}\n')
        self._presence.settimeout(None)
        self._hand = Hand()
        threading.Thread(target=self._wait_for_end, name="deskhand-watched", daemon=True).start()

    def _wait_for_end(self) -> None:
        with suppress(OSError):
            while self._presence.recv(4096):
                pass
        self.ended.set()

    def state(self) -> Json:
        """What the page shows above the screen."""
        known: Json = {"goal": self.goal, "held": "free", "asking": [], "over": ""}
        try:
            facts = send(self.directory, {"command": "status"})
        except NotRunning:
            return {**known, "over": _end(self.directory)}
        over = "" if facts.get("state") == "running" else _end(self.directory)
        asking = [{**question, "question": safe(str(question["question"]))} for question in facts["asking"]]
        return {**known, "held": facts["held"], "asking": asking, "over": over}

    def display(self) -> tuple[str, str | None]:
        """DISPLAY and XAUTHORITY. `NotRunning` while there is none."""
        env = send(self.directory, {"command": "status"}).get("display")
        if not env:
            raise NotRunning(f"{self.directory.name} has no display yet")
        return env["DISPLAY"], env.get("XAUTHORITY")

    def control(self, command: Json) -> bool:
        """Pause, take over, go on, stop, or answer; whether it had an effect."""
        if command["command"] in ("go_on", "stop"):
            self._hand.let_go()
        return bool(send(self.directory, command).get("ok"))

    def act(self, events: list[Json]) -> bool:
        """Do what a person did on the picture, as long as the desktop is theirs."""
        if send(self.directory, {"command": "status"}).get("held") != "taken":
            return False
        self._hand.act(self.display(), events)
        return True

    def steps(self, stop: threading.Event) -> Iterator[Row]:
        """From the log, as it grows."""
        reviewer = Reviewer()
        for event in follow(self.directory / FILE_NAME, stop=stop):
            row = reviewer.row(event)
            if row.kind not in ("observation", "model_call"):
                yield row

    def close(self) -> None:
        """Release what is held, and say that nobody watches any more."""
        self._hand.let_go()
        with suppress(OSError):
            self._presence.shutdown(socket.SHUT_RDWR)
        self._presence.close()


def _do(hand: XInput, event: Json) -> None:
    """One event of the page. Coordinates are screen pixels."""
    point = Point(int(event["x"]), int(event["y"])) if "x" in event else None
    if point is not None:
        hand.move(point)
    match event["type"]:
        case "press" | "release" as kind:
            hand.button(event["button"], kind == "press")
        case "scroll" if point is not None:
            hand.scroll(point, int(event.get("down", 0)), int(event.get("right", 0)))
        case "text":
            hand.type(str(event["text"]))
        case "keys":
            hand.chord([str(name) for name in event["names"]])


def _end(directory: Path) -> str:
    """How the task ended, in a few words."""
    last: Json = {}
    for event in read_events(directory / FILE_NAME):
        last = event
    if last.get("kind") != "task_finished":
        return "ended"
    return safe(" · ".join(str(last[key]) for key in ("status", "reason", "result") if last.get(key)))


class WatchServer(ThreadingHTTPServer):
    """Serves one task's page on loopback, to whoever has the token."""

    daemon_threads = True

    def __init__(self, watched: Watched, port: int = 0) -> None:
        self.watched, self.token = watched, secrets.token_urlsafe(24)
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """The page's address, with the token, which the page keeps as a cookie from then on."""
        return f"http://127.0.0.1:{self.server_port}/?token={self.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in mid-picture is nothing to tell."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WatchServer

    def log_message(self, *_: Any) -> None:
        """Nothing: stderr is for what matters."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        given = parse_qs(url.query).get("token", [""])[0]
        if url.path == "/" and given and self._same(given):
            self._send(303, b"", location="/", **{"set-cookie": self._cookie(given)})
        elif not self._known():
            self._send(403, b"This page needs the token that `computer watch` printed.\n")
        elif url.path in ("/", "/watch.js"):
            name, kind = ("watch.html", "text/html") if url.path == "/" else ("watch.js", "text/javascript")
            page = files("deskhand").joinpath(name).read_bytes()
            self._send(
                200, page, **{"content-type": f"{kind}; charset=utf-8", "content-security-policy": _POLICY}
            )
        elif url.path == "/screen":
            self._screen()
        elif url.path == "/events":
            self._events()
        else:
            self._send(404, b"")

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        # A page from elsewhere cannot send JSON here without asking first, and is never allowed to.
        if not self._known() or self.headers.get("content-type") != "application/json" or size > LIMIT:
            self.close_connection = True
            self._send(403, b"")
            return
        watched = self.server.watched
        try:
            body = json.loads(self.rfile.read(size))
            match urlsplit(self.path).path:
                case "/control" if body["command"] in COMMANDS:
                    done = watched.control({"command": body["command"]})
                case "/answer":
                    done = watched.control({"command": "answer", "id": body["id"], "value": body["value"]})
                case "/input":
                    done = watched.act(body["events"])
                case _:
                    done = False
        except NotRunning:
            done = False
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._send(400, str(error).encode())
            return
        self._send(200, json.dumps({"ok": done}).encode(), **{"content-type": "application/json"})

    # --- who may ---------------------------------------------------------------------------------------------

    def _cookie(self, token: str) -> str:
        return f"{self._name()}={token}; HttpOnly; SameSite=Strict; Path=/"

    def _name(self) -> str:
        return f"deskhand-{self.server.server_port}"  # cookies know no ports

    def _same(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.server.token.encode())

    def _known(self) -> bool:
        held = SimpleCookie(self.headers.get("cookie", "")).get(self._name())
        host = self.headers.get("host", "")  # a name that somebody made lead here is not this page's
        return held is not None and self._same(held.value) and host == f"127.0.0.1:{self.server.server_port}"

    # --- what it shows ---------------------------------------------------------------------------------------

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"cache-control": "no-store", "referrer-policy": "no-referrer", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, kind: str) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("cache-control", "no-store")
        self.end_headers()

    def _screen(self) -> None:
        """The live picture: a JPEG whenever something was painted."""
        watched = self.server.watched
        display = self._display()
        if display is None:
            self._send(410, b"")
            return
        self._stream(f"multipart/x-mixed-replace; boundary={_PARTS}")
        with suppress(DeskhandError):
            screen, changes = MssScreen(*display), DamageChanges(*display)
            try:
                while not watched.ended.is_set():
                    picture = encode_jpeg(screen.grab(), QUALITY)
                    head = f"--{_PARTS}\r\ncontent-type: image/jpeg\r\ncontent-length: {len(picture)}\r\n\r\n"
                    self.wfile.write(head.encode() + picture + b"\r\n")
                    watched.ended.wait(RATE)
                    changes.wait(STILL)
                    changes.collect()
            finally:
                changes.close()
                screen.close()

    def _display(self) -> tuple[str, str | None] | None:
        """The task's display, once it is there; None when the task has ended before."""
        watched = self.server.watched
        while not watched.ended.is_set():
            with suppress(NotRunning):
                return watched.display()
            watched.ended.wait(LOOK)
        return None

    def _events(self) -> None:
        """The state whenever it changes, and each step once it is done."""
        self._stream("text/event-stream")
        watched, lock, gone = self.server.watched, threading.Lock(), threading.Event()

        def tell(event: str, data: Json) -> None:
            with lock:
                self.wfile.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())
                self.wfile.flush()

        def tell_states() -> None:
            last: Json = {}
            with suppress(OSError):
                while not gone.is_set():
                    if (state := watched.state()) != last:
                        tell("state", state)
                        last = state
                    if state["over"]:
                        return
                    watched.ended.wait(LOOK)

        states = threading.Thread(target=tell_states, name="deskhand-watch-state", daemon=True)
        states.start()
        try:
            for row in watched.steps(gone):
                told = {name: safe(str(getattr(row, name))) for name in ("step", "what", "target", "outcome")}
                tell("step", {**told, "mood": row.mood})
            states.join(LOOK * 4)
            tell("end", {})
        finally:
            gone.set()


def watch(directory: Path, *, port: int = 0) -> WatchServer:
    """The server of one running task's page; ``serve_forever`` serves it. `NotRunning` when it has ended."""
    watched = WatchedTask(directory)
    try:
        return WatchServer(watched, port)
    except BaseException:
        watched.close()
        raise
