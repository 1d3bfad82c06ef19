"""The event stream response over real connections, fed from a real event log."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from copilot_adapters.starlette.problems import ProblemBoundary
from copilot_adapters.starlette.server import listen
from copilot_adapters.starlette.streaming import EventStream
from copilot_core.event_log import EventLog
from serving import serving

FIRST = b": stream\n\n"


class LoggedRun:
    """As much of a run as a stream needs: a log and a heartbeat."""

    heartbeat = b"data: beat\n\n"

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        self.log = EventLog(max_bytes=max_bytes)
        self.subscribe = self.log.subscribe


def app(run: LoggedRun, *, heartbeat: float = 30, stalled: float = 30, after: int = 0) -> ASGIApp:
    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        await EventStream(run, after=after, heartbeat=heartbeat, stalled=stalled)(  # type: ignore[arg-type]  # a run in what matters here
            scope, receive, send
        )

    return ProblemBoundary(stream)


def event(number: int) -> bytes:
    return b"id: r:%d\ndata: {}\n\n" % number


async def until(seconds: float, condition: Callable[[], bool]) -> None:
    for _ in range(int(seconds * 100)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


class Reader:
    """What a response gives, one arrival after the other."""

    def __init__(self, response: httpx.Response) -> None:
        self._pieces: AsyncIterator[bytes] = response.aiter_raw()

    async def next(self) -> bytes:
        async with asyncio.timeout(5):
            return await anext(self._pieces)


@pytest.mark.parametrize("encoding", ["identity", "gzip", "gzip, deflate, br"])
async def test_events_arrive_one_by_one_even_through_gzip(encoding: str) -> None:
    """Each event arrives before the next one is made (B32)."""
    run = LoggedRun()
    async with (
        serving(GZipMiddleware(app(run), minimum_size=0)) as url,
        httpx.AsyncClient() as client,
        client.stream("GET", url, headers={"accept-encoding": encoding}) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream"
        assert response.headers["cache-control"] == "no-cache, no-transform"
        assert response.headers["x-accel-buffering"] == "no"
        assert "content-encoding" not in response.headers
        assert "content-length" not in response.headers
        reader = Reader(response)
        assert await reader.next() == FIRST  # at once, before there is any event
        for number in range(1, 4):
            run.log.append(event(number))
            assert await reader.next() == event(number)
        run.log.append(event(4))
        run.log.close()
        assert await reader.next() == event(4)
        with pytest.raises(StopAsyncIteration):
            await reader.next()


async def test_a_reader_may_come_back_and_waiting_events_go_together() -> None:
    run = LoggedRun()
    for number in range(1, 6):
        run.log.append(event(number))
    run.log.close()
    async with serving(app(run, after=2)) as url, httpx.AsyncClient() as client:
        assert (await client.get(url)).content == FIRST + event(3) + event(4) + event(5)


async def test_a_place_that_the_log_has_left_is_a_problem_not_a_stream() -> None:
    run = LoggedRun(max_bytes=30)
    for number in range(1, 6):
        run.log.append(event(number))
    async with serving(app(run, after=1)) as url, httpx.AsyncClient() as client:
        answer = await client.get(url)
    assert answer.status_code == 410
    assert answer.json()["code"] == "resync_required"


async def test_silence_is_filled_with_heartbeats_and_no_event_is_lost() -> None:
    run = LoggedRun()
    async with (
        serving(app(run, heartbeat=0.05)) as url,
        httpx.AsyncClient() as client,
        client.stream("GET", url) as response,
    ):
        reader = Reader(response)
        assert await reader.next() == FIRST
        for number in range(1, 4):
            assert await reader.next() == run.heartbeat
            run.log.append(event(number))
            while (piece := await reader.next()) == run.heartbeat:
                pass
            assert piece == event(number)


async def test_a_reader_that_leaves_in_silence_is_seen_and_the_log_goes_on() -> None:
    run = LoggedRun()
    async with serving(app(run)) as url, httpx.AsyncClient() as client:
        async with client.stream("GET", url) as response:
            assert await Reader(response).next() == FIRST
            assert run.log.readers == 1
        await until(2, lambda: run.log.readers == 0)
        run.log.append(event(1))
        async with client.stream("GET", url) as response:
            reader = Reader(response)
            assert await reader.next() == FIRST
            assert await reader.next() == event(1)


async def test_a_reader_that_takes_nothing_is_let_go() -> None:
    run = LoggedRun(max_bytes=64 << 20)
    async with serving(app(run, stalled=0.2)) as url:
        with socket.create_connection(("127.0.0.1", urlsplit(url).port)) as silent:
            silent.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await until(2, lambda: run.log.readers == 1)
            for _ in range(32):
                run.log.append(b"data: %s\n\n" % (b"x" * (1 << 20)))
                await asyncio.sleep(0)
            await until(3, lambda: run.log.readers == 0)


async def test_a_reader_that_is_too_slow_is_closed_without_a_last_event() -> None:
    run = LoggedRun(max_bytes=1 << 20)
    block = b"data: %s\n\n" % (b"x" * (1 << 19))
    async with serving(app(run)) as url, httpx.AsyncClient(timeout=5) as client:
        async with client.stream("GET", url) as response:
            await until(2, lambda: run.log.readers == 1)
            for _ in range(64):  # more than every buffer on the way, and than the log
                run.log.append(block)
                await asyncio.sleep(0)
            run.log.append(b"data: last\n\n")
            run.log.close()
            body = b"".join([piece async for piece in response.aiter_raw()])
        assert not body.endswith(b"data: last\n\n")
        assert body.removeprefix(FIRST).replace(block, b"") == b""  # whole events, in order
        await until(2, lambda: run.log.readers == 0)


async def test_head_is_answered_without_a_stream() -> None:
    run = LoggedRun()
    async with serving(app(run)) as url, httpx.AsyncClient() as client:
        answer = await client.head(url)
        assert answer.headers["content-type"] == "text/event-stream"
        await until(2, lambda: run.log.readers == 0)


async def test_no_event_waits_for_the_acknowledgement_of_the_one_before() -> None:
    """Nagle's algorithm is off on the connections of our listening socket."""
    nodelay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        nodelay.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    server = await asyncio.start_server(connected, sock=listen("127.0.0.1", 0))
    async with server:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        assert await nodelay != 0
        writer.close()
        await writer.wait_closed()
