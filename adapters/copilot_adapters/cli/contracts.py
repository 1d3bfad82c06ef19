"""The commands on contracts: `lint`, `generate`, `verify-stream`."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from copilot_adapters.cli.outcome import FAILED, FINE, STALE, WRONG_USAGE, CommandError, needs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from copilot_contracts import Surface

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]

_CHUNK = 1 << 16


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: copilot-contracts lint schemas/gns3-chat")(lint)
    app.command(epilog="Example: copilot-contracts generate --check")(generate)
    app.command(
        "verify-stream",
        epilog="Example: curl -N ... | copilot-contracts verify-stream gns3-chat -",
    )(verify_stream)


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of schemas; `schemas` here, else those of the package."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check schemas and catalogues: `path:line:column: RULE message`."""
    from copilot_contracts.lint import lint as findings_of

    findings = [finding for path in paths or [_schemas()] for finding in findings_of(_there(path))]
    if as_json:
        _print_json(findings)
    else:
        for f in findings:
            typer.echo(f"{f.path}:{f.line}:{f.column}: {f.rule} {f.message}")
        typer.echo(_counted(len(findings), "finding"), err=True)
    raise typer.Exit(FAILED if any(f.level == "error" for f in findings) else FINE)


def verify_stream(
    surface: Annotated[str, typer.Argument(help="The surface's name, such as gns3-chat.")],
    file: Annotated[
        str, typer.Argument(help="A recorded event stream, or JSON lines; `-` is stdin.")
    ],
    schemas: Annotated[
        Path | None, typer.Option(help="A folder of schemas instead of the package's.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a recorded event stream: every event, and their order."""
    from copilot_contracts.recording import verify_stream as findings_of

    findings = list(findings_of(_surface(surface, schemas), _chunks(file)))
    if as_json:
        _print_json(findings)
    else:
        for f in findings:
            typer.echo(f"{file}:{f.line}: event {f.position}: {f.rule} {f.message}")
        typer.echo(_counted(len(findings), "finding"), err=True)
    raise typer.Exit(FAILED if findings else FINE)
