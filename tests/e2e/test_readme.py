"""What the README shows, run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from copilot_contracts import OrderViolation

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert found, f"The README has no block {name}."
    return found[1]


def command(name: str) -> str:
    found = re.search(rf"<!-- command: {name} -->\n```sh\n(.*?)\n```", README, re.DOTALL)
    assert found, f"The README has no command {name}."
    return found[1]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the README's examples speak of."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_are_one_line_each() -> None:
    for name in ("serve", "tests"):
        assert "\n" not in command(name)
        assert command(name).startswith("python3 -m venv .venv && ")


def test_ci_runs_the_readmes_test_command_and_nothing_else() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    found = subprocess.run(
        ["bash", "-c", script.replace('exec bash -c "$command"', 'printf %s "$command"')],
        cwd=ROOT / ".ci",
        env={**os.environ, "BASH_ARGV0": str(ROOT / ".ci" / "run")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == command("tests")


@pytest.mark.node
def test_a_users_surface(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in block("surface").splitlines():
        done = subprocess.run(line.split(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.syspath_prepend(here / "out")
    exec(block("read"), {})
    consumer = here / "out" / "typescript" / "consumer.ts"
    consumer.write_text(block("typescript"))
    tsc = ROOT / "contracts" / "typescript" / "node_modules" / ".bin" / "tsc"
    done = subprocess.run(
        [tsc, "--strict", "--noEmit", consumer], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_checking_a_stream(here: Path) -> None:
    with pytest.raises(OrderViolation, match="event 3, word"):
        exec(block("stream"), {})


def test_mounting_the_routes() -> None:
    from starlette.testclient import TestClient

    shown: dict[str, object] = {}
    exec(block("starlette"), shown)
    create = shown["create"]
    assert callable(create)
    with TestClient(create("s" * 32, "http://127.0.0.1:9")) as client:
        answer = client.get("/v3/projects/p/chat/sessions")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
