"""How a client reaches the server: over our own stdin and stdout, or over HTTP on loopback."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import (
    StreamableHTTPASGIApp,
    StreamableHTTPSessionManager,
)
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

PATH = "/mcp"
_LOOPBACK = "127.0.0.1"
#: Seconds for what still runs, once told to end.
_LEAVING = 3


def serve_stdio(server: Server[Any]) -> None:
    """Serves until stdin ends or a signal comes. What else is printed goes to stderr."""
    # Python's own answer to it would wait for the thread that reads stdin.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    try:
        asyncio.run(serve())
    except* BrokenPipeError:  # the client has gone without a word
        pass


def http_app(server: Server[Any], port: int) -> Starlette:
    """The server as an app that is reached at this port of loopback, and at no other name.

    A page in a browser can neither send to it nor, by a name of its own that leads to loopback
    (DNS rebinding), read from it. Nothing is kept between two requests, and nothing said unasked:
    GET, which would wait for that, is 405.
    """
    hosts = [f"{name}:{port}" for name in (_LOOPBACK, "localhost", "[::1]")]
    sessions = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
        ),
    )
    endpoint = StreamableHTTPASGIApp(sessions)
    return Starlette(
        routes=[Route(PATH, endpoint, methods=["POST"])], lifespan=lambda _: sessions.run()
    )


def listen(port: int) -> socket.socket:
    """A socket on loopback; port 0 takes a free one. Raises OSError."""
    # With the protocol named: only then asyncio turns Nagle's algorithm off.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_LOOPBACK, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def serve_http(server: Server[Any], listening: socket.socket) -> None:
    """Serves until SIGTERM or SIGINT; then exits with code 0."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # uvicorn takes its place, and raises the signal again when all is closed.
        signal.signal(number, lambda *_: sys.exit(0))
    config = uvicorn.Config(
        http_app(server, listening.getsockname()[1]),
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_LEAVING,
    )
    uvicorn.Server(config).run(sockets=[listening])
