"""The tools as functions of their JSON arguments, off the event loop."""

from __future__ import annotations

import asyncio
from inspect import signature
from typing import TYPE_CHECKING

from copilot_core.tools.workspace.calculator import calculate
from copilot_core.tools.workspace.files import (
    get_project_info,
    list_directory,
    read_file_content,
    search_files,
)
from copilot_core.tools.workspace.logs import search_logs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from copilot_core.ports import JsonObject
    from copilot_core.tools.workspace.folders import Folders


def workspace_functions(
    folders: Folders,
) -> dict[str, Callable[[JsonObject], Awaitable[JsonObject]]]:
    """By tool: takes arguments that keep its contract, never raises.

    Keys that a tool doesn't know are ignored.
    """

    def over_folders(function: Callable[..., JsonObject]) -> Callable[..., Awaitable[JsonObject]]:
        _, *known = signature(function).parameters

        async def run(arguments: JsonObject) -> JsonObject:
            # JSON's 5.0 is a whole number too.
            given = {
                key: int(value) if isinstance(value, float) else value
                for key, value in arguments.items()
                if key in known
            }
            return await asyncio.to_thread(function, folders, **given)

        return run

    async def run_calculate(arguments: JsonObject) -> JsonObject:
        return calculate(arguments["expression"])

    return {
        "search_files": over_folders(search_files),
        "read_file_content": over_folders(read_file_content),
        "list_directory": over_folders(list_directory),
        "get_project_info": over_folders(get_project_info),
        "search_logs": over_folders(search_logs),
        "calculate": run_calculate,
    }
