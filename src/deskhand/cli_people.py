"""``computer stop``, ``watch``, ``login`` and ``profiles``: a person's hand on tasks and their desktops."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.cli_base import AsJson, Conversation, app, directory_of, examples, fail, open_store
from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.watch import WatchServer


@app.command(
    epilog=examples("computer profiles", "computer profiles --remove shop", "computer profiles --json")
)
def profiles(
    remove: Annotated[
        str | None, typer.Option(metavar="PROFILE", help="Delete it, with its files and logins.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the profiles whose files and logins persist."""
    from dataclasses import asdict
    from datetime import datetime

    from deskhand.config import load_settings
    from deskhand.desktop.profile import list_profiles, remove_profile
    from deskhand.errors import DesktopError

    if remove is not None:
        try:
            remove_profile(remove, load_settings())
        except (ValueError, DesktopError) as error:
            fail(str(error), 1)
        print(f"removed the profile {remove}")
        return
    rows = list_profiles(load_settings())
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    if not rows:
        print(
            "no profile yet: `computer login NAME`, or --profile NAME with a task, makes one", file=sys.stderr
        )
    for row in rows:
        used = datetime.fromtimestamp(row.used).astimezone().strftime("%Y-%m-%d %H:%M")
        print(f"{row.name:20} {row.bytes / 2**20:8.1f} MiB  {used}{'  in use' if row.busy else ''}")


@app.command(epilog=examples("computer stop calm-otter"))
def stop(conversation: Conversation) -> None:
    """Stop a running task.

    It ends in an orderly way and stays stopped.
    """
    from deskhand.audit.log import FILE_NAME
    from deskhand.audit.read import follow_lines
    from deskhand.orchestrator.control import send

    directory = directory_of(conversation)
    send(directory, {"command": "stop"})
    for _ in follow_lines(directory / FILE_NAME):
        pass  # until its log is closed
    print(f"stopped {directory.name}")


@app.command(epilog=examples("computer watch", "computer watch calm-otter --port 8080"))
def watch(
    conversation: Annotated[
        str | None, typer.Argument(metavar="[CONV]", help="Default: the task that runs.")
    ] = None,
    port: Annotated[int, typer.Option(help="The page's port; 0 takes a free one.")] = 0,
) -> None:
    """Watch a running task in the browser, pause it, take it over, stop it.

    Prints the address of a page on this machine, and serves it until the task has ended.
    """
    from deskhand.orchestrator.control import NotRunning
    from deskhand.watch import watch as open_watch

    if conversation is None:
        running = [row.conversation for row in open_store().list() if row.state == "running"]
        if not running:
            fail("no task runs", 1)
        conversation = running[0]
    try:
        server = open_watch(directory_of(conversation), port=port)
    except NotRunning as error:
        fail(str(error), 1)
    print(server.url, flush=True)
    _serve_page(server)


@app.command(epilog=examples("computer login shop --url https://shop.example", "computer login work"))
def login(
    profile: Annotated[str, typer.Argument(metavar="PROFILE", help="Made when it is new.")],
    url: Annotated[str, typer.Option(help="The page to begin with.")] = "about:blank",
    port: Annotated[int, typer.Option(help="The page's port; 0 takes a free one.")] = 0,
) -> None:
    """Sign in by hand, once, for the tasks of a profile.

    Prints the address of a page on this machine that shows the profile's browser, and takes your mouse and keys. The
    login is kept when you press Stop there, close the browser, or press Ctrl-C here.
    """
    import asyncio

    from deskhand.login import login as open_login

    try:
        asyncio.run(open_login(profile, url, port=port, tell=lambda address: print(address, flush=True)))
    except (ValueError, DeskhandError) as error:
        fail(str(error), 1)
    except KeyboardInterrupt:
        pass


def _serve_page(server: WatchServer) -> None:
    """Serve until the task is over and the page has had a moment to say so, or until Ctrl-C."""
    import threading

    threading.Thread(target=server.serve_forever, name="deskhand-watch", daemon=True).start()
    try:
        server.watched.ended.wait()
        threading.Event().wait(2)
    except KeyboardInterrupt:
        pass
    finally:
        server.watched.close()
        server.shutdown()
        server.server_close()
