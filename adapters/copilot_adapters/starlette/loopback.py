"""What keeps other people, and other pages in the browser, away from the one local user.

A server on loopback without a login can be reached by every page the user has open. So: the
connection must be loopback, `Host` must name loopback and our port (DNS rebinding), `Origin` and
`Sec-Fetch-Site` must be our own page or no page, and a body must be JSON, which a foreign page
can't send without asking first.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from copilot_adapters.starlette.problems import ProblemError
from copilot_adapters.starlette.reading import is_json
from copilot_core.ports import Identity

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.types import ASGIApp, Receive, Scope, Send


class LocalUser:
    """An authenticator: whoever asks is the one local user.

    It checks what `LocalOnly` checks, so it stands in any app, on any address.
    """

    USER_ID = "local"

    async def authenticate(self, connection: HTTPConnection) -> Identity | None:
        """The local user. Raises ProblemError for anybody else."""
        check(connection.scope)
        return Identity(user_id=self.USER_ID, token=None)


class LocalOnly:
    """ASGI middleware for all of an app that has no logins. Raises ProblemError."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what `check` lets through."""
        if scope["type"] == "http":
            check(scope)
        await self.app(scope, receive, send)


def check(scope: Scope) -> None:
    """Raises ProblemError, 403, 415 or 421, unless the request is the local user's own."""
    headers = Headers(scope=scope)
    for end in ("client", "server"):
        address = scope.get(end)
        if address is None or not is_loopback(address[0]):
            raise ProblemError(
                "unauthorized",
                "Without logins this server answers its own machine only.",
                status=403,
            )
    host = _own_host(headers, scope["server"][1])
    if any(origin != f"http://{host}" for origin in headers.getlist("origin")):
        raise _foreign_page()
    for site in headers.getlist("sec-fetch-site"):
        if site not in ("same-origin", "none") and not _is_link(scope, headers):
            raise _foreign_page()
    if _has_body(headers) and not is_json(headers):
        raise ProblemError("invalid_request", "The body must be application/json.", status=415)


def _own_host(headers: Headers, port: int) -> str:
    """The one `Host` header, if it names this machine and this port."""
    given = headers.getlist("host")
    if len(given) == 1:
        host = given[0].lower()
        name, colon, digits = host.rpartition(":")
        if not colon or digits.endswith("]"):
            name, digits = host, "80"
        if name.startswith("[") and name.endswith("]"):
            name = name[1:-1] if ":" in name else ""
        elif ":" in name:
            name = ""
        if digits == str(port) and is_loopback(name):
            return host
    raise ProblemError(
        "invalid_request", f"This server is http://127.0.0.1:{port}/, and nothing else.", status=421
    )


def _is_link(scope: Scope, headers: Headers) -> bool:
    """A link that the user followed: the answer is shown, no page can read it."""
    return (
        scope["method"] in ("GET", "HEAD")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _foreign_page() -> ProblemError:
    return ProblemError(
        "unauthorized", "The request came from another page; only our own may ask.", status=403
    )


def is_loopback(host: str) -> bool:
    """Whether a host to listen on, or an address of a connection, is this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
