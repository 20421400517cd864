"""``computer``: the command line. It parses, calls and prints; each command loads what it needs when it runs."""

from __future__ import annotations

import sys

from deskhand import cli_batch, cli_logs, cli_machine, cli_people, cli_recipes, cli_record, cli_task
from deskhand.cli_base import app, fail
from deskhand.errors import DeskhandError

COMMANDS = (
    cli_task.task,
    cli_logs.audit_log,
    cli_logs.list_tasks,
    cli_people.stop,
    cli_people.watch,
    cli_recipes.run,
    cli_recipes.replay,
    cli_batch.batch,
    cli_logs.transcript,
    cli_logs.export,
    cli_people.profiles,
    cli_people.login,
    cli_record.record,
    cli_machine.doctor,
    cli_machine.demo,
    cli_machine.mcp,
    cli_machine.relay,
    cli_machine.worker,
)
"""In the order in which ``computer --help`` lists them."""

app.registered_commands.sort(key=lambda command: COMMANDS.index(command.callback))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a C locale must not end a task
    argv = _spell_out(sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=argv, prog_name="computer")
    except DeskhandError as error:
        fail(str(error), 1)


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


if __name__ == "__main__":
    main()
