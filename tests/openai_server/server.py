"""The HTTP side: plain asyncio in a thread of its own, so every byte and every close is ours."""

import asyncio
import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

from openai_server.strictness import RefusedError, check
from openai_server.turns import (
    Break,
    Chunk,
    Delta,
    Failure,
    Forever,
    Json,
    Pause,
    Raw,
    Step,
    Turn,
    Until,
    Usage,
    error,
    event,
)

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


@dataclass(eq=False)
class Request:
    """One chat completion request, as it came, and how its answer went."""

    body: Json
    headers: dict[str, str]
    at: float = field(default_factory=time.monotonic)
    sent: int = 0  # steps sent so far
    answered: threading.Event = field(default_factory=threading.Event)  # whole answer sent
    disconnected: threading.Event = field(default_factory=threading.Event)  # the client left early
    disconnected_at: float | None = None  # time.monotonic()

    @property
    def messages(self) -> list[Json]:
        return list(self.body["messages"])

    @property
    def tools(self) -> list[Json]:
        return list(self.body.get("tools") or ())

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    def __getitem__(self, key: str) -> Any:
        return self.body.get(key)

    async def left(self, seconds: float = 5) -> bool:
        """Waits until the client has closed the stream early."""
        return await asyncio.to_thread(self.disconnected.wait, seconds)


Reply = Turn | Failure | Break
Scripted = Reply | Callable[[Request], Reply]


class OpenAIServer:
    """`script(...)` queues answers, one a request; `always(...)` answers when the queue is empty;
    `when(predicate, ...)` answers first, whenever the predicate holds (title calls, say).

    Use as a context manager. At its end every request must have been accepted and have had a turn,
    and every queued turn must have been asked for; a test that provokes a refusal takes it out of
    `refused`."""

    def __init__(self, api_key: str = "sk-scripted-4f1c9a7e2b8d") -> None:
        self.api_key = api_key
        self.requests: list[Request] = []
        self.refused: list[str] = []  # why requests got 400
        self.unscripted: list[str] = []  # what was asked, by requests that there was no turn for
        self.base_url = ""
        self._queue: deque[Scripted] = deque()
        self._rules: list[tuple[Callable[[Request], bool], Scripted]] = []
        self._always: Scripted | None = None
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def script(self, *turns: Scripted) -> None:
        self._queue.extend(turns)

    def always(self, turn: Scripted) -> None:
        self._always = turn

    def when(self, predicate: Callable[[Request], bool], turn: Scripted) -> None:
        self._rules.append((predicate, turn))

    @property
    def unused(self) -> int:
        """Queued turns that nobody has asked for."""
        return len(self._queue)

    async def wait_for_requests(self, count: int, seconds: float = 5) -> None:
        deadline = time.monotonic() + seconds
        while len(self.requests) < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(self.requests)} of {count} requests came")
            await asyncio.sleep(0.005)

    # ---- life

    def __enter__(self) -> "OpenAIServer":
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._connected, "127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    def __exit__(self, *exc: object) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        if exc[0] is None:
            assert self.refused == []
            assert self.unscripted == []
            assert self.unused == 0

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await asyncio.sleep(0)  # lets the transports close

    # ---- HTTP

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        refusal = self._refusal(method, path, headers)
        if refusal is None and path == "/v1/models":
            models = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
            await _send(writer, 200, json.dumps(models).encode())
            return
        if refusal is not None:
            await _send(writer, refusal.status, refusal.body, refusal.headers)
            return
        try:
            parsed = json.loads(body.decode())
            check(parsed)
        except (ValueError, RefusedError) as problem:
            self.refused.append(str(problem))
            refusal = error(400, str(problem), kind="invalid_request_error")
            await _send(writer, 400, refusal.body, refusal.headers)
            return
        request = Request(parsed, headers)
        self.requests.append(request)
        gone = asyncio.ensure_future(_end_of(reader))
        answering = asyncio.ensure_future(self._reply(request, writer))
        try:
            await asyncio.wait({gone, answering}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                request.disconnected_at = time.monotonic()
                request.disconnected.set()
                answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)
            if not answering.cancelled() and isinstance(answering.exception(), ConnectionError):
                request.disconnected_at = time.monotonic()
                request.disconnected.set()
        finally:
            gone.cancel()
            answering.cancel()

    def _refusal(self, method: str, path: str, headers: dict[str, str]) -> Failure | None:
        given = headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not given:
            return error(401, "You didn't provide an API key.", kind="invalid_request_error")
        if given != self.api_key:
            return error(
                401,
                f"Incorrect API key provided: {given}. You can find your API key at "
                "https://platform.openai.com/account/api-keys.",
                kind="invalid_request_error",
                code="invalid_api_key",
            )
        if (method, path) not in (("POST", "/v1/chat/completions"), ("GET", "/v1/models")):
            return error(404, f"Invalid URL ({method} {path})", kind="invalid_request_error")
        return None

    def _next(self, request: Request) -> Reply:
        rule = next((turn for holds, turn in self._rules if holds(request)), None)
        turn = rule or (self._queue.popleft() if self._queue else self._always)
        if turn is None:
            self.unscripted.append(str(request.messages[-1].get("content"))[:200])
            return error(500, f"The script has no turn for request {len(self.requests)}.")
        return turn(request) if callable(turn) else turn

    async def _reply(self, request: Request, writer: asyncio.StreamWriter) -> None:
        turn = self._next(request)
        if isinstance(turn, Failure):
            await _send(writer, turn.status, turn.body, turn.headers)
        elif isinstance(turn, Break):
            await _break(turn.kind, writer)
            return
        elif request.stream:
            await _stream(request, turn, writer)
        else:
            await _whole(request, turn, writer)
        request.answered.set()


