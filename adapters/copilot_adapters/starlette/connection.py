"""uvicorn's connections, bounded: what one client can make the server hold, and for how long.

uvicorn itself collects a request's head, its chunk extensions and its trailers without an end,
waits for the rest of a request for ever, and accepts connections until no file can be opened any
more, which asyncio then logs thousands of times a second.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import structlog
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

#: Bytes of a request besides its body; more than what one read brings are never kept.
MAX_AROUND_BODY = 64 * 1024

_log = structlog.get_logger(__name__)


def most_connections() -> int:
    """A third of the files that this process may open: a turn has some besides its reader's."""
    if sys.platform == "win32":
        return 1000
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 10_000 if files == resource.RLIM_INFINITY else min(10_000, files // 3)


class BoundedConnection(HttpToolsProtocol):
    """An HTTP/1.1 connection whose requests are small around their body and come in time."""

    #: Seconds for a whole request, counted from when it may come; answers may take longer.
    request_seconds = 60.0
    #: Who comes when so many are open is sent away at once.
    most = most_connections()

    _around = 0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(b"503 Service Unavailable")
        else:
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._around += len(data)
        super().data_received(data)
        if self._around > MAX_AROUND_BODY and not self.transport.is_closing():
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._around = 0
        if self._answered:
            self._expect_request()

    def on_body(self, body: bytes) -> None:
        self._around -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if not self._answered:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._answered or self.cycle.more_body:
            self._expect_request()

    def shutdown(self) -> None:
        """The server ends: a request that has not come wholly has no answer to wait for."""
        if not self._answered and self.cycle.more_body and not self.cycle.response_started:
            self._refuse(b"503 Service Unavailable")
        else:
            super().shutdown()

    @property
    def _answered(self) -> bool:
        """No request waits for its answer, or for the end of it."""
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]  # None before the first request

    def _expect_request(self) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self._late = self.loop.call_later(
                self.request_seconds, self._refuse, b"408 Request Timeout"
            )

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _refuse(self, status: bytes) -> None:
        """Close; with an answer, unless another one has begun."""
        _log.debug("connection closed", why=status.decode())
        if self._answered or not self.cycle.response_started:
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            )
        self.transport.close()
