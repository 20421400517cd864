"""Everything that the README, the docs and the examples show is run, as a newcomer would run it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from deskhand.config import load_settings

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])

_BLOCK = re.compile(
    r"(?:<!-- (?:not run: (?P<why>.+?)|prints: (?P<prints>.+?)) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)


class Block(NamedTuple):
    """A fenced block of a page; ``why`` says why it is not run (empty: it is), ``prints`` what it has to say."""

    page: str
    line: int
    kind: str
    text: str
    why: str
    prints: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def _blocks(*kinds: str) -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in _BLOCK.finditer(text):
            line = text.count("\n", 0, match.start("text"))
            block = Block(
                page.name, line, match["kind"], match["text"], match["why"] or "", match["prints"] or ""
            )
            if block.kind in kinds:
                found.append(block)
    return found


def _environ() -> dict[str, str]:
    programs = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def _run(command: list[str], where: Path) -> str:
    done = subprocess.run(
        command, cwd=where, env=_environ(), capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("block", [block for block in _blocks("python") if not block.why], ids=str)
def test_a_python_snippet_runs(block: Block, tmp_path: Path) -> None:
    assert block.prints in _run([sys.executable, "-W", "error", "-c", block.text], tmp_path)


@pytest.mark.parametrize("page", sorted({block.page for block in _blocks("sh") if not block.why}))
def test_the_shell_snippets_of_a_page_run_one_after_another(page: str, tmp_path: Path) -> None:
    for block in _blocks("sh"):
        if block.page == page and not block.why:
            assert block.prints in _run(["bash", "-euo", "pipefail", "-c", block.text], tmp_path)


@pytest.mark.parametrize("block", _blocks("json", "toml", "yaml"), ids=str)
def test_a_configuration_snippet_is_well_formed(block: Block) -> None:
    parse = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}[block.kind]
    assert parse(block.text)


def test_only_python_shell_and_configuration_are_shown_and_all_else_has_a_reason() -> None:
    every = {match["kind"] for page in PAGES for match in _BLOCK.finditer(page.read_text())}
    assert every <= {"python", "sh", "json", "toml", "yaml"}


def test_every_option_that_a_page_names_exists() -> None:
    commands = {
        tuple(shlex.split(line, comments=True))
        for block in _blocks("sh")
        for line in block.text.splitlines()
        if line.startswith("computer ")
    }
    wrong = []
    for command in sorted(commands):
        help_text = _run(["computer", command[1], "--help"], ROOT)
        wrong += [f"{command}: {word}" for word in command if word.startswith("--") and word not in help_text]
    assert commands
    assert wrong == []


def test_every_link_between_pages_leads_somewhere() -> None:
    wrong = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert wrong == []


def test_every_path_that_the_readme_names_is_there() -> None:
    named = re.findall(r"`((?:src|tests|docs|examples)/[\w/.]*)`", (ROOT / "README.md").read_text())
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_test_that_the_security_page_names_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / "security.md").read_text())
    assert named
    wrong = [
        f"{path}::{name}"
        for path, name in named
        if not re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(), re.M)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("calculator.py", "408"),
        ("two_at_once.py", "134"),
        ("without_a_model.py", "calculator.png: 1024×768"),
        ("own_model.py", "success True"),
    ],
)
def test_an_example_does_what_it_says(name: str, said: str, tmp_path: Path) -> None:
    assert said in _run([sys.executable, "-W", "error", str(ROOT / "examples" / name)], tmp_path)


def test_the_pytest_example_passes(tmp_path: Path) -> None:
    example = ROOT / "examples" / "test_calculator.py"
    said = _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(example)], tmp_path)
    assert "1 passed" in said


def test_every_example_is_run_here() -> None:
    text = Path(__file__).read_text()
    assert [path.name for path in (ROOT / "examples").glob("*.py") if f'"{path.name}"' not in text] == []


@pytest.mark.parametrize("page", ["settings.md", "computers.md"])
def test_the_settings_that_the_docs_show_are_settings(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [block] = [block for block in _blocks("toml") if block.page == page]
    (tmp_path / "config.toml").write_text(block.text)
    monkeypatch.setenv("DESKHAND_CONFIG", str(tmp_path / "config.toml"))
    load_settings.cache_clear()
    assert set(tomllib.loads(block.text)) <= load_settings().model_fields_set
