"""How a model is named, found and played."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from deskhand.errors import ModelError
from deskhand.messages import Model, ToolCall, Turn
from deskhand.orchestrator.models import default_spec, make_model, parse_spec
from deskhand.orchestrator.models.scripted import ScriptedModel
from model_helpers import BRIEF, RULES, TOOL


@pytest.mark.parametrize(
    ("spec", "parsed"),
    [
        ("anthropic:claude-sonnet-5-5", ("anthropic", "claude-sonnet-5-5")),
        ("anthropic/claude-sonnet-5-5", ("anthropic", "claude-sonnet-5-5")),
        ("anthropic", ("anthropic", "claude-sonnet-5-5")),
        ("openai-chat:org/model:7b", ("openai-chat", "org/model:7b")),
        ("openai-chat/org/model:7b", ("openai-chat", "org/model:7b")),
        ("openai:gpt-5.6-sol", ("openai", "gpt-5.6-sol")),
        (" embedded ", ("embedded", "")),
        ("scripted:/a/b.json", ("scripted", "/a/b.json")),
        ("claude-code", ("claude-code", "")),
        ("claude-code:opus", ("claude-code", "opus")),
        ("codex/gpt-5.5", ("codex", "gpt-5.5")),
    ],
)
def test_a_model_is_named_by_provider_and_name(spec: str, parsed: tuple[str, str]) -> None:
    assert parse_spec(spec) == parsed


@pytest.mark.parametrize(
    "spec", ["", "gpt-5", "openai-chat", "openai-chat:", "embedded:x", "google:gemini", "scripted"]
)
def test_a_name_that_means_nothing_is_refused_with_what_would(spec: str) -> None:
    with pytest.raises(ValueError, match=r"^model: .*'anthropic:NAME'.*'embedded'"):
        parse_spec(spec)


@pytest.mark.parametrize(
    ("environ", "model", "spec"),
    [
        ({"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b"}, "openai:x", "openai:x"),
        ({"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b"}, None, "anthropic:claude-sonnet-5-5"),
        ({"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "b"}, None, "openai:gpt-5.6-sol"),
        ({"OPENAI_API_KEY": "b", "OPENAI_BASE_URL": "http://x/v1"}, None, "openai-chat:gpt-5.6-sol"),
        ({}, None, "embedded"),
    ],
)
def test_without_a_name_the_settings_then_the_keys_decide(
    environ: dict[str, str], model: str | None, spec: str
) -> None:
    found, why = default_spec(environ, SimpleNamespace(model=model, models={}))
    assert found == spec
    assert why


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"visoin": False}, "no field 'visoin'"),
        ({"image_edge": "big"}, "image_edge must be int"),
        ({"vision": 1}, "bool"),
    ],
)
def test_wrong_settings_of_a_model_are_named(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make_model("anthropic:claude-sonnet-5-5", SimpleNamespace(model=None, models={"claude-*": changes}))


@pytest.mark.parametrize(
    ("spec", "package"), [("anthropic:x", "anthropic"), ("openai:x", "openai"), ("openai-chat:x", "openai")]
)
def test_an_absent_sdk_is_a_missing_part_with_the_command_that_brings_it(spec: str, package: str) -> None:
    code = (
        "import sys\n"
        f"sys.modules['{package}'] = None\n"
        "from deskhand.errors import MissingPart\n"
        "from deskhand.orchestrator.models import make_model\n"
        "try:\n"
        f"    make_model('{spec}')\n"
        "except MissingPart as error:\n"
        "    sys.stdout.write(error.command)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == f"pip install 'deskhand[{package}]'"


def test_importing_the_models_loads_no_sdk() -> None:
    code = (
        "import sys, deskhand.orchestrator.models\n"
        "heavy = {'anthropic', 'openai', 'httpx2', 'PIL', 'genai_prices', 'numpy'}\n"
        "sys.stdout.write(repr(sorted(heavy & sys.modules.keys())))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == "[]"


async def test_a_script_is_played_in_order_and_then_used_up(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(
        json.dumps([{"text": "a", "calls": [{"name": "act", "input": {"n": 1}}]}, {"text": "b"}])
    )
    model = make_model(f"scripted:{script}")
    assert isinstance(model, Model)
    first, second = await model.turn([RULES, BRIEF], [TOOL]), await model.turn([RULES, BRIEF], [])
    assert first.calls == (ToolCall(id="call_1_1", name="act", arguments={"n": 1}),)
    assert (first.stop, second.stop, second.text) == ("calls", "end", "b")
    with pytest.raises(ModelError, match="used up: it had 2 turns"):
        await model.turn([RULES, BRIEF], [])


async def test_a_scripted_model_can_be_a_function_of_what_it_is_shown() -> None:
    async def play(transcript: object, tools: object) -> Turn:
        return Turn(text=f"{len(transcript)} entries, {len(tools)} tools")  # type: ignore[arg-type]

    model = ScriptedModel(play)
    assert (await model.turn([RULES, BRIEF], [TOOL])).text == "2 entries, 1 tools"
    assert model.seen == [((RULES, BRIEF), (TOOL,))]


@pytest.mark.parametrize("content", ["{", "{}", '[{"txet": "a"}]', '[{"calls": [{}]}]'])
def test_a_script_that_cannot_be_played_is_refused_by_name(tmp_path: Path, content: str) -> None:
    script = tmp_path / "script.json"
    script.write_text(content)
    with pytest.raises(ValueError, match=r"script\.json"):
        make_model(f"scripted:{script}")
    with pytest.raises(ValueError, match=r"absent\.json"):
        make_model("scripted:absent.json")
