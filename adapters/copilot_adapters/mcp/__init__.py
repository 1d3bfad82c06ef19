"""A surface's MCP tools, served over stdio or loopback HTTP by the protocol's own SDK.

Names are imported on first use. Without the extra `mcp` the error says so.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from copilot_adapters.extras import installed_by

if TYPE_CHECKING:
    from copilot_adapters.mcp.server import mcp_server as mcp_server
    from copilot_adapters.mcp.transports import http_app as http_app
    from copilot_adapters.mcp.transports import serve_http as serve_http
    from copilot_adapters.mcp.transports import serve_stdio as serve_stdio

_MODULES = {
    "http_app": "transports",
    "mcp_server": "server",
    "serve_http": "transports",
    "serve_stdio": "transports",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with installed_by("mcp", f"{__name__}.{name}"):
        value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
