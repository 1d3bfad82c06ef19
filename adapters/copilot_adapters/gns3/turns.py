"""One user at a time for each console, in the whole process."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Key: TypeAlias = tuple[str, int]

# A lock in memory: it holds for this process, over all its threads and event loops, and a key
# is here only while somebody has or waits for its turn.
_guard = threading.Lock()
_queues: dict[Key, deque[Future[None]]] = {}


@contextlib.asynccontextmanager
async def turn(key: Key) -> AsyncIterator[None]:
    """Wait until nobody else is inside ``turn(key)``; first come, first served."""
    mine: Future[None] = Future()
    mine.set_running_or_notify_cancel()  # from here on only its turn can end it
    with _guard:
        queue = _queues.setdefault(key, deque())
        queue.append(mine)
        if queue[0] is mine:
            mine.set_result(None)
    try:
        await asyncio.wrap_future(mine)
        yield
    finally:
        with _guard:
            had_turn = queue[0] is mine
            queue.remove(mine)
            if not queue:
                del _queues[key]
            elif had_turn:
                queue[0].set_result(None)
