"""Settings: ``DESKHAND_*`` variables and ``config.toml``; and where data lives. Read on demand, never at import."""

from __future__ import annotations

import difflib
import os
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from deskhand.places import config_file, find_home, home_at

__all__ = ["Settings", "config_file", "data_home", "load_settings"]


class KindSettings(BaseModel):
    """`SettleSettings` for one kind of step; None leaves what is set for all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quiet: float | None = Field(None, gt=0, le=5)
    react: float | None = Field(None, gt=0, le=10)
    max_wait: float | None = Field(None, gt=0, le=120)


class SettleSettings(BaseModel):
    """Settling. What the user sets is pinned; what is not set may be learned (see `tools.timing`).

    ``quiet``: seconds without change that count as still. ``react``: seconds an app has to react to an act.
    ``max_wait``: seconds after which an act returns whatever moves. ``kinds``: other values by a step's kind.
    ``ignore_regions``: rectangles (x, y, width, height), in screen pixels, that are never watched.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    quiet: float = Field(0.2, gt=0, le=5)
    react: float = Field(0.3, gt=0, le=10)
    max_wait: float = Field(8.0, gt=0, le=120)
    ignore_regions: tuple[tuple[int, int, int, int], ...] = ()
    kinds: dict[str, KindSettings] = Field(default_factory=dict)


class OcrSettings(BaseModel):
    """Reading text that is only pixels (extra ``ocr``).

    ``unasked``: whether windows without elements are read by themselves. ``model``: the path of another recognition
    model (ONNX, with its characters in its metadata) for scripts that the built-in one cannot read.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    unasked: bool = True
    model: Path | None = None


Words = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda value: shlex.split(value) if isinstance(value, str) else value),
    Field(min_length=1),
]
"""A command: a list of words, or a string that is read like a shell's (no shell runs it)."""


class ComputerSettings(BaseModel):
    """Another computer that tasks can run on.

    ``command``: what reaches its ``computer``, such as ``ssh lab computer`` (a string, read like a shell's words, or a
    list). ``keys``: whose API keys and default model count: ``theirs`` (that machine's) or ``caller`` (they go along).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Words
    keys: Literal["theirs", "caller"] = "theirs"

    @model_validator(mode="before")
    @classmethod
    def _command(cls, value: Any) -> Any:
        """A plain string is the command."""
        return {"command": value} if isinstance(value, str | list | tuple) else value


class Settings(BaseSettings):
    """Everything a user can set. A variable (``DESKHAND_MODEL``, ``DESKHAND_SETTLE__QUIET``) wins over the file."""

    model_config = SettingsConfigDict(
        env_prefix="DESKHAND_", env_nested_delimiter="__", extra="forbid", frozen=True, env_ignore_empty=True
    )

    home: Path | None = None
    model: str | None = None
    verify_model: str | None = None
    models: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """What a model can take or costs, by its name (``*`` allowed): see `orchestrator.models.capabilities`."""
    settle: SettleSettings = SettleSettings()
    image_edge: int = Field(1280, ge=256, le=2576)
    """Longest edge, in pixels, of a picture sent to a model."""
    ocr: OcrSettings = OcrSettings()
    backend: Literal["auto", "portable"] = "auto"
    """How a display that is already there is worked: ``portable`` as on systems that only have mss and pyautogui."""
    computers: dict[str, ComputerSettings] = Field(default_factory=dict)
    """Other computers by name, for ``computer="NAME"``."""
    hooks: dict[Literal["start", "question", "end"], Words] = Field(default_factory=dict)
    """Commands run when a task starts, asks, and ends, with a JSON object on standard input."""
    risk_words: tuple[str, ...] = ()
    """Words, besides the built-in list, that make pressing what carries them sensitive."""

    @field_validator("computers")
    @classmethod
    def _free_names(cls, computers: dict[str, ComputerSettings]) -> dict[str, ComputerSettings]:
        for name in computers:
            if name in ("private", "real") or "::" in name:
                raise ValueError(
                    f"a computer cannot be called {name!r}: that means one of this machine's own"
                )
        return computers

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        sources: list[PydanticBaseSettingsSource] = [init_settings, env_settings]
        path = config_file()
        if path.is_file():
            sources.append(TomlConfigSettingsSource(settings_cls, toml_file=path))
        return tuple(sources)


@cache
def load_settings(**overrides: Any) -> Settings:
    """The settings, read once. ValueError names the variable, or the file and the key in it, that is wrong."""
    try:
        return Settings(**overrides)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{config_file()} is not TOML: {error}") from None
    except ValidationError as error:
        raise ValueError(
            "; ".join(_in_words(dict(each)) for each in error.errors(include_url=False))
        ) from None


def _in_words(wrong: dict[str, Any]) -> str:
    first, *rest = wrong["loc"] or ("",)
    variable = f"DESKHAND_{first}".upper()
    key = ".".join(map(str, (first, *rest)))
    where = variable if variable in os.environ else f"{config_file()}: {key}" if key else str(config_file())
    if wrong["type"] != "extra_forbidden":
        return f"{where}: {wrong['msg']}"
    alike = difflib.get_close_matches(str(first), Settings.model_fields) if not rest else []
    return f"{where}: there is no such setting" + (f"; {alike[0]!r} was meant?" if alike else "")


def data_home(settings: Settings | None = None) -> Path:
    """Where tasks and profiles are kept: ``DESKHAND_HOME``, else the platform's data directory. Not created here."""
    return find_home() if settings is None else home_at(settings.home)
