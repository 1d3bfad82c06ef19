"""Pictures by a scripted endpoint behind real HTTP, and quotas in a real file."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from chatbot_services import HOSTILE, Json, kept, refused, services
from copilot_core.chatbot import image_quota
from copilot_core.chatbot.images import STYLES, ImageGenerator, ImageSettings
from copilot_core.chatbot.services import ChatbotServices
from copilot_core.database import StorageError
from copilot_core.errors import ChatError
from image_server import CLOSE, CUT, HANG, PNG, Held, ImageServer, Reply, b64, pictures, refusal

PICTURE = "data:image/png;base64," + b64()["b64_json"]


@pytest.fixture
async def server() -> AsyncIterator[ImageServer]:
    async with ImageServer() as server:
        yield server


@asynccontextmanager
async def generator(data: Path, server: ImageServer, **more: Any) -> AsyncIterator[ImageGenerator]:
    given: Json = {"key": SecretStr(server.key), "timeout": 5.0, "per_minute": 100} | more
    settings = ImageSettings(given.pop("base_url", server.base_url), "gpt-image-1", **given)
    async with services(data, image=settings) as chatbot:
        yield chatbot.images


async def made(images: ImageGenerator, user: str = "ann", **more: Any) -> list[str]:
    answer = kept("generate_image:200", await images.generate(user, "A rack", **more))
    assert answer["image_id"] == answer["images"][0]["image_id"]
    assert len({image["image_id"] for image in answer["images"]}) == len(answer["images"])
    return [image["url"] for image in answer["images"]]


async def test_what_the_endpoint_is_asked_and_what_is_answered(
    tmp_path: Path, server: ImageServer
) -> None:
    server.script(pictures(b64(), {"url": "https://cdn.example.org/a.png?sig=1", "x": None}))
    async with generator(tmp_path, server) as images:
        answer = await images.generate(
            "ann", "A rack \ud83d\ude00", style="sketch", quality="high", width=512, num_images=2
        )
    kept("generate_image:200", answer)
    told = "A rack 😀\n\n" + STYLES["sketch"]
    assert [image["url"] for image in answer["images"]] == [
        PICTURE,
        "https://cdn.example.org/a.png?sig=1",
    ]
    assert answer | {"images": 0, "image_id": 0, "timestamp": 0, "latency_ms": 0} == {
        "success": True,
        "image_id": 0,
        "images": 0,
        "provider": "openai-compatible",
        "model": "gpt-image-1",
        "prompt": "A rack 😀",
        "timestamp": 0,
        "prompt_used": told,
        "original_prompt": "A rack 😀",
        "latency_ms": 0,
        "style": "sketch",
    }
    [request] = server.requests
    assert (request.method, request.path) == ("POST", "/v1/images/generations")
    assert request.headers["authorization"] == f"Bearer {server.key}"
    assert request.body == {
        "model": "gpt-image-1",
        "prompt": told,
        "n": 2,
        "size": "512x1024",
        "quality": "high",
    }


async def test_no_endpoint(tmp_path: Path) -> None:
    async with services(tmp_path) as chatbot:
        assert kept("image_providers:200", chatbot.images.providers()) == {"providers": []}
        assert kept("image_health:200", await chatbot.images.health()) == {"health": {}}
        kept("image_styles:200", chatbot.images.styles())
        async with refused("invalid_request"):
            await chatbot.images.generate("ann", "A rack")


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (None, None),
        (Reply(b"", 404), None),
        (Reply(b"<html>", 200, "Content-Type: text/html\r\n"), None),
        (refusal(401, "key"), "It refuses the key."),
        (refusal(403, "key"), "It refuses the key."),
        (refusal(500, "x"), "It fails."),
        (CUT, "It doesn't answer."),
        (CLOSE, "It doesn't answer."),
        (HANG, "It doesn't answer."),
        (Reply(b"x" * 1000, times=200), "It doesn't answer."),
        (Reply(b"x", headers="Content-Encoding: gzip\r\n"), "It doesn't answer."),
    ],
)
async def test_health(
    tmp_path: Path,
    server: ImageServer,
    reply: Any,
    state: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("copilot_core.chatbot.images._HEALTH", 0.3)
    if reply is not None:
        server.script(reply)
    async with generator(tmp_path, server, max_bytes=100_000) as images:
        kept("image_providers:200", images.providers())
        told = kept("image_health:200", await images.health())
    expected = {"ok": True} if state is None else {"ok": False, "error": state}
    assert told == {"health": {"openai-compatible": expected}}
    assert [(r.method, r.path) for r in server.requests] == [("GET", "/v1/models")]


BAD: list[Json] = [
    {"prompt": ""},
    {"prompt": " \n"},
    {"prompt": "x" * 4001},
    {"width": 63},
    {"width": 2049},
    {"height": 0},
    {"height": -1},
    {"num_images": 0},
    {"num_images": 5},
    {"provider": "other"},
    {"provider": ""},
    {"model": "other"},
    {"style": "other"},
    {"style": ""},
]


@pytest.mark.parametrize("bad", BAD)
async def test_requests_that_are_not_sent(tmp_path: Path, server: ImageServer, bad: Json) -> None:
    async with generator(tmp_path, server, per_minute=1) as images:
        async with refused("invalid_request"):
            await images.generate("ann", **({"prompt": "A rack"} | bad))
        assert server.asked == 0
        assert await made(images, provider="openai-compatible", model="gpt-image-1") == [PICTURE]


# What comes, the refusal, and whether the picture counts.
FAILURES = [
    (refusal(400, "Your request was rejected: sk-image-5e1d"), "invalid_request", False),
    (refusal(422, "size"), "invalid_request", False),
    (refusal(401, "Incorrect API key provided: sk-image-5e1d"), "image_failed", False),
    (refusal(403, "no"), "image_failed", False),
    (refusal(404, "no such model"), "image_failed", False),
    (refusal(429, "slow down"), "rate_limited", False),
    (refusal(500, "oops"), "image_failed", True),
    (Reply(b"<html>bad gateway</html>", 502), "image_failed", True),
    (Reply(b"", 302, "Location: https://elsewhere.example/\r\n"), "image_failed", True),
    (Reply(b"", 204), "image_failed", True),
    (Reply(b"<html>"), "image_failed", True),
    (Reply(b"null"), "image_failed", True),
    (Reply(b"[]"), "image_failed", True),
    (Reply(b"\xff\xfe"), "image_failed", True),
    (Reply(b"[" * 100_000), "image_failed", True),
    (Reply(b'{"data": ' + b"9" * 5000 + b"}"), "image_failed", True),
    (pictures(), "image_failed", True),
    (pictures(None, [], "x", 5, {}, {"url": None}, {"b64_json": 7}), "image_failed", True),
    (pictures(data={}), "image_failed", True),
    (pictures({"url": "javascript:alert(1)"}), "image_failed", True),
    (pictures({"url": "file:///etc/passwd"}), "image_failed", True),
    (pictures({"url": "https://a.example/ x"}), "image_failed", True),
    (pictures({"url": "https://a.example/\ud800"}), "image_failed", True),
    (pictures({"url": "https://a.example/" + "x" * 9000}), "image_failed", True),
    (pictures({"b64_json": "not base64!"}), "image_failed", True),
    (pictures(b64(b"<svg onload=alert(1)>")), "image_failed", True),
    (pictures(b64(b"<html>")), "image_failed", True),
    (pictures(b64(b"")), "image_failed", True),
    (Reply(b" " * 65536, times=64), "image_failed", True),
    (Reply(b"x", headers="Content-Encoding: gzip\r\n"), "image_failed", True),
    (CUT, "image_failed", True),
    (CLOSE, "image_failed", True),
    (HANG, "image_failed", True),
]


@pytest.mark.parametrize(("reply", "code", "counts"), FAILURES)
async def test_what_goes_wrong_and_what_it_costs(
    tmp_path: Path,
    server: ImageServer,
    reply: Any,
    code: str,
    counts: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.script(reply)
    async with generator(tmp_path, server, timeout=0.5, max_bytes=2**20, daily=1) as images:
        async with refused(code):
            await images.generate("ann", "A secret prompt")
        if counts:
            async with refused("quota_exceeded"):
                await images.generate("ann", "A rack")
            assert server.asked == 1
        else:
            assert await made(images) == [PICTURE]
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]
    assert any("image endpoint" in message for message in told)
    assert not any(word in message for word in ("sk-image", "secret") for message in told)


async def test_an_endpoint_that_is_not_there_costs_nothing(
    tmp_path: Path, server: ImageServer
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        async with generator(tmp_path, server, base_url=url, daily=1) as images:
            for _ in range(2):
                async with refused("image_failed"):
                    await images.generate("ann", "A rack")
            told = kept("image_health:200", await images.health())
            assert told["health"]["openai-compatible"]["error"] == "It doesn't answer."


@pytest.mark.parametrize(
    ("begins", "kind"),
    [
        (b"\xff\xd8\xff\xe0", "jpeg"),
        (b"GIF87a", "gif"),
        (b"GIF89a", "gif"),
        (b"RIFF1234WEBPVP8 ", "webp"),
        (PNG, "png"),
    ],
)
async def test_kinds_of_pictures(
    tmp_path: Path, server: ImageServer, begins: bytes, kind: str
) -> None:
    server.script(pictures(b64(begins), b64(b"text"), b64(), b64(), b64()))
    async with generator(tmp_path, server) as images:
        first, *others = await made(images, num_images=3)
    assert first.startswith(f"data:image/{kind};base64,")
    assert others == [PICTURE, PICTURE]


async def test_the_days_quota(
    tmp_path: Path, server: ImageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of pictures, for each user, over restarts, by UTC's days."""
    now = 1_796_169_600.0 - 3600  # an hour before midnight
    monkeypatch.setattr(image_quota.time, "time", lambda: now)
    async with generator(tmp_path, server, daily=5) as images:
        assert len(await made(images, num_images=4)) == 4
        async with refused("quota_exceeded"):
            await images.generate("ann", "two more", num_images=2)
        assert len(await made(images)) == 1
    async with generator(tmp_path, server, daily=5) as images:
        async with refused("quota_exceeded"):
            await images.generate("ann", "one more")
        assert len(await made(images, "bob", num_images=4)) == 4
        now += 3500
        async with refused("quota_exceeded"):
            await images.generate("ann", "one more")
        now += 100
        assert len(await made(images, num_images=4)) == 4
        now -= 3600 * 24 * 400  # a clock that was wrong
        assert len(await made(images, num_images=4)) == 4
    assert server.asked == 5


