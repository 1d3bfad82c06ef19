"""Pictures from a prompt, made by an endpoint of OpenAI's form, within each user's quota.

OpenAI's Images API: ``POST {base}/images/generations`` answers ``{"data": [{"b64_json"} or
{"url"}]}``; what it refuses, with a status of 4xx, it doesn't charge.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx

from copilot_core import timestamps
from copilot_core.chatbot.image_answers import NotPictures, picture_urls
from copilot_core.chatbot.image_quota import ImageQuota
from copilot_core.errors import ChatError
from copilot_core.text import without_surrogates

if TYPE_CHECKING:
    from pydantic import SecretStr

    from copilot_core.chatbot.storage import ChatbotFile
    from copilot_core.ports import JsonObject

log = logging.getLogger(__name__)

#: What each style adds to a prompt.
STYLES = {
    "photo": "A photograph, in natural light.",
    "sketch": "A pencil drawing.",
    "watercolor": "A watercolour painting.",
    "anime": "In the style of anime.",
    "diagram": "A plain technical diagram on a white ground.",
    "pixel-art": "Pixel art.",
}
_PROMPT, _PICTURES = 4000, 4
_SMALLEST, _LARGEST = 64, 2048
#: Seconds until the connection stands, and that a question for the endpoint's health may take.
_CONNECT, _HEALTH = 10.0, 5.0
#: Nothing was sent.
_UNREACHED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, slots=True)
class ImageSettings:
    """An endpoint, and what each user may ask of it. Lives in memory only.

    Raises ValueError, with a sentence, for an address or a key that can't be used.
    """

    #: For example ``http://127.0.0.1:8080/v1``.
    base_url: str
    model: str
    key: SecretStr | None = None
    #: What requests call it.
    name: str = "openai-compatible"
    #: Seconds for a whole answer.
    timeout: float = 120.0
    #: Pictures of a user and day (UTC), and requests of a user within any minute.
    daily: int = 20
    per_minute: int = 5
    #: Of a whole answer.
    max_bytes: int = 48 * 1024 * 1024

    def __post_init__(self) -> None:
        if not _is_address(self.base_url):
            raise ValueError(
                "An image endpoint's address looks like https://api.example.org/v1, without a "
                "user name, a password or a query."
            )
        key = self.key.get_secret_value() if self.key else ""
        if not all("!" <= letter <= "~" for letter in key):
            raise ValueError("An image endpoint's key has visible ASCII characters only.")


class ImageGenerator:
    """Makes pictures. Answers are bodies as the surface has them.

    A user's quota is taken before the endpoint is asked. It is given back where that costs
    nothing: the endpoint wasn't reached, or refused (4xx). It isn't where the endpoint may have
    made pictures all the same: no answer in time, a cut or unusable one, a 5xx, a user who left.
    The request counts for the rate in any case.
    """

    def __init__(self, file: ChatbotFile, settings: ImageSettings | None) -> None:
        self._settings = settings
        self._quota = ImageQuota(file)
        # Made once, because it takes a while to read all authorities.
        self._verify = httpx.create_ssl_context() if settings else False

    def providers(self) -> JsonObject:
        """``ImageProviders``."""
        known = self._settings
        return {"providers": [{"name": known.name, "model": known.model}] if known else []}

    def styles(self) -> JsonObject:
        """``ImageStyles``."""
        return {"styles": [{"name": name, "description": STYLES[name]} for name in STYLES]}

    async def health(self) -> JsonObject:
        """``ImageHealth``: the endpoint is asked for its models."""
        settings = self._settings
        if settings is None:
            return {"health": {}}
        try:
            async with asyncio.timeout(_HEALTH):
                status, _ = await self._ask(settings, "GET", "models", None)
        except (TimeoutError, httpx.HTTPError, NotPictures):
            return {"health": {settings.name: {"ok": False, "error": "It doesn't answer."}}}
        if status in (401, 403):
            return {"health": {settings.name: {"ok": False, "error": "It refuses the key."}}}
        if status >= 500:
            return {"health": {settings.name: {"ok": False, "error": "It fails."}}}
        return {"health": {settings.name: {"ok": True}}}  # some know pictures, but no list

    async def generate(
        self,
        user_id: str,
        prompt: str,
        *,
        style: str | None = None,
        quality: str | None = None,
        width: int = 1024,
        height: int = 1024,
        num_images: int = 1,
        provider: str | None = None,
        model: str | None = None,
    ) -> JsonObject:
        """``GenerateImageAnswer``.

        Raises ChatError: ``invalid_request``, also where no endpoint is configured or the
        endpoint refuses the prompt; ``quota_exceeded``; ``rate_limited``, by us or the endpoint;
        ``image_failed``. Raises StorageError.
        """
        settings = self._settings
        if settings is None:
            raise ChatError("invalid_request", "This server has nothing that makes pictures.")
        _check(settings, prompt, style, width, height, num_images, provider, model)
        prompt = without_surrogates(prompt)
        told = f"{prompt}\n\n{STYLES[style]}" if style else prompt
        asked: JsonObject = {
            "model": settings.model,
            "prompt": told,
            "n": num_images,
            "size": f"{width}x{height}",
        }
        if quality:
            asked["quality"] = without_surrogates(quality)
        begun = time.monotonic()
        number = await self._quota.take(
            user_id, num_images, daily=settings.daily, per_minute=settings.per_minute
        )
        urls = (await self._pictures(settings, asked, number))[:num_images]
        if len(urls) < num_images:
            await self._quota.settle(number, len(urls))
        images = [{"url": url, "image_id": uuid4().hex} for url in urls]
        answer: JsonObject = {
            "success": True,
            "image_id": images[0]["image_id"],
            "images": images,
            "provider": settings.name,
            "model": settings.model,
            "prompt": prompt,
            "timestamp": timestamps.now(),
            "prompt_used": told,
            "original_prompt": prompt,
            "latency_ms": round((time.monotonic() - begun) * 1000),
        }
        return answer | ({"style": style} if style else {})

    async def _pictures(self, settings: ImageSettings, asked: JsonObject, number: int) -> list[str]:
        """Where the pictures are. ``number`` is what the quota knows the request by."""
        try:
            async with asyncio.timeout(settings.timeout):
                status, body = await self._ask(settings, "POST", "images/generations", asked)
            if 200 <= status < 300:
                return await asyncio.to_thread(picture_urls, body)
        except _UNREACHED as error:
            await self._quota.settle(number, 0)
            raise _failed("can't be reached", type(error).__name__) from None
        except (TimeoutError, httpx.TimeoutException):
            raise _failed("gave no answer in time") from None
        except httpx.HTTPError as error:
            raise _failed("broke off", type(error).__name__) from None
        except NotPictures as error:
            raise _failed("answered without pictures", str(error)) from None
        if 400 <= status < 500:
            await self._quota.settle(number, 0)
        raise _refused(status)

    async def _ask(
        self, settings: ImageSettings, method: str, path: str, asked: JsonObject | None
    ) -> tuple[int, bytes]:
        """Status, and the body of a success. Raises httpx.HTTPError; NotPictures for its body."""
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if settings.key is not None:
            headers["Authorization"] = f"Bearer {settings.key.get_secret_value()}"
        url = f"{settings.base_url.rstrip('/')}/{path}"
        body = bytearray()
        async with (
            # No redirects and nothing of the environment: the key goes nowhere else.
            httpx.AsyncClient(
                timeout=httpx.Timeout(settings.timeout, connect=_CONNECT),
                verify=self._verify,
                follow_redirects=False,
                trust_env=False,
            ) as client,
            client.stream(method, url, headers=headers, json=asked) as response,
        ):
            if not response.is_success:
                return response.status_code, b""
            if response.headers.get("content-encoding", "identity") != "identity":
                raise NotPictures("it is compressed, which wasn't asked for")
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > settings.max_bytes:
                    raise NotPictures("it is too large")
        return response.status_code, bytes(body)


def _is_address(text: str) -> bool:
    try:
        url = httpx.URL(text)
        there = url.scheme in ("http", "https") and url.host and (url.port or 0) < 2**16
        return bool(there) and not url.userinfo and not url.query
    except (httpx.InvalidURL, ValueError):  # or a host that no name server knows
        return False


def _check(
    settings: ImageSettings,
    prompt: str,
    style: str | None,
    width: int,
    height: int,
    num_images: int,
    provider: str | None,
    model: str | None,
) -> None:
    """Raises ChatError ``invalid_request``."""
    if not prompt.strip():
        why = "A picture needs a prompt."
    elif len(prompt) > _PROMPT:
        why = f"A prompt has at most {_PROMPT} characters, not {len(prompt)}."
    elif not all(_SMALLEST <= side <= _LARGEST for side in (width, height)):
        why = f"A picture's sides have {_SMALLEST} to {_LARGEST} pixels."
    elif not 1 <= num_images <= _PICTURES:
        why = f"One request makes 1 to {_PICTURES} pictures."
    elif provider is not None and provider != settings.name:
        why = "There is no such provider."
    elif model is not None and model != settings.model:
        why = "The provider has no such model."
    elif style is not None and style not in STYLES:
        why = "There is no such style."
    else:
        return
    raise ChatError("invalid_request", why)


def _failed(what: str, why: str = "") -> ChatError:
    log.error("the image endpoint %s%s", what, f": {why}" if why else "")
    return ChatError("image_failed", f"What makes the pictures {what}.")


def _refused(status: int) -> ChatError:
    # What it says isn't told: it may quote its key, or be made for somebody else.
    log.error("the image endpoint answered %d", status)
    if status in (400, 422):
        return ChatError(
            "invalid_request",
            "What makes the pictures refused this one: its prompt, its size or its quality.",
        )
    if status == 429:
        return ChatError(
            "rate_limited", "What makes the pictures is asked too often now.", retry_after=60
        )
    if status in (401, 403):
        return ChatError("image_failed", "What makes the pictures refuses this server's key.")
    return ChatError("image_failed", "What makes the pictures failed.")
