"""A site with a login: a button gives a cookie for the browser's session, and who has it is greeted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Site(ThreadingHTTPServer):
    """``signed_in`` is set once somebody was."""

    def __init__(self) -> None:
        self.signed_in = threading.Event()
        super().__init__(("127.0.0.1", 0), _Page)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class _Page(BaseHTTPRequestHandler):
    server: Site

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        known = "who=ana" in (self.headers["cookie"] or "")
        body = "<h1>Hello Ana</h1>" if known else '<form action="/in"><button>Log in</button></form>'
        self.send_response(200)
        if self.path.startswith("/in"):
            body = "<h1>Hello Ana</h1>"
            self.send_header("set-cookie", "who=ana; Path=/; HttpOnly")
            self.server.signed_in.set()
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


@contextmanager
def served() -> Iterator[Site]:
    """The site, while the block runs."""
    site = Site()
    thread = threading.Thread(target=site.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        site.server_close()
        thread.join()
