"""`copilot-contracts serve` as a process of its own: its first words, its logs, its end."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import jwt
import pytest

from chat_edge import SURFACE_CONTRACTS, Event, decoded, events, problem
from copilot_contracts import verify_stream
from openai_server import OpenAIServer, Turn, call, error, text

COMMAND = [sys.executable, "-c", "from copilot_adapters.cli import main; main()", "serve"]


@dataclass
class Served:
    process: subprocess.Popen[str]
    page: str
    curl: str
    log: Path

    @property
    def url(self) -> str:
        return self.page.partition("/projects/")[0]

    @property
    def chat(self) -> str:
        return f"{self.url}/v3/projects/{self.page.rpartition('/')[2]}/chat"

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """The exit code after a signal, and the seconds it took."""
        began = time.monotonic()
        self.process.send_signal(number)
        return self.process.wait(timeout=30), time.monotonic() - began


@contextmanager
def served(
    folder: Path, *arguments: str, command: Sequence[str] = COMMAND, **environment: str
) -> Iterator[Served]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("COPILOT_")}
    log = folder / "log"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [*command, "--port", "0", "--data", str(folder / "data"), *arguments],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            # no model of this machine's cache
            env={**clean, "XDG_CACHE_HOME": str(folder / "cache"), **environment},
        )
    assert process.stdout is not None
    try:
        page, curl = process.stdout.readline(), process.stdout.readline()
        assert page, log.read_text()
        yield Served(process, page.split()[1], curl.partition("curl")[2], log)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def model(server: OpenAIServer) -> dict[str, str]:
    return {
        "COPILOT_LLM_BASE_URL": server.base_url,
        "COPILOT_LLM_MODEL": "scripted",
        "COPILOT_LLM_API_KEY": server.api_key,
    }


async def until(told: AsyncIterator[Event], kind: str) -> AsyncIterator[dict[str, Any]]:
    """The events up to the first of the kind."""
    async for _, data in told:
        yield data
        if data["type"] == kind:
            return


def test_the_pasted_line_gets_a_turn_with_a_tool_call(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    openai_server.script(call("gns3_topology_reader", "{}"), text("PC1 to PC4."), text("Hosts"))
    with served(tmp_path, **model(openai_server)) as server:
        recorded = subprocess.run(
            f"curl -s {server.curl}", shell=True, capture_output=True, timeout=60, check=True
        ).stdout
        assert server.end()[0] == 0
    assert verify_stream(SURFACE_CONTRACTS, recorded) == []
    told = [data for _, data in decoded(recorded)]
    ended = next(data for data in told if data["type"] == "tool_end")
    assert ended["status"] == "success"
    assert "PC1" in ended["tool_output"]
    assert told[-1]["type"] == "done"
    files = list((tmp_path / "data").rglob("copilot_checkpoints.db"))
    assert [file.parent.parent.parent for file in files] == [tmp_path / "data"]
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_running_streams_with_a_last_event_then_the_process(
    tmp_path: Path, openai_server: OpenAIServer, number: int
) -> None:
    openai_server.script(text("one two").hang(after=1))
    with served(tmp_path, "--grace", "8", **model(openai_server)) as server:
        async with (
            httpx.AsyncClient(timeout=20) as client,
            client.stream("POST", f"{server.chat}/stream", json={"message": "hi"}) as response,
        ):
            told = events(response)
            async for _, data in told:
                if data["type"] == "content":
                    break
            ending = asyncio.create_task(asyncio.to_thread(server.end, number))
            rest = [data async for _, data in told]
        code, seconds = await ending
    assert (rest[-1]["type"], rest[-1]["reason"]) == ("abort", "shutdown")
    assert code == 0
    assert seconds < 8


PING = {"device_configs": [{"device_name": "PC1", "commands": ["ping 10.0.0.2 -c 60"]}]}
#: The same command; its lab doesn't hear that it is to stop.
STUBBORN = """
import asyncio
from copilot_adapters.cli import main
from copilot_adapters.gns3 import Gns3Lab

async def nodes(lab, project_id):
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

