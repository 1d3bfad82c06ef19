"""GNS3's REST API v3 over the embedded project, as a Starlette application."""

from __future__ import annotations

import ipaddress
import secrets
import uuid
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route

from copilot_adapters.embedded_lab.answers import (
    GNS3_VERSION,
    link_json,
    node_json,
    project_json,
    template_json,
)
from copilot_adapters.embedded_lab.project import TEMPLATES, Port, Project, RefusalError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

USERNAME = PASSWORD = "admin"  # noqa: S105 - GNS3's own default, for a lab on loopback

_MAX_BODY = 64 * 1024
_OPEN_TO_ALL = frozenset({"/v3/version", "/v3/access/users/authenticate"})


def create_app(project: Project, *, require_auth: bool) -> Starlette:
    """The application; with ``require_auth`` every call but the log-in needs a bearer token."""
    api = _Api(project)
    under = "/v3/projects/{project_id}"
    return Starlette(
        routes=[
            Route("/v3/version", api.version),
            Route("/v3/access/users/authenticate", api.authenticate, methods=["POST"]),
            Route("/v3/templates", api.templates),
            Route("/v3/projects", api.projects),
            Route(under, api.project),
            Route(f"{under}/open", api.open, methods=["POST"]),
            Route(f"{under}/close", api.close, methods=["POST"]),
            Route(f"{under}/stats", api.stats),
            Route(f"{under}/templates/{{template_id}}", api.create_node, methods=["POST"]),
            Route(f"{under}/nodes", api.nodes),
            Route(f"{under}/nodes/start", api.start_all, methods=["POST"]),
            Route(f"{under}/nodes/stop", api.stop_all, methods=["POST"]),
            Route(f"{under}/nodes/{{node_id}}", api.node),
            Route(f"{under}/nodes/{{node_id}}", api.update_node, methods=["PUT"]),
            Route(f"{under}/nodes/{{node_id}}/links", api.node_links),
            Route(f"{under}/nodes/{{node_id}}/start", api.start_node, methods=["POST"]),
            Route(f"{under}/nodes/{{node_id}}/stop", api.stop_node, methods=["POST"]),
            Route(f"{under}/links", api.links),
            Route(f"{under}/links", api.create_link, methods=["POST"]),
        ],
        middleware=[Middleware(_Guard, token=api.token if require_auth else None)],
        exception_handlers={RefusalError: _refused, HTTPException: _http_exception},
    )