async def _end_of(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(4096):
            pass
    except ConnectionError:
        return


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Error')}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _send(
    writer: asyncio.StreamWriter, status: int, body: bytes, headers: Any = None
) -> None:
    headers = headers or {"content-type": "application/json"}
    writer.write(_head(status, {**headers, "content-length": str(len(body))}) + body)
    await writer.drain()


async def _break(kind: str, writer: asyncio.StreamWriter) -> None:
    if kind == "hang":
        await asyncio.Event().wait()
    if kind == "reset":
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    writer.close()


async def _wait(step: Pause | Until) -> None:
    if isinstance(step, Pause):
        await asyncio.sleep(step.seconds)
        return
    while not step.event.is_set():  # noqa: ASYNC110  the event belongs to another thread
        await asyncio.sleep(0.002)


async def _whole(request: Request, turn: Turn, writer: asyncio.StreamWriter) -> None:
    choice = {"index": 0, "message": turn.message(), "finish_reason": turn.finish}
    body: Json = {**_frame(request, "chat.completion"), "choices": [choice]}
    if turn.usage.told != "absent":
        body["usage"] = turn.usage.body()
    sent = json.dumps(body).encode()
    for step in turn.steps:
        if isinstance(step, Pause | Until):
            await _wait(step)
        elif isinstance(step, Break):
            headers = {"content-type": "application/json", "content-length": str(len(sent))}
            writer.write(_head(200, headers) + sent[: len(sent) // 2])
            await writer.drain()
            await _break(step.kind, writer)
            return
        else:
            request.sent += 1
    await _send(writer, 200, sent)


def _frame(request: Request, kind: str) -> Json:
    return {
        "id": "chatcmpl-scripted",
        "object": kind,
        "created": 1_700_000_000,
        "model": request.body["model"],
    }


async def _stream(request: Request, turn: Turn, writer: asyncio.StreamWriter) -> None:
    headers = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"}
    writer.write(_head(200, headers))
    await writer.drain()
    async for step in _steps(request, turn):
        if isinstance(step, Pause | Until):
            await _wait(step)
            continue
        if isinstance(step, Break):
            await _break(step.kind, writer)
            return
        data = step.body if isinstance(step, Raw | Forever) else event(step.body)
        while True:
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await writer.drain()
            request.sent += 1
            if not isinstance(step, Forever):
                break
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _steps(request: Request, turn: Turn) -> AsyncIterator[Step]:
    """The whole stream: role chunk, the turn's own steps, finish, usage, `[DONE]`."""
    frame = _frame(request, "chat.completion.chunk")
    asked = (request.body.get("stream_options") or {}).get("include_usage")
    shares = _shares(turn)

    def chunk(delta: Json, finish: str | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        usage = {"usage": next(shares)} if turn.usage.told in ("each", "cumulative") else {}
        return Chunk({**frame, "choices": [choice], **usage})

    deltas = any(isinstance(step, Delta) for step in turn.steps)
    if deltas or turn.finish is not None:
        yield Chunk(
            {
                **frame,
                "choices": [
                    {
                        "index": 0,
                        "delta": {"role": "assistant", "content": ""},
                        "finish_reason": None,
                    }
                ],
            }
        )
    for step in turn.steps:
        yield chunk(step.body) if isinstance(step, Delta) else step
    if turn.finish is not None:
        yield chunk({}, turn.finish)
    if turn.usage.told == "always" or (turn.usage.told == "last" and asked):
        yield Chunk({**frame, "choices": [], "usage": turn.usage.body()})
    if turn.done:
        yield Raw(b"data: [DONE]\n\n")


def _shares(turn: Turn) -> Iterator[Json]:
    """The usage that each chunk carries: shares that add up, or running totals."""
    usage: Usage = turn.usage
    count = sum(isinstance(step, Delta) for step in turn.steps) + (turn.finish is not None)
    told = 0
    for at in range(1, count + 1):
        total = usage.completion * at // count
        if usage.told == "each":
            yield usage.body(usage.prompt if at == 1 else 0, total - told)
        else:
            yield usage.body(usage.prompt, total)
        told = total
