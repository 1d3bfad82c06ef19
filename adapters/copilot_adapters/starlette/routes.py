"""The chat API of a project as routes for any Starlette or FastAPI app.

Paths, methods and contracts come from the surface's catalogue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Mount, Route, Router

from copilot_adapters.starlette.endpoint import Chat, ChatSettings, Endpoint
from copilot_adapters.starlette.handlers import HANDLERS
from copilot_adapters.starlette.problems import ProblemBoundary, ProblemError
from copilot_contracts import Gate, Registry
from copilot_core.dialects.gns3_chat import SURFACE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from copilot_adapters.starlette.identity import Authenticator
    from copilot_core.ports import LlmConfigSource, ProjectGate
    from copilot_core.projects import ProjectAgentManager

PREFIX = "/v3/projects/{project_id}/chat"
#: Where the released GNS3 server has the same routes.
SECOND_PREFIX = "/v3/copilot/projects/{project_id}/chat"


def chat_routes(
    agents: ProjectAgentManager,
    *,
    authenticator: Authenticator,
    projects: ProjectGate,
    llm: LlmConfigSource,
    registry: Registry | None = None,
    gate: Gate | None = None,
    settings: ChatSettings | None = None,
) -> list[BaseRoute]:
    """The chat API, under both of its prefixes.

    ``Starlette(routes=chat_routes(...))``, or ``app.router.routes.extend(chat_routes(...))`` in a
    FastAPI app. The app calls ``agents.close_all`` when it ends. Answers are checked by ``gate``
    (by default a violation is reported, and the answer still sent).
    """
    chat = Chat(
        agents=agents,
        authenticator=authenticator,
        projects=projects,
        llm=llm,
        gate=gate or Gate("report"),
        settings=settings or ChatSettings(),
    )
    surface = (registry or Registry.bundled()).surface(SURFACE)
    paths: dict[str, dict[str, Endpoint]] = {}
    for name, route in surface.catalogue.routes.items():
        endpoint = Endpoint(
            chat=chat,
            handler=HANDLERS[name],
            body=surface.contract("request", name) if route.request else None,
            query=surface.contract("query", name) if route.query else None,
            answer=(
                surface.contract("response", f"{name}:200")
                if "200" in route.responses and route.responses["200"].schema
                else None
            ),
        )
        paths.setdefault(route.path.removeprefix(PREFIX), {})[route.method] = endpoint
    app = ProblemBoundary(
        Router(
            [Route(path, _Resource(methods)) for path, methods in paths.items()],
            redirect_slashes=False,
            default=_nowhere,
        )
    )
    return [Mount(PREFIX, app), Mount(SECOND_PREFIX, app)]


class _Resource:
    """All methods of one path."""

    def __init__(self, methods: Mapping[str, ASGIApp]) -> None:
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        endpoint = self._methods.get(method)
        if endpoint is None:
            allowed = ", ".join(sorted(self._methods))
            raise ProblemError(
                "invalid_request",
                f"Only {allowed} can be asked here.",
                status=405,
                headers={"Allow": allowed},
            )
        await endpoint(scope, receive, send)


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    raise ProblemError("invalid_request", "There is nothing under this path.", status=404)
