"""What one client can make a server hold: heads and trailers without an end, requests that never
come to theirs."""

import asyncio
import contextlib
import time
from urllib.parse import urlsplit

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from copilot_adapters.starlette.connection import BoundedConnection
from serving import serving

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


class Quick(BoundedConnection):
    request_seconds = 0.4


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Says how large the body was; under /slow it takes a second for it."""

    async def slowly():  # type: ignore[no-untyped-def]  # an async iterator of text
        for number in range(4):
            await asyncio.sleep(0.25)
            yield str(number)

    try:
        body = await Request(scope, receive).body()
    except ClientDisconnect:
        return
    answer = StreamingResponse(slowly()) if scope["path"] == "/slow" else None
    await (answer or PlainTextResponse(f"{len(body)} bytes"))(scope, receive, send)


async def talk(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", urlsplit(url).port)


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(5):
            return await reader.read()
    except ConnectionError:
        return b""


@pytest.mark.parametrize(
    "begin",
    [
        GET[:5],
        GET + b"X",
        GET + b"X: ",
        CHUNKED + b"1;",
        CHUNKED + b"0\r\nX: ",
    ],
    ids=["path", "header name", "header value", "chunk extension", "trailer"],
)
async def test_what_stands_around_a_body_is_bounded(begin: bytes) -> None:
    async with serving(app) as url:
        _, writer = await talk(url)
        writer.write(begin)
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 1000:
                writer.write(b"x" * 65536)
                await writer.drain()
                sent += 1
        writer.close()
    assert sent < 200  # a few MB lie in the sockets' own buffers


async def test_many_small_headers_are_bounded_too() -> None:
    async with serving(app) as url:
        reader, writer = await talk(url)
        writer.write(GET)
        await asyncio.sleep(0.1)
        writer.write(b"".join(b"X-%d: %b\r\n" % (number, b"x" * 1000) for number in range(66)))
        assert (await rest_of(reader)).startswith(b"HTTP/1.1 431 ")
        writer.close()


async def test_a_large_body_and_a_large_head_pass() -> None:
    head = POST + b"Content-Length: 5000000\r\nX: " + b"x" * 50_000 + b"\r\n"
    async with serving(app) as url:
        reader, writer = await talk(url)
        for _ in range(2):  # one connection
            writer.write(head + b"\r\n" + b"x" * 5_000_000)
            assert (await reader.readuntil(b"bytes")).endswith(b"5000000 bytes")
        chunks = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        writer.write(CHUNKED + chunks * 20 + b"0\r\n\r\n")
        assert (await reader.readuntil(b"bytes")).endswith(b"1310720 bytes")
        writer.close()


@pytest.mark.parametrize(
    "begin", [b"", GET, POST + b"Content-Length: 9\r\n\r\nx", GET + b"\r\n" + POST]
)
async def test_a_request_that_does_not_come_to_its_end_is_not_waited_for(begin: bytes) -> None:
    async with serving(app, Quick) as url:
        began = time.monotonic()
        reader, writer = await talk(url)
        writer.write(begin)
        told = await rest_of(reader)
        writer.close()
    assert b"HTTP/1.1 408 " in told
    assert 0.3 < time.monotonic() - began < 3


async def test_who_comes_when_the_server_is_full_is_sent_away_at_once() -> None:
    class Small(BoundedConnection):
        most = 3

    async with serving(app, Small) as url:
        first, *others = [await talk(url) for _ in range(3)]
        for _ in range(20):
            reader, writer = await talk(url)
            assert (await rest_of(reader)).startswith(b"HTTP/1.1 503 ")
            writer.close()
        first[1].close()
        await asyncio.sleep(0.1)
        for reader, writer in (await talk(url), *others):
            writer.write(GET + b"\r\n")
            await reader.readuntil(b"0 bytes")
            writer.close()


async def test_half_a_request_does_not_hold_a_server_that_ends() -> None:
    async with serving(app) as url:
        reader, writer = await talk(url)
        writer.write(POST + b"Content-Length: 9\r\n\r\nx")
        await asyncio.sleep(0.2)
    assert (await rest_of(reader)).startswith(b"HTTP/1.1 503 ")
    writer.close()


async def test_bytes_now_and_then_do_not_keep_a_connection() -> None:
    async with serving(app, Quick) as url:
        reader, writer = await talk(url)
        writer.write(GET + b"\r\n")
        await reader.readuntil(b"bytes")
        began = time.monotonic()
        while not reader.at_eof() and time.monotonic() - began < 5:
            writer.write(b"\r\n")  # allowed between requests, and not the begin of one
            await asyncio.sleep(0.05)
            if reader._buffer:  # type: ignore[attr-defined]  # a look that waits for nothing
                await rest_of(reader)
        assert time.monotonic() - began < 3
        writer.close()


async def test_an_answer_may_take_longer_than_a_request() -> None:
    slow = GET.replace(b"/ ", b"/slow ", 1) + b"\r\n"
    async with serving(app, Quick) as url:
        reader, writer = await talk(url)
        for sent in (slow, slow, GET + b"\r\n" + slow):  # one after the other, and pipelined
            writer.write(sent)
            async with asyncio.timeout(5):
                told = await reader.readuntil(b"0\r\n\r\n")
            assert b"\r\n3\r\n" in told
        writer.close()
