"""Pictures of a task, stored once under their SHA-256."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

_NAME = re.compile(r"[0-9a-f]{64}\Z")
_SUFFIXES = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}


class ImageStore:
    """A directory of pictures named by their own hash. Files are 0600, the directory 0700."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def put(self, data: bytes, suffix: str = "png") -> str:
        """Keep ``data``; returns its SHA-256 in lower-case hex. The same picture is stored once."""
        if suffix not in _SUFFIXES:
            raise ValueError(f"suffix must be one of {', '.join(_SUFFIXES)}, not {suffix!r}")
        digest = hashlib.sha256(data).hexdigest()
        path = self.directory / f"{digest}.{suffix}"
        if path.exists():
            return digest
        self.directory.mkdir(mode=0o700, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(
            dir=self.directory, prefix=".partial-"
        )  # mkstemp makes it 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(partial, path)
        except BaseException:
            os.unlink(partial)
            raise
        return digest

    def find(self, digest: str) -> tuple[Path, str] | None:
        """The file of a hash and its media type; None when it is not there. ValueError when it is not a hash."""
        if not _NAME.match(digest):
            raise ValueError(f"an image is named by 64 lower-case hex digits, not {digest!r}")
        for suffix, media_type in _SUFFIXES.items():
            path = self.directory / f"{digest}.{suffix}"
            if path.is_file():
                return path, media_type
        return None

    def changed(self) -> list[str]:
        """The names of files whose bytes no longer match the hash they are named by."""
        if not self.directory.is_dir():
            return []
        pictures = (path for path in sorted(self.directory.iterdir()) if _NAME.match(path.stem))
        return [path.name for path in pictures if _digest(path) != path.stem]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
