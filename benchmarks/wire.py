"""CPU of a server per event that it puts on the wire: ours beside its peers.

Each variant is a route of one Starlette app behind uvicorn in a process of its own; its CPU time
is what that process reports before and after. Readers are real connections on loopback.
"""

from __future__ import annotations

import asyncio
import socket
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import orjson
from ag_ui.core import TextMessageContentEvent
from ag_ui.encoder import EventEncoder
from fastapi import FastAPI
from fastapi.sse import EventSourceResponse as FastApiEvents
from pydantic import BaseModel
from sse_starlette.sse import EventSourceResponse as SseStarletteEvents
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route

from benchmarks.measuring import Row, over
from copilot_adapters.starlette.streaming import EventStream
from copilot_contracts import Gate, Registry, StreamContract
from copilot_core.dialects.gns3_chat import Gns3ChatDialect
from copilot_core.event_log import EventLog
from copilot_core.events import TextDelta, TurnEnd
from copilot_core.journal import TurnStart
from copilot_core.messages import user_message
from copilot_core.runs import Run

SESSION = "6f1c0f3e-6f4c-4a53-9a51-5d1f6a2f9b10"
MESSAGE = "b2f0c3de-0c53-4c51-8f2e-0a8d1d7f3c11"
EVENT = {"type": "content", "content": " token", "message_id": MESSAGE, "session_id": SESSION}
ENCODED = b"id: 0123456789abcdef:1\ndata: " + orjson.dumps(EVENT) + b"\n\n"
CONTRACT = StreamContract(Registry.bundled().surface("gns3-chat"), Gate("enforce"))


class Content(BaseModel):
    """The same event as a Pydantic model."""

    type: str
    content: str
    message_id: str
    session_id: str


async def source(count: int) -> AsyncIterator[str]:
    """A model on a network: the loop gets its turn between two tokens."""
    for _ in range(count):
        await asyncio.sleep(0)
        yield " token"


def make_run(count: int, *, then_silent: bool = False) -> Run:
    """A turn that says ``count`` tokens, as the core runs it, without a model behind."""

    async def written(place: int, entry: Any) -> None:
        pass

    run = Run(
        TurnStart(uuid4().hex[:16], SESSION, "u", "p", "m", user_message("hi")),
        write=written,
        dialect=Gns3ChatDialect(SESSION),
        contract=CONTRACT,
        log=EventLog(max_bytes=64 * 1024 * 1024),
        stop_seconds=5,
        grace_seconds=10,
    )

    async def begin() -> None:
        pass

    async def work() -> None:
        async for token in source(count):
            run.emit(TextDelta(MESSAGE, token))
        if then_silent:
            await asyncio.Event().wait()

    async def store(end: TurnEnd) -> None:
        pass

    run.start(begin, work, store)
    return run


def _bare(count: int) -> Any:
    async def body() -> AsyncIterator[bytes]:
        async for _ in source(count):
            yield ENCODED

    return StreamingResponse(body(), media_type="text/event-stream")


def _ours(count: int) -> Any:
    return EventStream(make_run(count), after=0, heartbeat=15, stalled=30)


def _queue(count: int) -> Any:
    """A queue and orjson, nothing checked: what one writes by hand."""
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def produce() -> None:
        async for token in source(count):
            queue.put_nowait(b"data: " + orjson.dumps({**EVENT, "content": token}) + b"\n\n")
        queue.put_nowait(None)

    async def body() -> AsyncIterator[bytes]:
        task = asyncio.create_task(produce())
        while (block := await queue.get()) is not None:
            yield block
        await task

    return StreamingResponse(body(), media_type="text/event-stream")


def _ag_ui(count: int) -> Any:
    encoder = EventEncoder()

    async def body() -> AsyncIterator[str]:
        async for token in source(count):
            yield encoder.encode(TextMessageContentEvent(message_id=MESSAGE, delta=token))

    return StreamingResponse(body(), media_type="text/event-stream")


def _sse_starlette(count: int) -> Any:
    async def body() -> AsyncIterator[dict[str, str]]:
        async for token in source(count):
            yield {"data": orjson.dumps({**EVENT, "content": token}).decode()}

    return SseStarletteEvents(body())


