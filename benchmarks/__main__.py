"""`python -m benchmarks [ROW ...]`: measures and prints Markdown tables."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version

from benchmarks import arguments, disk, streams, turn, wire
from benchmarks.measuring import Row, table

TABLES: dict[str, tuple[str, Callable[[], Awaitable[list[Row]]]]] = {
    "event": ("CPU per event on the wire", wire.cpu_per_event),
    "readers": ("Events a second of CPU, 50 readers", wire.fifty_readers),
    "token": ("CPU per token of a whole turn", turn.cpu_per_token),
    "arguments": ("Arguments of 50 KiB in pieces of 4 characters", arguments.on_the_wire),
    "first": ("First event after the request", streams.first_event),
    "idle": ("Memory for an idle open stream", streams.idle),
    "disk": ("A conversation of 200 turns of 2 KiB on disk", disk.conversation),
}
SHOWN = ("starlette", "langgraph", "langchain-core", "pydantic", "jsonschema-rs", "orjson",
         "ag-ui-protocol", "sse-starlette", "fastapi")  # fmt: skip


def machine() -> str:
    """What this was measured on."""
    packages = ", ".join(f"{name} {version(name)}" for name in SHOWN)
    return (
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores. {packages}.\n"
    )


async def main(names: list[str]) -> int:
    """Measure the tables of these names; all of them without any."""
    unknown = set(names) - set(TABLES)
    if unknown:
        print(f"There is no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}.")
        return 2
    print(machine())
    for name in names or TABLES:
        title, measure = TABLES[name]
        print(table(title, await measure()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