Gns3Lab.nodes = nodes
main()
"""


@pytest.mark.parametrize(
    ("command", "calling"),
    [
        (COMMAND, call("execute_vpcs_commands", PING)),
        ([sys.executable, "-c", STUBBORN, "serve"], call("gns3_topology_reader", {})),
    ],
    ids=["hangs", "swallows"],
)
async def test_a_signal_while_a_tool(
    tmp_path: Path, openai_server: OpenAIServer, command: Sequence[str], calling: Turn
) -> None:
    openai_server.script(text("I look. ") + calling)
    with served(tmp_path, "--grace", "8", command=command, **model(openai_server)) as server:
        async with (
            httpx.AsyncClient(timeout=20) as client,
            client.stream("POST", f"{server.chat}/stream", json={"message": "hi"}) as response,
        ):
            stream = events(response)
            told = [data async for data in until(stream, "tool_start")]
            ending = asyncio.create_task(asyncio.to_thread(server.end))
            told += [data async for _, data in stream]
        code, seconds = await ending
        log = server.log.read_text()
    assert [data["type"] for data in told[-2:]] == ["tool_end", "abort"]
    assert (told[-2]["status"], told[-1]["reason"]) == ("aborted", "shutdown")
    assert code == 0, log
    assert seconds < 8
    with served(tmp_path) as server:
        async with httpx.AsyncClient(timeout=20) as client:
            path = f"{server.chat}/sessions/{told[0]['session_id']}/history"
            history = (await client.get(path)).json()
        assert server.end()[0] == 0
    assert [message["role"] for message in history["messages"]] == ["user", "assistant", "tool"]


#: The command, with a shorter grace for turns whose last reader has left.
HASTY = [
    sys.executable,
    "-c",
    "from copilot_adapters.cli import main, serve; serve._DISCONNECT_GRACE = 0.1; main()",
    "serve",
]


async def test_a_turn_is_stopped_when_its_last_reader_has_left(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    openai_server.script(text("one two", pieces=2).hang(after=1))
    asked = {"message": "count", "session_id": "s1"}
    with served(tmp_path, command=HASTY, **model(openai_server)) as server:
        async with httpx.AsyncClient(timeout=20) as client:
            async with client.stream("POST", f"{server.chat}/stream", json=asked) as response:
                async for _ in until(events(response), "content"):
                    pass
            assert await openai_server.requests[0].left()
        assert server.end()[0] == 0


async def test_a_turn_goes_on_when_its_reader_has_left(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    held = threading.Event()
    openai_server.script(text("one two", pieces=2).until(held, after=1), text("Counting"))
    asked = {"message": "count", "session_id": "s1"}
    arguments = ["--on-disconnect", "continue"]
    with served(tmp_path, *arguments, command=HASTY, **model(openai_server)) as server:
        async with httpx.AsyncClient(timeout=20) as client:
            async with client.stream("POST", f"{server.chat}/stream", json=asked) as response:
                async for _ in until(events(response), "content"):
                    pass
            await asyncio.sleep(0.5)
            assert not openai_server.requests[0].disconnected.is_set()
            held.set()
            await openai_server.wait_for_requests(2)  # the second is for a title
            rest = await client.get(f"{server.chat}/sessions/s1/stream")
            history = await client.get(f"{server.chat}/sessions/s1/history")
        assert server.end()[0] == 0
    assert rest.status_code == 204 or decoded(rest.content)[-1][1]["type"] == "done"
    question, answer = history.json()["messages"]
    assert (question["content"], answer["content"]) == ("count", "one two")
    assert "interrupted" not in answer.get("metadata", {})


async def test_readers_that_take_nothing_do_not_hold_the_process(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    openai_server.script(text("x" * (16 << 20), pieces=16).hang())
    with served(tmp_path, "--grace", "6", **model(openai_server)) as server:
        target = urlsplit(server.chat)
        body = b'{"message": "hi"}'
        with socket.create_connection(("127.0.0.1", target.port)) as silent:
            silent.sendall(
                f"POST {target.path}/stream HTTP/1.1\r\nHost: {target.netloc}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            for _ in range(100):
                if openai_server.requests and openai_server.requests[0].sent >= 16:
                    break
                await asyncio.sleep(0.1)
            code, seconds = await asyncio.to_thread(server.end)
    assert code == 0
    assert seconds < 6


def test_no_secret_is_logged_and_requests_are(tmp_path: Path, openai_server: OpenAIServer) -> None:
    openai_server.always(error(401, f"Incorrect API key provided: {openai_server.api_key}"))
    url = urlsplit(openai_server.base_url)
    login = url._replace(netloc=f"ann:pa55word@{url.netloc}").geturl()
    environment = {**model(openai_server), "COPILOT_LLM_BASE_URL": login}
    with served(tmp_path, "--log-level", "debug", **environment) as server:
        body = {"message": "hi", "stream": False, "session_id": "s1"}
        answer = httpx.post(f"{server.chat}/stream?token=t0ken", json=body, timeout=20)
        assert answer.status_code == 502
        assert server.end()[0] == 0
        log = server.log.read_text()
    request_id = answer.json()["request_id"]
    ours = [line for line in map(json.loads, log.splitlines()) if "session_id" in line]
    assert {(line["request_id"], line["session_id"]) for line in ours} == {(request_id, "s1")}
    told = [line["event"] for line in ours]
    assert "request" in told
    assert any(event.startswith("the model failed: llm_unauthorized") for event in told)
    for secret in (openai_server.api_key, "pa55word", "t0ken"):
        assert secret not in log + answer.text
    assert "Traceback" not in log


@pytest.mark.parametrize("told", ["option", "environment"])
def test_an_endpoints_context_window(
    tmp_path: Path, openai_server: OpenAIServer, told: str
) -> None:
    arguments = ["--llm-context-window", "4096"] if told == "option" else []
    environment = {} if arguments else {"COPILOT_LLM_CONTEXT_WINDOW": "4096"}
    with served(tmp_path, *arguments, **model(openai_server), **environment) as server:
        body = {"message": "word " * 4096, "stream": False}
        answer = httpx.post(f"{server.chat}/stream", json=body, timeout=20)
    assert problem(answer)["code"] == "context_window_exceeded"
    assert openai_server.requests == []


@pytest.mark.parametrize("written", ["many", "0", "-1", "1e3"])
def test_a_context_window_that_is_no_number(tmp_path: Path, written: str) -> None:
    environment = {"COPILOT_LLM_MODEL": "m", "COPILOT_LLM_CONTEXT_WINDOW": written}
    done = subprocess.run(
        [*COMMAND, "--port", "0", "--data", str(tmp_path), "--llm-base-url", "http://localhost/v1"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "COPILOT_LLM_CONTEXT_WINDOW must be a number of tokens" in done.stderr


def test_without_a_model_it_serves_and_says_what_to_do(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        ready = httpx.get(f"{server.url}/health/ready")
        live = httpx.get(f"{server.url}/health/live")
        asked = httpx.post(f"{server.chat}/stream", json={"message": "hi"})
        page = httpx.get(server.url, follow_redirects=True)
        said = server.log.read_text()
        nowhere = httpx.get(f"{server.url}/nowhere")
        not_so = httpx.post(f"{server.url}/health/live")
    assert live.status_code == 200
    assert problem(nowhere)["status"] == 404
    assert problem(not_so)["status"] == 405
    assert set(not_so.headers["allow"].split(", ")) == {"GET", "HEAD"}
    assert (ready.status_code, ready.json()["checks"]) == (
        503,
        {"data": "ok", "model": "not configured", "lab": "ok"},
    )
    assert (asked.status_code, asked.json()["code"]) == (400, "llm_not_configured")
    assert "--llm-base-url" in said
    assert page.url == server.page
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]


def test_with_a_secret_file_users_log_in(tmp_path: Path, openai_server: OpenAIServer) -> None:
    openai_server.always(text("Hello."))
    secret = tmp_path / "secret"
    secret.write_text("an HS256 secret of 32 bytes, ok?\n")
    token = jwt.encode({"sub": "ann"}, "an HS256 secret of 32 bytes, ok?", algorithm="HS256")
    with served(tmp_path, "--jwt-secret-file", str(secret), **model(openai_server)) as server:
        body = {"message": "hi", "stream": False}
        assert httpx.post(f"{server.chat}/stream", json=body).status_code == 401
        headers = {"authorization": f"Bearer {token}", "host": "copilot.example"}
        answer = httpx.post(f"{server.chat}/stream", json=body, headers=headers, timeout=20)
        assert answer.status_code == 200
        sessions = httpx.get(f"{server.chat}/sessions", headers=headers).json()
    assert [session["user_id"] for session in sessions] == ["ann"]


def test_a_port_that_is_taken_is_wrong_usage(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*COMMAND, "--port", port, "--data", str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2
    assert port in done.stderr
    assert "Traceback" not in done.stderr
