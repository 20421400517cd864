"""Tasks that a person played as the model, by hand: their replies, to be played again against the real apps.

``tests/mailboxes/NAME`` holds ``task.json`` and, for each turn, what the product sent (``N/request.md``) and what the
player answered (``N/reply.json``, see `wire`). ``{web}`` stands for where the pages are served and ``{share}`` for a
folder shared with the desktop. Of the task: ``files`` lie in that folder before, ``then`` are its files afterwards,
``result`` are words of the result, ``answers`` are given to what the child asks, in order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from wire import Json, Request

BOXES = Path(__file__).parent / "mailboxes"
NAMES = sorted(path.parent.name for path in BOXES.glob("*/task.json"))
CONTENT: Json = {
    "calls": [{"name": "verdict", "input": {"verdict": "satisfied", "why": "the screen shows it"}}]
}


class Mailbox:
    """One task and its player's replies, with this run's places put in."""

    def __init__(self, name: str, *, web: str, share: Path) -> None:
        def read(path: Path) -> Any:
            return json.loads(path.read_text("utf-8").replace("{web}", web).replace("{share}", str(share)))

        self.task: Json = read(BOXES / name / "task.json")
        turns = sorted((int(path.parent.name), path) for path in BOXES.glob(f"{name}/*/reply.json"))
        self.replies: list[Json] = [read(path) for _, path in turns]
        self.left = list(self.replies)
        """Replies that have not been asked for."""

    def __call__(self, request: Request) -> Json:
        """The player's next reply. Who is asked to judge the player's work is another one, and content."""
        if _offers(request.body, "verdict"):
            return CONTENT
        return self.left.pop(0) if self.left else {"http": 400, "message": "the player has left"}

    @property
    def actions(self) -> int:
        """What the player did, one by one: the steps of batches (checks apart) and every other call."""
        calls = [call for reply in self.replies for call in reply["calls"]]
        steps = [step for call in calls for step in call["input"].get("steps", [{"kind": call["name"]}])]
        return sum(step["kind"] != "check" for step in steps)


def _offers(body: Json, tool: str) -> bool:
    return any(tool in (each.get("name"), each.get("function", {}).get("name")) for each in body["tools"])


def seen(body: Json) -> str:
    """What of a request is new to the player, as text: all of the first one, then what follows the last reply."""
    items = body.get("messages") or body.get("input") or []
    last = max((n for n, item in enumerate(items) if _is_reply(item)), default=-1)
    first = [body.get("system"), body.get("instructions")] if last < 0 else []
    return "\n\n".join(filter(None, map(_text, [*first, *items[last + 1 :]])))


def _is_reply(item: Json) -> bool:
    return item.get("role") == "assistant" or str(item.get("type", "")).endswith("_call")


def _text(part: Any) -> str:
    """The words of a message, wherever a format keeps them; a picture by its kind."""
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return "\n\n".join(filter(None, map(_text, part)))
    if not isinstance(part, dict):
        return ""
    if "image" in str(part.get("type")):
        return "[a picture]"
    return next((words for key in ("text", "content", "output") if (words := _text(part.get(key)))), "")


@contextmanager
def pages() -> Iterator[str]:
    """Serve the mailboxes' pages on loopback; the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(BOXES / "pages")))
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nothing."""


def main() -> None:
    """``python tests/hand_played.py NAME…``: play again, and write down what the player sees (``N/request.md``)."""
    import os
    import sys
    import tempfile

    from deskhand import Private, computer_task
    from wire import Wire

    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as place, Wire() as wire, pages() as web:
            os.environ.update(wire.environ, DESKHAND_HOME=f"{place}/home")
            share = Path(place, "shared")
            share.mkdir()
            box = Mailbox(name, web=web, share=share)
            for file, text in box.task.get("files", {}).items():
                (share / file).write_text(text)
            wire.play(box)
            where = Private(share=(f"{share}:rw",))
            done = computer_task(
                box.task["goal"], 120, box.task["model"], inputs=box.task.get("inputs"), computer=where
            )
            for answer in box.task.get("answers", []):
                done = computer_task(answer, 120, resume=done["conversation"])
            own = [body for body in wire.bodies if not _offers(body, "verdict")]
            for number, body in enumerate(own, 1):
                told = seen(body).replace(str(share), "{share}").replace(web, "{web}")
                (BOXES / name / str(number) / "request.md").write_text(told.rstrip() + "\n", "utf-8")
            line = f"{name}: {done['status']}, {len(own)} turns, {box.actions} actions, {done['usage']}\n"
            sys.stderr.write(line)


if __name__ == "__main__":
    main()
