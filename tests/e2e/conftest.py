"""Real tasks, watched from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from watching import Script, Watch


@pytest.fixture
def scripted(tmp_path: Path) -> Script:
    """Write the turns of a model into a file and give the spec that names it."""

    def write(turns: list[dict[str, Any]]) -> str:
        path = tmp_path / f"turns-{len(list(tmp_path.glob('turns-*')))}.json"
        path.write_text(json.dumps(turns))
        return f"scripted:{path}"

    return write


@pytest.fixture
def watch() -> Watch:
    return Watch()
