"""Structured logs on stderr: JSON, or plain lines on a terminal, and never a secret in them."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import structlog

from copilot_adapters.starlette.problems import request_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

REMOVED = "[secret removed]"

# What looks like a secret wherever it comes from: provider keys, bearer tokens, JWTs, URL logins.
_PATTERNS = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai)-[A-Za-z0-9_-]{8,}"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{8,}"
    r"|\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"
    r"|(?<=://)[^\s/@\"']+:[^\s/@\"']+(?=@)"
)


class SecretFilter:
    """Removes known secrets, and what looks like one, from text."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        # In JSON text a secret may stand escaped.
        forms = {form for one in known for form in (one, json.dumps(one)[1:-1])}
        self._known = sorted((form for form in forms if len(form) >= 6), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, REMOVED)
        return _PATTERNS.sub(REMOVED, text)


#: Libraries whose debug lines tell of every request and statement.
_CHATTY = (
    "aiosqlite",
    "filelock",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "openai",
    "uvicorn.error",
)


def configure(*, terminal: bool, level: str = "info", secrets: Iterable[str] = ()) -> None:
    """All logging of the process, uvicorn's included, to stderr through one secret filter."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        _without_empty,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    render: Any = (
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
        if terminal
        else structlog.processors.JSONRenderer()
    )
    # The traceback of the console renderer comes from the renderer, of JSON from format_exc_info.
    exceptions = [] if terminal else [structlog.processors.format_exc_info]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(allow=())],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *exceptions,
                _Rendered(render, SecretFilter(secrets)),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True
    # A line for every request of a client, or for every step of uvicorn, would hide our own.
    for name in _CHATTY:
        logging.getLogger(name).setLevel("WARNING")


def _without_empty(logger: Any, name: str, event: Any) -> Any:
    return {key: value for key, value in event.items() if value not in (None, "")}


class _Rendered:
    """A renderer, then the filter over the whole line: messages, values and tracebacks alike."""

    def __init__(self, render: Any, clean: SecretFilter) -> None:
        self._render = render
        self._clean = clean

    def __call__(self, logger: Any, name: str, event: Any) -> str:
        return self._clean(self._render(logger, name, event))


class RequestLog:
    """ASGI middleware: one line a request, when it has ended. Queries aren't logged."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._log = structlog.get_logger("copilot_adapters.requests")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status: int | None = None

        async def sender(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sender)
        finally:
            self._log.info(
                "request",
                request_id=request_id(scope),
                session_id=scope["state"].get("session_id"),
                method=scope["method"],
                # As it came: without the query, and percent-encoded where a terminal would obey it.
                path=scope.get("raw_path", b"").decode("latin-1"),
                status=status,
                ms=round((time.perf_counter() - began) * 1000, 1),
            )
