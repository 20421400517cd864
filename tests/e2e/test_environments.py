"""The caller's environment may hold the core alone: the work is then done by the `computer` of another environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def _needed(name: str, found: dict[str, Distribution]) -> dict[str, Distribution]:
    """The distribution and all that it requires here, without extras."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in found:
        return found
    try:
        found[key] = dist = distribution(name)
    except PackageNotFoundError:
        return found
    for line in dist.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            _needed(requirement.name, found)
    return found


@pytest.fixture(scope="module")
def core_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a virtual environment that holds this package with the core's requirements, and no extra."""
    where = tmp_path_factory.mktemp("core")
    venv.create(where, symlinks=True, with_pip=False)
    [site] = where.glob("lib/python*/site-packages")
    (site / "deskhand").symlink_to(ROOT / "src" / "deskhand")
    for name, dist in _needed("deskhand", {}).items():
        tops = {file.parts[0] for file in dist.files or () if not file.parts[0].startswith("..")}
        for top in tops if name != "deskhand" else ():
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(dist.locate_file(top))))
    return where / "bin" / "python"


def _call(python: Path, code: str, path: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PATH": path}
    environ.pop("PYTHONPATH", None)
    return subprocess.run(
        [str(python), "-c", code], env=environ, capture_output=True, text=True, timeout=100, check=False
    )


def test_the_core_alone_imports_and_holds_none_of_the_extras(core_python: Path) -> None:
    code = (
        "import importlib.util as u\n"
        "from deskhand import computer_task, open_desktop\n"
        "print(*(n for n in ('anthropic', 'openai', 'mcp', 'playwright', 'pytest') if u.find_spec(n)))"
    )
    done = _call(core_python, code, os.environ["PATH"])
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_a_task_from_the_core_alone_is_done_by_another_environments_computer(core_python: Path) -> None:
    code = (
        "from deskhand import computer_task\n"
        "r = computer_task('In gnome-calculator compute 12 × 34 and tell me the result', 60, 'embedded')\n"
        "print(r['status'], r['result'])"
    )
    done = _call(core_python, code, f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("success")
    assert "408" in done.stdout


def test_a_model_whose_package_is_nowhere_is_refused_with_the_command_that_brings_it(
    core_python: Path,
) -> None:
    code = (
        "from deskhand import MissingPart, computer_task\n"
        "try:\n    computer_task('x', 5, 'anthropic:claude-sonnet-5-5')\n"
        "except MissingPart as error:\n    print(error.command)"
    )
    done = _call(core_python, code, "/usr/bin:/bin")
    assert done.stdout.strip() == "pip install 'deskhand[anthropic]'", done.stderr
