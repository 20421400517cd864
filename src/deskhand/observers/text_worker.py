"""The program that reads text: pictures in on standard input, phrases out on standard output, one JSON line each.

It is a process of its own so that reading never holds up the loop, and so that all its memory is given back at once. It
ends when its standard input does, in the middle of a line if need be.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from typing import Any, BinaryIO, Final

from deskhand.errors import DeskhandError
from deskhand.messages import Rect
from deskhand.observers.lines import LineReader
from deskhand.observers.ocr import RapidEngine

MOST_MEMORY: Final = 1_500 * 1024 * 1024
"""Bytes in use after which it ends when it has answered; the next picture starts another one."""


def main() -> None:
    """Answer until the input ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    requests: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    reader: LineReader | None = None
    while True:
        asked, pixels = requests.get()
        try:
            reader = reader or LineReader(RapidEngine(asked["model"]))
            answer = _answer(reader, asked, pixels)
        except DeskhandError as error:
            answer = {"error": str(error)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answer["last"] = _memory() > MOST_MEMORY
        out.write(json.dumps(answer).encode() + b"\n")
        out.flush()
        if answer["last"]:
            return


def _listen(source: BinaryIO, requests: queue.SimpleQueue[tuple[dict[str, Any], bytes]]) -> None:
    while line := source.readline():
        asked = json.loads(line)
        size = asked["width"] * asked["height"] * 4
        pixels = source.read(size)
        if len(pixels) < size:
            break
        requests.put((asked, pixels))
    os._exit(0)


def _answer(reader: LineReader, asked: dict[str, Any], pixels: bytes) -> dict[str, Any]:
    import numpy as np

    image = np.frombuffer(pixels, np.uint8).reshape(asked["height"], asked["width"], 4)[:, :, :3]
    only = Rect(*asked["only"]) if asked["only"] else None
    # The time counts from now: what the models took to load is not the picture's.
    until = time.monotonic() + asked["seconds"] if asked["seconds"] else 0.0
    found, unread = reader.read(asked["key"], np.ascontiguousarray(image), until, only)
    said = [
        (each.id, each.text, each.rect.x, each.rect.y, each.rect.width, each.rect.height, round(each.sure, 3))
        for each in found
    ]
    return {"phrases": said, "unread": unread}


def _memory() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


if __name__ == "__main__":
    main()
