"""`nox` runs what CI runs; `nox -s bench` measures."""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "types", "imports", "generated", "tests"]
nox.options.stop_on_first_error = False


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff over Python, the wire profile over schemas."""
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("copilot-contracts", "lint", "schemas")


@nox.session
def types(session: nox.Session) -> None:
    """mypy --strict."""
    session.run("mypy")


@nox.session
def imports(session: nox.Session) -> None:
    """Who may import whom."""
    session.run("lint-imports")


@nox.session
def generated(session: nox.Session) -> None:
    """Generated files are what the schemas say."""
    session.run("copilot-contracts", "generate", "--check")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests."""
    session.run("pytest", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """The rows of the speed table, each beside its peers in one run."""
    session.run("python", "-m", "benchmarks", *session.posargs)
