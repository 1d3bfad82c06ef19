"""JSON over HTTP to a GNS3 server, bounded in time and size, with errors fit to be shown."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import httpx
import orjson

from copilot_core.ports import LabError

if TYPE_CHECKING:
    from collections.abc import Callable

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TOKEN = re.compile(r"[\x21-\x7e]+")
_TRACEBACK = re.compile(r"^\s*(File \"|Traceback \(|at /)", re.MULTILINE)
_PATH = re.compile(r"(?<![\w:/.])/(?:[^\s/'\"]+/)+[^\s'\",;]*|\b[A-Za-z]:\\[^\s'\"]+")
_MAX_READ = 4000
_MAX_MESSAGE = 300


def is_id(text: str) -> bool:
    """Whether a text can be an id in a path; one like ``../x`` reaches another path."""
    return _ID.fullmatch(text) is not None


class Rest:
    """Calls of one server. A token given as a function is asked before every call."""

    def __init__(
        self,
        base_url: str,
        token: Callable[[], str | None] | str | None,
        *,
        timeout: float,
        max_bytes: int,
    ) -> None:
        url = httpx.URL(base_url)
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError("A GNS3 server's address looks like http://127.0.0.1:3080.")
        if url.userinfo:
            raise ValueError("A GNS3 server's address carries no user name or password.")
        self.host = url.host
        self._server = f"{url.scheme}://{url.netloc.decode('ascii')}"
        self._prefix = url.path.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._max_bytes = max_bytes
        # Without trust_env: no proxy between us and a lab, no credentials from a .netrc.
        self._client = httpx.AsyncClient(timeout=timeout, follow_redirects=False, trust_env=False)

    async def close(self) -> None:
        await self._client.aclose()

    async def call(self, method: str, *path: str, body: dict[str, Any] | None = None) -> Any:
        """The JSON of a 2xx answer, or None where it has none; ``LabError`` for anything else.

        ``path`` is what follows ``/v3``, a segment each.
        """
        for segment in path:
            if not is_id(segment):
                raise LabError("That isn't an id of this lab: ids are made of A-Z, 0-9, - and _.")
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        token = self._current_token()
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        request = self._client.build_request(
            method,
            "/".join((f"{self._server}{self._prefix}/v3", *path)),
            headers=headers,
            json=body,
        )
        try:
            async with asyncio.timeout(self._timeout):
                status, content = await self._send(request)
        except (TimeoutError, httpx.TimeoutException):
            raise LabError(
                f"The lab server at {self._server} gave no answer in {self._timeout:g} s."
            ) from None
        except httpx.HTTPError as error:
            # Only the kind of the error: its text may quote what was sent.
            raise LabError(
                f"The lab server at {self._server} can't be reached ({type(error).__name__})."
            ) from None
        value, is_json = _parse(content)
        if not 200 <= status < 300:
            raise LabError(_refusal(status, value, token), status)
        if content and not is_json:
            raise LabError(
                f"The lab server answered {status} with something that isn't JSON.", status
            )
        return value

    async def _send(self, request: httpx.Request) -> tuple[int, bytes]:
        response = await self._client.send(request, stream=True)
        try:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise LabError("The lab server compressed its answer though it was asked not to.")
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > self._max_bytes:
                    raise LabError(
                        f"The lab server's answer is larger than {self._max_bytes} bytes."
                    )
            return response.status_code, bytes(content)
        finally:
            await response.aclose()

    def _current_token(self) -> str | None:
        token = self._token() if callable(self._token) else self._token
        if token is not None and not _TOKEN.fullmatch(token):
            raise LabError("The lab's access token has characters that can't be sent.")
        return token


def _parse(content: bytes) -> tuple[Any, bool]:
    try:
        return orjson.loads(content), True
    except orjson.JSONDecodeError:
        return None, False


def _refusal(status: int, body: Any, token: str | None) -> str:
    """The server's reason (``{"message"}``; 3.1 adds ``"code"``), fit to be shown."""
    if 300 <= status < 400:
        return f"The lab server answered {status}, a redirect, which isn't followed."
    message = body.get("message") if isinstance(body, dict) else None
    shown = _shown(message, token) if isinstance(message, str) else ""
    return f"The lab answered {status}: {shown}" if shown else f"The lab answered {status}."


def _shown(message: str, token: str | None) -> str:
    """One line without traceback, file paths, token or control characters."""
    if token:
        message = message.replace(token, "[token]")
    message = message[:_MAX_READ]
    traceback = _TRACEBACK.search(message)
    if traceback is not None:
        message = message[: traceback.start()]
    message = _PATH.sub("[path]", message)
    message = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    return message if len(message) <= _MAX_MESSAGE else message[:_MAX_MESSAGE] + "…"
