"""Models: each module translates one wire format and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol

from deskhand.errors import MissingPart
from deskhand.messages import Model
from deskhand.orchestrator.models.capabilities import DEFAULT_MODELS, capabilities
from deskhand.orchestrator.models.dialect import AGENTS, find_program, require_program
from deskhand.orchestrator.models.transport import Remaining, countdown

_NAMED = ("anthropic", "openai", "openai-chat", "scripted")
_ALONE = ("embedded",)
_AGENTS = tuple(AGENTS)


class ModelSettings(Protocol):
    """What is read from the settings."""

    @property
    def model(self) -> str | None: ...
    @property
    def models(self) -> Mapping[str, Mapping[str, Any]]: ...


def parse_spec(spec: str) -> tuple[str, str]:
    """(provider, name) of ``"provider:name"`` or ``"provider/name"``; the name is "" for ``"embedded"``.

    A provider alone stands for its default model; an agent's program (``"claude-code"``, ``"codex"``) knows its own.
    ValueError says what is accepted.
    """
    if not isinstance(spec, str):
        raise TypeError(f"model must be a string or a Model, not {type(spec).__name__}")
    provider, name = _split(spec.strip())
    if (provider in _ALONE and not name) or provider in _AGENTS:
        return provider, name
    if provider in _NAMED:
        name = name or DEFAULT_MODELS.get(provider, "")
        if name:
            return provider, name
    accepted = ", ".join(
        [*(f"'{named}:NAME'" for named in _NAMED[:-1]), "'scripted:FILE'", *map(repr, (*_AGENTS, *_ALONE))]
    )
    raise ValueError(f"model: {spec!r} is none of {accepted}")


def _split(spec: str) -> tuple[str, str]:
    cuts = [cut for cut in (spec.find(":"), spec.find("/")) if cut >= 0]
    return (spec[: min(cuts)], spec[min(cuts) + 1 :]) if cuts else (spec, "")


def default_spec(
    environ: Mapping[str, str] | None = None, settings: ModelSettings | None = None
) -> tuple[str, str]:
    """(spec, why) of the model for a caller who named none: the settings, then the keys, then ``embedded``."""
    environ = os.environ if environ is None else environ
    if settings is not None and settings.model:
        return settings.model, "the settings"
    if environ.get("ANTHROPIC_API_KEY"):
        return f"anthropic:{DEFAULT_MODELS['anthropic']}", "ANTHROPIC_API_KEY"
    if environ.get("OPENAI_API_KEY"):
        # Another server is more likely to know Chat Completions than Responses.
        provider = "openai-chat" if environ.get("OPENAI_BASE_URL") else "openai"
        return f"{provider}:{DEFAULT_MODELS['openai']}", "OPENAI_API_KEY"
    return "embedded", "no model is set and there is no key"


def installed_agents() -> list[str]:
    """The models that are command-line agents, as far as their programs are here."""
    return [agent for agent in _AGENTS if find_program(agent)]


def is_agent(spec: str) -> bool:
    """Whether ``spec`` names a command-line agent. ValueError for no spec at all."""
    return parse_spec(spec)[0] in _AGENTS


def require_agent(spec: str) -> None:
    """MissingPart with the command that brings it, when ``spec`` is a command-line agent whose program is not here."""
    agent, _ = parse_spec(spec)
    if agent in _AGENTS:
        require_program(agent)


def make_model(
    spec: str, settings: ModelSettings | None = None, *, timeout: float | Remaining | None = None
) -> Model:
    """The model that ``spec`` names. It imports the provider's SDK, which takes some tenths of a second.

    ``timeout`` bounds its requests, retries included: seconds from now, or a function that returns the seconds left.
    ValueError: no such spec, or wrong settings. MissingPart: the extra with its SDK, or the program, is not installed.
    """
    provider, name = parse_spec(spec)
    if provider == "scripted":
        from deskhand.orchestrator.models.scripted import ScriptedModel

        return ScriptedModel.from_file(name)
    if provider == "embedded":
        from deskhand.orchestrator.models.embedded import EmbeddedModel

        return EmbeddedModel()
    if provider in _AGENTS:
        return _make_agent(provider, name, settings.models if settings is not None else None)
    known = capabilities(provider, name, settings.models if settings is not None else None)
    remaining = countdown(timeout)
    try:
        if provider == "anthropic":
            from deskhand.orchestrator.models.anthropic import AnthropicModel

            return AnthropicModel(name, known, remaining)
        if provider == "openai":
            from deskhand.orchestrator.models.openai_responses import OpenAIResponsesModel

            return OpenAIResponsesModel(name, known, remaining)
        from deskhand.orchestrator.models.openai_chat import OpenAIChatModel

        return OpenAIChatModel(name, known, remaining)
    except ModuleNotFoundError as error:
        extra = "anthropic" if provider == "anthropic" else "openai"
        if error.name != extra:
            raise
        raise MissingPart(
            f"the package {extra}", f"the model {spec} needs it", f"pip install 'deskhand[{extra}]'"
        ) from None


def _make_agent(agent: str, name: str, overrides: Mapping[str, Mapping[str, Any]] | None) -> Model:
    program = require_program(agent)
    try:
        from deskhand.orchestrator.models.agent import Agent
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise MissingPart(
            "the package mcp", f"the model {agent} needs it", "pip install 'deskhand[mcp]'"
        ) from None
    if agent == "codex":
        from deskhand.orchestrator.models.codex import Codex

        return Agent(Codex(program, name, overrides))
    from deskhand.orchestrator.models.claude_code import ClaudeCode

    return Agent(ClaudeCode(program, name, overrides))
