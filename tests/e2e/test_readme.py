"""What the README shows, run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from copilot_contracts import OrderViolation

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SCHEMA = "https://json-schema.org/draft/2020-12/schema"


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert found, f"The README has no block {name}."
    return found[1]


def command(name: str) -> str:
    found = re.search(rf"<!-- command: {name} -->\n```sh\n(.*?)\n```", README, re.DOTALL)
    assert found, f"The README has no command {name}."
    return found[1]


@pytest.fixture
def my_surface(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The surface that the README's examples speak of."""
    folder = tmp_path / "my-surface"
    (folder / "events").mkdir(parents=True)
    for name, properties in {"word": {"text": {"type": "string"}}, "end": {}}.items():
        event = {
            "$schema": SCHEMA,
            "title": f"{name.title()}Event",
            "description": f"The event {name}.",
            "type": "object",
            "required": ["type", *properties],
            "additionalProperties": False,
            "properties": {"type": {"const": name}, **properties},
            "examples": [{"type": name, **({"text": "hello"} if properties else {})}],
            "x-outcomes": ["success"],
        }
        (folder / "events" / f"{name}.json").write_text(json.dumps(event))
    catalogue = {
        "name": "my-surface",
        "version": "0.1.0",
        "title": "Mine",
        "description": "A surface of two events.",
        "sse": {"framing": "data", "tag": "type"},
        "events": {
            name: {"schema": f"events/{name}.json", "status": "active"} for name in ("word", "end")
        },
        "order": {"last": ["end"]},
    }
    (folder / "surface.json").write_text(json.dumps(catalogue))
    monkeypatch.chdir(tmp_path)
    return folder


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
def test_commands_on_a_users_surface(my_surface: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for line in block("surface").splitlines():
        done = subprocess.run(
            line.split(),
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert (my_surface.parent / "src/generated/my_surface/models.py").exists()
    assert (my_surface.parent / "web/src/generated/my-surface.ts").exists()


def test_checking_a_stream(my_surface: Path) -> None:
    with pytest.raises(OrderViolation, match="event 3, word"):
        exec(block("stream"), {})


def test_mounting_the_routes() -> None:
    from starlette.testclient import TestClient

    shown: dict[str, object] = {}
    exec(block("starlette"), shown)
    create = shown["create"]
    assert callable(create)
    with TestClient(create("s" * 32, None, None)) as client:
        answer = client.get("/v3/projects/p/chat/sessions")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
