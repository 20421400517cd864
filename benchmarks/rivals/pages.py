"""Serves the benchmark's pages on loopback: ``python pages.py`` prints its port. A click anywhere is what acts on one.

Each page keeps the times (milliseconds since 1970) at which it changed because of a click in ``window.paints``.
"""

from __future__ import annotations

import contextlib
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HEAD = """<!doctype html><meta charset=utf-8><title>bench</title>
<style>html,body{margin:0;height:100%;font:20px sans-serif}#out{position:fixed;left:60px;top:60px}
@keyframes turn{to{transform:rotate(360deg)}}
.spin{position:fixed;right:80px;top:80px;width:40px;height:40px;border:6px solid #ccc;border-top-color:#06c;
border-radius:50%;animation:turn 1s linear infinite}</style>
<div id=out>-</div><script>
window.paints=[]; let n=0
function paint(text){out.textContent=text; requestAnimationFrame(()=>paints.push(Date.now()))}
</script>"""

PAGES = {
    "still": "<script>onclick=()=>paint('clicked '+ ++n)</script>",
    "spinner": "<div class=spin></div><script>onclick=()=>paint('clicked '+ ++n)</script>",
    "spinner-noop": "<div class=spin></div>",
    "polling": """<script>setInterval(()=>fetch('/after?ms=120'),200); onclick=()=>paint('clicked '+ ++n)</script>""",
    "starts-polling": """<script>let on=0; onclick=()=>{paint('clicked '+ ++n);
        if(!on++) setInterval(()=>fetch('/after?ms=120'),150)}</script>""",
    "starts-spinner": """<script>onclick=()=>{paint('loading '+ ++n);
        let e=document.createElement('div'); e.className='spin'; document.body.append(e);
        setTimeout(()=>e.remove(),3000)}</script>""",
    "fetch": """<script>onclick=async()=>{paint('loading '+ ++n); await fetch('/after?ms=900'); paint('results '+n)}
        </script>""",
    "debounced": """<script>let t; onclick=()=>{paint('typed '+ ++n); clearTimeout(t); t=setTimeout(async()=>{
        await fetch('/after?ms=400'); paint('results '+n)},300)}</script>""",
    "navigates": """<script>onclick=()=>{location.href='/slow?ms=700&n='+Date.now()}</script>""",
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        asked = dict(part.split("=") for part in query.split("&") if "=" in part)
        time.sleep(int(asked.get("ms", 0)) / 1000)
        name = path.strip("/")
        page = PAGES.get(name, "<script>paint('arrived')</script>" if name == "slow" else "")
        body = (HEAD + page if name in PAGES or name == "slow" else "ok").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the page has gone
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.daemon_threads = True
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
