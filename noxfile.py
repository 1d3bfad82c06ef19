"""`nox` runs what CI runs, in the environment that it is started from; `nox -s bench` measures."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["tools", "lint", "types", "imports", "generated", "tests"]

HERE = Path(__file__).parent
NODE_PROJECTS = (
    "codegen/typescript",
    "contracts/typescript",
    "adapters/web",
    "tests/mcp_conformance",
)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def run(session: nox.Session, *command: str) -> None:
    """A Python program of this environment."""
    session.run(sys.executable, "-m", *command)


@nox.session
def tools(session: nox.Session) -> None:
    """What the tests need beside Python: Node's packages, and a browser."""
    if shutil.which("npm") is None:
        session.error("Install Node 20.19 or later: the TypeScript tests need node and npm.")
    for project in NODE_PROJECTS:
        session.run("npm", "--prefix", str(HERE / project), "ci", "--no-audit", "--no-fund")
    if any(map(shutil.which, CHROMIUM)):
        return
    if os.geteuid() or shutil.which("apt-get") is None:
        session.error("Install Chromium (Debian's package `chromium`): a test drives it.")
    session.run("apt-get", "update")
    session.run("apt-get", "install", "--yes", "--no-install-recommends", "chromium")


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff over Python, the wire profile over schemas."""
    run(session, "ruff", "check", ".")
    run(session, "ruff", "format", "--check", ".")
    run(session, "copilot_adapters.cli", "lint", "schemas")


@nox.session
def types(session: nox.Session) -> None:
    """mypy --strict."""
    run(session, "mypy")


@nox.session
def imports(session: nox.Session) -> None:
    """Who may import whom."""
    session.run(
        sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"
    )


@nox.session
def generated(session: nox.Session) -> None:
    """Generated files are what the schemas say."""
    run(session, "copilot_adapters.cli", "generate", "--check")
    run(session, "copilot_adapters.cli", "docs", "--check")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests."""
    run(session, "pytest", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """The rows of the speed table, each beside its peers in one run."""
    run(session, "benchmarks", *session.posargs)
