"""A task as it runs: a row for each act, and on a terminal a line below that says what is going on."""

from __future__ import annotations

import select
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from deskhand.audit.review import LIVE_COLUMNS, Reviewer, Row, live_line
from deskhand.audit.table import Table, safe

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_SHOWN = {"action", "consent", "question", "answer", "human", "verification", "error"}
_DOING = {
    "task_started": "starting the desktop",
    "desktop_ready": "looking",
    "observation": "asking the model",
    "model_call": "acting",
    "action": "acting",
    "verification": "checking",
    "question": "waiting for an answer",
    "consent": "acting",
}

_LOOK = 0.2
"""Seconds between two looks at whether a question still wants an answer."""


class TaskView:
    """Shows the events of one task on ``stream``: a table on a terminal, plain lines elsewhere.

    Use it as a context manager and call it with each event; it may be called from any thread.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        terminal: bool | None = None,
        width: int | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stream, self._cancelled = stream, cancelled
        self._terminal = stream.isatty() if terminal is None else terminal
        columns = width or shutil.get_terminal_size((120, 24)).columns
        self._table = Table(LIVE_COLUMNS, width=columns, colour=self._terminal)
        self._reviewer = Reviewer()
        self._live: Live | None = None
        self._began = time.monotonic()
        self._doing, self._conversation = "starting", ""
        self._turns, self._tokens, self._cost = 0, 0, 0.0
        self._unshown_tokens: int | None = None
        self._headed = self._open = False

    def __enter__(self) -> Self:
        self._open = True
        if self._terminal:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream, force_terminal=True, highlight=False)
            self._live = Live(
                console=console,
                get_renderable=self._footer,
                refresh_per_second=8,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=self._stream is not sys.stderr,
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, event: dict[str, Any]) -> None:
        """Take the next event of the task."""
        row = self._reviewer.row(event)
        self._doing = _DOING.get(row.kind, self._doing)
        self._conversation = str(event.get("conversation", ""))
        if row.kind == "model_call":
            self._count(event, row)
        elif row.kind in _SHOWN:
            self._show(row)

    def ask(self, question: dict[str, Any]) -> str | bool:
        """Put a question of the task, or a consent that it needs, to the person at the terminal and wait.

        An answer that is not yes denies consent. Gives up, with an empty answer, once the task is being cancelled.
        """
        consent = question.get("kind") == "consent"
        if self._live is not None:
            self._live.stop()
        try:
            prompt = safe(str(question.get("question", "")))
            sys.stderr.write(f"\n? {prompt}{' [y/N]' if consent else ''}\n")
            sys.stderr.flush()
            answer = self._read_line()
        finally:
            if self._live is not None:
                self._live.start()
        return answer.casefold() in ("y", "yes") if consent else answer

    def _read_line(self) -> str:
        # Not input(): that could not be left again when the task is stopped or times out meanwhile.
        while not self._cancelled() and self._open:
            ready, _, _ = select.select([sys.stdin], [], [], _LOOK)
            if ready:
                return sys.stdin.readline().strip()
        return ""

    def _count(self, event: dict[str, Any], row: Row) -> None:
        self._turns += 1
        self._unshown_tokens = (self._unshown_tokens or 0) + (row.tokens or 0)
        self._tokens += row.tokens or 0
        cost = event.get("cost_usd")
        self._cost += cost if isinstance(cost, int | float) else 0.0

    def _show(self, row: Row) -> None:
        if row.kind not in ("action", "verification"):
            row = replace(row, what=f"{row.kind}: {row.what}" if row.what else row.kind)
        elif row.kind == "action" and self._unshown_tokens:
            row, self._unshown_tokens = replace(row, tokens=self._unshown_tokens), None
        if not self._terminal:
            self._print(plain_line(row))
            return
        if not self._headed:
            self._print(self._table.header())
            self._headed = True
        self._print(live_line(self._table, row))

    def _print(self, line: str) -> None:
        if self._live is None:
            self._stream.write(line + "\n")
            self._stream.flush()
        else:
            from rich.text import Text

            self._live.console.print(Text.from_ansi(line), no_wrap=True, overflow="crop", crop=True)

    def _footer(self) -> Text:
        from rich.text import Text

        parts = [f"{time.monotonic() - self._began:.0f}s", self._doing]
        if self._turns:
            parts.append(f"{self._turns} turn{'s' if self._turns > 1 else ''}")
        if self._tokens:
            parts.append(f"{self._tokens:,} tokens")
        if self._cost:
            parts.append(f"${self._cost:.3f}")
        if self._conversation:
            parts.append(self._conversation)
        return Text(" · ".join(parts), style="dim", no_wrap=True, overflow="ellipsis")


def plain_line(row: Row) -> str:
    """A row for a pipe: everything on one line, nothing cut to a width."""
    words = safe(row.what) + (f" → {safe(row.target)}" if row.target else "")
    outcome = safe(row.outcome) + (f", {row.seconds:.1f}s" if row.seconds is not None else "")
    return f"{row.step:>5}  {words}" + (f": {outcome}" if outcome else "")
