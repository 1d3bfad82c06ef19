"""The time to a stream's first event, and the memory of one that is open and silent."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import jwt
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from benchmarks.measuring import Row
from benchmarks.turn import Model
from benchmarks.wire import get, make_run, server
from copilot_adapters.starlette import JwtAuthenticator, chat_routes
from copilot_adapters.starlette.llm import OneLlm
from copilot_adapters.starlette.streaming import EventStream
from copilot_core.llm.config import LlmConfig
from copilot_core.ports import Identity, Project
from copilot_core.projects import ProjectAgentManager

FACTORY = "benchmarks.streams:create_app"
SECRET = b"an HS256 secret of 32 bytes, ok?"
PAGES = 4096
CHAT = "/v3/projects/p1/chat/stream"


class _Waiting(Model):
    """Answers at once; asked to wait, it falls silent after its first word."""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in super()._astream(messages, *args, **kwargs):
            yield chunk
            if messages[-1].content == "wait":
                await asyncio.Event().wait()


class _Projects:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def project(self, project_id: str, identity: Identity) -> Project | None:
        return Project(project_id, "opened", self.folder / project_id)


async def _silent() -> AsyncIterator[bytes]:
    yield b"data: {}\n\n"
    await asyncio.Event().wait()


async def _from_queue() -> AsyncIterator[bytes]:
    queue: asyncio.Queue[bytes] = asyncio.Queue()
    queue.put_nowait(b"data: {}\n\n")
    while True:
        yield await queue.get()


def _our_silence() -> Any:
    return EventStream(make_run(1, then_silent=True), after=0, heartbeat=3600, stalled=3600)


def create_app() -> Starlette:
    """The chat API over a model that answers at once, a bare stream, and silent streams."""
    folder = Path(tempfile.mkdtemp())
    agents = ProjectAgentManager(model=lambda _: _Waiting(tokens=3))
    silences = {
        "ours": _our_silence,
        "queue": lambda: StreamingResponse(_from_queue(), media_type="text/event-stream"),
        "sse": lambda: EventSourceResponse(_silent(), ping=3600),
    }

    async def bare(request: Request) -> Any:
        await request.body()

        async def body() -> AsyncIterator[bytes]:
            yield b"data: {}\n\n"

        return StreamingResponse(body(), media_type="text/event-stream")

    async def memory(request: Request) -> Any:
        resident = Path("/proc/self/statm").read_text().split()[1]  # noqa: ASYNC240 - no disk
        return Response(str(int(resident) * PAGES))

    async def idle(request: Request) -> Any:
        return silences[request.path_params["kind"]]()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await agents.close_all()

    return Starlette(
        lifespan=lifespan,
        routes=[
            Route("/bare", bare, methods=["POST"]),
            Route("/cpu", memory),
            Route("/memory", memory),
            Route("/idle/{kind}", idle),
            *chat_routes(
                agents,
                authenticator=JwtAuthenticator(SECRET),
                projects=_Projects(folder),
                llm=OneLlm(LlmConfig("m")),
            ),
        ],
    )


def _request(path: str, body: dict[str, Any]) -> bytes:
    token = jwt.encode({"sub": "ann"}, SECRET, algorithm="HS256")
    sent = json.dumps(body).encode()
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(sent)}\r\n\r\n".encode()
        + sent
    )


async def _ask(port: int, path: str, body: dict[str, Any]) -> float:
    """Milliseconds from the request to the first event."""
    request = _request(path, body)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    begin = time.perf_counter()
    writer.write(request)
    await reader.readuntil(b"data: ")
    taken = (time.perf_counter() - begin) * 1000
    await reader.read(-1)
    writer.close()
    return taken


async def first_event(*, rounds: int = 60) -> list[Row]:
    """A new session each time; the median."""
    bare: list[float] = []
    ours: list[float] = []
    async with server(FACTORY) as port:
        for turn in range(rounds + 5):
            bare.append(await _ask(port, "/bare", {"message": "hi"}))
            ours.append(await _ask(port, CHAT, {"message": "hi", "session_id": f"s{turn}"}))
    one, other = statistics.median(bare[5:]), statistics.median(ours[5:])
    return [
        Row("a bare stream", one, "ms", 1.0),
        Row("ours: a turn in a new session, journalled first", other, "ms", other / one),
    ]


async def _memory(port: int) -> int:
    return int((await get(port, "/memory")).rpartition(b"\r\n\r\n")[2])


async def idle(*, streams: int = 500) -> list[Row]:
    """Each variant in a process of its own: what it has grown by, for each open stream."""
    names = {
        "a queue (StreamingResponse)": "queue",
        "ours: a run of its own each": "ours",
        "ours: a whole turn each, graph, session and journal": "turn",
        "sse-starlette": "sse",
    }
    figures: dict[str, float] = {}
    for name, kind in names.items():
        async with AsyncExitStack() as stack:
            port = await stack.enter_async_context(server(FACTORY))
            for count in (50, streams):  # the first ones warm up
                before = await _memory(port)
                for number in range(count):
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                    stack.callback(writer.close)
                    request = f"GET /idle/{kind} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
                    if kind == "turn":
                        ask = {"message": "wait", "session_id": f"s{count}-{number}"}
                        request = _request(CHAT, ask)
                    writer.write(request)
                    await reader.readuntil(b"data: ")
                grown = await _memory(port) - before
            figures[name] = grown / streams / 1024
    base = next(iter(figures.values()))
    return [Row(name, figure, "KiB", figure / base) for name, figure in figures.items()]
