"""A run's events as bytes, numbered from 1, for any number of readers.

The log is bounded: past the bound the oldest bytes go, and a reader that still wanted them
is told so. Nothing is dropped in silence.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Self

from copilot_core.errors import ChatError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


#: Bytes after which a reader that is behind gets what it has so far.
MOST_AT_ONCE = 256 * 1024

#: Seconds: what comes within a millisecond goes in one send.
GATHER = 0.001


class ReaderTooSlow(Exception):
    """The log has moved past what this reader would have to read next."""


class EventLog:
    """Encoded events in order. Append and subscribe from one event loop only."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._blocks: deque[bytes] = deque()
        self._bytes = 0
        #: The number of the newest event; 0 before the first.
        self.last = 0
        #: No event will follow.
        self.closed = False
        self._readers: set[Subscription] = set()
        #: Called when the last reader has left.
        self.on_abandoned: Callable[[], None] | None = None

    @property
    def first(self) -> int:
        """The number of the oldest event that is still here."""
        return self.last - len(self._blocks) + 1

    @property
    def readers(self) -> int:
        """How many read now."""
        return len(self._readers)

    def append(self, block: bytes) -> None:
        """Add the next event and wake the readers."""
        self._blocks.append(block)
        self._bytes += len(block)
        self.last += 1
        while self._bytes > self._max_bytes and len(self._blocks) > 1:
            self._bytes -= len(self._blocks.popleft())
        self._wake()

    def close(self) -> None:
        """Say that the newest event was the last."""
        self.closed = True
        self._wake()

    def subscribe(self, after: int = 0) -> Subscription:
        """A reader that gets the events after number ``after``.

        Raises ChatError ``resync_required`` when the log doesn't hold the next one.
        """
        if not self.first - 1 <= after <= self.last:
            raise ChatError(
                "resync_required",
                "The stream can't be continued from there. Read the session's history instead.",
            )
        return Subscription(self, after)

    def since(self, after: int) -> list[bytes]:
        """The next events after number ``after``, not many more than ``MOST_AT_ONCE`` bytes.

        Raises ReaderTooSlow.
        """
        missing = self.last - after
        if missing > len(self._blocks):
            raise ReaderTooSlow
        found: list[bytes] = []
        size = 0
        for place in range(-missing, 0):
            block = self._blocks[place]
            found.append(block)
            size += len(block)
            if size >= MOST_AT_ONCE:
                break
        return found

    def join(self, reader: Subscription) -> None:
        """Count a reader in."""
        self._readers.add(reader)

    def leave(self, reader: Subscription) -> None:
        """Count a reader out."""
        self._readers.discard(reader)
        if not self._readers and self.on_abandoned is not None:
            self.on_abandoned()

    def _wake(self) -> None:
        for reader in self._readers:
            reader.wake()


class Subscription:
    """One reader of a log. Use it as a context manager; it counts while it is entered."""

    __slots__ = ("_deadline", "_gathering", "_log", "_position", "_timer", "_waiting")

    def __init__(self, log: EventLog, after: int) -> None:
        self._log = log
        self._position = after
        self._waiting: asyncio.Future[None] | None = None
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._gathering: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        self._log.join(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for timer in (self._timer, self._gathering):
            if timer is not None:
                timer.cancel()
        self._log.leave(self)

    def wake(self) -> None:
        """Something has changed in the log."""
        waiting = self._waiting
        if waiting is not None and not waiting.done() and self._gathering is None:
            self._gathering = waiting.get_loop().call_later(GATHER, self._release)

    def _release(self) -> None:
        if self._gathering is not None:
            self._gathering.cancel()
            self._gathering = None
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def next(self, seconds: float) -> bytes | None:
        """The events that wait for this reader, joined; None if none came for ``seconds``.

        Raises StopAsyncIteration after the last event, ReaderTooSlow when the log has moved on.
        """
        log = self._log
        if self._position == log.last and not log.closed:
            await self._change(seconds)
        if self._position == log.last:
            if log.closed:
                raise StopAsyncIteration
            return None
        blocks = log.since(self._position)
        self._position += len(blocks)
        return b"".join(blocks)

    async def _change(self, seconds: float) -> None:
        """Until the log changes or ``seconds`` have passed."""
        loop = asyncio.get_running_loop()
        self._deadline = loop.time() + seconds
        # One timer serves many waits: it looks at the deadline when it fires.
        if self._timer is None or self._timer.when() > self._deadline:
            self._arm(loop)
        self._waiting = loop.create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(self._deadline, self._due, loop)

    def _due(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        if self._waiting is None:
            return
        if loop.time() < self._deadline:
            self._arm(loop)
        else:
            self._release()
