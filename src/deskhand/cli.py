"""``computer``: the command line. It parses, calls and prints; each command loads what it needs when it runs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from deskhand.audit.live import TaskView
    from deskhand.audit.store import TaskStore
    from deskhand.orchestrator.brief import TaskStatus
    from deskhand.orchestrator.order import Order
    from deskhand.orchestrator.recipes import Recipe
    from deskhand.orchestrator.task import Cancel
    from deskhand.watch import WatchServer

EXIT = {"success": 0, "running": 0, "failure": 1, "clarification_needed": 3, "timeout": 4, "cancelled": 130}
USAGE = 2


def _examples(*lines: str) -> str:
    # \b keeps the formatter from joining the lines into a paragraph
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


app = typer.Typer(
    name="computer",
    help="A hired hand for the screen: a goal goes in, one result and a tamper-evident log come out.",
    epilog=_examples(
        'computer task "In gnome-calculator compute 12 × 34 and tell me the result"',
        "computer audit-log          what the last task did",
        "computer doctor             what is missing here, and what brings it",
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Conversation = Annotated[
    str, typer.Argument(metavar="CONV", help="A task's name, or a beginning or end of it.")
]
Inputs = Annotated[
    list[str] | None, typer.Option("--input", metavar="NAME=VALUE", help="A parameter's value.")
]
Then = Annotated[
    str | None, typer.Option("--model", "-m", help="Who goes on where it does not go as written.")
]
Timeout = Annotated[float, typer.Option(help="Seconds of wall clock, start-up included.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on stdout; everything else goes to stderr.")]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a C locale must not end a task
    argv = _spell_out(sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=argv, prog_name="computer")
    except DeskhandError as error:
        _fail(str(error), 1)


def _spell_out(argv: list[str]) -> list[str]:
    """Give the two options whose value may be left out (``--record [PATH]``, ``--verify [HASH]``) an explicit one."""
    option = {"task": "--record", "audit-log": "--verify"}.get(argv[0] if argv else "")
    spelled: list[str] = []
    taken = False
    for index, word in enumerate(argv):
        following = argv[index + 1] if index + 1 < len(argv) else ""
        if taken:
            taken = False
        elif word == option:
            is_hash = len(following) >= 8 and set(following) <= set("0123456789abcdef")
            taken = is_hash if option == "--verify" else following.endswith((".mp4", ".mkv"))
            spelled.append(f"{word}={following if taken else ''}")
        else:
            spelled.append(word)
    return spelled


def _fail(message: str, status: int = USAGE) -> NoReturn:
    sys.stdout.flush()
    print(f"computer: {message}", file=sys.stderr)
    raise SystemExit(status)


def _store() -> TaskStore:
    from deskhand.audit.store import TaskStore
    from deskhand.config import data_home

    try:
        return TaskStore(data_home())
    except ValueError as error:  # the settings are wrong
        _fail(str(error))


def _directory(conversation: str) -> Path:
    try:
        return _store().find(conversation)
    except ValueError as error:
        _fail(str(error))


def _pairs(values: list[str], option: str) -> dict[str, str]:
    pairs = {}
    for value in values:
        name, separator, content = value.partition("=")
        if not (separator and name):
            _fail(f"{option} takes NAME=VALUE, not {value!r}")
        pairs[name] = content
    return pairs


@app.command(
    epilog=_examples(
        'computer task "In gnome-calculator compute 12 × 34 and tell me the result"',
        'computer task "Log in and download the invoice" --secret password=SHOP_PASSWORD --profile shop',
        'computer task "Fill the form and press Send" --input Name=Ana --expect "text[name*=\'Thank you\']" --record',
        'computer task "Yes, the blue one" --resume 20261130-231500-calm-otter',
    )
)
def task(
    goal: Annotated[
        str | None, typer.Argument(metavar="GOAL", help="What is to be done; with --resume, the answer.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="anthropic:NAME, openai:NAME, openai-chat:NAME, embedded."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds of wall clock, start-up included.")] = 300,
    computer: Annotated[
        str, typer.Option(help="private, display::N to attach to a display, or a name from the settings.")
    ] = "private",
    profile: Annotated[str | None, typer.Option(help="A profile whose files and logins persist.")] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", metavar="LABEL=VALUE", help="A value for a field.")
    ] = None,
    secrets: Annotated[
        list[str] | None, typer.Option("--secret", metavar="NAME=ENVVAR", help="A secret, from a variable.")
    ] = None,
    expect: Annotated[
        list[str] | None, typer.Option(metavar="SELECTOR", help="Must hold at the end.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="SCHEMA.json", help="JSON schema of the data to return.")
    ] = None,
    share: Annotated[
        list[str] | None, typer.Option(metavar="DIR[:rw]", help="A directory that apps may see.")
    ] = None,
    network: Annotated[Literal["host", "none"], typer.Option(help="What apps may reach.")] = "host",
    isolation: Annotated[
        Literal["auto", "files", "display"], typer.Option(help="files: refuse without a sandbox.")
    ] = "auto",
    keep: Annotated[float, typer.Option(help="Seconds that the desktop outlives the task.")] = 0,
    verify: Annotated[
        Literal["auto", "checks", "off"], typer.Option(help="How success is checked.")
    ] = "auto",
    max_steps: Annotated[int, typer.Option(metavar="N", help="Model turns at most.")] = 50,
    max_cost: Annotated[float | None, typer.Option(metavar="USD", help="Cost at most.")] = None,
    record: Annotated[
        str | None, typer.Option(metavar="[PATH]", help="Record the task as MP4 (PATH ends in .mp4).")
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="CONV", help="Answer, or collect, an earlier task.")
    ] = None,
    background: Annotated[
        bool, typer.Option("--background", help="Return at once; collect with --resume.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Have a goal done on a desktop of its own.

    Waits for the result; a table of steps shows what is going on meanwhile.

    Exit status: 0 success, 1 failure, 2 usage, 3 clarification needed, 4 timeout, 130 cancelled.
    """
    from deskhand.audit.live import TaskView
    from deskhand.orchestrator.order import prepare
    from deskhand.orchestrator.task import Cancel
    from deskhand.terms import Limits, Policy, Private

    if goal is None and resume is None:
        _fail("task needs a GOAL (or --resume CONV)")
    if computer != "private" and (profile or share or keep):
        _fail("--profile, --share and --keep go with the private computer only")
    if resume is not None and goal is None:
        _finish(_collect(_directory(resume).name, timeout), as_json=as_json)
    cancel = Cancel()
    view = TaskView(sys.stderr if as_json else sys.stdout, cancelled=lambda: cancel.by is not None)
    try:
        order = prepare(
            goal,
            timeout,
            model,
            resume=resume and _directory(resume).name,
            inputs=_pairs(inputs or [], "--input") or None,
            secrets=_secrets(secrets or []) or None,
            expect=tuple(expect or ()),
            output=_schema(output),
            computer=computer
            if computer != "private"
            else Private(
                profile=profile, share=tuple(share or ()), network=network, isolation=isolation, keep=keep
            ),
            limits=Limits(steps=max_steps, cost=max_cost),
            policy=Policy(
                verify=verify, confirm=view.ask if sys.stdin.isatty() and sys.stderr.isatty() else None
            ),
            record=record is not None and (record or True),
            background=background,
            on_event=view,
        )
    except (ValueError, TypeError) as error:
        _fail(str(error))
    _finish(_run(order, cancel, view), as_json=as_json)


