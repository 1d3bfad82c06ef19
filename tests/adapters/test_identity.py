import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from starlette.requests import HTTPConnection

from copilot_adapters.starlette.identity import JwtAuthenticator, SecretFileError

SECRET = b"an HS256 secret of 32 bytes, ok?"
OTHER = b"another HS256 secret of 32 bytes"


def token(claims: dict[str, Any], key: bytes | None = SECRET, algorithm: str = "HS256") -> str:
    return jwt.encode(claims, key, algorithm=algorithm)  # type: ignore[arg-type]  # None: alg none


def connection(*headers: str) -> HTTPConnection:
    raw = [(b"authorization", header.encode("latin-1")) for header in headers]
    return HTTPConnection({"type": "http", "headers": raw})


NOW = int(time.time())


@pytest.mark.parametrize(
    ("headers", "user"),
    [
        ([f"Bearer {token({'sub': 'ann'})}"], "ann"),
        ([f"bearer  {token({'sub': 'ann', 'exp': NOW + 86_400})}"], "ann"),
        ([f"Bearer {token({'sub': 'a' * 255})}"], "a" * 255),
        ([], None),
        (["Bearer "], None),
        (["Bearer not.a.token"], None),
        ([f"Token {token({'sub': 'ann'})}"], None),
        ([token({"sub": "ann"})], None),
        ([f"Bearer {token({'sub': 'ann'})}", f"Bearer {token({'sub': 'bob'})}"], None),
        ([f"Bearer {token({'sub': 'ann'}, OTHER)}"], None),
        ([f"Bearer {token({'sub': 'ann'}, None, 'none')}"], None),
        ([f"Bearer {token({'sub': 'ann'}, SECRET * 2, 'HS512')}"], None),
        ([f"Bearer {token({'sub': 'ann', 'exp': NOW - 1})}"], None),
        ([f"Bearer {token({'sub': 'ann', 'nbf': NOW + 86_400})}"], None),
        ([f"Bearer {token({'sub': 'ann', 'exp': float('inf')})}"], None),
        ([f"Bearer {token({'sub': 'ann', 'exp': 'soon'})}"], None),
        ([f"Bearer {token({'name': 'ann'})}"], None),
        ([f"Bearer {token({'sub': ''})}"], None),
        ([f"Bearer {token({'sub': 'a' * 256})}"], None),
        ([f"Bearer {token({'sub': 'half ' + chr(0xD800)})}"], None),
        ([f"Bearer {token({'sub': 'nul ' + chr(0)})}"], None),
        ([f"Bearer {token({'sub': 'Zoë Ångström'})}"], "Zoë Ångström"),
        ([f"Bearer \N{NO-BREAK SPACE}{token({'sub': 'ann'})}"], None),
        ([f"Bearer {token({'sub': 'ann', 'more': 'x' * 9000})}"], None),
    ],
)
async def test_who_a_token_stands_for(headers: list[str], user: str | None) -> None:
    identity = await JwtAuthenticator(SECRET).authenticate(connection(*headers))
    assert (identity and identity.user_id) == user
    if identity is not None:
        assert identity.token is not None
        assert identity.token.get_secret_value() not in repr(identity)


async def test_an_rs256_token_is_not_checked_with_our_secret() -> None:
    """The signature is right by HS256, only the header names RS256."""
    import base64
    import hashlib
    import hmac

    def part(text: bytes) -> bytes:
        return base64.urlsafe_b64encode(text).rstrip(b"=")

    signed = part(b'{"alg":"RS256","typ":"JWT"}') + b"." + part(b'{"sub":"ann"}')
    signature = part(hmac.new(SECRET, signed, hashlib.sha256).digest())
    forged = (signed + b"." + signature).decode()
    assert await JwtAuthenticator(SECRET).authenticate(connection(f"Bearer {forged}")) is None


def test_the_secret_comes_from_a_file_without_its_line_end(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_bytes(SECRET + b"\n")
    assert JwtAuthenticator.from_file(file)._secret == SECRET


@pytest.mark.parametrize("content", [None, b"", b"short\n"])
def test_a_secret_that_cannot_be_used(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SecretFileError, match=str(file)) as raised:
        JwtAuthenticator.from_file(file)
    assert "short" not in str(raised.value).replace(str(file), "")
