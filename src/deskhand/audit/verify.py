"""Checking a log by its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deskhand.audit.chain import ZERO, Chain, split_lines
from deskhand.audit.images import ImageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a check.

    ``lines`` counts the whole lines of the chain; ``intact`` says that all of it holds (a torn last line, one
    without its LF, does not break it: ``torn``). ``bad_line`` (from 1) and ``why`` name the first fault. ``head`` is
    the hash of the last good line. ``expected_at`` is the line whose hash was asked for: None when none was asked for
    or none has it. ``sealed`` counts torn lines that a resumed task accounted for.
    """

    lines: int
    intact: bool
    torn: bool = False
    bad_line: int | None = None
    why: str = ""
    head: str = ZERO
    expected_at: int | None = None
    found_expected: bool = True
    sealed: int = 0

    @property
    def ok(self) -> bool:
        """Intact, and the hash that was asked for is in it."""
        return self.intact and self.found_expected


def verify_log(path: Path, expect: str | None = None) -> Verification:
    """Check every byte of a log, and the pictures beside it against the hashes that they are named by.

    ``expect`` is a hash that the caller kept (``audit_hash``): it must be that of a line in the chain, which is what
    finds a tail that was cut off or a log that was written anew. FileNotFoundError when there is no log.
    """
    chain = Chain()
    lines, expected_at, number = 0, None, 0
    with path.open("rb") as file:
        for number, (line, ended) in enumerate(split_lines(iter(lambda: file.read(1 << 20), b"")), 1):
            opened = chain.feed(line, ended=ended)
            if opened is not None:
                lines += 1
                if opened.hash == expect:
                    expected_at = number
            elif chain.bad_line is not None and number - chain.bad_line > _GAP_LINES:
                break
    intact = chain.end()
    bad_line, why = (None, "") if intact else (chain.bad_line, chain.why)
    if intact and (changed := ImageStore(path.parent / "images").changed()):
        intact, why = False, f"the picture {changed[0]} is not what it was"
    return Verification(
        lines=lines,
        intact=intact,
        torn=bool(chain.gap) and intact,
        bad_line=bad_line,
        why=why,
        head=chain.head,
        expected_at=expected_at,
        found_expected=expect is None or expected_at is not None,
        sealed=chain.sealed,
    )


_GAP_LINES = 16
"""A torn write leaves one line, a few at the worst: a longer run of lines outside the chain is a broken one."""
