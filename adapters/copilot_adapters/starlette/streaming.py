"""A run as an event stream over HTTP: the run's bytes, heartbeats, and nothing in between."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import structlog

from copilot_contracts import sse
from copilot_core.event_log import ReaderTooSlow

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from copilot_core.event_log import Subscription
    from copilot_core.runs import Run

HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
_FIRST = sse.comment("stream")

_log = structlog.get_logger(__name__)


class EventStream:
    """An ASGI response: the run's events after `after`, until the terminal one.

    `heartbeat`: after so many seconds of silence a heartbeat is sent. `stalled`: a reader that
    takes nothing for so many seconds is let go. However the reader goes, the run goes on; whether
    somebody still reads is the run's own business.
    """

    def __init__(self, run: Run, *, after: int, heartbeat: float, stalled: float) -> None:
        self.run = run
        self.after = after
        self.heartbeat = heartbeat
        self.stalled = stalled
        self._sending_since: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        subscription = self.run.subscribe(self.after)
        if scope["method"] == "HEAD":  # who only asks is no reader, for whom a turn goes on
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            await send({"type": "http.response.body", "body": b""})
            return
        async with subscription:
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            # At once, so that proxies and browsers see a stream before the model's first word.
            await send({"type": "http.response.body", "body": _FIRST, "more_body": True})
            writer = asyncio.create_task(self._write(subscription, send))
            leaving = asyncio.create_task(left(receive))
            try:
                await self._until_end(writer, leaving)
            finally:
                writer.cancel()
                leaving.cancel()
                await asyncio.gather(writer, leaving, return_exceptions=True)

    async def _write(self, subscription: Subscription, send: Send) -> None:
        clock = asyncio.get_running_loop().time
        more = True
        while more:
            try:
                data = await subscription.next(self.heartbeat)
                body = self.run.heartbeat if data is None else data
            except (StopAsyncIteration, ReaderTooSlow):
                body, more = b"", False
            self._sending_since = clock()
            await send({"type": "http.response.body", "body": body, "more_body": more})
            self._sending_since = None

    async def _until_end(self, writer: asyncio.Task[None], leaving: asyncio.Task[None]) -> None:
        """Returns when all is written, or the reader has left or takes nothing any more."""
        clock = asyncio.get_running_loop().time
        while True:
            done, _ = await asyncio.wait(
                (writer, leaving), timeout=self.stalled, return_when=asyncio.FIRST_COMPLETED
            )
            if done:
                if writer in done:
                    with contextlib.suppress(OSError):  # how some servers say that it has left
                        writer.result()
                return
            if self._sending_since is not None and clock() - self._sending_since >= self.stalled:
                _log.warning("reader takes nothing", seconds=self.stalled)
                return


async def left(receive: Receive) -> None:
    """Returns when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
