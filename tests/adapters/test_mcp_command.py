"""`copilot-contracts mcp` as a process of its own, asked by the SDK's client, and by others."""

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from copilot_contracts import Registry
from mcp_tools import COMMAND, served, text, told

CHATBOT = Registry.bundled().surface("chatbot")
#: The handshake of 2025, and the protocol of 2026 that has none.
MODES = ["legacy", "2026-07-28"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "lab.md").write_text("PC1\n")
    (root / "app.log").write_text("error\n")
    (tmp_path / "secret.txt").write_text("secret")
    return root


@asynccontextmanager
async def connected(transport: str, mode: str, root: Path) -> AsyncIterator[Client]:
    log = root.parent / "log"
    if transport == "http":
        with served("--root", str(root), log=log) as (url, _):
            async with Client(url, mode=mode) as client:
                yield client
        return
    command, *arguments = [*COMMAND, "--root", str(root)]
    parameters = StdioServerParameters(command=command, args=arguments)
    with log.open("w") as stderr:
        async with Client(stdio_client(parameters, errlog=stderr), mode=mode) as client:
            yield client


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_every_tool_over_both_transports(root: Path, transport: str, mode: str) -> None:
    calls: dict[str, dict[str, Any]] = {
        "search_files": {"query": "lab"},
        "read_file_content": {"file_path": "lab.md"},
        "list_directory": {},
        "get_project_info": {},
        "search_logs": {"level": "error"},
        "calculate": {"expression": "(-1) ** .5"},
    }
    async with connected(transport, mode, root) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == calls.keys() == CHATBOT.catalogue.mcp.keys()
        for name, arguments in calls.items():
            contract = CHATBOT.contract("mcp_return", name)
            assert tools[name].output_schema == contract.bundled()
            result = told(await client.call_tool(name, arguments))
            assert contract.violation(result) is None
            assert "error" not in result
        missing = await client.call_tool("read_file_content", {"file_path": "../secret.txt"})
        assert told(missing) == {"error": "File không tồn tại: ../secret.txt"}
        began = time.monotonic()
        for expression in ("9**9**9", "1e999", "__import__('os')"):
            assert "error" in told(await client.call_tool("calculate", {"expression": expression}))
        assert time.monotonic() - began < 1
        refused = await client.call_tool("calculate", {})
        assert text(refused).startswith("The arguments don't fit: ")
    assert (root.parent / "log").read_text() == ""


# -- stdio --------------------------------------------------------------------------------


@contextmanager
def piped(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def ask(process: subprocess.Popen[bytes], message: Any) -> Any:
    """Its answer: the next line on stdout, within ten seconds."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    assert select.select([process.stdout], [], [], 10)[0]
    return json.loads(process.stdout.readline())


def test_stdout_is_the_protocols_alone_and_the_end_of_stdin_ends_it() -> None:
    with piped() as process:
        began = time.monotonic()
        assert ask(process, INITIALIZE)["result"]["serverInfo"]["name"] == "chatbot"
        assert time.monotonic() - began < 5
        wrong = ask(process, {"jsonrpc": "2.0", "id": 2, "method": "nothing/there"})
        assert wrong["error"]["code"] == -32601
        out, err = process.communicate(b"no JSON\n", timeout=10)
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
        assert err.splitlines()[0] == b"Without --root no file can be read."
        assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_it_waits(number: int) -> None:
    with piped() as process:
        ask(process, INITIALIZE)
        process.send_signal(number)
        assert process.wait(5) == -number


def test_a_client_that_goes_without_a_word() -> None:
    with piped("--root", "/") as process:
        ask(process, INITIALIZE)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        for number in range(2, 5):
            process.stdin.write(
                json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode() + b"\n"
            )
        process.stdin.close()
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


# -- HTTP ---------------------------------------------------------------------------------


def headers(**more: str) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


async def test_who_may_ask_over_http(root: Path) -> None:
    log = root.parent / "log"
    with served("--root", str(root), log=log) as (url, process):
        port = httpx.URL(url).port
        assert url == f"http://127.0.0.1:{port}/mcp"
        async with httpx.AsyncClient(timeout=10) as client:

            async def status(method: str = "POST", **more: str) -> int:
                body = LIST if method == "POST" else None
                answer = await client.request(method, url, json=body, headers=headers(**more))
                return answer.status_code

            assert await status() == 200
            assert await status(Origin=f"http://127.0.0.1:{port}") == 200
            assert await status(Host=f"localhost:{port}") == 200
            for version in ("2025-11-25", "2026-07-28"):
                for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "localhost:1"):
                    assert await status(Host=host, MCP_Protocol_Version=version) == 421
                for origin in (
                    "http://evil.example",
                    "null",
                    "http://localhost:1",
                    f"https://127.0.0.1:{port}",
                ):
                    assert await status(Origin=origin, MCP_Protocol_Version=version) == 403
            assert await status(Content_Type="text/plain") == 400
            for method in ("GET", "DELETE", "OPTIONS"):
                assert await status(method) == 405
            large = await client.post(url, content=b" " * (5 * 2**20), headers=headers())
            assert large.status_code == 413
            for body in (b"{", b'{"a": ' * 20_000, b"[]", b'{"jsonrpc": "2.0", "id": 1e999}'):
                broken = await client.post(url, content=body, headers=headers())
                assert broken.status_code == 400
                assert broken.json()["error"]["code"] < 0
            assert await status() == 200
        process.terminate()
        assert process.wait(10) == 0


def test_loopback_only(root: Path) -> None:
    with served(log=root.parent / "log") as (url, _):
        listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        port = f":{httpx.URL(url).port:04X} "
        hosts = {line.split()[1].split(":")[0] for line in listening.splitlines() if port in line}
        assert hosts == {"0100007F"}


async def test_a_signal_ends_it_with_connections_open(root: Path) -> None:
    with served("--root", str(root), log=root.parent / "log") as (url, process):
        async with httpx.AsyncClient(timeout=10) as client:
            await client.post(url, json=LIST, headers=headers())
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert await asyncio.to_thread(process.wait, 10) == 0
            assert time.monotonic() - began < 2


# -- wrong usage --------------------------------------------------------------------------


def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "1"], "--port belongs to --http."),
        (["--surface", "nothing"], "There is no surface 'nothing'."),
        (["--surface", "gns3-chat"], "gns3-chat: these have no tool, or no function: "),
        (["--root", "/nothing/there"], "/nothing/there"),
    ],
    ids=str,
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    done = ran(*arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = ran("--http", "--port", port)
    assert done.returncode == 2
    assert f"Port {port} can't be listened on" in done.stderr


def test_without_the_extra() -> None:
    program = "import sys; sys.modules['mcp'] = None\nfrom copilot_adapters.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "mcp"], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 2
    assert "pip install 'copilot-contracts[mcp]'" in done.stderr


def test_help_imports_no_sdk() -> None:
    program = (
        "import sys\nsys.modules['mcp'] = None\n"
        "sys.argv = ['copilot-contracts', 'mcp', '--help']\n"
        "from copilot_adapters.cli import main; main()"
    )
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0
    assert "copilot-contracts mcp --root ." in done.stdout
