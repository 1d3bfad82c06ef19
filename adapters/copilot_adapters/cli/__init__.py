"""The command `copilot-contracts`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from copilot_adapters.cli import chat, contracts, model
from copilot_adapters.cli.outcome import INTERNAL, CommandError

PROGRAM = "copilot-contracts"

app = typer.Typer(
    name=PROGRAM,
    help="Contracts for agent servers: one JSON Schema per event, route and tool.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
contracts.add_to(app)
model.add_to(app)
chat.add_to(app)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"{PROGRAM} {version(PROGRAM)}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Say it, and nothing else."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an internal error.")
    ] = False,
) -> None:
    if debug:
        os.environ[_DEBUG] = "1"


_DEBUG = "COPILOT_DEBUG"


def main() -> None:
    """Runs the command and exits: 0 fine, 1 findings or failure, 2 wrong usage, 3 stale generated
    files, 4 only undecided findings, 5 internal error, 130 interrupted."""
    try:
        app(prog_name=PROGRAM)
    except CommandError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        sys.exit(error.code)
    except Exception as error:
        if os.environ.get(_DEBUG):
            raise
        print(
            f"{PROGRAM}: internal error: {type(error).__name__}: {_one_line(error)} "
            f"({_DEBUG}=1 shows where)",
            file=sys.stderr,
        )
        sys.exit(INTERNAL)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:500]
