"""An app behind a real uvicorn on loopback, for tests."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp

from copilot_adapters.starlette.connection import BoundedConnection
from copilot_adapters.starlette.server import listen


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(
    app: ASGIApp, http: type[asyncio.Protocol] = BoundedConnection, *, stalled: float = 60
) -> AsyncIterator[str]:
    """`async with serving(app) as url`"""
    listening = listen("127.0.0.1", 0, stalled=stalled)
    config = uvicorn.Config(
        app, http=http, ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        await asyncio.sleep(0.005)
        if running.done():
            running.result()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running