ANSWERS: dict[str, Callable[[int], Any]] = {
    "bare bytes (StreamingResponse)": _bare,
    "ours: log, dialect, gate, encode": _ours,
    "queue and orjson, unchecked": _queue,
    "AG-UI encoder": _ag_ui,
    "sse-starlette": _sse_starlette,
}


def create_app() -> Starlette:
    """A route for each variant: ``/{number}/{count}``; ``/cpu`` tells this process's CPU time."""
    shared: dict[str, Run] = {}

    def route(number: int, answer: Callable[[int], Any]) -> Route:
        async def endpoint(request: Request) -> Any:
            return answer(int(request.path_params["count"]))

        return Route(f"/{number}/{{count:int}}", endpoint)

    async def cpu_time(request: Request) -> Any:
        return Response(str(time.process_time()))

    async def one_run(request: Request) -> Any:
        """Many readers of one turn, which is what a log is for."""
        key, count = request.path_params["key"], int(request.path_params["count"])
        if key not in shared:
            shared[key] = make_run(count)
        return EventStream(shared[key], after=0, heartbeat=15, stalled=30)

    fastapi = FastAPI()

    @fastapi.get("/{count}", response_class=FastApiEvents)
    async def stream(count: int) -> AsyncIterator[Content]:
        async for token in source(count):
            yield Content(type="content", content=token, message_id=MESSAGE, session_id=SESSION)

    routes = [route(number, answer) for number, answer in enumerate(ANSWERS.values())]
    return Starlette(
        routes=[
            *routes,
            Route("/cpu", cpu_time),
            Route("/one/{key}/{count:int}", one_run),
            Mount("/fastapi", fastapi),
        ]
    )


PATHS = {
    **{name: f"/{number}/{{count}}" for number, name in enumerate(ANSWERS)},
    "FastAPI SSE": "/fastapi/{count}",
}


async def get(port: int, path: str) -> bytes:
    """The whole answer to a request, read as fast as it comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    try:
        return await reader.read(-1)
    finally:
        writer.close()


async def _cpu_time(port: int) -> float:
    return float((await get(port, "/cpu")).rpartition(b"\r\n\r\n")[2])


@asynccontextmanager
async def server(factory: str = "benchmarks.wire:create_app") -> AsyncIterator[int]:
    """An app in a process of its own; yields its port."""
    # Named TCP, so that asyncio turns Nagle's algorithm off for its connections.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        command = ["-m", "uvicorn", "--factory", factory, "--log-level=error"]
        descriptor = listening.fileno()
        child = await asyncio.create_subprocess_exec(
            sys.executable, *command, "--fd", str(descriptor), pass_fds=[descriptor]
        )
        try:
            port = listening.getsockname()[1]
            await _cpu_time(port)
            yield port
        finally:
            child.terminate()
            await child.wait()


async def _measured(paths: dict[str, str], *, rounds: int, count: int, readers: int) -> list[Row]:
    """CPU microseconds of the server per event and reader, over the first path's."""
    taken: dict[str, list[float]] = {name: [] for name in paths}
    async with server() as port:
        for turn in range(rounds + 1):
            for name, path in paths.items():
                path = path.format(count=count, turn=turn)
                before = await _cpu_time(port)
                answers = await asyncio.gather(*(get(port, path) for _ in range(readers)))
                spent = await _cpu_time(port) - before
                for answer in answers:
                    if answer.count(b"data: ") < count:
                        raise AssertionError(f"{name}: {answer[:200]!r}")
                if turn:
                    taken[name].append(spent / count / readers * 1e6)
    figures = {name: statistics.median(times) for name, times in taken.items()}
    return over(figures, next(iter(paths)), "µs")


async def cpu_per_event(*, rounds: int = 7, count: int = 4000) -> list[Row]:
    """One reader."""
    return await _measured(PATHS, rounds=rounds, count=count, readers=1)


async def fifty_readers(*, rounds: int = 5, count: int = 200) -> list[Row]:
    """Fifty readers at once, as events a second of CPU; the ratio is over bare bytes."""
    paths = {**PATHS, "ours, fifty readers of one turn": "/one/{turn}/{count}"}
    rows = await _measured(paths, rounds=rounds, count=count, readers=50)
    return [Row(row.name, 1e6 / row.figure, "events/s", 1 / row.ratio) for row in rows]
