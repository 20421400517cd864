"""The shape of the package: who may import whom, what importing does, what is public, what is in the wheel."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "deskhand"

ROOMS: dict[str, set[str]] = {
    "audit": set(),
    "desktop": {"audit"},
    "observers": {"desktop", "audit"},
    "tools": {"observers", "desktop", "audit"},
    "prompts": set(),
    "orchestrator": {"prompts", "tools", "observers", "desktop", "audit"},
}
SHARED = {"errors", "messages", "terms", "config", "places"}
CLI = {
    "cli",
    "cli_base",
    "cli_batch",
    "cli_logs",
    "cli_machine",
    "cli_people",
    "cli_recipes",
    "cli_record",
    "cli_task",
}
DOORS = {
    "",
    "mcp_server",
    "demo",
    "doctor",
    "gptme_tool",
    "login",
    "watch",
    *CLI,
}  # "" is the package's own __init__

# Where a backend or a provider is chosen by name, a first-party import may stand inside a function.
CHOICES = {
    "__init__.py",
    *(f"{name}.py" for name in CLI),
    "demo.py",
    "desktop/__init__.py",
    "desktop/base.py",
    "desktop/watchdog.py",  # also run as a program of its own, before and without the package
    "orchestrator/children.py",
    "orchestrator/models/__init__.py",
}

OF_OTHERS = {"__main__", "gptme_tool"}
"""Modules that only run as a program, or that only another program imports, which is not there."""

PUBLIC = {
    "computer_task",
    "acomputer_task",
    "computer_tasks",
    "open_desktop",
    "open_desktop_sync",
    "Private",
    "Limits",
    "Policy",
    "Model",
    "Desktop",
    "DeskhandError",
    "MissingPart",
    "DesktopError",
    "ComputerLost",
    "ModelError",
    "ModelRefused",
    "ToolError",
    "InvalidStep",
    "TargetError",
    "StopTask",
    "TaskStatus",
    "Recipe",
    "load_recipe",
    "run_recipe",
    "replay_task",
}


class Import(NamedTuple):
    """One first-party import: where it stands, what it names, whether inside a function or for types only."""

    path: str
    line: int
    room: str
    inside: bool
    typing: bool


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else path.stem.replace("__init__", "")


def _imports(path: Path) -> Iterator[Import]:
    where = str(path.relative_to(SOURCE))

    def visit(node: ast.AST, inside: bool, typing: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{where}:{node.lineno}: imports are absolute"
            # `from deskhand import errors` names a module only if there is one of that name
            named = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            named = []
        for name in named:
            first, _, rest = name.partition(".")
            if first == "deskhand":
                yield Import(where, getattr(node, "lineno", 0), rest.partition(".")[0], inside, typing)
        for child in ast.iter_child_nodes(node):
            yield from visit(
                child,
                inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda),
                typing or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)),
            )

    yield from visit(ast.parse(path.read_text()), False, False)


def test_the_first_six_rooms_are_the_only_packages() -> None:
    assert {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()} == set(ROOMS)


def test_each_room_imports_only_what_the_table_allows() -> None:
    wrong = []
    for path in _modules():
        room = _room(path)
        if room in DOORS:
            continue
        allowed = SHARED | ROOMS.get(room, set()) | ({room} if room in ROOMS else set())
        wrong += [
            f"{found.path}:{found.line} imports {found.room or 'the package root'}"
            for found in _imports(path)
            if found.room not in allowed
        ]
    assert wrong == []


def test_our_own_modules_are_imported_at_the_top_except_where_a_name_chooses_one() -> None:
    wrong = [
        f"{found.path}:{found.line}"
        for path in _modules()
        for found in _imports(path)
        if found.inside and found.path not in CHOICES
    ]
    assert wrong == []


def test_every_module_says_in_a_line_what_it_is() -> None:
    wrong = []
    for path in _modules():
        words = ast.get_docstring(ast.parse(path.read_text())) or ""
        if not words.partition("\n")[0].endswith((".", ":", ";")):
            wrong.append(str(path.relative_to(SOURCE)))
    assert wrong == []


def test_a_desktop_never_touches_the_environment_of_its_process() -> None:
    wrong = []
    for path in sorted((SOURCE / "desktop").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            touched = isinstance(node, ast.Attribute) and node.attr in (
                "environ",
                "environb",
                "getenv",
                "putenv",
            )
            if touched and isinstance(node.value, ast.Name) and node.value.id == "os":
                wrong.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert wrong == []


_PROBE = """
import json, os, sys
opened = []
def hook(event, args):
    if event == "subprocess.Popen" and args[0].endswith("ldconfig"):
        return  # ctypes asks where libxcb is
    if event in ("socket.__new__", "socket.connect", "subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec"):
        opened.append(event)
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        opened.append(f"open {args[0]} for {args[1]}")
sys.addaudithook(hook)
before = set(os.listdir("/proc/self/fd"))
failed = {}
for name in json.loads(sys.argv[1]):
    try:
        __import__(name)
    except BaseException as error:
        failed[name] = repr(error)
