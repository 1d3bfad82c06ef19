"""uvicorn, so that it ends: turns first, then their readers, then the process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING

import structlog
import uvicorn

from copilot_adapters.starlette.connection import BoundedConnection
from copilot_adapters.starlette.problems import ProblemError, problem_response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.applications import Starlette
    from starlette.types import Receive, Scope, Send

#: asyncio accepts as many in one go, before a connection of them can be sent away.
_BACKLOG = 256
#: Seconds for what still runs when everything is stored.
_LEAVING = 1.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_log = structlog.get_logger(__name__)


def listen(host: str, port: int, *, stalled: float = 60.0) -> socket.socket:
    """The listening socket; port 0 takes a free one. Raises OSError.

    A client that takes nothing of its answer for `stalled` seconds is cut off, on Linux: a
    connection that is closed is open until its last byte is taken, which may be never.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, as socket.create_server doesn't: asyncio turns Nagle's algorithm off
    # only where it sees TCP, and an event would else wait 40 ms for the one before it.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sys.platform == "linux":
            milliseconds = int(stalled * 1000)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def run(
    app: Starlette, listening: socket.socket, *, grace: float, started: Callable[[], None]
) -> bool:
    """Serves until SIGTERM or SIGINT; then no turn and no reader lives longer than `grace`.

    `started` is called when requests are answered. False: the app couldn't start; the log says
    why.
    """
    door = _Door(app)
    config = uvicorn.Config(
        door,
        http=BoundedConnection,
        backlog=_BACKLOG,
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )
    server = _Server(config, door, grace, started)
    try:
        asyncio.run(_serve(server, listening))
    except SystemExit:  # how uvicorn says that the lifespan failed
        return False
    return True


async def _serve(server: uvicorn.Server, listening: socket.socket) -> None:
    await server.serve(sockets=[listening])
    # All is stored and closed. A tool that doesn't hear that it is to stop would hold the loop.
    loop = asyncio.get_running_loop()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    left.add(loop.create_task(loop.shutdown_default_executor(), name="threads"))
    _, deaf = await asyncio.wait(left, timeout=_LEAVING)
    if deaf:
        _log.error("left running", tasks=sorted(task.get_name() for task in deaf))
        sys.stderr.flush()
        os._exit(0)


class _Door:
    """The app, until it is shut: then who still comes over an open connection gets a 503."""

    def __init__(self, app: Starlette) -> None:
        self.app = app
        self.shut = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.shut and scope["type"] == "http":
            problem = ProblemError("internal", "The server is shutting down.", status=503)
            await problem_response(problem, scope)(scope, receive, send)
            return
        await self.app(scope, receive, send)


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, door: _Door, grace: float, started: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._door = door
        self._grace = grace
        self._when_started = started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn, but the signal isn't raised again at the end: we end with code 0."""
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            _log.info("serving")
            self._when_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Nobody new; every turn gets its terminal event, which ends its readers; then uvicorn's
        own way out, with what is left of the grace."""
        _log.info("shutting down", seconds=self._grace)
        _end_anyway(self._grace)
        deadline = asyncio.get_running_loop().time() + self._grace
        for server in self.servers:
            server.close()
        self._door.shut = True
        try:
            async with asyncio.timeout(self._grace / 2):
                await self._door.app.state.agents.close_all()
        except TimeoutError:
            _log.error("turns didn't end in time", seconds=self._grace / 2)
        left = deadline - asyncio.get_running_loop().time()
        self.config.timeout_graceful_shutdown = max(1, int(left / 2))
        await super().shutdown(sockets)


def _end_anyway(seconds: float) -> None:
    """Whatever hangs, the process ends; with code 5, because that is a fault of ours."""

    def end() -> None:
        _log.error("the server didn't end in time", seconds=seconds)
        os._exit(5)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
