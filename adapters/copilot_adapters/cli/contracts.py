"""The commands on contracts: `lint`, `generate`, `docs`, `verify-stream`."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from copilot_adapters.cli.docs import docs
from copilot_adapters.cli.generate import generate
from copilot_adapters.cli.outcome import FAILED, FINE, WRONG_USAGE, CommandError
from copilot_adapters.cli.schemas import schemas_meant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from copilot_contracts import Surface

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]

_CHUNK = 1 << 16
#: How many findings of a recording are printed: the first faults of a stream cause the rest.
_SHOWN = 20


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: copilot-contracts lint schemas/gns3-chat")(lint)
    app.command(epilog="Example: copilot-contracts generate --check")(generate)
    app.command(epilog="Example: copilot-contracts docs --out docs/surfaces")(docs)
    app.command(
        "verify-stream",
        epilog="Example: curl -N ... | copilot-contracts verify-stream gns3-chat -",
    )(verify_stream)


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Folders of schemas.", show_default="./schemas, else those of the package"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check schemas and catalogues, a line a finding: path:line:column: RULE message"""
    from copilot_contracts.lint import lint as findings_of
    from copilot_contracts.lint import surfaces_in

    folders = [schemas_meant(path) for path in paths] if paths else [schemas_meant(None)]
    findings = [finding for folder in folders for finding in findings_of(folder)]
    if as_json:
        _print_json(findings)
    else:
        for f in findings:
            typer.echo(f"{f.path}:{f.line}:{f.column}: {f.rule} {f.message}")
        names = ", ".join(name for folder in folders for name in surfaces_in(folder))
        typer.echo(f"{names}: {_counted(len(findings), 'finding')}", err=True)
    raise typer.Exit(FAILED if any(f.level == "error" for f in findings) else FINE)


def verify_stream(
    surface: Annotated[str, typer.Argument(help="The surface's name, such as gns3-chat.")],
    file: Annotated[
        str, typer.Argument(help="A recorded event stream, or its events as JSON; - is stdin.")
    ],
    schemas: Annotated[
        Path | None, typer.Option(help="A folder of schemas.", show_default="the package's")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a recorded event stream: every event, and their order."""
    from copilot_contracts.recording import verify_stream as findings_of

    findings = findings_of(_surface(surface, schemas), _chunks(file))
    if as_json:
        _print_json(findings)
    else:
        name = "<stdin>" if file == "-" else file
        for f in findings[:_SHOWN]:
            typer.echo(f"{name}:{f.line}: event {f.position}: {f.rule} {f.message}")
        if more := len(findings[_SHOWN:]):
            typer.echo(f"… and {more} more (all with --json)", err=True)
        typer.echo(f"{surface}: {_counted(len(findings), 'finding')}", err=True)
    raise typer.Exit(FAILED if findings else FINE)


def _surface(name: str, schemas: Path | None) -> Surface:
    from copilot_contracts import Registry, SurfaceError, UnknownSurface

    try:
        registry = Registry.bundled() if schemas is None else Registry.from_folder(schemas)
        surface = registry.surface(name)
    except (SurfaceError, UnknownSurface) as error:
        raise CommandError(str(error), WRONG_USAGE) from error
    if surface.catalogue.order is None:
        raise CommandError(f"The surface {name} has no events.", WRONG_USAGE)
    return surface


def _chunks(file: str) -> Iterator[bytes]:
    if file == "-" and sys.stdin is None:
        raise CommandError("There is no stdin to read: it is closed.", WRONG_USAGE)
    try:
        with contextlib.ExitStack() as stack:
            stream = sys.stdin.buffer if file == "-" else stack.enter_context(Path(file).open("rb"))
            while chunk := stream.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise CommandError(f"{file} can't be read: {error.strerror}.", WRONG_USAGE) from error


def _print_json(findings: Iterable[Any]) -> None:
    import orjson

    rows = [dataclasses.asdict(finding) for finding in findings]
    typer.echo(orjson.dumps(rows, default=str, option=orjson.OPT_INDENT_2).decode())


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"
