"""The far end of a task that came from another computer: do it here, pass its frames on, send its files back."""

from __future__ import annotations

import base64
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from deskhand.audit.export import export_task
from deskhand.audit.store import TaskStore
from deskhand.config import data_home, load_settings
from deskhand.orchestrator.brief import UP, CancelFrame, ClockFrame, FilesFrame, StatusFrame, line
from deskhand.orchestrator.callbacks import Callbacks
from deskhand.orchestrator.elsewhere import Sent
from deskhand.orchestrator.models import default_spec
from deskhand.orchestrator.order import Order, worker_command
from deskhand.orchestrator.peers import ENDING, Peer, open_peer

PIECE = 3 * 2**18
"""Bytes of the files in one frame: a megabyte of base64."""

SENDING = 300.0
"""Seconds that the files may take on their way."""


def main() -> None:
    """Entry of ``computer relay``: an order on standard input, frames on standard output."""
    down, up = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints must not reach the protocol
    first = down.readline()
    if not first:
        return
    try:
        sent = Sent.model_validate_json(first)
    except ValidationError as error:
        wrong = error.errors()[0]
        sys.exit(f"this computer's deskhand does not understand the order ({wrong['loc']}: {wrong['msg']})")
    os.environ.update(sent.keys)
    try:
        order = _order(sent)
        peer = open_peer(order)
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
    _follow(order, peer, down, up)


def _order(sent: Sent) -> Order:
    """The same order as one given on this machine."""
    home, brief = data_home(), sent.brief
    spec = brief.model or default_spec(os.environ, load_settings())[0]
    directory = TaskStore(home).path(brief.conversation)
    if brief.answer is not None and not directory.is_dir():
        raise LookupError(f"{brief.conversation} is not on this computer any more")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Order(
        brief=sent.here(str(home), spec),
        callbacks=Callbacks(),
        command=worker_command(spec),
        directory=directory,
        kept_by=directory if brief.answer is not None else None,
    )


def _follow(order: Order, peer: Peer, down: BinaryIO, up: BinaryIO) -> None:
    """Pass frames both ways until the status; the files go before it. A caller who is gone has cancelled."""
    status: StatusFrame | None = None
    gone = threading.Event()

    def pass_down() -> None:
        while text := down.readline():
            peer.send(text)
        peer.send(line(CancelFrame(by="caller")))
        gone.set()

    def pass_up(data: bytes) -> None:
        try:
            up.write(data)
            up.flush()
        except OSError:
            gone.set()

    threading.Thread(target=pass_down, name="deskhand-relay", daemon=True).start()
    for text in _lines(peer.read_fd):
        if b'"type":"status"' in text[:20] and isinstance(frame := UP.validate_json(text), StatusFrame):
            status = frame
            break
        pass_up(text)
    peer.end(reported=status is not None, goes_on=status is not None and status.lease > 0)
    if not gone.is_set():
        for file in _files(order.directory):
            pass_up(line(file))
        if status is not None:
            pass_up(line(status))


def _lines(descriptor: int) -> Iterator[bytes]:
    """Whole lines as they come, until the worker's end of the pipe closes."""
    with open(os.dup(descriptor), "rb") as stream:
        yield from stream


def _files(directory: Path) -> Iterator[ClockFrame | FilesFrame]:
    """The task's files as frames, piece by piece; the caller's patience is asked for first."""
    yield ClockFrame(left=SENDING, closing=True)
    read, write = os.pipe()

    def pack() -> None:
        with open(write, "wb") as stream:
            export_task(directory, stream)

    packer = threading.Thread(target=pack, name="deskhand-pack", daemon=True)
    packer.start()
    with open(read, "rb") as stream:
        while piece := stream.read(PIECE):
            yield FilesFrame(data=base64.b64encode(piece).decode("ascii"))
    packer.join(ENDING)
    yield FilesFrame(last=True)


if __name__ == "__main__":
    main()