def _finish(status: Mapping[str, Any], *, as_json: bool) -> NoReturn:
    if as_json:
        print(json.dumps(status))
    else:
        from deskhand.audit.review import describe_status

        print("\n".join(describe_status(status)))
    raise typer.Exit(EXIT[status["status"]])


def _run(order: Order, cancel: Cancel, view: TaskView) -> TaskStatus:
    """Run a prepared task; a signal ends it in an orderly way, a second one at once."""
    import signal

    from deskhand.orchestrator.task import run_order

    def stop(number: int, _frame: object) -> None:
        if cancel.by is not None:
            raise KeyboardInterrupt
        cancel.set(by="person" if number == signal.SIGINT else "caller")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        with view:
            return run_order(order, cancel)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _collect(conversation: str, timeout: float) -> TaskStatus:
    """Wait for a task that runs in the background; Ctrl-C ends the waiting, not the task."""
    from deskhand.orchestrator.task import computer_task

    try:
        return computer_task(None, timeout, resume=conversation)
    except (ValueError, TypeError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        print(f"still running; `computer stop {conversation}` ends it", file=sys.stderr)
        raise typer.Exit(130) from None


def _secrets(values: list[str]) -> dict[str, str]:
    pairs = _pairs(values, "--secret")
    for name, variable in pairs.items():
        if variable not in os.environ:
            _fail(f"--secret {name}={variable}: the variable {variable} is not set")
    return {name: os.environ[variable] for name, variable in pairs.items()}


def _schema(path: Path | None) -> Any:
    if path is None:
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        _fail(f"--output {path}: {error}")


@app.command(
    "audit-log",
    epilog=_examples(
        "computer audit-log                           the last task, as a table",
        "computer audit-log calm-otter --kind action  only what it did",
        "computer audit-log --verify 5f3a…            intact, and not cut off since the caller got its audit_hash",
        "computer audit-log --jsonl | jq .kind        the lines as they are in the file",
        "computer audit-log calm-otter --html task.html   a page with pictures and the recording",
    ),
)
def audit_log(
    conversation: Annotated[
        str | None, typer.Argument(metavar="[CONV|PATH]", help="Default: the last task.")
    ] = None,
    last: Annotated[int | None, typer.Option("--last", min=1, metavar="N", help="The last N tasks.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The events as one JSON array.")] = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="The log's own lines.")] = False,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="K", help="Only events of this kind (repeatable).")
    ] = None,
    verify: Annotated[
        str | None, typer.Option(metavar="[HASH]", help="Check every byte; HASH must be in the chain.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one self-contained page.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on while the task runs.")] = False,
) -> None:
    """Show what a task did, or verify its log.

    With --verify the exit status is 0 for an intact log, 1 for a broken one or when HASH is not in it.
    """
    from deskhand.audit import show
    from deskhand.audit.log import KINDS

    if as_json and as_jsonl:
        _fail("--json and --jsonl exclude each other")
    if follow and (as_json or last):
        _fail("--follow goes with the table or --jsonl, of one task")
    if unknown := sorted(set(kind or ()) - set(KINDS)):
        _fail(f"no such kind: {', '.join(unknown)} (kinds: {', '.join(KINDS)})")
    paths = _logs(conversation, last)
    if verify is not None:
        raise typer.Exit(_verify(paths, verify or None, as_json=as_json))
    if page is not None:
        _write_page(paths, page)
        return
    kinds = frozenset(kind or ())
    try:
        if as_json:
            show.show_json(paths, sys.stdout, kinds=kinds)
        elif not paths:
            print("no tasks yet", file=sys.stderr)
        for path in () if as_json else paths:
            printing = show.show_lines if as_jsonl else show.show_table
            printing(path, sys.stdout, kinds=kinds, following=follow)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _logs(conversation: str | None, last: int | None) -> list[Path]:
    """The logs that are meant, oldest first."""
    from deskhand.audit.log import FILE_NAME

    if conversation is None:
        store = _store()
        return [store.path(name) / FILE_NAME for name in reversed(store.names()[: last or 1])]
    if last is not None:
        _fail("--last goes without a conversation")
    path = Path(conversation)
    if path.is_file() or (path / FILE_NAME).is_file():
        return [path if path.is_file() else path / FILE_NAME]
    return [_directory(conversation) / FILE_NAME]


