"""Which schemas a command is about."""

from __future__ import annotations

from pathlib import Path

import typer

from copilot_adapters.cli.outcome import WRONG_USAGE, CommandError


def schemas_meant(named: Path | None) -> Path:
    """The folder that was named; else ./schemas; else the package's schemas, and it is said so."""
    if named is not None:
        if not named.is_dir():
            raise CommandError(f"There is no folder {named}.", WRONG_USAGE)
        return named
    from copilot_contracts.registry import schemas_folder

    here = Path("schemas")
    if here.is_dir():
        return here
    typer.echo(f"There is no folder {here} here: the schemas of the package are meant.", err=True)
    return schemas_folder()