import threading
left = len(set(os.listdir("/proc/self/fd")) - before)
print(json.dumps({"opened": opened, "failed": failed, "left": left, "threads": threading.active_count()}))
"""


def test_importing_every_module_opens_nothing() -> None:
    names = [_name(path) for path in _modules() if path.stem not in OF_OTHERS]
    environ = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", _PROBE, json.dumps(names)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == {"opened": [], "failed": {}, "left": 0, "threads": 1}


_HEAVY = ("anthropic", "openai", "mcp", "playwright", "numpy", "PIL", "mss", "xcffib", "dbus_fast", "ray")


@pytest.mark.parametrize(
    "statement",
    ["import deskhand", "from deskhand import computer_task, acomputer_task, Private, Limits, Policy"],
)
def test_the_callers_side_imports_nothing_heavy(statement: str) -> None:
    code = f"import sys\n{statement}\nprint(*(name for name in {_HEAVY!r} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == []


def test_the_public_names_are_these_and_each_is_there() -> None:
    import deskhand

    assert set(deskhand.__all__) == PUBLIC
    assert sorted(name for name in PUBLIC if not hasattr(deskhand, name)) == []
    assert set(dir(deskhand)) >= PUBLIC


def test_the_wheel_holds_one_top_level_name_and_its_data_files(tmp_path: Path) -> None:
    from hatchling.builders.wheel import WheelBuilder

    built = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    with zipfile.ZipFile(built) as wheel:
        names = wheel.namelist()
        scripts = wheel.read(next(n for n in names if n.endswith("entry_points.txt"))).decode()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"deskhand"}
    data = {name for name in names if name.startswith("deskhand/") and not name.endswith(".py")}
    assert data >= {
        "deskhand/py.typed",
        "deskhand/demo_order.html",
        "deskhand/prompts/system.md",
        "deskhand/audit/report.html",
    }
    assert "computer = deskhand.cli:main" in scripts
    assert "deskhand = deskhand.cli:main" in scripts


def test_the_core_can_live_next_to_the_pins_of_another_agent() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core = " ".join(project["dependencies"])
    # gptme 0.35 pins mcp, anthropic and openai below what our extras need: the core must not ask for them.
    assert [name for name in ("mcp", "anthropic", "openai", "playwright") if f"{name}>" in core] == []
    assert set(project["optional-dependencies"]) == {
        "anthropic",
        "openai",
        "mcp",
        "web",
        "ocr",
        "portable",
        "ray",
        "all",
    }


def test_the_repository_names_no_registry_and_no_machines_path() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True
    )
    words = [
        ".".join(host) for host in (("pypi", "org"), ("npmjs", "org"), ("npmjs", "com"), ("deb", "debian"))
    ]
    words.append(f"{ROOT}/")
    wrong = []
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            wrong += [f"{name}: {word}" for word in words if word in text]
    assert wrong == []
