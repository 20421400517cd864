"""The process that reads text in pictures: whom it tells of its use, and what it leaves."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from deskhand.observers.text_process import TextProcess


async def test_it_reports_to_nobody_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """onnxruntime's own telemetry would leave a number for the machine in the user's cache, and a file beside it."""
    for name in ("HOME", "TMPDIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    reader = TextProcess()
    pixels = np.full((60, 300), 0xFFFFFF, np.uint32)
    pixels[20:40, 20:200:9] = 0
    try:
        await reader.read("screen", pixels, seconds=60)
        await asyncio.sleep(0.5)
    finally:
        await reader.aclose()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
