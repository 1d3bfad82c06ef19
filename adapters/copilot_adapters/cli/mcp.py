"""The command `mcp`."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from copilot_adapters.cli.outcome import WRONG_USAGE, CommandError, needs

if TYPE_CHECKING:
    from copilot_contracts.registry import Surface


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: copilot-contracts mcp --root .")(mcp)


def mcp(
    surface: Annotated[
        str | None,
        typer.Option(help="Whose MCP tools.", show_default="the one surface that has some"),
    ] = None,
    root: Annotated[
        list[Path] | None,
        typer.Option(
            help="A folder whose files may be read; may be given again. Without: no file is read.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Streamable HTTP on loopback, instead of stdio.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="With --http; 0 takes a free one.", show_default="8001"
        ),
    ] = None,
) -> None:
    """Serve tools over files and arithmetic by the Model Context Protocol."""
    import logging

    if port is not None and not http:
        raise CommandError("--port belongs to --http.", WRONG_USAGE)
    with needs("mcp"):
        from copilot_adapters.mcp import mcp_server, serve_http, serve_stdio
        from copilot_adapters.mcp.transports import PATH, listen
        from copilot_contracts import Gate
        from copilot_core.tools.workspace.folders import Folders
        from copilot_core.tools.workspace.functions import workspace_functions
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s"
    )
    if not root:
        print("Without --root no file can be read.", file=sys.stderr)
    functions = workspace_functions(Folders(root or []))
    try:
        server = mcp_server(_surface(surface), functions, Gate())
    except ValueError as error:
        raise CommandError(str(error), WRONG_USAGE) from error
    if not http:
        serve_stdio(server)
        return
    port = 8001 if port is None else port
    try:
        listening = listen(port)
    except OSError as error:
        raise CommandError(
            f"Port {port} can't be listened on: {error.strerror}.", WRONG_USAGE
        ) from error
    print(f"http://127.0.0.1:{listening.getsockname()[1]}{PATH}", flush=True)
    serve_http(server, listening)


def _surface(name: str | None) -> Surface:
    from copilot_contracts import Registry, UnknownSurface

    registry = Registry.bundled()
    if name is None:
        there = [surface for surface in registry.surfaces.values() if surface.catalogue.mcp]
        if len(there) == 1:
            return there[0]
        names = ", ".join(surface.name for surface in there)
        raise CommandError(f"Choose one with --surface: {names}.", WRONG_USAGE)
    try:
        return registry.surface(name)
    except UnknownSurface as error:
        raise CommandError(str(error), WRONG_USAGE) from error
