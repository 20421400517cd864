"""The line format of the audit log: how a line is sealed, and how it is read back from its bytes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

ZERO = "0" * 64
"""``prev`` of the first line."""

VERSION = 1

_TAIL = re.compile(rb',"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}\Z')
_HEAD = re.compile(rb'\{"v":([0-9]+),"seq":([0-9]+),')
_TORN = re.compile(rb',"torn":\{"bytes":([0-9]+),"sha256":"([0-9a-f]{64})"\},"prev":"[0-9a-f]{64}","hash":')
_HASH_KEY = b',"hash":'


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What a line's bytes say about its place in the chain. ``torn`` is (length, SHA-256) of a torn line it seals."""

    seq: int
    prev: str
    hash: str
    torn: tuple[int, str] | None = None


def encode(event: dict[str, Any]) -> bytes:
    """An event as the log spells it, without LF: the same bytes for the same event, ``hash`` and all, anywhere."""
    return json.dumps(event, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def seal(event: dict[str, Any], prev: str) -> tuple[bytes, str]:
    """The line of ``event`` (JSON-ready, without the last two keys), LF included, and its hash.

    The hash is SHA-256 over the line's bytes before ``,"hash":``, so that a verifier compares bytes and never parsed
    values.
    """
    hashed = encode({**event, "prev": prev})[:-1]
    digest = hashlib.sha256(hashed).hexdigest()
    return hashed + _HASH_KEY + b'"' + digest.encode("ascii") + b'"}\n', digest


def open_line(line: bytes) -> Line | str:
    """Check one line by itself (``line`` without its LF): what it says about the chain, or what is wrong with it."""
    tail, head = _TAIL.search(line), _HEAD.match(line)
    if tail is None or head is None:
        return "not a line of this log's format"
    if not line.isascii():
        return "bytes that are not ASCII"
    stated = tail.group(2).decode("ascii")
    if hashlib.sha256(line[: len(line) - len(_HASH_KEY) - 67]).hexdigest() != stated:
        return "the bytes do not match the line's hash"
    torn = _TORN.search(line, max(0, tail.start() - 120))
    return Line(
        seq=int(head.group(2)),
        prev=tail.group(1).decode("ascii"),
        hash=stated,
        torn=(int(torn.group(1)), torn.group(2).decode("ascii")) if torn else None,
    )


@dataclass(slots=True)
class Chain:
    """Follows a log line by line; `feed` every line in order, then `end`.

    ``seq`` and ``head`` are what the next line has to carry on from. Bytes that are no line of the chain wait in
    ``gap`` for a later line that seals them (see `AuditLog`); ``bad_line`` (from 1) and ``why`` say where the chain is
    broken, or None. ``sealed`` counts torn lines that were accounted for; ``whole_but_lf`` is a last line that lacks
    nothing but its LF.
    """

    seq: int = 0
    head: str = ZERO
    gap: list[bytes] = field(default_factory=list)
    sealed: int = 0
    bad_line: int | None = None
    why: str = ""
    broken: bool = False
    unended: bool = False
    whole_but_lf: Line | None = None
    _lines: int = 0
    _gap_holds_sealed: bool = False

    def feed(self, line: bytes, *, ended: bool = True) -> Line | None:
        """Take one line without its LF (``ended`` false: it had none). The line's data when it carries the chain on."""
        self._lines += 1
        if self.broken:
            return None
        opened = open_line(line)
        if isinstance(opened, Line):
            fault = self._fault(opened)
            if not fault and ended:
                self.advance(opened)
                return opened
            if fault:
                self._gap_holds_sealed = True
            else:
                self.whole_but_lf = opened
        else:
            fault = opened
        if self.bad_line is None:
            self.bad_line, self.why = self._lines, fault or "the line does not end in LF"
        self.gap.append(line)
        self.unended = not ended
        return None

    def end(self) -> bool:
        """After the last line: whether the log is intact. A torn tail (no final LF) does not break it."""
        if self.gap and (not self.unended or self._gap_holds_sealed):
            self.broken = True
        return not self.broken

    @property
    def torn(self) -> bytes:
        """The bytes of a torn tail; empty when there is none."""
        return b"\n".join(self.gap)

    def advance(self, line: Line) -> None:
        """Take a line as the chain's newest."""
        self.seq, self.head = line.seq + 1, line.hash
        if self.gap:
            self.gap, self.bad_line, self.why, self._gap_holds_sealed = [], None, "", False
            self.sealed += 1

    def _fault(self, line: Line) -> str:
        if line.seq != self.seq:
            return f"its number is {line.seq}, but {self.seq} comes next"
        if line.prev != self.head:
            return "it does not follow from the line before"
        torn = (len(self.torn), hashlib.sha256(self.torn).hexdigest()) if self.gap else None
        if line.torn != torn:
            return (
                "it does not account for the torn line before it"
                if torn
                else "it accounts for a torn line that is not there"
            )
        return ""


def split_lines(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The lines of a file read in chunks, without LF, each with whether it had one. An empty rest is no line."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line, True
    if rest:
        yield rest, False
