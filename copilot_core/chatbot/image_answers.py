"""What an image endpoint answered, as URLs that a page can show."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

#: By how files of a kind begin.
_KINDS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_URL = re.compile(r"https?://[!-~]{1,8192}", re.IGNORECASE)


class NotPictures(ValueError):
    """The answer holds no picture. Its text says why, and nothing of the answer."""


def picture_urls(body: bytes) -> list[str]:
    """An http or https URL, or a data URL, of each picture. Raises NotPictures."""
    try:
        told: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotPictures("it isn't JSON") from None
    pictures = told.get("data") if isinstance(told, dict) else None
    urls = [*_urls(pictures if isinstance(pictures, list) else [])]
    if not urls:
        raise NotPictures("it has no picture in it")
    return urls


def _urls(pictures: list[Any]) -> Iterator[str]:
    for picture in pictures:
        match picture:
            case {"b64_json": str(text)}:
                if kind := _kind(text):
                    yield f"data:{kind};base64,{text}"
            case {"url": str(url)} if _URL.fullmatch(url):
                yield url


def _kind(text: str) -> str | None:
    """A picture's media type, by its bytes; None for what is none."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for begin, kind in _KINDS.items() if data.startswith(begin)), None)
