"""Every HTTP error as RFC 9457 problem+json, with a code for programs and the request's id."""

from __future__ import annotations

import http
import math
import secrets
from typing import TYPE_CHECKING

import orjson
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from copilot_core.database import StorageError
from copilot_core.errors import ChatError
from copilot_core.tracebacks import outline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    #: How a surface says an error to whom `scope` comes from.
    Respond = Callable[["ProblemError", Scope], Response]

MEDIA_TYPE = "application/problem+json"
TYPE = "urn:copilot-contracts:problem:"

#: Code → status and title. The codes of an `error` event are answered with `stream: false`.
KINDS: dict[str, tuple[int, str]] = {
    "unauthorized": (401, "Not logged in"),
    "project_not_found": (404, "Project not found"),
    "project_not_opened": (403, "Project not opened"),
    "session_not_found": (404, "Session not found"),
    "session_busy": (409, "Session busy"),
    "llm_not_configured": (400, "No model configured"),
    "invalid_request": (422, "Invalid request"),
    "body_too_large": (413, "Body too large"),
    "resync_required": (410, "Resync required"),
    "version_conflict": (409, "Version conflict"),
    "llm_unauthorized": (502, "Model refused the key"),
    "llm_rate_limited": (502, "Model rate limit"),
    "llm_unavailable": (502, "Model unavailable"),
    "upstream_disconnected": (502, "Model disconnected"),
    "context_window_exceeded": (502, "Context window exceeded"),
    "limit_reached": (500, "Tool step limit reached"),
    "project_closed": (500, "Project closed"),
    "contract_violation": (500, "Contract violation"),
    "internal": (500, "Internal error"),
}

_log = structlog.get_logger(__name__)


class ProblemError(Exception):
    """An HTTP error with a code of the problem contract. `detail` is for people, and safe."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int | None = None,
        title: str | None = None,
        headers: Mapping[str, str] | None = None,
        session_id: str | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(detail)
        #: A key of `KINDS`.
        self.code = code
        #: One or two sentences.
        self.detail = detail
        #: The HTTP status; the code's own unless given.
        self.status = status or KINDS[code][0]
        #: The kind of problem; the code's own, or the status phrase where the status is given.
        self.title = title or (http.HTTPStatus(status).phrase if status else KINDS[code][1])
        #: Additional headers of the answer.
        self.headers = dict(headers or {})
        #: What the contract knows besides, where it was given.
        self.more = {
            key: value
            for key, value in (("session_id", session_id), ("retryable", retryable))
            if value is not None
        }


def request_id(scope: Scope) -> str:
    """The request's id; made on first use, then the same for the whole request."""
    state = scope.setdefault("state", {})
    if "request_id" not in state:
        state["request_id"] = secrets.token_hex(6)
    made: str = state["request_id"]
    return made


def problem_response(problem: ProblemError, scope: Scope) -> Response:
    """The answer: the `Problem` contract, never cached."""
    body = {
        "type": TYPE + problem.code,
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
        "request_id": request_id(scope),
        "message": problem.detail,
        **problem.more,
    }
    headers = {"Cache-Control": "no-store", **problem.headers}
    return Response(orjson.dumps(body), problem.status, headers, MEDIA_TYPE)


class ProblemBoundary:
    """ASGI middleware: whatever the app inside raises is answered as a problem, or as `respond`
    says it. Of several around each other, the innermost answers.

    Unexpected exceptions are logged by their types and frames, and answered without them. Once
    the answer has begun it can't be changed: the exception is logged and the connection ends.
    """

    def __init__(self, app: ASGIApp, respond: Respond = problem_response) -> None:
        self.app = app
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = request_id(scope)
        outermost = scope["state"].setdefault("problem_boundary", self) is self
        started = False

        async def sender(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if outermost:
                    named = (b"x-request-id", request.encode())
                    message["headers"] = [*message.get("headers", ()), named]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request):
            try:
                await self.app(scope, receive, sender)
            except ClientDisconnect:
                return
            except Exception as error:
                problem = _problem(error)
                if problem is None:
                    # Not `exception`: in an app that hasn't configured structlog that shows
                    # every frame's variables, the caller's bearer among them.
                    _log.error("request failed", method=scope["method"], where=outline(error))
                    problem = ProblemError(
                        "internal", f"The server failed. Its log tells more about {request}."
                    )
                if started:
                    raise
                await self._respond(problem, scope)(scope, receive, sender)


async def http_exception(request: Request, error: Exception) -> Response:
    """A handler for Starlette's own HTTPException, which else becomes plain text."""
    problem = _problem(error)
    assert problem is not None
    return problem_response(problem, request.scope)


def _problem(error: Exception) -> ProblemError | None:
    """What an exception means to the client; None: nothing was foreseen."""
    match error:
        case ProblemError():
            return error
        case ChatError():
            return _chat_problem(error)
        case HTTPException():
            phrase = http.HTTPStatus(error.status_code).phrase
            detail = error.detail if error.detail != phrase else f"{phrase}."
            code = "internal" if error.status_code >= 500 else "invalid_request"
            return ProblemError(code, detail, status=error.status_code, headers=error.headers)
    return None


def _chat_problem(error: ChatError) -> ProblemError:
    headers: dict[str, str] = {}
    retry_after = error.extra.get("retry_after")
    if retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(retry_after)))
    if error.code == "unauthorized":
        headers["WWW-Authenticate"] = "Bearer"
    code = error.code if error.code in KINDS else "internal"
    return ProblemError(
        code,
        error.message,
        status=503 if isinstance(error, StorageError) else None,
        headers=headers,
        session_id=error.extra.get("session_id"),
    )
