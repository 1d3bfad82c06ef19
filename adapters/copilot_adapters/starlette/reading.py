"""Requests as values of their contract: bodies and query strings, read strictly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import orjson
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect

from copilot_adapters.starlette.problems import ProblemError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

    from copilot_contracts import Contract

_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_INTEGER = re.compile(r"-?[0-9]{1,15}")
_MAX_FIELDS = 50


def is_json(headers: Headers) -> bool:
    """Whether the one content type is application/json, in UTF-8 where it says so."""
    given = headers.getlist("content-type")
    if len(given) != 1:
        return False
    kind, *parameters = (part.strip().lower() for part in given[0].split(";"))
    plain = ("", "charset=utf-8", 'charset="utf-8"')
    return kind == "application/json" and all(one in plain for one in parameters)


def idempotency_key(scope: Scope) -> str | None:
    """The request's `Idempotency-Key`, with or without the quotes of a structured field.

    Raises ProblemError, 422.
    """
    given = Headers(scope=scope).getlist("idempotency-key")
    if not given:
        return None
    key = given[0].strip()
    if len(key) > 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if len(given) > 1 or not _KEY.fullmatch(key):
        raise ProblemError(
            "invalid_request", "The Idempotency-Key must be 1 to 255 visible ASCII characters."
        )
    return key


async def json_body(scope: Scope, receive: Receive, contract: Contract, limit: int) -> Any:
    """The body, valid by its contract. `limit` is in bytes, counted while reading.

    Raises ProblemError: 415, 413, 422. No text of a problem holds a value of the body.
    """
    headers = Headers(scope=scope)
    if not is_json(headers):
        raise ProblemError("invalid_request", "The body must be application/json.", status=415)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise ProblemError("invalid_request", "The body must not be compressed.", status=415)
    body = await _body(headers, receive, limit)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        # msg names the fault and the place; .doc, which it doesn't show, is the body
        raise ProblemError(
            "invalid_request",
            f"The body isn't JSON: {error.msg}, line {error.lineno}, column {error.colno}.",
        ) from None
    return _valid(contract, value, "body")


def query(scope: Scope, contract: Contract) -> Any:
    """The query string as an object, valid by its contract; unknown fields are left out.

    A field that the contract calls an integer is read as one. Raises ProblemError, 422.
    """
    try:
        pairs = parse_qsl(
            scope["query_string"].decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:
        raise ProblemError(
            "invalid_request", "The query string isn't a list of name=value in UTF-8."
        ) from None
    fields = contract.schema["properties"]
    value: dict[str, Any] = {}
    for name, text in pairs:
        if name not in fields:
            continue
        if name in value:
            raise ProblemError("invalid_request", f"The query has {name} twice.")
        number = fields[name].get("type") == "integer" and _INTEGER.fullmatch(text)
        value[name] = int(text) if number else text
    return _valid(contract, value, "query")


def _valid(contract: Contract, value: Any, where: str) -> Any:
    violation = contract.violation(value)
    if violation is None:
        return value
    place = violation.pointer or "the whole"
    raise ProblemError(
        "invalid_request",
        f"The {where} breaks its contract at {place}: {violation.rule}, expected "
        f"{violation.expected}, got {violation.got}.",
    )


async def _body(headers: Headers, receive: Receive, limit: int) -> bytes:
    too_large = ProblemError(
        "body_too_large", f"The body is larger than the {limit} bytes that are taken."
    )
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:19]) > limit:
        raise too_large
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > limit:
            raise too_large
        if not message.get("more_body", False):
            return bytes(body)
