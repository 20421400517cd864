"""Settings that are wrong are named with the place where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskhand.config import load_settings


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('modle = "embedded"', ["config.toml: modle: there is no such setting", "'model' was meant"]),
        ("image_edge = 'wide'", ["config.toml: image_edge: "]),
        ("[settle]\nquiet = -1", ["config.toml: settle.quiet: "]),
        ("x = [", ["config.toml is not TOML"]),
    ],
)
def test_what_is_wrong_in_the_file_is_named(
    text: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    monkeypatch.setenv("DESKHAND_CONFIG", str(file))
    with pytest.raises(ValueError, match=r"config\.toml") as error:
        load_settings()
    assert all(word in str(error.value) for word in words), str(error.value)
    assert "pydantic" not in str(error.value)


def test_a_variable_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKHAND_IMAGE_EDGE", "wide")
    with pytest.raises(ValueError, match=r"^DESKHAND_IMAGE_EDGE: "):
        load_settings()
