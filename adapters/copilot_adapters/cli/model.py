"""The command `model fetch`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from copilot_adapters.cli.outcome import CommandError

if TYPE_CHECKING:
    from pathlib import Path


class LocalModel(StrEnum):
    """The models that can be fetched, as the command line names them."""

    LARGE = "1.5b"
    SMALL = "0.5b"
    TINY = "135m"


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Local language models, which need no key.")
    app.add_typer(group, name="model")
    group.callback()(_group)
    group.command(epilog="Example: copilot-contracts model fetch 0.5b")(fetch)


def _group() -> None:
    pass


def fetch(
    name: Annotated[
        LocalModel, typer.Argument(help="1.5b (1.1 GB), 0.5b (0.5 GB), or 135m for smoke tests.")
    ] = LocalModel.LARGE,
) -> None:
    """Fetch a model's weights into the cache; a broken fetch goes on where it stopped."""
    from copilot_adapters.local_model import cached

    path = cached(name.value)
    if path is not None:
        typer.echo(f"The local model {name.value} is already there.", err=True)
    typer.echo(path or fetch_with_progress(name.value))


def fetch_with_progress(name: str) -> Path:
    """The model's file, fetched first if need be, with a bar on stderr."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from copilot_adapters.local_model import LocalModelError, fetch

    console = Console(stderr=True)
    if not console.is_terminal:
        console.print(f"Fetching the local model {name} ...")
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(f"model {name}", total=None)
        try:
            return fetch(
                name,
                progress=lambda done, total: progress.update(task, completed=done, total=total),
            )
        except LocalModelError as error:
            raise CommandError(str(error)) from error
