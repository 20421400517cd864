"""Print the reference of the command line as Markdown: every command's own help."""

from __future__ import annotations

import subprocess
import sys

from typer.main import get_command

from deskhand.cli import app


def help_of(*words: str) -> str:
    """What ``computer … --help`` says, 100 columns wide."""
    done = subprocess.run(
        [sys.executable, "-m", "deskhand.cli", *words, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "PATH": "/usr/bin:/bin"},
    )
    return done.stdout.strip()


def main() -> None:
    """Every command that is not hidden, in the order of ``computer --help``."""
    group = get_command(app)
    print("# Command line\n")
    print(f"```text\n{help_of()}\n```")
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        if not command.hidden:
            print(f"\n## computer {name}\n\n```text\n{help_of(name)}\n```")


if __name__ == "__main__":
    main()
