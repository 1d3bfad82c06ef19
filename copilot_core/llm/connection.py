"""The HTTP client that models are asked with.

What a server sends is brought into OpenAI's form before the OpenAI client reads it, and is
bounded: that client collects a line that never ends, and the body of an error, without limit.
"""

from __future__ import annotations

import json
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from httpx2 import AsyncByteStream
from openai import DefaultAsyncHttpxClient

from copilot_contracts import sse
from copilot_core.llm.chunks import openai_chunk
from copilot_core.llm.failures import ENDLESS, NO_ANSWER, ModelFailure, told_failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from httpx2 import AsyncClient, Response

#: Bytes of one event, of a whole answer, and of an error.
MAX_EVENT = 16 << 20
MAX_BODY = 256 << 20
MAX_ERROR = 1 << 20

_DONE = b"data: [DONE]\n\n"
#: What is sent to a server, so that what it answers is what it says.
HEADERS = {"Accept-Encoding": "identity"}


@lru_cache(maxsize=1)
def http_client() -> AsyncClient:
    """The process's client: making one takes 50 ms."""
    return DefaultAsyncHttpxClient(event_hooks={"response": [_read_carefully]})


async def _read_carefully(response: Response) -> None:
    inner = response.stream
    assert isinstance(inner, AsyncByteStream)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in {"", "identity"}:
        # We asked for none: a few compressed bytes may be gigabytes.
        del response.headers["content-encoding"]
        response.stream = _Cut(inner, 0)
    elif response.is_success:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        silence = response.request.extensions["timeout"]["read"]
        response.stream = _Answer(inner, silence, whole=kind == "application/json")
    else:
        response.stream = _Cut(inner, MAX_ERROR)


class _Cut(AsyncByteStream):
    """The beginning of a body."""

    def __init__(self, inner: AsyncByteStream, size: int) -> None:
        self._inner = inner
        self._left = size

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._left <= 0:
            return
        async for piece in self._inner:
            yield piece[: self._left]
            self._left -= len(piece)
            if self._left <= 0:
                return

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Answer(AsyncByteStream):
    """The events of an answer as OpenAI's chunks. Raises ModelFailure, and TimeoutError.

    ``silence``: seconds without an event, though bytes may come. ``whole``: the body is one JSON
    document, of a server that doesn't stream.
    """

    def __init__(self, inner: AsyncByteStream, silence: float, *, whole: bool) -> None:
        self._inner = inner
        self._silence = silence
        self._whole = whole
        self._decoder = sse.Decoder(MAX_EVENT)
        self._left = MAX_BODY
        self._done = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._whole:
            yield _chunk(await self._document())
            return
        heard = time.monotonic()
        async for piece in self._inner:
            self._left -= len(piece)
            if self._left < 0:
                raise ModelFailure(ENDLESS)
            for chunk in self._chunks(piece):
                yield chunk
                heard = time.monotonic()
            if time.monotonic() - heard > self._silence:
                raise TimeoutError

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _document(self) -> str:
        body = bytearray()
        async for piece in self._inner:
            body += piece
            if len(body) > MAX_EVENT:
                raise ModelFailure(ENDLESS)
        return body.decode("utf-8", "replace")

    def _chunks(self, piece: bytes) -> Iterator[bytes]:
        """One by one: a failure leaves those before it."""
        if self._done:
            # The client reads a little on, so that the connection can be kept.
            yield b""
            return
        failure = None
        try:
            events = self._decoder.feed(piece)
        except sse.EventTooLargeError as error:
            events, failure = error.events, error
        for event in events:
            if event.data.startswith("[DONE]"):
                self._done = True
                yield _DONE
                return
            if event.data:
                yield _chunk(event.data, error=event.event == "error")
        if failure is not None:
            raise ModelFailure(ENDLESS) from failure


def _chunk(data: str, *, error: bool = False) -> bytes:
    """An event's data as an event of OpenAI's."""
    try:
        told: Any = json.loads(data)
        if error or _is_error(told):
            raise ModelFailure(told_failure(_error_of(told)))
        chunk = openai_chunk(told)
    except (ValueError, RecursionError) as wrong:
        raise ModelFailure(NO_ANSWER) from wrong
    return sse.encode(json.dumps(chunk).encode())


def _is_error(told: Any) -> bool:
    """In OpenAI's form, or in vLLM's older one."""
    return isinstance(told, dict) and (bool(told.get("error")) or told.get("object") == "error")


def _error_of(told: Any) -> Any:
    return told["error"] if isinstance(told, dict) and told.get("error") else told
