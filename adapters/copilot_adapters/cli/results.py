"""What became of generated files, told on stdout and stderr."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NoReturn

import typer

from copilot_adapters.cli.outcome import FINE, STALE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copilot_codegen.generate import FileResult, State


def report(results: Sequence[FileResult], *, check: bool, again: str) -> NoReturn:
    """A line a file that wasn't fresh, and the count; ends the command.

    `again` is the command that would write what is stale.
    """
    for result in results:
        if result.state != "fresh":
            typer.echo(f"{result.path}: {result.state}: {result.reason}")
            for line in result.drift:
                typer.echo(f"  {line}")
    count = Counter(result.state for result in results)
    main: State = "stale" if check else "written"
    removed = f"{count['removed']} removed, " if count["removed"] else ""
    files = "file" if count[main] == 1 else "files"
    typer.echo(f"{count[main]} {files} {main}, {removed}{count['fresh']} fresh", err=True)
    if count["stale"]:
        typer.echo(f"Run `{again}` and commit what it writes.", err=True)
    raise typer.Exit(STALE if count["stale"] else FINE)
