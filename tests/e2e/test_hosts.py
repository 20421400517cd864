"""Real hosts from npm and PyPI run a task: the MCP inspector, Claude Code and Codex over MCP, gptme by import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from deskhand.audit.store import TaskStore
from wire import Wire

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".cli-agents"
PACKAGES = (
    "@anthropic-ai/claude-code@2.1.197",
    "@openai/codex@0.171.0",
    "@modelcontextprotocol/inspector@0.15.0",
)
COMPUTER = Path(sys.executable).with_name("computer")
GOAL = "In gnome-calculator compute 12 × 34 and tell me the result"
GPTME = "gptme==0.35.1"

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def programs() -> Path:
    """A directory with the hosts' programs, installed from npm at the first time."""
    found = PROGRAMS / "node_modules" / ".bin"
    if not all((found / name).exists() for name in ("claude", "codex", "mcp-inspector")):
        PROGRAMS.mkdir(exist_ok=True)
        (PROGRAMS / "package.json").write_text('{"private": true}')
        command = ["npm", "install", "--no-audit", "--no-fund", *PACKAGES]
        subprocess.run(command, cwd=PROGRAMS, check=True, timeout=600)
    return found


@pytest.fixture(scope="module")
def gptme() -> Path:
    """The bin directory of an environment with gptme and this package's core: none of the extras."""
    place = PROGRAMS / "gptme"
    if not (place / "bin" / "gptme").exists():
        venv.create(place, with_pip=True, clear=True)
        command = [place / "bin" / "pip", "install", "--quiet", GPTME, "ipython", "-e", str(ROOT)]
        subprocess.run(command, check=True, timeout=900)
    return place / "bin"


def run(*words: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a host in an empty home and a clean environment."""
    environ = {
        "HOME": str(cwd),
        "PATH": f"{COMPUTER.parent}{os.pathsep}{os.environ['PATH']}",
        "DESKHAND_HOME": os.environ["DESKHAND_HOME"],
        "DESKHAND_MODEL": "embedded",
        **variables,
    }
    return subprocess.run(
        [str(word) for word in words], cwd=cwd, env=environ, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


def the_task(home: Path) -> Json:
    """What is known of the one task that ran."""
    [row] = TaskStore(home).list()
    return {"status": row.status, "goal": row.goal, "model": row.model}


DONE = {"status": "success", "goal": GOAL, "model": "embedded"}


def test_the_mcp_inspector_calls_it(programs: Path, tmp_path: Path, deskhand_home: Path) -> None:
    variables = [f"DESKHAND_HOME={deskhand_home}", "DESKHAND_MODEL=embedded"]
    done = run(
        programs / "mcp-inspector", "--cli", *(word for each in variables for word in ("-e", each)), COMPUTER, "mcp",
        "--method", "tools/call", "--tool-name", "computer_task", "--tool-arg", f"goal={GOAL}", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["isError"], result["structuredContent"]["result"]) == (False, "408")
    assert the_task(deskhand_home) == DONE


def _answer_of(wire: Wire) -> str:
    """What the host's model was told last."""
    return json.dumps(wire.bodies[-1], ensure_ascii=False)


def test_claude_code_as_the_host_hands_a_task_over(
    programs: Path, wire: Wire, tmp_path: Path, deskhand_home: Path
) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"computer": {"command": "computer", "args": ["mcp"]}}}))
    tool = "mcp__computer__computer_task"

    def play(request: Any) -> Json:
        if "computer_task" not in json.dumps(request.body.get("tools", [])):
            return {"text": "A calculation"}  # a title, or another small request of its own
        if '"tool_result"' in json.dumps(request.body["messages"]):
            return {"text": "It is 408."}
        return {"calls": [{"name": tool, "input": {"goal": GOAL, "timeout": 60}}]}

    wire.play(play)
    done = run(
        programs / "claude", "-p", "Compute 12 × 34 in the calculator app",
        "--mcp-config", config, "--strict-mcp-config",
        "--allowedTools", tool, "--output-format", "json",
        cwd=tmp_path, **wire.environ, DISABLE_TELEMETRY="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert json.loads(done.stdout)["result"] == "It is 408."
    assert '\\"status\\":\\"success\\"' in _answer_of(wire).replace(" ", "").replace("\\n", "")
    assert the_task(deskhand_home) == DONE


def test_codex_as_the_host_hands_a_task_over(
    programs: Path, wire: Wire, tmp_path: Path, deskhand_home: Path
) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(
        f'model = "gpt-6.1"\nmodel_provider = "here"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        f'[model_providers.here]\nname = "here"\nbase_url = "{wire.url}/v1"\n'
        f'env_key = "OPENAI_API_KEY"\nwire_api = "responses"\n'
        f'[mcp_servers.computer]\ncommand = "computer"\nargs = ["mcp"]\ntool_timeout_sec = 900\n'
        f'default_tools_approval_mode = "approve"\nstartup_timeout_sec = 60\nrequired = true\n'
        f'env = {{ DESKHAND_HOME = "{deskhand_home}", DESKHAND_MODEL = "embedded" }}\n'
    )

    def play(request: Any) -> Json:
        if any(item.get("type") == "function_call_output" for item in request.body["input"]):
            return {"text": "It is 408."}
        call = {"name": "computer_task", "input": {"goal": GOAL, "timeout": 60}, "namespace": "mcp__computer"}
        return {"calls": [call]}

    wire.play(play)
    done = run(
        programs / "codex", "exec", "--skip-git-repo-check", "--json", "Compute 12 × 34 in the calculator app",
        cwd=tmp_path, **wire.environ,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert "It is 408." in done.stdout
    assert TaskStore(deskhand_home).names(), _answer_of(wire)[-800:]
    assert the_task(deskhand_home) == DONE


@pytest.mark.parametrize("way", ["ipython", "computer_task"])
def test_gptme_runs_a_task_from_its_own_environment(
    way: str, gptme: Path, wire: Wire, tmp_path: Path, deskhand_home: Path
) -> None:
    code = f"from deskhand import computer_task\nr = computer_task({GOAL!r}, 60)\nprint(r['status'], r['result'])"
    given = {"code": code} if way == "ipython" else {"goal": GOAL, "timeout": "60"}

    def play(request: Any) -> Json:
        if not request.body.get("tools"):
            return {"text": "A calculation"}
        told = any(message["role"] == "tool" for message in request.body["messages"])
        return {"calls": [{"name": "complete", "input": {}} if told else {"name": way, "input": given}]}

    wire.play(play)
    done = run(
        gptme / "gptme", "--non-interactive", "--no-confirm", "-m", "local/any", "-t", f"{way},complete",
        "Compute 12 × 34 in the calculator app", cwd=tmp_path, **wire.environ,
        TOOL_MODULES="gptme.tools,deskhand.gptme_tool",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert "408" in _answer_of(wire)
    assert the_task(deskhand_home) == DONE