async def test_fewer_pictures_than_asked_for_count_as_they_are(
    tmp_path: Path, server: ImageServer
) -> None:
    server.script(pictures(b64()))
    async with generator(tmp_path, server, daily=4) as images:
        assert len(await made(images, num_images=4)) == 1
        assert len(await made(images, num_images=3)) == 3
        async with refused("quota_exceeded"):
            await images.generate("ann", "one more")


async def test_the_rate(
    tmp_path: Path, server: ImageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of requests, failed ones too, for each user, over restarts."""
    now = time.time()
    monkeypatch.setattr(image_quota.time, "time", lambda: now)
    server.script(refusal(400, "no"))
    async with generator(tmp_path, server, per_minute=2) as images:
        async with refused("invalid_request"):
            await images.generate("ann", "refused")
        now += 20
        await made(images)
    async with generator(tmp_path, server, per_minute=2) as images:
        with pytest.raises(ChatError) as error:
            await images.generate("ann", "too soon")
        assert (error.value.code, error.value.extra) == ("rate_limited", {"retry_after": 40})
        await made(images, "bob")
        now += 41
        await made(images)
        async with refused("rate_limited"):
            await images.generate("ann", "too soon")
        now -= 10_000  # a clock that was wrong
        await made(images)
    assert server.asked == 5


async def test_at_once_no_more_than_the_quota(tmp_path: Path, server: ImageServer) -> None:
    async with generator(tmp_path, server, daily=3) as images:
        outcomes = await asyncio.gather(
            *(images.generate(user, "A rack") for _ in range(8) for user in ("ann", "bob")),
            return_exceptions=True,
        )
    assert sum(isinstance(outcome, dict) for outcome in outcomes) == server.asked == 6


async def test_who_leaves_has_used_it(tmp_path: Path, server: ImageServer) -> None:
    """The endpoint goes on, and is paid."""
    server.script(HANG)
    async with generator(tmp_path, server, daily=1) as images:
        asking = asyncio.create_task(images.generate("ann", "A rack"))
        await server.was_asked(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        async with refused("quota_exceeded"):
            await images.generate("ann", "A rack")


async def test_a_file_that_cannot_be_written_to(tmp_path: Path, server: ImageServer) -> None:
    """Nothing is asked that can't be counted; what can't be given back is still answered."""
    settings = ImageSettings(server.base_url, "m", SecretStr(server.key), daily=1)
    async with services(tmp_path, image=settings) as chatbot:
        await only_read(chatbot, True)
        with pytest.raises(StorageError):
            await chatbot.images.generate("ann", "A rack")
        assert server.asked == 0
        await only_read(chatbot, False)
        held = asyncio.Event()
        server.script(Held(held, refusal(400, "no")))
        asking = asyncio.create_task(chatbot.images.generate("ann", "A rack"))
        await server.was_asked(1)
        await only_read(chatbot, True)
        held.set()
        async with refused("invalid_request"):
            await asking
        await only_read(chatbot, False)
        async with refused("quota_exceeded"):
            await chatbot.images.generate("ann", "A rack")


async def only_read(chatbot: ChatbotServices, only: bool) -> None:
    async with chatbot.file.reading() as connection:
        await connection.execute(f"PRAGMA query_only = {int(only)}")


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": ""},
        {"base_url": "127.0.0.1:80"},
        {"base_url": "ftp://a.example"},
        {"base_url": "https://"},
        {"base_url": "https://user:word@a.example/v1"},
        {"base_url": "https://a.example/v1?key=1"},
        {"base_url": "https://a.example:99999"},
        {"base_url": "http://[::1"},
        {"base_url": "http://xn--a/v1"},
        {"base_url": "https://a.example/\0"},
        {"key": SecretStr("a\r\nX-Evil: 1")},
        {"key": SecretStr("schlüssel")},
        {"key": SecretStr("a b")},
    ],
)
def test_settings_that_cannot_be_used(wrong: Json) -> None:
    with pytest.raises(ValueError, match=r"^An image endpoint's .*\.$") as error:
        ImageSettings(**({"base_url": "https://a.example/v1", "model": "m"} | wrong))
    assert "Evil" not in str(error.value)


def test_the_key_is_not_shown() -> None:
    assert "sk-1" not in repr(ImageSettings("https://a.example", "m", SecretStr("sk-1")))


async def test_hostile_users_and_prompts(tmp_path: Path, server: ImageServer) -> None:
    async with generator(tmp_path, server, daily=1000, per_minute=1000) as images:
        for text in HOSTILE:
            await made(images, text)
            if not text.strip() or len(text) > 4000:
                async with refused("invalid_request"):
                    await images.generate("ann", text)
            else:
                answer = await images.generate("ann", text, quality=text[:50])
                kept("generate_image:200", answer)