def _write_page(paths: list[Path], page: Path) -> None:
    from deskhand.audit.report import write_report

    if len(paths) != 1:
        _fail("--html is of one task" if paths else "no tasks yet", 2 if paths else 1)
    with page.open("w", encoding="utf-8") as out:
        write_report(paths[0].parent, out)
    print(page)


def _verify(paths: list[Path], expect: str | None, *, as_json: bool) -> int:
    from dataclasses import asdict

    from deskhand.audit.show import describe_verification
    from deskhand.audit.verify import verify_log

    if expect is not None and len(expect) != 64:
        _fail(f"a hash has 64 hex digits, not {len(expect)}")
    if expect is not None and len(paths) > 1:
        _fail("a hash is that of one task")
    if not paths:
        print("no tasks yet", file=sys.stderr)
        return 0 if expect is None else 1
    checked = [(path, verify_log(path, expect)) for path in paths]
    if as_json:
        print(json.dumps([{"log": str(path), "ok": result.ok, **asdict(result)} for path, result in checked]))
    else:
        for path, result in checked:
            print(describe_verification(path, result, expect))
    return 0 if all(result.ok for _, result in checked) else 1


@app.command("list", epilog=_examples("computer list", "computer list --last 5 --json"))
def list_tasks(
    last: Annotated[int | None, typer.Option("--last", min=1, metavar="N", help="Only the last N.")] = None,
    as_json: AsJson = False,
) -> None:
    """List tasks and their state.

    Newest first: running, finished (with their status), or dead (ended without saying so).
    """
    import shutil
    from dataclasses import asdict

    from deskhand.audit.review import LIST_COLUMNS, list_line
    from deskhand.audit.table import Table

    rows = _store().list(last)
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    colour = sys.stdout.isatty()
    table = Table(
        LIST_COLUMNS, width=shutil.get_terminal_size((140, 24)).columns if colour else 140, colour=colour
    )
    if rows:
        print(table.header())
    for row in rows:
        print(list_line(table, row))


