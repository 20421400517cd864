"""The scripts and the Makefile: what they promise holds without running them whole."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted([*(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run"])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_parses_can_be_run_and_stops_at_the_first_error(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True, timeout=30)
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in script.read_text()


def test_the_help_of_make_names_every_target_and_each_sets_itself_up() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^(?P<name>[\w-]+):", text, re.M)
    said = subprocess.run(
        ["make", "-C", str(ROOT), "--no-print-directory", "help"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    ).stdout
    assert set(targets) - {"help", "setup"} == set(re.findall(r"^make ([\w-]+)", said, re.M))
    for name in ("demo", "test", "check", "check-all", "bench"):
        assert re.search(rf"^{name}: setup$", text, re.M)


def test_ci_runs_the_tests_and_nothing_else() -> None:
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if not line.startswith("#")]
    assert lines[-1] == "exec make test"
    assert len(lines) == 3
