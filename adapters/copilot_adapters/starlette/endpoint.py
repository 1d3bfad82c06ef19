"""One route of the chat API: reads a request, asks whether it may go on, sends the answer.

The order is the same everywhere: who is it, may they see the project, is it open, what do they
ask, whose session is it. Nothing happens before all of that is answered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
from starlette.requests import HTTPConnection
from starlette.responses import Response

from copilot_adapters.starlette.problems import ProblemError
from copilot_adapters.starlette.reading import idempotency_key, json_body, query
from copilot_adapters.starlette.streaming import EventStream
from copilot_core.turn_keys import new_session_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from copilot_adapters.starlette.identity import Authenticator
    from copilot_contracts import Contract, Gate
    from copilot_core.ports import Identity, LlmConfigSource, Project, ProjectGate
    from copilot_core.projects import ProjectAgentManager
    from copilot_core.service import AgentService

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What a server may choose."""

    #: Seconds of silence in a stream before a heartbeat.
    heartbeat: float = 15.0
    #: Bytes of a request's body.
    body_limit: int = 1 << 20
    #: Seconds after which a reader that takes nothing is let go.
    stalled: float = 60.0


@dataclass(frozen=True, slots=True)
class Chat:
    """What all routes share, and what they ask before anything happens."""

    agents: ProjectAgentManager
    authenticator: Authenticator
    projects: ProjectGate
    llm: LlmConfigSource
    gate: Gate
    settings: ChatSettings

    async def identity(self, scope: Scope) -> Identity:
        """Who asks. Raises ProblemError, 401."""
        identity = await self.authenticator.authenticate(HTTPConnection(scope))
        if identity is None:
            raise ProblemError(
                "unauthorized",
                "The request carries no valid token. Send one as `Authorization: Bearer TOKEN`.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return identity

    async def project(self, project_id: str, identity: Identity) -> Project:
        """The opened project of an id. Raises ProblemError, 404 or 403."""
        found = None
        if _ID.fullmatch(project_id):
            found = await self.projects.project(project_id, identity)
        if found is None:
            raise ProblemError("project_not_found", "There is no such project.")
        if found.status != "opened":
            raise ProblemError(
                "project_not_opened", f"The project is {found.status}; open it to chat."
            )
        return found

    async def agent(self, project: Project) -> AgentService:
        """The project's agent. Raises StorageError if its file can't be opened."""
        return await self.agents.get_agent(project.project_id, project.path)


@dataclass(frozen=True, slots=True)
class Call:
    """One request that may go on: who asks what of which agent."""

    chat: Chat
    scope: Scope
    receive: Receive
    identity: Identity
    agent: AgentService
    #: The path's, the body's, or a new one's; empty where the request isn't about one session.
    session_id: str
    #: What the request's contract accepts, or None.
    body: Any
    query: Any

    @property
    def user_id(self) -> str:
        """The id of the user who asks."""
        return self.identity.user_id


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One route: reads the request, calls the handler, checks and sends its answer."""

    chat: Chat
    handler: Callable[[Call], Awaitable[Any]]
    body: Contract | None
    query: Contract | None
    answer: Contract | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises ProblemError and ChatError, which become problem answers."""
        identity = await self.chat.identity(scope)
        project = await self.chat.project(scope["path_params"]["project_id"], identity)
        named = scope["path_params"].get("session_id", "")
        if named and not _ID.fullmatch(named):
            raise ProblemError("session_not_found", "There is no such session.")
        limit = self.chat.settings.body_limit
        body = await json_body(scope, receive, self.body, limit) if self.body else None
        call = Call(
            chat=self.chat,
            scope=scope,
            receive=receive,
            identity=identity,
            body=body,
            query=query(scope, self.query) if self.query else None,
            agent=await self.chat.agent(project),
            session_id=named or _session_id(scope, body, identity),
        )
        scope["state"]["session_id"] = call.session_id
        with structlog.contextvars.bound_contextvars(session_id=call.session_id):
            response = self._response(await self.handler(call))
            await response(scope, receive, send)

    def _response(self, answer: Any) -> ASGIApp:
        if isinstance(answer, EventStream):
            return answer
        if answer is None:
            return Response(status_code=204)
        assert self.answer is not None  # the catalogue gives every other 200 a schema
        return Response(
            self.chat.gate.encode(self.answer, answer),
            headers={"Cache-Control": "no-store"},
            media_type="application/json",
        )


def _session_id(scope: Scope, body: Any, identity: Identity) -> str:
    """The session that a body names, or else the id of a new one: logs know it from the start."""
    if body is None:
        return ""
    return body.get("session_id") or new_session_id(identity.user_id, idempotency_key(scope))
