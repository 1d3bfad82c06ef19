"""What went wrong between us and a model, in the words of the `error` event."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from langchain_core import exceptions as lc

from copilot_core.events import TurnFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

# How servers that don't classify it say that the conversation is too long.
_TOO_LONG = re.compile(r"context.{0,40}(?:exceed|length|size|window)|exceed.{0,60}context", re.I)

# The texts are ours: a provider's own may hold the key.
_CONTEXT = TurnFailed(
    "context_window_exceeded",
    "The conversation is too long for this model. Start a new session or choose a model "
    "with a larger context window.",
    retryable=False,
)
_KEY = TurnFailed(
    "llm_unauthorized",
    "The model's server refused the key. Check the API key in the model's configuration.",
    retryable=False,
)
_RIGHTS = TurnFailed(
    "llm_unauthorized",
    "The model's server doesn't allow this key to use the model. Check the key's rights.",
    retryable=False,
)
_RATE = TurnFailed(
    "llm_rate_limited",
    "The model's server asks to slow down. Try again in a moment.",
    retryable=True,
)
_UNKNOWN_MODEL = TurnFailed(
    "llm_unavailable",
    "The model's server doesn't know this model. Check its name and the base URL.",
    retryable=False,
)
_LATE = TurnFailed(
    "llm_unavailable", "The model did not answer in time. Try again.", retryable=True
)
_SILENT = TurnFailed(
    "llm_unavailable",
    "The model fell silent in the middle of its answer. Try again.",
    retryable=True,
)
_INVALID = TurnFailed(
    "llm_unavailable", "The model's server refused the request as invalid.", retryable=False
)
_UNREACHABLE = TurnFailed(
    "llm_unavailable",
    "The model's server can't be reached. Check that it runs, and the base URL.",
    retryable=True,
)
_DISCONNECTED = TurnFailed(
    "upstream_disconnected",
    "The connection to the model broke in the middle of its answer. Try again.",
    retryable=True,
)
_FAILED = TurnFailed("llm_unavailable", "The model's server failed. Try again.", retryable=True)
ENDLESS = TurnFailed(
    "llm_unavailable", "The model did not come to an end, and was stopped.", retryable=True
)
NO_ANSWER = TurnFailed(
    "llm_unavailable",
    "The model's server answered with something that is no answer. Try again, and check the base "
    "URL.",
    retryable=True,
)

# The first class that fits decides.
_CLASSES: tuple[tuple[type[Exception], TurnFailed], ...] = (
    (lc.ContextOverflowError, _CONTEXT),
    (lc.ModelAuthenticationError, _KEY),
    (lc.ModelPermissionDeniedError, _RIGHTS),
    (lc.ModelRateLimitError, _RATE),
    (lc.ModelNotFoundError, _UNKNOWN_MODEL),
    (lc.ModelTimeoutError, _LATE),
    (lc.ModelInvalidRequestError, _INVALID),
    (lc.ModelConnectionError, _UNREACHABLE),
    (lc.ModelError, _FAILED),
    (TimeoutError, _LATE),
)
# What isn't among them is a failure of the server from 500, and below it a refusal.
_STATUSES = {401: _KEY, 403: _RIGHTS, 404: _UNKNOWN_MODEL, 408: _LATE, 429: _RATE, 504: _LATE}
# The `code` or `type` of an error that is told in words.
_WORDS = {
    "authentication_error": _KEY,
    "context_length_exceeded": _CONTEXT,
    "exceed_context_size_error": _CONTEXT,
    "invalid_api_key": _KEY,
    "invalid_request_error": _INVALID,
    "model_not_found": _UNKNOWN_MODEL,
    "permission_error": _RIGHTS,
    "rate_limit_error": _RATE,
    "rate_limit_exceeded": _RATE,
}
_LONGEST_WAIT = 86_400


class ModelFailure(Exception):
    """A model call that failed, as the event that says so."""

    def __init__(self, end: TurnFailed) -> None:
        super().__init__(end.message)
        self.end = end

    @property
    def cause(self) -> str:
        """The type of what the model call raised, for a log."""
        return type(self.__cause__ or self).__name__


def model_failure(error: Exception, *, streaming: bool) -> TurnFailed:
    """The event for an exception that a model call raised.

    ``streaming``: the model had begun to answer, so a broken transport means that it was cut
    off (``upstream_disconnected``) rather than out of reach (``llm_unavailable``).
    """
    end = _end(error, streaming)
    headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None or not end.retryable:
        return end
    return replace(end, retry_after=retry_after(headers))


def told_failure(told: Any) -> TurnFailed:
    """The event for an error that a server tells in place of an answer, or in its middle.

    ``told`` is the JSON of OpenAI's ``error``, or what a server has in its place.
    """
    facts = told if isinstance(told, dict) else {}
    named = (facts.get(key) for key in ("code", "status", "type"))
    end = next((known for name in named if (known := _known(name)) is not None), _FAILED)
    if end in (_FAILED, _INVALID) and _TOO_LONG.search(str(facts.get("message") or told)):
        return _CONTEXT
    return end


def retry_after(headers: Mapping[str, str]) -> int | None:
    """The ``Retry-After`` of a response (RFC 9110, 10.2.3) in whole seconds, at most a day.

    None if there is none, if it is none, and if the time has come already.
    """
    given = headers.get("retry-after", "").strip()[:64]
    if given.isascii() and given.isdigit():
        wait: float = int(given)
    else:
        try:
            at = parsedate_to_datetime(given)
            wait = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
        except (ValueError, OverflowError, IndexError, TypeError):
            return None
    return min(math.ceil(wait), _LONGEST_WAIT) if wait > 0 else None


def _end(error: Exception, streaming: bool) -> TurnFailed:
    if isinstance(error, lc.ModelInvalidRequestError) and _TOO_LONG.search(str(error)):
        return _CONTEXT
    if streaming and isinstance(error, (TimeoutError, lc.ModelTimeoutError)):
        return _SILENT
    transport = _is_transport(error)
    if streaming and transport:
        return _DISCONNECTED
    for kind, end in _CLASSES:
        if isinstance(error, kind):
            return end
    status = getattr(error, "status_code", None)
    if (known := _known(status)) is not None:
        return known
    # Whatever else a model's client raises, it raises about what it was answered.
    return _UNREACHABLE if transport and status is None else NO_ANSWER


def _known(name: Any) -> TurnFailed | None:
    """What an HTTP status or a word for an error means; None if it is neither."""
    if isinstance(name, str) and re.fullmatch("[1-5][0-9]{2}", name):
        name = int(name)
    if isinstance(name, str):
        return _WORDS.get(name)
    if isinstance(name, int) and 400 <= name < 600:
        return _STATUSES.get(name, _FAILED if name >= 500 else _INVALID)
    return None


def _is_transport(error: BaseException) -> bool:
    """A broken connection, however deep it is wrapped."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        if isinstance(at, (ConnectionError, lc.ModelConnectionError)):
            return True
        if type(at).__module__.partition(".")[0] in {"httpx", "httpx2", "httpcore", "httpcore2"}:
            return True
        at = at.__cause__ or at.__context__
    return False
