"""What went wrong between us and a model, in the words of the `error` event."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langchain_core import exceptions as lc

from copilot_core.events import TurnFailed

if TYPE_CHECKING:
    from copilot_core.events import TurnErrorCode

    _Row = tuple[type[Exception], TurnErrorCode, str, bool]

# How servers that don't classify it say that the conversation is too long.
_TOO_LONG = re.compile(r"context.{0,40}(?:exceed|length|size|window)|exceed.{0,60}context", re.I)

# The first class that fits decides. The texts are ours: a provider's own may hold the key.
_KINDS: tuple[_Row, ...] = (
    (
        lc.ContextOverflowError,
        "context_window_exceeded",
        "The conversation is too long for this model. Start a new session or choose a model "
        "with a larger context window.",
        False,
    ),
    (
        lc.ModelAuthenticationError,
        "llm_unauthorized",
        "The model's server refused the key. Check the API key in the model's configuration.",
        False,
    ),
    (
        lc.ModelPermissionDeniedError,
        "llm_unauthorized",
        "The model's server doesn't allow this key to use the model. Check the key's rights.",
        False,
    ),
    (
        lc.ModelRateLimitError,
        "llm_rate_limited",
        "The model's server asks to slow down. Try again in a moment.",
        True,
    ),
    (
        lc.ModelNotFoundError,
        "llm_unavailable",
        "The model's server doesn't know this model. Check its name and the base URL.",
        False,
    ),
    (
        lc.ModelTimeoutError,
        "llm_unavailable",
        "The model did not answer in time. Try again.",
        True,
    ),
    (
        lc.ModelInvalidRequestError,
        "llm_unavailable",
        "The model's server refused the request as invalid.",
        False,
    ),
    (
        lc.ModelConnectionError,
        "llm_unavailable",
        "The model's server can't be reached. Check that it runs, and the base URL.",
        True,
    ),
    (lc.ModelError, "llm_unavailable", "The model's server failed. Try again.", True),
    (
        TimeoutError,
        "llm_unavailable",
        "The model fell silent in the middle of its answer. Try again.",
        True,
    ),
)


NO_ANSWER = TurnFailed(
    "llm_unavailable",
    "The model's server answered with something that is no answer. Try again, and check the base "
    "URL.",
    True,
)


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
    if isinstance(error, lc.ModelInvalidRequestError) and _TOO_LONG.search(str(error)):
        return _failed(_KINDS[0])
    transport = _is_transport(error)
    if streaming and transport and not isinstance(error, TimeoutError):
        return TurnFailed(
            "upstream_disconnected",
            "The connection to the model broke in the middle of its answer. Try again.",
            True,
        )
    for row in _KINDS:
        if isinstance(error, row[0]):
            return _failed(row)
    if transport:
        return TurnFailed("llm_unavailable", "The model's server can't be reached.", True)
    # Whatever else a model's client raises, it raises about what it was answered.
    return NO_ANSWER


def _failed(row: _Row) -> TurnFailed:
    return TurnFailed(*row[1:])


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
