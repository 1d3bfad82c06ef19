"""`/health/live`: the process answers. `/health/ready`: what it needs is there."""

from __future__ import annotations

import asyncio
import tempfile
from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response
from starlette.routing import Route

from copilot_core.ports import LabError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from starlette.requests import Request

    from copilot_core.ports import Lab

    #: Says "ok", or what is missing, in a few words fit for strangers.
    Check = Callable[[], Awaitable[str]]

OK = "ok"
_SECONDS = 2.0


def health_routes(checks: Mapping[str, Check]) -> list[Route]:
    """Both routes. Ready is 200 if every check says ok, else 503; the body names them all."""

    async def live(request: Request) -> Response:
        return _json(200, {"status": "live"})

    async def ready(request: Request) -> Response:
        said = dict(zip(checks, await asyncio.gather(*map(_bounded, checks.values())), strict=True))
        fine = all(word == OK for word in said.values())
        status = "ready" if fine else "not ready"
        return _json(200 if fine else 503, {"status": status, "checks": said})

    return [Route("/health/live", live), Route("/health/ready", ready)]


def data_check(data: Path) -> Check:
    """A file can be written to the folder."""

    def write() -> str:
        try:
            with tempfile.TemporaryFile(dir=data) as file:
                file.write(b"ready")
        except OSError as error:
            return f"can't be written: {error.strerror}"
        return OK

    async def check() -> str:
        return await asyncio.to_thread(write)

    return check


def lab_check(lab: Lab) -> Check:
    """The lab answers."""

    async def check() -> str:
        try:
            await lab.templates()
        except LabError:
            return "doesn't answer"
        return OK

    return check


async def _bounded(check: Check) -> str:
    try:
        async with asyncio.timeout(_SECONDS):
            return await check()
    except TimeoutError:
        return f"no answer in {_SECONDS:g} seconds"


def _json(status: int, body: object) -> Response:
    return Response(orjson.dumps(body), status, {"Cache-Control": "no-store"}, "application/json")
