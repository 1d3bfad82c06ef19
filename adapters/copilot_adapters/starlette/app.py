"""The app that `serve` runs: the chat API, the page and health, over a lab and a model."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from copilot_adapters.embedded_lab import EMBEDDED_PROJECT_ID, EmbeddedLab
from copilot_adapters.gns3 import Gns3Lab
from copilot_adapters.starlette.endpoint import ChatSettings
from copilot_adapters.starlette.health import data_check, health_routes, lab_check
from copilot_adapters.starlette.llm import NoLlm
from copilot_adapters.starlette.logs import RequestLog
from copilot_adapters.starlette.loopback import LocalOnly, LocalUser
from copilot_adapters.starlette.page import page_routes
from copilot_adapters.starlette.problems import ProblemBoundary, http_exception
from copilot_adapters.starlette.projects import LabProjects
from copilot_adapters.starlette.routes import chat_routes
from copilot_contracts import Gate, Registry
from copilot_core.dialects.gns3_chat import SURFACE
from copilot_core.llm.config import LAB_AUTOMATION
from copilot_core.projects import ProjectAgentManager
from copilot_core.prompt import SYSTEM_PROMPT
from copilot_core.settings import CoreSettings
from copilot_core.tools.execution import offered_tools
from copilot_core.tools.lab import lab_tools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from copilot_adapters.starlette.identity import JwtAuthenticator
    from copilot_adapters.starlette.llm import Prefix, ServerLlm
    from copilot_contracts import Policy
    from copilot_core.tools.base import Tool


@dataclass(frozen=True, slots=True)
class AppSettings:
    """What `create_app` needs to know."""

    #: Where projects' files lie; made if it isn't there.
    data: Path
    #: The model for everybody.
    llm: ServerLlm = field(default_factory=NoLlm)
    #: None: the one local user, on loopback only.
    authenticator: JwtAuthenticator | None = None
    #: What happens to an answer or event of ours that breaks its contract.
    validation: Policy = "report"
    chat: ChatSettings = field(default_factory=ChatSettings)
    #: Seconds that a turn goes on after its last reader has left; None: to its end.
    disconnect_grace: float | None = 10.0
    #: Seconds that a turn may take to stop.
    stop_seconds: float = 5.0


def create_app(settings: AppSettings) -> Starlette:
    """The whole server as an ASGI app. The lab and the model start and end with its lifespan."""
    local = settings.authenticator is None
    app = Starlette(
        middleware=[
            Middleware(RequestLog),
            Middleware(ProblemBoundary),
            *([Middleware(LocalOnly)] if local else []),
        ],
        exception_handlers={HTTPException: http_exception},
        lifespan=lambda app: _lifespan(app, settings),
    )
    app.router.redirect_slashes = False
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette, settings: AppSettings) -> AsyncIterator[None]:
    settings.data.mkdir(parents=True, exist_ok=True)
    async with contextlib.AsyncExitStack() as stack:
        lab = Gns3Lab((await stack.enter_async_context(EmbeddedLab())).url)
        stack.push_async_callback(lab.close)
        tools = lab_tools(lab)
        stack.push_async_callback(settings.llm.stop)
        await settings.llm.start(_prefix(tools))
        gate = Gate(settings.validation)
        agents = ProjectAgentManager(
            tools,
            gate=gate,
            settings=CoreSettings(
                grace=settings.disconnect_grace, stop_seconds=settings.stop_seconds
            ),
        )
        stack.push_async_callback(agents.close_all)
        #: For a server that ends the turns before it waits for their readers.
        app.state.agents = agents
        app.router.routes[:] = [
            *chat_routes(
                agents,
                authenticator=settings.authenticator or LocalUser(),
                projects=LabProjects(lab, settings.data),
                llm=settings.llm,
                gate=gate,
                settings=settings.chat,
            ),
            *health_routes(
                {
                    "data": data_check(settings.data),
                    "model": settings.llm.state,
                    "lab": lab_check(lab),
                }
            ),
            *page_routes(EMBEDDED_PROJECT_ID),
        ]
        yield


def _prefix(tools: Sequence[Tool]) -> Prefix:
    """What every conversation with the model begins with."""
    offered = offered_tools(tools, Registry.bundled().surface(SURFACE), LAB_AUTOMATION)
    return [{"role": "system", "content": SYSTEM_PROMPT}], offered
