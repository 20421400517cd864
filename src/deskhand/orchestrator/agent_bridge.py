"""The tool server's end at a command-line agent: carries bytes between its standard streams and a unix socket.

Run as ``python agent_bridge.py SOCKET`` by the agent, as its MCP server. Standard library only: it runs by its path,
without the package.
"""

from __future__ import annotations

import os
import socket
import sys
import threading


def pump(source: int, target: int) -> None:
    """Copy until the source ends or the target is gone."""
    try:
        while data := os.read(source, 1 << 16):
            view = memoryview(data)
            while view:
                view = view[os.write(target, view) :]
    except OSError:
        pass


def main(path: str) -> None:
    """Ends with whichever side ends first."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.connect(path)
        ended = threading.Event()

        def carry(source: int, target: int) -> None:
            pump(source, target)
            ended.set()

        for source, target in ((0, server.fileno()), (server.fileno(), 1)):
            threading.Thread(target=carry, args=(source, target), daemon=True).start()
        ended.wait()
    os._exit(0)  # the other thread is stuck in its read


if __name__ == "__main__":
    main(sys.argv[1])
