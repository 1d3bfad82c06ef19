"""A scripted image endpoint in OpenAI's form behind real HTTP on loopback, for tests.

async with ImageServer() as server:
    server.script(pictures(b64()), refusal(400, "no"), HANG)
    ...  # ask server.base_url with server.key
    assert server.requests[0].body["n"] == 1
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

Json = dict[str, Any]

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
#: Never answers; closes without an answer; begins an answer and closes.
HANG, CLOSE, CUT = "hang", "close", "cut"


@dataclass(frozen=True)
class Reply:
    body: bytes
    status: int = 200
    headers: str = "Content-Type: application/json\r\n"
    #: How often the body is sent.
    times: int = 1


@dataclass(frozen=True)
class Held:
    """A reply that waits for an event."""

    until: asyncio.Event
    reply: Reply


Scripted = Reply | Held | str


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Json


def b64(data: bytes = PNG) -> Json:
    return {"b64_json": base64.b64encode(data).decode()}


def pictures(*data: Any, **more: Any) -> Reply:
    """As `POST /v1/images/generations` answers."""
    told = {"created": 1796000000, "data": [*data], "usage": {"total_tokens": 100}} | more
    return Reply(json.dumps(told).encode())


def refusal(status: int, message: str, code: str | None = None) -> Reply:
    """As OpenAI's API answers errors."""
    error = {"message": message, "type": "image_generation_user_error", "param": None, "code": code}
    return Reply(json.dumps({"error": error}).encode(), status)


class ImageServer:
    """`script(...)` queues answers, one a request; without one a picture is made for each `n`."""

    def __init__(self) -> None:
        self.key = "sk-image-5e1d"
        self.base_url = ""
        self.requests: list[Request] = []
        self._queue: deque[Scripted] = deque()
        self._came = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    def script(self, *replies: Scripted) -> None:
        self._queue.extend(replies)

    async def was_asked(self, times: int) -> None:
        """Wait for so many requests."""
        async with self._came, asyncio.timeout(5):
            await self._came.wait_for(lambda: len(self.requests) >= times)

    @property
    def asked(self) -> int:
        """Requests for pictures."""
        return sum(request.method == "POST" for request in self.requests)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()
        assert not self._queue

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with suppress(ConnectionError):
                await self._serve(reader, writer)
        finally:
            self._connections.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            method, path, _ = first.split(" ")
            headers = {
                name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)
            }
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            request = Request(method, path, headers, json.loads(body or b"{}"))
            reply = self._reply(request)
            async with self._came:
                self.requests.append(request)
                self._came.notify_all()
            if isinstance(reply, Held):
                await reply.until.wait()
                reply = reply.reply
            if reply == HANG:
                await reader.read()
            elif reply == CUT:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
                await writer.drain()
            elif isinstance(reply, Reply):
                writer.write(
                    f"HTTP/1.1 {reply.status} X\r\n{reply.headers}Connection: close\r\n"
                    f"Content-Length: {len(reply.body) * reply.times}\r\n\r\n".encode()
                )
                for _ in range(reply.times):
                    writer.write(reply.body)
                    await writer.drain()

    def _reply(self, request: Request) -> Scripted:
        if self._queue:
            return self._queue.popleft()
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return refusal(401, f"Incorrect API key provided: {self.key}", "invalid_api_key")
        if request.method == "GET":
            return Reply(json.dumps({"object": "list", "data": []}).encode())
        return pictures(*[b64()] * request.body["n"])
