"""The command `docs`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from copilot_adapters.cli import PROGRAM
from copilot_adapters.cli.outcome import FAILED, WRONG_USAGE, CommandError, needs
from copilot_adapters.cli.results import report
from copilot_adapters.cli.schemas import schemas_meant

# Where this repository keeps its documents.
_OUT = Path("docs/surfaces")


def docs(
    surfaces: Annotated[
        list[str] | None, typer.Argument(help="Names of surfaces.", show_default="all")
    ] = None,
    schemas: Annotated[
        Path | None,
        typer.Option(
            help="A folder of surfaces, or of one.",
            show_default="./schemas, else those of the package",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the documents go, NAME.md for each.",
            show_default=f"stdout; with --check {_OUT}",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say which documents are stale, and why.")
    ] = False,
) -> None:
    """Write surfaces down for people, as Markdown: events, routes, tools, and who reads them."""
    folder = schemas_meant(schemas)
    with needs("codegen"):
        from copilot_codegen.docs import document, write_documents
        from copilot_codegen.errors import CodegenError
        from copilot_contracts import Registry, SurfaceError, UnknownSurface
    names = surfaces or []
    try:
        if out is None and not check:
            registry = Registry.from_folder(folder)
            for surface in [registry.surface(name) for name in names or registry.surfaces]:
                typer.echo(document(surface), nl=False)
            return
        results = write_documents(folder, out or _OUT, names, check=check)
    except UnknownSurface as error:
        raise CommandError(str(error), WRONG_USAGE) from error
    except (CodegenError, SurfaceError) as error:
        raise CommandError(str(error), FAILED) from error
    again = [PROGRAM, "docs", *names]
    again += [] if schemas is None else ["--schemas", str(schemas)]
    again += ["--out", str(out or _OUT)]
    report(results, check=check, again=shlex.join(again))
