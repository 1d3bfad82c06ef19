"""The page: static files that may load nothing but themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from copilot_adapters.starlette.problems import ProblemError

if TYPE_CHECKING:
    from starlette.requests import Request

FOLDER = Path(__file__).parent / "page"

_FILES = {
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def page_routes(project_id: str, folder: Path = FOLDER) -> list[Route]:
    """`/` leads to the project's page, `/projects/{project_id}`; its files are under `/page/`."""

    async def home(request: Request) -> Response:
        return RedirectResponse(f"/projects/{project_id}", 307, _HEADERS)

    async def index(request: Request) -> Response:
        return _file(folder / "index.html", "text/html; charset=utf-8")

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _FILES:
            raise ProblemError("invalid_request", "The page has no such file.", status=404)
        return _file(folder / name, _FILES[name])

    return [
        Route("/", home),
        Route("/projects/{project_id}", index),
        Route("/page/{name}", file),
    ]


def _file(path: Path, media_type: str) -> Response:
    if not path.is_file():
        raise ProblemError(
            "invalid_request", "The page wasn't built into this installation.", status=404
        )
    return FileResponse(path, headers=_HEADERS, media_type=media_type)
