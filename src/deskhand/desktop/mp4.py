"""Enough of the MP4 container (ISO/IEC 14496-12) to tell whether a file that is being written can be played yet."""

from __future__ import annotations

import os


def has_fragment(path: str) -> bool:
    """Whether a fragmented MP4 holds one fragment whole: a ``moov``, then a ``moof`` with all of its ``mdat``.

    OSError when the file cannot be read.
    """
    described = announced = False
    with open(path, "rb") as file:
        size, at = os.fstat(file.fileno()).st_size, 0
        while at + 8 <= size:
            file.seek(at)
            head = file.read(8)
            length, kind = int.from_bytes(head[:4], "big"), head[4:]
            if length < 8:  # 0 (to the end) and 1 (64 bits) do not occur in what is written in half seconds
                return False
            at += length
            described |= kind == b"moov"
            announced |= kind == b"moof"
            if kind == b"mdat" and described and announced:
                return at <= size
    return False
