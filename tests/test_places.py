"""Where data lies is found without loading the settings, and is what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.config import Settings, data_home
from deskhand.places import find_home


@pytest.mark.parametrize(
    ("variables", "file"),
    [
        ({}, ""),
        ({"DESKHAND_HOME": "/somewhere"}, ""),
        ({"deskhand_home": "~/else"}, 'home = "/third"'),
        ({"DESKHAND_HOME": ""}, 'home = "here/data"'),
        ({}, 'model = "embedded"\nhome = "~/data"\n[settle]\nquiet = 0.3'),
        ({}, 'model = "embedded"'),
    ],
)
def test_the_settings_say_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variables: dict[str, str], file: str
) -> None:
    config = tmp_path / "config.toml"
    if file:
        config.write_text(file)
    monkeypatch.setenv("DESKHAND_CONFIG", str(config))
    monkeypatch.delenv("DESKHAND_HOME", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert find_home() == data_home(Settings()) == data_home()
    assert find_home().is_absolute()


@pytest.mark.parametrize("file", ["home = 7", "home ="])
def test_a_file_that_is_wrong_is_said_to_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(file)
    monkeypatch.setenv("DESKHAND_CONFIG", str(config))
    monkeypatch.delenv("DESKHAND_HOME", raising=False)
    with pytest.raises(ValueError):
        find_home()


def test_who_only_reads_a_log_does_not_load_the_settings() -> None:
    program = "import sys; from deskhand.cli_base import open_store; open_store(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "deskhand.audit.store" in done.stdout.split()
    assert "deskhand.config" not in done.stdout.split()
