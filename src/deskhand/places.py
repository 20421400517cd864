"""Where settings and data lie: apart from `config`, which takes long to load, for who only reads a log."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

VARIABLE = "DESKHAND_HOME"


def config_file() -> Path:
    """The user's settings file (it need not exist). ``DESKHAND_CONFIG`` names another one."""
    if named := os.environ.get("DESKHAND_CONFIG"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_config_dir("deskhand", appauthor=False)) / "config.toml"


def find_home() -> Path:
    """The data directory, as `config.Settings.home` has it, read without loading all settings. Not created here.

    ValueError when the settings file is no TOML, or its ``home`` no text.
    """
    named = next((value for name, value in os.environ.items() if name.upper() == VARIABLE and value), None)
    if named is None and (file := config_file()).is_file():
        try:
            named = tomllib.loads(file.read_text("utf-8")).get("home")
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{file} is not TOML: {error}") from None
        if not isinstance(named, str | None):
            raise ValueError(f"home in {file} must be a path, not {named!r}")
    return home_at(named)


def home_at(named: str | Path | None) -> Path:
    """The data directory that a setting names; None: the platform's."""
    if named is not None:
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir("deskhand", appauthor=False)).absolute()
