"""Who asks: the authenticator protocol, and HS256 tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import jwt
from pydantic import SecretStr

from copilot_core.ports import Identity

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import HTTPConnection

MIN_SECRET_BYTES = 32
MAX_USER_ID = 255
_MAX_TOKEN = 8192


class Authenticator(Protocol):
    """Says who sent a request."""

    async def authenticate(self, connection: HTTPConnection) -> Identity | None:
        """The identity behind a request, or None: it is answered 401."""


class SecretFileError(Exception):
    """A secret file can't be used; the text says why and never holds the secret."""


class JwtAuthenticator:
    """`Authorization: Bearer` with a JWT signed by HS256; the claim `sub` is the user's id.

    `exp`, `nbf` and `iat` are honoured where they are given. Every other algorithm is refused,
    `none` included. Raises ValueError for a secret below 32 bytes (RFC 7518, section 3.2).
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < MIN_SECRET_BYTES:
            raise ValueError(
                f"The secret has {len(secret)} bytes; HS256 needs at least {MIN_SECRET_BYTES}."
            )
        self._secret = secret

    @classmethod
    def from_file(cls, path: Path) -> JwtAuthenticator:
        """With the secret of a file, without the line end after it. Raises SecretFileError."""
        try:
            secret = path.read_bytes().rstrip(b"\r\n")
        except OSError as error:
            raise SecretFileError(
                f"The secret file {path} can't be read: {error.strerror}."
            ) from error
        try:
            return cls(secret)
        except ValueError as error:
            raise SecretFileError(
                f"{path}: {error} Write one with: openssl rand -hex 32 > {path}"
            ) from error

    async def authenticate(self, connection: HTTPConnection) -> Identity | None:
        """The user of a valid token, or None."""
        given = connection.headers.getlist("authorization")
        if len(given) != 1:
            return None
        scheme, _, token = given[0].partition(" ")
        token = token.strip(" ")
        if scheme.lower() != "bearer" or not 0 < len(token) <= _MAX_TOKEN:
            return None
        try:
            claims = jwt.decode(
                token, self._secret, algorithms=["HS256"], options={"require": ["sub"]}
            )
        except (jwt.PyJWTError, ValueError, OverflowError):
            # ValueError, OverflowError: signed nonsense, such as an `exp` of 1e999
            return None
        user_id = claims["sub"]
        if not isinstance(user_id, str) or not 0 < len(user_id) <= MAX_USER_ID:
            return None
        if not user_id.isprintable():  # control characters, half a surrogate pair: in no database
            return None
        return Identity(user_id=user_id, token=SecretStr(token))