@app.command(
    epilog=_examples("computer profiles", "computer profiles --remove shop", "computer profiles --json")
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
            _fail(str(error), 1)
        print(f"removed the profile {remove}")
        return
    rows = list_profiles(load_settings())
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    for row in rows:
        used = datetime.fromtimestamp(row.used).astimezone().strftime("%Y-%m-%d %H:%M")
        print(f"{row.name:20} {row.bytes / 2**20:8.1f} MiB  {used}{'  in use' if row.busy else ''}")


@app.command(epilog=_examples("computer stop calm-otter"))
def stop(conversation: Conversation) -> None:
    """Stop a running task.

    It ends in an orderly way and stays stopped.
    """
    from deskhand.audit.log import FILE_NAME
    from deskhand.audit.read import follow_lines
    from deskhand.orchestrator.control import send

    directory = _directory(conversation)
    send(directory, {"command": "stop"})
    for _ in follow_lines(directory / FILE_NAME):
        pass  # until its log is closed
    print(f"stopped {directory.name}")


@app.command(epilog=_examples("computer watch", "computer watch calm-otter --port 8080"))
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
        running = [row.conversation for row in _store().list() if row.state == "running"]
        if not running:
            _fail("no task runs", 1)
        conversation = running[0]
    try:
        server = open_watch(_directory(conversation), port=port)
    except NotRunning as error:
        _fail(str(error), 1)
    print(server.url, flush=True)
    _serve_page(server)


@app.command(
    epilog=_examples(
        "computer run order.yaml --input name=Ana --input size=M",
        "computer run order.yaml --input name=Ana --record order.mp4 --json",
    )
)
def run(
    recipe: Annotated[Path, typer.Argument(metavar="STEPS.yaml", help="The recipe.")],
    inputs: Inputs = None,
    model: Then = None,
    timeout: Timeout = 300,
    computer: Annotated[str, typer.Option(help="As for a task.")] = "private",
    record: Annotated[str | None, typer.Option(metavar="PATH", help="Record it as MP4.")] = None,
    as_json: AsJson = False,
) -> None:
    """Do steps that are written down, without a model.

    The result, the log and the exit status are those of a task.
    """
    from deskhand.orchestrator.recipes import load_recipe

    _do_recipe(lambda: load_recipe(recipe), inputs, model, timeout, computer, record, as_json=as_json)


@app.command(
    epilog=_examples(
        "computer replay calm-otter --input name=Ben",
        "computer replay calm-otter --save order.yaml     write it down as a recipe instead",
    )
)
def replay(
    conversation: Annotated[
        str, typer.Argument(metavar="CONV|RECIPE", help="A task that succeeded, or a recipe's file.")
    ],
    inputs: Inputs = None,
    model: Then = None,
    timeout: Timeout = 300,
    computer: Annotated[str, typer.Option(help="As for a task.")] = "private",
    record: Annotated[str | None, typer.Option(metavar="PATH", help="Record it as MP4.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the recipe there and do nothing.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Do a task again without a model, with other inputs.

    It stops where the screen differs from what it was, or hands over to the model that --model names.
    """
    from deskhand.orchestrator.recipes import load_recipe, recipe_of

    def found() -> Recipe:
        is_file = conversation.endswith((".yaml", ".yml", ".json"))
        return load_recipe(conversation) if is_file else recipe_of(_directory(conversation))

    if save is not None:
        try:
            save.write_text(found().dump(), "utf-8")
        except ValueError as error:
            _fail(str(error))
        print(save)
        return
    _do_recipe(found, inputs, model, timeout, computer, record, as_json=as_json)


def _do_recipe(
    found: Callable[[], Recipe],
    inputs: list[str] | None,
    model: str | None,
    timeout: float,
    computer: str,
    record: str | None,
    *,
    as_json: bool,
) -> NoReturn:
    from deskhand.audit.live import TaskView
    from deskhand.orchestrator.replay import run_recipe

    view = TaskView(sys.stderr if as_json else sys.stdout)
    try:
        with view:
            status = run_recipe(
                found(),
                timeout,
                inputs=_pairs(inputs or [], "--input"),
                model=model,
                computer=computer,
                record=record or False,
                on_event=view,
            )
    except (ValueError, TypeError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    _finish(status, as_json=as_json)


@app.command(epilog=_examples("computer login shop --url https://shop.example", "computer login work"))
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
        _fail(str(error), 1)
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


@app.command(
    epilog=_examples("computer transcript calm-otter | less", "computer transcript calm-otter --jsonl")
)
def transcript(
    conversation: Conversation,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="The entries as JSON, one a line.")] = False,
) -> None:
    """Show the conversation with the child.

    What it was told, what it said and called, and what it was answered.
    """
    from deskhand.audit.transcript import FILE_NAME, describe_entry, read_transcript

    path = _directory(conversation) / FILE_NAME
    if not path.is_file():
        _fail(f"{path.parent.name} has no transcript", 1)
    for entry in read_transcript(path):
        print(json.dumps(entry) if as_jsonl else describe_entry(entry))


@app.command(epilog=_examples("computer export calm-otter > task.tar", "computer export calm-otter | tar -x"))
def export(conversation: Conversation) -> None:
    """Write a task's files to stdout as a tar.

    Log, pictures, recording, transcript and result.
    """
    from deskhand.audit.export import export_task

    directory = _directory(conversation)
    if sys.stdout.isatty():
        _fail("a tar is not for a terminal: send it to a file or to tar")
    export_task(directory, sys.stdout.buffer)


@app.command(
    epilog=_examples(
        "computer record -o demo.mp4                       this display, until Ctrl-C",
        "computer record --computer display::99 --seconds 10",
    )
)
def record(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "recording.mp4"
    ),
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="How long; until Ctrl-C when left out.")
    ] = None,
    fps: Annotated[int, typer.Option(min=1, max=60, help="Pictures a second.")] = 10,
    computer: Annotated[
        str | None, typer.Option(help="display::N; default: the display of this session.")
    ] = None,
) -> None:
    """Record a display as MP4. What was written is playable even if the recorder is killed."""
    import asyncio

    if computer is None:
        if not (display := os.environ.get("DISPLAY")):
            _fail("there is no display here (DISPLAY is not set): name one with --computer display::N")
        computer = f"display:{display}"
    try:
        asyncio.run(_record(computer, output, seconds, fps))
    except ValueError as error:
        _fail(str(error))
    print(output)


async def _record(computer: str, output: Path, seconds: float | None, fps: int) -> None:
    import asyncio
    import signal

    from deskhand.config import load_settings
    from deskhand.desktop import open_desktop_backend

    if not computer.startswith("display:"):
        raise ValueError(f"a display can be recorded (display::N), not {computer!r}")
    done, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, done.set)
    desktop = await open_desktop_backend(computer, settings=load_settings(), environ=dict(os.environ))
    try:
        recorder = desktop.record(str(output.absolute()), fps=fps)
        print(f"recording {computer} to {output}", "" if seconds else "(Ctrl-C ends it)", file=sys.stderr)
        try:
            async with asyncio.timeout(seconds):
                await done.wait()
        except TimeoutError:
            pass
        finally:
            recorder.stop()
    finally:
        desktop.close()


@app.command(epilog=_examples("computer doctor", "computer doctor --fix", "computer doctor --json"))
def doctor(
    as_json: AsJson = False,
    fix: Annotated[bool, typer.Option("--fix", help="Run the commands that bring what is missing.")] = False,
    self_check: Annotated[
        bool, typer.Option("--self-check", help="Try instead: click, type into and look at a small window.")
    ] = False,
) -> None:
    """Say what is missing here and what brings it.

    The exit status is 1 when tasks cannot run, or when something that the self-check tries does not work.
    """
    if self_check:
        _self_check(as_json)
    import subprocess

    from deskhand import doctor as examination

    findings = examination.examine()
    if fix:
        for command in examination.fixes(findings):
            print(f"$ {command}", file=sys.stderr)
            subprocess.run(["/bin/sh", "-c", command], stdout=2, check=False)
        findings = examination.examine()
    if as_json:
        print(json.dumps(examination.as_json(findings)))
    else:
        print("\n".join(examination.report(findings, colour=sys.stdout.isatty())))
    raise typer.Exit(0 if examination.healthy(findings) else 1)


def _self_check(as_json: bool) -> NoReturn:
    import asyncio
    from dataclasses import asdict

    from deskhand.config import load_settings
    from deskhand.desktop import self_check

    rows = asyncio.run(self_check.check_here(load_settings(), dict(os.environ)))
    works = all(row.works for row in rows)
    if as_json:
        print(json.dumps({"ok": works, "rows": [asdict(row) for row in rows]}))
    else:
        print("\n".join(self_check.report(rows, colour=sys.stdout.isatty())))
    raise typer.Exit(0 if works else 1)


@app.command(epilog=_examples("computer demo"))
def demo() -> None:
    """Run two real tasks that need no key.

    Shows them live, and checks what came of them.
    """
    from deskhand.demo import main as run_demo

    raise typer.Exit(run_demo())


@app.command(
    epilog=_examples(
        "claude mcp add computer -- computer mcp        for Claude Code",
        "computer mcp                                    over stdin and stdout",
        "computer mcp --http 127.0.0.1:8765              over HTTP, with a token",
    )
)
def mcp(
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve streamable HTTP instead of stdio.")
    ] = None,
) -> None:
    """Serve the tool computer_task to an MCP host."""
    from deskhand.errors import MissingPart

    try:
        from deskhand.mcp_server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        command = f"{sys.executable} -m pip install 'deskhand[mcp]'"
        raise MissingPart("mcp", "needed to serve MCP hosts", command) from None
    try:
        serve(http)
    except ValueError as error:
        _fail(str(error))


@app.command(hidden=True)
def relay() -> None:
    """The far end of a task from another computer."""
    from deskhand.orchestrator.relay import main as relay_main

    relay_main()


@app.command(hidden=True)
def worker() -> None:
    """Be the other side of the wall (started by `computer_task`)."""
    from deskhand.orchestrator.worker import main as work

    work()


if __name__ == "__main__":
    main()
