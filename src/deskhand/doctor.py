"""What is here and what is missing: the system's parts, the extras, the isolation, the settings; and how to mend it."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
import tomllib
from dataclasses import asdict, dataclass
from typing import Any, Literal

from deskhand.config import Settings, config_file, data_home
from deskhand.desktop import parts, sandbox
from deskhand.orchestrator.models.dialect import AGENTS, find_program

State = Literal["ok", "missing", "warning"]

EXTRAS = (
    ("anthropic", "anthropic", "models of Anthropic"),
    ("openai", "openai", "models of OpenAI and of compatible servers"),
    ("mcp", "mcp", "serving computer_task to MCP hosts"),
    ("web", "playwright", "web pages as structure"),
    ("ocr", "rapidocr", "reading text that only exists as pixels"),
)
_KEYS = (("ANTHROPIC_API_KEY", "models of Anthropic"), ("OPENAI_API_KEY", "models of OpenAI"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. ``command`` is the exact line that mends it; empty when nothing is to be done."""

    group: str
    name: str
    state: State
    detail: str
    why: str = ""
    command: str = ""
    required: bool = False


def examine() -> list[Finding]:
    """Look at everything; changes nothing. A fault in the settings is a finding, not an error."""
    return [*_system(), *_isolation(), *_extras(), *_keys(), *_agents(), *_settings()]


def healthy(findings: list[Finding]) -> bool:
    """Whether a task can run: nothing that is required is missing."""
    return not any(finding.required and finding.state == "missing" for finding in findings)


def fixes(findings: list[Finding]) -> list[str]:
    """The commands that bring everything that is missing, each once, the system's packages in one."""
    absent = parts.missing()
    commands = [parts.install_command(absent)] if absent else []
    extras = [
        finding.name for finding in findings if finding.group == "extras" and finding.state == "missing"
    ]
    if extras:
        commands.append(_pip(extras))
    return commands


def report(findings: list[Finding], *, colour: bool = False) -> list[str]:
    """The findings as lines for a person; what is missing with why it matters and the command that brings it."""
    marks = {"ok": ("✓", "32"), "missing": ("✗", "31"), "warning": ("!", "33")}
    lines: list[str] = []
    for group in dict.fromkeys(finding.group for finding in findings):
        lines.append(group)
        for finding in (item for item in findings if item.group == group):
            mark, code = marks[finding.state]
            mark = f"\x1b[{code}m{mark}\x1b[0m" if colour else mark
            lines.append(f"  {mark} {finding.name:20} {finding.detail}")
            if finding.state != "ok":
                lines.append(f"      for {finding.why}" + (f": {finding.command}" if finding.command else ""))
    verdict = "Tasks can run here." if healthy(findings) else "Tasks cannot run here yet."
    fixing = " `computer doctor --fix` brings what is missing." if fixes(findings) else ""
    return [*lines, verdict + fixing]


def as_json(findings: list[Finding]) -> dict[str, Any]:
    """The findings as one JSON-ready object."""
    return {
        "ok": healthy(findings),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "findings": [asdict(finding) for finding in findings],
        "fix": fixes(findings),
    }


def _system() -> list[Finding]:
    found = []
    for part in parts.PARTS:
        path = next((path for program in part.programs if (path := parts.which(program))), None)
        found.append(
            Finding(
                group="system",
                name=part.name,
                state="ok" if path else "missing",
                detail=path or ("required" if part.required else "optional"),
                why=part.why,
                command="" if path else parts.install_command([part]),
                required=part.required,
            )
        )
    return found


def _isolation() -> list[Finding]:
    why = "keeps apps away from the user's files, and leaves no process behind"
    fault = sandbox.probe()
    if fault is None:
        return [
            Finding(group="isolation", name="sandbox", state="ok", detail="bubblewrap works here", why=why)
        ]
    return [
        Finding(
            group="isolation",
            name="sandbox",
            state="warning",
            detail=f"{fault}: desktops are isolated by display only",
            why=why,
        )
    ]


def _extras() -> list[Finding]:
    found = []
    for extra, module, why in EXTRAS:
        there = importlib.util.find_spec(module) is not None
        found.append(
            Finding(
                group="extras",
                name=extra,
                state="ok" if there else "missing",
                detail=f"{module} is importable" if there else f"{module} is not installed here",
                why=why,
                command="" if there else _pip([extra]),
            )
        )
    return [*found, _portable()]


def _portable() -> Finding:
    """What desktops outside Linux are worked with; `computer doctor --self-check` tries it."""
    there = importlib.util.find_spec("pyautogui") is not None
    needed = sys.platform != "linux"
    here = "pyautogui is importable" if there else "pyautogui is not installed here"
    return Finding(
        group="extras",
        name="portable",
        state="ok" if there or not needed else "missing",
        detail=here if needed or there else f"{here}, and not needed on Linux",
        why="working the desktops of macOS and Windows",
        command=_pip(["portable"]) if needed and not there else "",
    )


def _pip(extras: list[str]) -> str:
    return f"{sys.executable} -m pip install 'deskhand[{','.join(extras)}]'"


def _keys() -> list[Finding]:
    return [
        Finding(
            group="keys",
            name=variable,
            state="ok" if os.environ.get(variable) else "warning",
            detail="set" if os.environ.get(variable) else "not set (tasks without a model run on `embedded`)",
            why=why,
        )
        for variable, why in _KEYS
    ]


def _agents() -> list[Finding]:
    """The command-line agents that can be the child with the login that their user has already."""
    found = []
    for agent, (_, command) in AGENTS.items():
        path = find_program(agent)
        found.append(
            Finding(
                group="agents",
                name=agent,
                state="ok" if path else "warning",
                detail=f"{path}: use it with --model {agent}" if path else "not installed (optional)",
                why="tasks with the login of an agent that you use already, without a key",
                command="" if path else command,
            )
        )
    return found


def _settings() -> list[Finding]:
    path = config_file()
    try:
        settings = Settings()
        written = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (ValueError, OSError) as error:
        why = "tasks do not start with settings that cannot be read"
        return [
            Finding(
                group="settings", name=str(path), state="missing", detail=str(error), why=why, required=True
            )
        ]
    found = [Finding(group="settings", name="data directory", state="ok", detail=str(data_home(settings)))]
    for name, value in settings.model_dump(mode="json").items():
        variables = [
            key
            for key in os.environ
            if key == f"DESKHAND_{name.upper()}" or key.startswith(f"DESKHAND_{name.upper()}__")
        ]
        source = ", ".join(sorted(variables)) or (str(path) if name in written else "default")
        found.append(Finding(group="settings", name=name, state="ok", detail=f"{value!r} ({source})"))
    return found
