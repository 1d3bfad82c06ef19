"""What the core refuses, as an exception that an edge turns into an answer."""

from __future__ import annotations

from typing import Any


class ChatError(Exception):
    """A request that can't be fulfilled.

    ``code`` is one of the problem codes of the surface (``session_not_found``, ``session_busy``,
    ``llm_not_configured`` ...); edges choose the status by it. ``message`` is a sentence for
    people, without secrets, paths or tracebacks. ``extra`` holds further facts, for example
    ``retry_after`` in seconds.
    """

    code: str
    message: str
    extra: dict[str, Any]

    def __init__(self, code: str, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.extra = extra
