"""The command `generate`."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from copilot_adapters.cli import PROGRAM
from copilot_adapters.cli.outcome import FAILED, WRONG_USAGE, CommandError, needs
from copilot_adapters.cli.results import report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
_SCHEMAS = Path("schemas")
# Where this repository keeps what is generated.
_PYTHON = Path("contracts/copilot_contracts/generated")
_TYPESCRIPT = Path("contracts/typescript/src/generated")


def generate(
    schemas: Annotated[
        Path, typer.Option(help="A folder of surfaces, or of one.", show_default=True)
    ] = _SCHEMAS,
    python: Annotated[
        Path | None, typer.Option(help="Where the Python packages go, one a surface.")
    ] = None,
    typescript: Annotated[
        Path | None, typer.Option(help="Where the TypeScript modules go, one a surface.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say which files are stale, and why.")
    ] = False,
) -> None:
    """Make Pydantic models, TypedDicts and TypeScript types of schemas."""
    asked = [("--schemas", schemas)] if schemas != _SCHEMAS else []
    asked += [(name, to) for name, to in (("--python", python), ("--typescript", typescript)) if to]
    if python is None and typescript is None and _PYTHON.is_dir():
        python, typescript = _PYTHON, _TYPESCRIPT
    if python is None and typescript is None:
        raise CommandError("Say where to: --python DIR, --typescript DIR, or both.", WRONG_USAGE)
    if not schemas.is_dir():
        raise CommandError(f"There is no folder {schemas}.", WRONG_USAGE)
    with needs("codegen"):
        from copilot_codegen.errors import CodegenError, MissingGenerator
        from copilot_codegen.generate import generate as generated
        from copilot_contracts import SurfaceError
    try:
        with _progress() as progress, needs("codegen"):
            results = generated(schemas, python, typescript, check, progress)
    except MissingGenerator as error:
        raise CommandError(str(error), WRONG_USAGE) from error
    except (CodegenError, SurfaceError) as error:
        raise CommandError(str(error), FAILED) from error
    again = [PROGRAM, "generate", *(str(part) for pair in asked for part in pair)]
    report(results, check=check, again=shlex.join(again))


@contextmanager
def _progress() -> Iterator[Callable[[str], None] | None]:
    """Says on a terminal what is being made; says nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("Reading schemas") as status:
        yield lambda step: status.update(step)
