"""The local user's server against pages of other origins and DNS rebinding, by raw sockets."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from chat_edge import SURFACE_CONTRACTS, Gates, problem
from copilot_adapters.starlette.llm import NoLlm
from copilot_adapters.starlette.loopback import LocalOnly, LocalUser, is_loopback
from copilot_adapters.starlette.problems import ProblemBoundary, ProblemError
from copilot_adapters.starlette.routes import chat_routes
from copilot_core.projects import ProjectAgentManager
from serving import serving


async def answered(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("yes")(scope, receive, send)


APP = ProblemBoundary(LocalOnly(answered))


async def status(url: str, request: str) -> int:
    port = urlsplit(url).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.replace("PORT", str(port)).replace("\n", "\r\n").encode())
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return int(line.split()[1])


HOSTS = {
    "127.0.0.1:PORT": 200,
    "localhost:PORT": 200,
    "LocalHost:PORT": 200,
    "[::1]:PORT": 200,
    "127.0.0.2:PORT": 200,
    "": 421,
    "127.0.0.1": 421,
    "localhost": 421,
    "localhost:": 421,
    "localhost:1": 421,
    "localhost:PORT:PORT": 421,
    "::1:PORT": 421,
    "[localhost]:PORT": 421,
    "[::1]": 421,
    "[]:PORT": 421,
    "evil.example:PORT": 421,
    "localhost.evil.example:PORT": 421,
    "localhost.:PORT": 421,
    "127.0.0.1.evil.example:PORT": 421,
    "evil.example@127.0.0.1:PORT": 421,
    "127.1:PORT": 421,
    "2130706433:PORT": 421,
    "0x7f000001:PORT": 421,
    "0.0.0.0:PORT": 421,
    "192.168.0.1:PORT": 421,
    "127.0.0.1:PORT, evil.example": 421,
}


@pytest.mark.parametrize(("host", "expected"), HOSTS.items())
async def test_only_our_own_address_is_answered(host: str, expected: int) -> None:
    async with serving(APP) as url:
        assert await status(url, f"GET / HTTP/1.1\nHost: {host}\n\n") == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "GET / HTTP/1.0\n\n",
        "GET / HTTP/1.0\nHost: evil.example\n\n",
        "GET http://127.0.0.1:PORT/ HTTP/1.1\nHost: evil.example\n\n",
        "GET / HTTP/1.1\nHost: 127.0.0.1:PORT\nHost: evil.example\n\n",
        "GET / HTTP/1.1\nHost: evil.example\nHost: 127.0.0.1:PORT\n\n",
    ],
)
async def test_a_host_that_is_missing_or_contradicts(request_text: str) -> None:
    async with serving(APP) as url:
        assert await status(url, request_text) in (400, 421)  # by the HTTP parser, or by us


PAGES = {
    "GET": {
        "": 200,
        "Origin: http://127.0.0.1:PORT": 200,
        "Origin: http://localhost:PORT": 403,
        "Origin: https://127.0.0.1:PORT": 403,
        "Origin: http://127.0.0.1:1": 403,
        "Origin: http://evil.example": 403,
        "Origin: null": 403,
        "Sec-Fetch-Site: same-origin": 200,
        "Sec-Fetch-Site: none": 200,
        "Sec-Fetch-Site: same-site": 403,
        "Sec-Fetch-Site: cross-site": 403,
        "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: image": 403,
        "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe": 403,
        # a link to the page, followed
        "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document": 200,
    },
    "POST": {
        "Content-Length: 2\nContent-Type: application/json": 200,
        "Content-Length: 2\nContent-Type: application/json; charset=utf-8": 200,
        "Content-Length: 2\nContent-Type: text/plain": 415,
        "Content-Length: 2\nContent-Type: application/x-www-form-urlencoded": 415,
        "Content-Length: 2\nContent-Type: multipart/form-data; boundary=x": 415,
        "Content-Length: 2\nContent-Type: text/plain; application/json": 415,
        "Content-Length: 2": 415,
        "Transfer-Encoding: chunked": 415,
        "Content-Length: 0": 200,
        "Content-Length: 0\nOrigin: http://evil.example": 403,
        "Content-Length: 2\nContent-Type: application/json\nOrigin: http://evil.example": 403,
        # a form that another page sends is a navigation too
        "Content-Length: 0\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\n"
        "Sec-Fetch-Dest: document": 403,
    },
}


@pytest.mark.parametrize(
    ("method", "headers", "expected"),
    [(method, *case) for method, cases in PAGES.items() for case in cases.items()],
)
async def test_other_pages_are_turned_away(method: str, headers: str, expected: int) -> None:
    body = "{}" if "Content-Length: 2" in headers else ""
    head = f"{method} / HTTP/1.1\nHost: 127.0.0.1:PORT\n" + (f"{headers}\n" if headers else "")
    async with serving(APP) as url:
        assert await status(url, f"{head}\n{body}") == expected


async def test_a_connection_from_elsewhere_is_turned_away() -> None:
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    async def receive() -> dict[str, object]:
        return {"type": "http.request"}

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "headers": [(b"host", b"127.0.0.1:8000")],
        "client": ("192.168.0.7", 4711),
        "server": ("127.0.0.1", 8000),
    }
    await APP(scope, receive, send)  # type: ignore[arg-type]  # an app as a server calls it
    assert sent[0]["status"] == 403


async def test_the_local_user_is_refused_without_the_middleware_too() -> None:
    """In somebody's own app, which listens where it likes."""
    scope = {
        "type": "http",
        "method": "GET",
        "headers": [(b"host", b"127.0.0.1:8000")],
        "client": ("127.0.0.1", 4711),
        "server": ("127.0.0.1", 8000),
    }
    identity = await LocalUser().authenticate(HTTPConnection(scope))
    assert identity is not None
    assert identity.user_id == "local"
    for change in (
        {"client": ("192.168.0.7", 4711)},
        {"server": ("192.168.0.1", 8000)},
        {"headers": [(b"host", b"evil.example:8000")]},
        {"headers": [*scope["headers"], (b"origin", b"http://evil.example")]},
    ):
        with pytest.raises(ProblemError):
            await LocalUser().authenticate(HTTPConnection({**scope, **change}))


async def test_what_it_answers_is_in_the_catalogue(tmp_path: Path) -> None:
    """On every route: another Host, another page, a body that isn't JSON."""
    routes = chat_routes(
        ProjectAgentManager(), authenticator=LocalUser(), projects=Gates(tmp_path), llm=NoLlm()
    )
    refused = [
        (421, {"headers": {"host": "evil.example"}}),
        (403, {"headers": {"origin": "http://evil.example"}}),
        (415, {"headers": {"content-type": "text/plain"}, "content": b"{}"}),
    ]
    async with serving(Starlette(routes=routes)) as url, httpx.AsyncClient(base_url=url) as client:
        for route in SURFACE_CONTRACTS.catalogue.routes.values():
            path = route.path.format(project_id="p1", session_id="s1")
            for status_code, request in refused:
                answer = await client.request(route.method, path, **request)
                assert problem(answer)["status"] == status_code
                assert str(status_code) in route.responses, (route.method, route.path, status_code)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.4", False),
        ("localhost.example.org", False),
        ("127.1", False),
        ("", False),
    ],
)
def test_what_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
