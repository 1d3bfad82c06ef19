"""The protocol's own conformance tool, and its TypeScript SDK, against our server.

The tool's later versions need Node 22. Each of its scenarios is here: those that apply are run,
those that don't have the reason beside them.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_tools import COMMAND, own_surface, served
from story_surface import TEXT, obj

pytestmark = pytest.mark.node

PROJECT = Path(__file__).parents[1] / "mcp_conformance"
TOOL = PROJECT / "node_modules/@modelcontextprotocol/conformance/dist/index.js"

#: Against `copilot-contracts mcp --http`.
OURS = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]
#: Against a server of a surface that has the tools they call.
OWN = ["tools-call-error", "json-schema-2020-12"]

NO_LOGGING = "the server logs to stderr; the protocol has given up this capability"
STRUCTURED = "tools return structured content and repeat it as text, not a text of their own"
MEDIA = "tools return structured content and repeat it as text, no media and no resources"
NO_REQUESTS = "the server asks nothing of its clients"
NO_PROGRESS = "tools end within seconds and tell no progress"
STATELESS = (
    "over HTTP each answer is one JSON body: there is no stream to poll, or to have several of"
)
NO_RESOURCES = "the server has tools, no resources"
NO_PROMPTS = "the server has tools, no prompts"
NOT_APPLYING = {
    "logging-set-level": NO_LOGGING,
    "completion-complete": "there are neither prompts nor resources to complete for",
    "tools-call-simple-text": STRUCTURED,
    "tools-call-image": MEDIA,
    "tools-call-audio": MEDIA,
    "tools-call-embedded-resource": MEDIA,
    "tools-call-mixed-content": MEDIA,
    "tools-call-with-logging": NO_LOGGING,
    "tools-call-with-progress": NO_PROGRESS,
    "tools-call-sampling": NO_REQUESTS,
    "tools-call-elicitation": NO_REQUESTS,
    "elicitation-sep1034-defaults": NO_REQUESTS,
    "elicitation-sep1330-enums": NO_REQUESTS,
    "server-sse-polling": STATELESS,
    "server-sse-multiple-streams": STATELESS,
    "resources-list": NO_RESOURCES,
    "resources-read-text": NO_RESOURCES,
    "resources-read-binary": NO_RESOURCES,
    "resources-templates-read": NO_RESOURCES,
    "resources-subscribe": NO_RESOURCES,
    "resources-unsubscribe": NO_RESOURCES,
    "prompts-list": NO_PROMPTS,
    "prompts-get-simple": NO_PROMPTS,
    "prompts-get-with-args": NO_PROMPTS,
    "prompts-get-embedded-resource": NO_PROMPTS,
    "prompts-get-with-image": NO_PROMPTS,
}


def conformance(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["node", str(TOOL), *arguments], cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_every_scenario_is_run_or_has_a_reason(tmp_path: Path) -> None:
    listed = conformance(tmp_path, "list", "--server").stdout
    there = {line.removeprefix("  - ") for line in listed.splitlines() if line.startswith("  - ")}
    assert there == {*OURS, *OWN, *NOT_APPLYING}


def passes(folder: Path, url: str, scenario: str) -> None:
    done = conformance(folder, "server", "--url", url, "--scenario", scenario)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^Passed: ([1-9]\d*)/\1, 0 failed, 0 warnings$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("scenario", OURS)
def test_our_server(tmp_path: Path, scenario: str) -> None:
    with served("--root", str(tmp_path), log=tmp_path / "log") as (url, _):
        passes(tmp_path, url, scenario)


#: As its scenario wants it.
ADDRESS = {
    "type": "object",
    "properties": {
        "name": TEXT,
        "address": {"$ref": "#/$defs/address"},
    },
    "additionalProperties": False,
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"street": TEXT, "city": TEXT},
        }
    },
}
SERVER = """
import sys
from copilot_adapters.mcp import mcp_server, serve_http
from copilot_adapters.mcp.transports import PATH, listen
from copilot_contracts import Gate, Registry

async def fail(arguments):
    raise ValueError("This tool intentionally fails")

surface = Registry.from_folder(sys.argv[1]).surface("own")
server = mcp_server(surface, dict.fromkeys(surface.catalogue.mcp, fail), Gate())
listening = listen(0)
print(f"http://127.0.0.1:{listening.getsockname()[1]}{PATH}", flush=True)
serve_http(server, listening)
"""


@pytest.mark.parametrize("scenario", OWN)
def test_a_server_of_a_surface_of_ones_own(tmp_path: Path, scenario: str) -> None:
    tools = dict.fromkeys(["test_error_handling", "json_schema_2020_12_tool"], obj(done=TEXT))
    schemas = tmp_path / "schemas"
    schemas.mkdir()
    own_surface(schemas, tools, {"json_schema_2020_12_tool": ADDRESS})
    command = [sys.executable, "-c", SERVER, str(schemas)]
    with served(log=tmp_path / "log", command=command) as (url, _):
        passes(tmp_path, url, scenario)


def test_the_typescript_client_takes_results_and_errors(tmp_path: Path) -> None:
    """It checks each result against the tool's output schema (B54: but not an error)."""
    (tmp_path / "folder").mkdir()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("calculate", {"expression": "2 ** 70"}),
        ("calculate", {"expression": "9**9**9"}),
        ("calculate", {}),
        ("list_directory", {}),
        ("get_project_info", {}),
        ("search_files", {"query": ""}),
        ("search_logs", {}),
        ("read_file_content", {"file_path": "/etc/passwd"}),
    ]
    done = subprocess.run(
        ["node", str(PROJECT / "client.mjs"), *COMMAND, "--root", str(tmp_path)],
        input="".join(json.dumps(call) + "\n" for call in calls),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result.get("thrown") for result in results] == [None] * len(calls)
    assert [result["isError"] for result in results] == [
        *(False, True, True, False),
        *(False, False, False, True),
    ]
    assert results[0]["structuredContent"]["result"] == 2**70
    assert results[2]["content"][0]["text"].startswith("The arguments don't fit: ")
    assert "structuredContent" not in results[2]
    (folder,) = results[3]["structuredContent"]["folders"]
    assert folder["size"] is None
