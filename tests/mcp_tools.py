"""MCP servers as processes, a surface of a user's own, and what a client says a call came to."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from mcp.types import CallToolResult, TextContent

from copilot_contracts import Registry
from copilot_contracts.registry import Surface

COMMAND = [sys.executable, "-c", "from copilot_adapters.cli import main; main()", "mcp"]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
ANYTHING = {"type": "object", "properties": {}}


def own_surface(
    folder: Path, returns: Mapping[str, Any], arguments: Mapping[str, Any] | None = None
) -> Surface:
    """Of tools by name, with the schema of what each returns, and of what it takes: anything."""
    files: dict[str, Any] = {}
    for name, schema in returns.items():
        files[f"{name}.return.json"] = schema
        files[f"{name}.arguments.json"] = (arguments or {}).get(name, ANYTHING)
    files = {
        name: {"$schema": DIALECT, "title": name.title().replace(".", ""), **schema}
        for name, schema in files.items()
    }
    files["surface.json"] = {
        "name": "own",
        "version": "0.1.0",
        "title": "Own",
        "description": "A user's own tools.",
        "mcp": {
            name: {
                "status": "active",
                "arguments": f"{name}.arguments.json",
                "returns": f"{name}.return.json",
                "description": "A tool.",
            }
            for name in returns
        },
    }
    for name, content in files.items():
        (folder / name).write_bytes(orjson.dumps(content))
    return Registry.from_folder(folder).surface("own")


def text(result: CallToolResult) -> str:
    """The one text of a result."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def told(result: CallToolResult) -> Any:
    """The structured result, which the text repeats; an error object has `is_error` set."""
    structured = result.structured_content
    assert structured is not None
    assert json.loads(text(result)) == structured
    assert result.is_error is ("error" in structured)
    return structured


@contextmanager
def served(
    *arguments: str, log: Path, command: Sequence[str] = (*COMMAND, "--http", "--port", "0")
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL that a server prints first, and its process; it writes to `log` what it logs."""
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, log.read_text()
        yield url, process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
