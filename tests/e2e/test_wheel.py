"""The built wheel in a clean environment: what is in it, and what works without extras."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"copilot_contracts", "copilot_codegen", "copilot_core", "copilot_adapters"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the base install only; its `bin`."""
    folder = tmp_path_factory.mktemp("base")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    constraints = ROOT / "constraints.txt"
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "-c", constraints, wheel],
        check=True,
        capture_output=True,
    )
    return folder / "bin"


def _run(*command: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/nonexistent", "HOME": os.environ.get("HOME", "/"), **more}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_the_wheel_holds_four_packages_and_the_schemas(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    sources = {str(path.relative_to(ROOT / "schemas")) for path in ROOT.glob("schemas/**/*.json")}
    inside = "copilot_contracts/schemas/"
    assert {name.removeprefix(inside) for name in names if name.startswith(inside)} == sources
    assert not [name for name in names if "node_modules" in name or name.endswith(".pyc")]
    assert "copilot_codegen/typescript/package-lock.json" in names
    assert "copilot_adapters/starlette/page/index.html" in names


@pytest.mark.timeout(300)
def test_contracts_work_without_extras(installed: Path, tmp_path: Path) -> None:
    """No LangGraph, no Starlette, no Node."""
    python = installed / "python"
    program = (
        "import importlib.util as u, copilot_contracts as c;"
        "wanted = ('langgraph', 'starlette', 'datamodel_code_generator');"
        "print([n for n in wanted if u.find_spec(n)],"
        "c.Registry.bundled().surface('gns3-chat').version)"
    )
    found = _run(python, "-c", program)
    catalogue = json.loads((ROOT / "schemas/gns3-chat/surface.json").read_text())
    assert found.stdout.strip() == f"[] {catalogue['version']}", found.stderr

    command = installed / "copilot-contracts"
    linted = _run(command, "lint", ROOT / "schemas")
    assert linted.returncode == 0, linted.stdout + linted.stderr

    recording = tmp_path / "stream.sse"
    events = [{"type": "content", "content": "hi", "message_id": "m", "session_id": "s"}]
    recording.write_text("".join(f"data: {json.dumps(event)}\n\n" for event in events))
    broken = _run(command, "verify-stream", "gns3-chat", recording)
    assert broken.returncode == 1
    recording.write_text(recording.read_text() + 'data: {"type": "done", "session_id": "s"}\n\n')
    assert _run(command, "verify-stream", "gns3-chat", recording).returncode == 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("command", "extra"), [(["serve"], "server"), (["generate"], "codegen")])
def test_what_an_extra_provides_names_it(
    installed: Path, tmp_path: Path, command: list[str], extra: str
) -> None:
    arguments = ["--schemas", str(ROOT / "schemas"), "--python", str(tmp_path)]
    more = arguments if command == ["generate"] else []
    refused = _run(installed / "copilot-contracts", *command, *more)
    assert refused.returncode == 2
    assert f"copilot-contracts[{extra}]" in refused.stderr
    assert "Traceback" not in refused.stderr
