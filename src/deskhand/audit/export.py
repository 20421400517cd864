"""A task's files as one tar stream."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import IO


def export_task(directory: Path, stream: IO[bytes]) -> None:
    """Write what a task left (log, pictures, recording, transcript, result) as an uncompressed tar below its name.

    Members are plain files, owned by nobody in particular; the control socket and half-written files stay out. A log
    that is still being written is exported as far as it went.
    """
    with tarfile.open(fileobj=stream, mode="w|") as archive:
        for path in sorted(directory.rglob("*")):
            if not path.is_file() or path.is_symlink() or path.name.startswith("."):
                continue
            with path.open("rb") as file:
                member = archive.gettarinfo(
                    arcname=f"{directory.name}/{path.relative_to(directory)}", fileobj=file
                )
                member.uid = member.gid = 0
                member.uname = member.gname = ""
                archive.addfile(member, file)
