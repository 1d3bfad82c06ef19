"""A served chat API over a scripted model: JWT logins, two projects, tools that a test gives."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import jwt
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from copilot_adapters.starlette.endpoint import ChatSettings
from copilot_adapters.starlette.identity import JwtAuthenticator
from copilot_adapters.starlette.llm import NoLlm, OneLlm
from copilot_adapters.starlette.routes import SURFACE, chat_routes
from copilot_contracts import Gate, Registry, sse
from copilot_core.llm.config import LlmConfig
from copilot_core.ports import Identity, Project
from copilot_core.projects import ProjectAgentManager
from copilot_core.settings import CoreSettings
from copilot_core.tools.base import Tool
from openai_server import OpenAIServer
from serving import serving

SECRET = b"an HS256 secret of 32 bytes, ok?"
SURFACE_CONTRACTS = Registry.bundled().surface(SURFACE)
PREFIX = "/v3/projects/p1/chat"
JSON = {"content-type": "application/json"}


@dataclass
class Gates:
    """Projects p1 (opened) and p2 (closed); everybody may see them."""

    folder: Path

    async def project(self, project_id: str, identity: Identity) -> Project | None:
        status = {"p1": "opened", "p2": "closed"}.get(project_id)
        return status and Project(project_id, status, self.folder / project_id)  # type: ignore[return-value]  # "" isn't among them


def user(name: str) -> dict[str, str]:
    token = jwt.encode({"sub": name}, SECRET, algorithm="HS256")
    return {"authorization": f"Bearer {token}"}


Edge = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]
Mounted = Callable[[list[BaseRoute]], ASGIApp]


@asynccontextmanager
async def chat_edge(
    folder: Path,
    openai_server: OpenAIServer,
    *,
    configured: bool = True,
    mounted: Mounted = lambda routes: Starlette(routes=routes),
    core: CoreSettings | None = None,
    settings: ChatSettings | None = None,
    tools: Sequence[Tool] = (),
    agents: ProjectAgentManager | None = None,
    **llm: Any,
) -> AsyncIterator[httpx.AsyncClient]:
    """`async with chat_edge(tmp_path, openai_server) as client`: ann's client of it.

    `core` and `tools` are for the agents that it makes unless `agents` are given; `llm` for its
    LlmConfig.
    """
    config = LlmConfig(
        model="scripted",
        base_url=openai_server.base_url,
        api_key=SecretStr(openai_server.api_key),
        **llm,
    )
    agents = agents or ProjectAgentManager(tools, gate=Gate("enforce"), settings=core)
    settings = settings or ChatSettings()
    routes = chat_routes(
        agents,
        authenticator=JwtAuthenticator(SECRET),
        projects=Gates(folder),
        llm=OneLlm(config) if configured else NoLlm(),
        gate=Gate("enforce"),
        settings=settings,
    )
    async with (
        serving(mounted(routes), stalled=settings.stalled) as url,
        httpx.AsyncClient(base_url=url, headers=user("ann"), timeout=20) as client,
    ):
        try:
            yield client
        finally:
            await agents.close_all()


Event = tuple[str, dict[str, Any]]


def decoded(content: bytes) -> list[Event]:
    """(id, data) of each event."""
    return [(event.id, json.loads(event.data)) for event in sse.Decoder().feed(content)]


async def events(response: httpx.Response) -> AsyncIterator[Event]:
    """(id, data) of each event, as it arrives."""
    decoder = sse.Decoder()
    async for piece in response.aiter_raw():
        for event in decoder.feed(piece):
            yield event.id, json.loads(event.data)


def problem(answer: httpx.Response) -> dict[str, Any]:
    """The body of an error answer, which keeps its contract."""
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert SURFACE_CONTRACTS.contract("model", "Problem").violation(body) is None
    assert body["status"] == answer.status_code
    assert body["message"] == body["detail"]
    assert body["request_id"] == answer.headers["x-request-id"]
    return body


async def until_idle(client: httpx.AsyncClient, session_id: str) -> None:
    """Returns when no turn of the session runs."""
    for _ in range(500):
        answer = await client.get(f"{PREFIX}/sessions/{session_id}/stream")
        if answer.status_code == 204:
            return
        await asyncio.sleep(0.02)
    raise TimeoutError
