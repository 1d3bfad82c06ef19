"""The program: its commands, and how it ends."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from copilot_adapters.cli import PROGRAM, contracts, mcp, model, serve, version_line
from copilot_adapters.cli.outcome import INTERNAL, WRONG_USAGE, CommandError

_DEBUG = "COPILOT_DEBUG"

_EXIT_CODES = """\
Exit codes:
0  fine
1  findings, or it couldn't be done
2  wrong usage, or an extra isn't installed
3  stale generated files
4  only undecided findings
5  internal error
"""

app = typer.Typer(
    name=PROGRAM,
    epilog=_EXIT_CODES,
    help="Contracts for agent servers: one JSON Schema per event, route and tool.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
contracts.add_to(app)
model.add_to(app)
serve.add_to(app)
mcp.add_to(app)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(version_line())
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print it, and exit."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an internal error.")
    ] = False,
) -> None:
    if debug:
        os.environ[_DEBUG] = "1"


def run() -> None:
    """Runs the command that the arguments name, and exits."""
    try:
        app(prog_name=PROGRAM)
    except CommandError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        sys.exit(error.code)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            # What a look before couldn't tell: a name that is too long, a disk that is full.
            print(f"{PROGRAM}: {error.filename!r:.300}: {error.strerror}.", file=sys.stderr)
            sys.exit(WRONG_USAGE)
        if os.environ.get(_DEBUG):
            raise
        said = " ".join(str(error).split())[:500]
        print(
            f"{PROGRAM}: internal error: {type(error).__name__}: {said} ({_DEBUG}=1 shows where)",
            file=sys.stderr,
        )
        sys.exit(INTERNAL)
