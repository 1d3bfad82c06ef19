"""The local model runs as a child process that nobody else can use and that never stays behind."""

import asyncio
import json
import os
import signal
import struct
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from copilot_adapters.local_model import (
    LocalModelError,
    LocalModelServer,
    cached,
    free_cores,
)
from copilot_adapters.local_model.examples import EXAMPLES
from copilot_contracts import Registry
from openai_server.strictness import check


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A GGUF file with a sound header and nothing in it."""
    path = tmp_path / "empty.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
    return path


def needs_runtime() -> None:
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp isn't installed: the extra local-model")


async def test_a_missing_file_says_so(tmp_path: Path) -> None:
    server = LocalModelServer(tmp_path / "none.gguf")
    with pytest.raises(LocalModelError, match="can't be read") as caught:
        await server.start()
    assert "--model-file" in str(caught.value)
    assert not is_alive(server)


async def test_a_file_that_llama_cpp_refuses(empty: Path) -> None:
    needs_runtime()
    server = LocalModelServer(empty)
    with pytest.raises(LocalModelError, match="didn't start"):
        await server.start(60)
    assert not is_alive(server)


async def test_without_the_runtime_the_extra_is_named(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(LocalModelError, match=r"copilot-contracts\[local-model\]"):
        await LocalModelServer(empty).start()


def test_one_thread_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert free_cores() == 1
    monkeypatch.delenv("CI")
    assert 1 <= free_cores() <= (os.cpu_count() or 1)


@pytest.fixture
def weights() -> Path:
    path = next(filter(None, map(cached, ("135m", "0.5b", "1.5b"))), None)
    if path is None:
        pytest.skip("no local model is in the cache: copilot-contracts model fetch 135m")
    needs_runtime()
    return path


def ask(server: LocalModelServer, key: str, **headers: str) -> httpx.Response:
    return httpx.post(
        f"{server.base_url}/chat/completions",
        headers={"authorization": f"Bearer {key}", **headers},
        json={"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 3},
        timeout=60,
    )


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def is_alive(server: LocalModelServer) -> bool:
    return server.alive


@pytest.mark.model
async def test_the_real_model(weights: Path) -> None:
    server = LocalModelServer(weights, threads=1, context=1024, name="small")
    base_url = await server.start()
    assert server._child is not None
    pid = server._child.pid
    try:
        assert base_url.startswith("http://127.0.0.1:")
        assert is_alive(server)
        if sys.platform == "linux":
            assert server.api_key not in command_line(pid)
        await server.warm([{"role": "user", "content": "Say hello."}])
        answer = await asyncio.to_thread(ask, server, server.api_key, origin="http://evil.example")
        assert answer.json()["usage"]["completion_tokens"] == 3
        assert answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"] > 0
        assert answer.json()["model"] == "small"
        assert answer.headers["access-control-allow-origin"] not in ("*", "http://evil.example")
        assert (await asyncio.to_thread(ask, server, "guessed")).status_code == 401
    finally:
        await server.stop()
    assert not is_alive(server)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.model
async def test_a_killed_child_shows(weights: Path) -> None:
    server = LocalModelServer(weights, threads=1, context=512)
    await server.start()
    try:
        assert server._child is not None
        server._child.kill()
        await server._child.wait()
        assert not is_alive(server)
        await server.warm([{"role": "user", "content": "hello"}])  # nobody there: no error
    finally:
        await server.stop()


PARENT = """
import asyncio, sys
from pathlib import Path
from copilot_adapters.local_model import LocalModelServer

async def main():
    server = LocalModelServer(Path(sys.argv[1]), threads=1, context=512)
    await server.start()
    print(server._child.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.model
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_child_dies_with_its_parent(weights: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(weights)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout as out:
        child = int(out.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for _ in range(200):
        if not runs(child):
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child outlived its parent")


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_importing_it_loads_no_machine_code() -> None:
    code = "import copilot_adapters.local_model, json, sys; print(json.dumps(list(sys.modules)))"
    out: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert not {"xllamacpp", "httpx", "langchain_core"} & set(json.loads(out))


def test_the_examples_are_calls_that_could_be_made() -> None:
    """A strict provider takes them as history, and every call satisfies its tool's contract."""
    check({"model": "m", "messages": list(EXAMPLES)})
    surface = Registry.bundled().surface("gns3-chat")
    calls = [call["function"] for message in EXAMPLES for call in message.get("tool_calls", ())]
    for call in calls:
        arguments = surface.contract("tool_arguments", call["name"])
        assert arguments.violation(json.loads(call["arguments"])) is None
    assert len(calls) == 5