class _Guard:
    """Keeps web pages out (by Host and Origin), and, where asked, callers without a token."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        answer: Response | None = None
        if b"origin" in headers or not _is_loopback(headers.get(b"host", b"").decode("latin-1")):
            answer = _json({"message": "This lab answers programs on this machine only"}, 403)
        elif self._token is not None and scope["path"] not in _OPEN_TO_ALL:
            given = headers.get(b"authorization", b"")
            if not secrets.compare_digest(given, f"Bearer {self._token}".encode()):
                answer = _json({"message": "Could not validate credentials"}, 401)
        await (answer or self._app)(scope, receive, send)


def _is_loopback(host: str) -> bool:
    name = host.partition(":")[0]
    try:
        return name == "localhost" or ipaddress.IPv4Address(name).is_loopback
    except ValueError:
        return False


class _Api:
    def __init__(self, project: Project) -> None:
        self._project = project
        self.token = secrets.token_urlsafe(32)

    async def version(self, request: Request) -> Response:
        return _json(
            {"controller_host": self._project.host, "version": GNS3_VERSION, "local": True}
        )

    async def authenticate(self, request: Request) -> Response:
        body = await _object(request)
        if (_text(body, "username"), _text(body, "password")) != (USERNAME, PASSWORD):
            raise RefusalError(401, "Authentication was unsuccessful.")
        return _json({"access_token": self.token, "token_type": "bearer"})

    async def templates(self, request: Request) -> Response:
        return _json([template_json(template) for template in TEMPLATES.values()])

    async def projects(self, request: Request) -> Response:
        return _json([project_json(self._project)])

    async def project(self, request: Request) -> Response:
        return _json(project_json(self._find(request)))

    async def open(self, request: Request) -> Response:
        project = self._find(request)
        project.open()
        return _json(project_json(project), 201)

    async def close(self, request: Request) -> Response:
        await self._find(request).close()
        return _no_content()

    async def stats(self, request: Request) -> Response:
        project = self._find(request)
        return _json(
            {
                "nodes": len(project.nodes),
                "links": len(project.links),
                "drawings": 0,
                "snapshots": 0,
            }
        )

    async def create_node(self, request: Request) -> Response:
        project = self._find(request)
        template_id = _uuid(request, "template_id")
        body = await _object(request)
        node = project.create_node(template_id, _integer(body, "x"), _integer(body, "y"))
        return _json(node_json(project, node, full=True), 201)

    async def nodes(self, request: Request) -> Response:
        project = self._find(request)
        return _json([node_json(project, node) for node in project.nodes.values()])

    async def node(self, request: Request) -> Response:
        project = self._find(request)
        node = project.node(_uuid(request, "node_id"))
        return _json(node_json(project, node, full=True))

    async def update_node(self, request: Request) -> Response:
        project = self._find(request)
        node = project.node(_uuid(request, "node_id"))
        body = await _object(request)
        if "name" in body:
            node = project.rename(node.node_id, _text(body, "name"))
        return _json(node_json(project, node))

    async def node_links(self, request: Request) -> Response:
        project = self._find(request)
        node = project.node(_uuid(request, "node_id"))
        return _json([link_json(project, link) for link in project.links_of(node.node_id)])

    async def start_node(self, request: Request) -> Response:
        project = self._find(request)
        node = project.node(_uuid(request, "node_id"))
        await _object(request)
        await project.start([node])
        return _no_content()

    async def stop_node(self, request: Request) -> Response:
        project = self._find(request)
        await project.stop([project.node(_uuid(request, "node_id"))])
        return _no_content()

    async def start_all(self, request: Request) -> Response:
        project = self._find(request)
        await project.start(list(project.nodes.values()))
        return _no_content()

    async def stop_all(self, request: Request) -> Response:
        project = self._find(request)
        await project.stop(list(project.nodes.values()))
        return _no_content()

    async def links(self, request: Request) -> Response:
        project = self._find(request)
        return _json([link_json(project, link) for link in project.links.values()])

    async def create_link(self, request: Request) -> Response:
        project = self._find(request)
        body = await _object(request)
        match body.get("nodes"):
            case [dict() as first, dict() as second]:
                link = project.create_link((_port(first), _port(second)))
            case _:
                raise _invalid(("body", "nodes"), "A list of two ports is required")
        return _json(link_json(project, link, full=True), 201)

    def _find(self, request: Request) -> Project:
        project_id = _uuid(request, "project_id")
        if project_id != self._project.project_id:
            raise RefusalError(404, f"Project ID {project_id} doesn't exist")
        return self._project


def _json(value: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")


def _no_content() -> Response:
    return Response(status_code=204)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusalError)
    return _json({"message": error.message}, error.status)


async def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _json(
        {"message": error.detail or HTTPStatus(error.status_code).phrase}, error.status_code
    )


def _invalid(where: tuple[str, ...], why: str, kind: str = "missing") -> RefusalError:
    error = {"type": kind, "loc": where, "msg": why}
    return RefusalError(422, f"1 validation error:\n  {error}")


def _uuid(request: Request, name: str) -> str:
    try:
        return str(uuid.UUID(request.path_params[name]))
    except ValueError:
        raise _invalid(("path", name), "Input should be a valid UUID", "uuid_parsing") from None


async def _object(request: Request) -> dict[str, Any]:
    """The body, which has to be a JSON object, as it has on the real server."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BODY:
            raise RefusalError(413, f"A request body holds at most {_MAX_BODY} bytes")
    if not body:
        raise _invalid(("body",), "Field required")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _invalid(("body",), "JSON decode error", "json_invalid") from None
    if not isinstance(value, dict):
        raise _invalid(("body",), "Input should be a valid dictionary", "dict_type")
    return value


def _integer(body: dict[str, Any], key: str) -> int:
    if key not in body:
        raise _invalid(("body", key), "Field required")
    value = body[key]
    if type(value) is not int:
        raise _invalid(("body", key), "Input should be a valid integer", "int_type")
    return value


def _text(body: dict[str, Any], key: str) -> str:
    if key not in body:
        raise _invalid(("body", key), "Field required")
    value = body[key]
    if not isinstance(value, str):
        raise _invalid(("body", key), "Input should be a valid string", "string_type")
    return value


def _port(end: dict[str, Any]) -> Port:
    return Port(
        _text(end, "node_id"), _integer(end, "adapter_number"), _integer(end, "port_number")
    )
