"""The chat API over HTTP, for any Starlette or FastAPI app, and the server that `serve` runs.

Names are imported on first use. Without the extra `server` the error says so.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from copilot_adapters.extras import installed_by

if TYPE_CHECKING:
    from copilot_adapters.starlette.app import AppSettings as AppSettings
    from copilot_adapters.starlette.app import create_app as create_app
    from copilot_adapters.starlette.endpoint import ChatSettings as ChatSettings
    from copilot_adapters.starlette.identity import Authenticator as Authenticator
    from copilot_adapters.starlette.identity import JwtAuthenticator as JwtAuthenticator
    from copilot_adapters.starlette.loopback import LocalUser as LocalUser
    from copilot_adapters.starlette.routes import chat_routes as chat_routes

_MODULES = {
    "AppSettings": "app",
    "Authenticator": "identity",
    "ChatSettings": "endpoint",
    "JwtAuthenticator": "identity",
    "LocalUser": "loopback",
    "chat_routes": "routes",
    "create_app": "app",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with installed_by("server", f"{__name__}.{name}"):
        value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
