"""What an extra provides names the extra where it isn't installed; the rest works without."""

import subprocess
import sys

import pytest

INSTALLED_BY = {
    "agent": ["langgraph", "langchain_core", "aiosqlite", "re2"],
    "server": ["starlette", "uvicorn", "httpx", "telnetlib3", "jwt", "structlog"],
    "mcp": ["mcp", "mcp_types"],
    "openai": ["langchain_openai"],
    "codegen": ["datamodel_code_generator"],
    "testing": ["hypothesis", "pytest"],
    "local-model": ["xllamacpp"],
}


def without(extras: list[str], program: str) -> subprocess.CompletedProcess[str]:
    missing = {package for extra in extras for package in INSTALLED_BY[extra]}
    # Python's own way to say that a module can't be had.
    hidden = f"import sys\nsys.modules.update(dict.fromkeys({sorted(missing)!r}))\n"
    command = [sys.executable, "-c", hidden + program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("extra", "program"),
    [
        ("agent", "import copilot_core"),
        ("agent", "from copilot_core.projects import ProjectAgentManager"),
        ("server", "from copilot_adapters.starlette import chat_routes"),
        ("server", "from copilot_adapters.gns3 import Gns3Lab"),
        ("server", "from copilot_adapters.embedded_lab import EmbeddedLab"),
        ("mcp", "from copilot_adapters.mcp import mcp_server"),
        ("testing", "import copilot_contracts.strategies"),
        (
            "openai",
            "from copilot_core.llm.config import LlmConfig\n"
            "from copilot_core.llm.openai import chat_model\n"
            "chat_model(LlmConfig('m'))",
        ),
    ],
)
def test_the_error_names_the_extra(extra: str, program: str) -> None:
    done = without([extra], program)
    assert done.returncode == 1
    assert f"pip install 'copilot-contracts[{extra}]'" in done.stderr.splitlines()[-1]
    assert without([], program).returncode == 0


def test_a_missing_module_of_ours_is_no_missing_extra() -> None:
    program = (
        "from copilot_adapters.extras import installed_by\n"
        "with installed_by('server', 'it'): import copilot_adapters.nothing_there"
    )
    assert "copilot_adapters.nothing_there" in without([], program).stderr.splitlines()[-1]


def test_contracts_and_the_model_fetch_need_no_extra() -> None:
    program = "import copilot_contracts, copilot_adapters.cli.program, copilot_adapters.local_model"
    done = without(list(INSTALLED_BY), program + "\ncopilot_contracts.Registry.bundled()")
    assert done.returncode == 0, done.stderr
