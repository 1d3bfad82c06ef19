"""A surface's MCP tools as a server of the protocol's SDK.

What a tool takes and returns stands in the surface; nothing is derived from a function. Arguments
are checked before it runs, its result after it, as the last thing that is done: a result that
breaks its contract is an error to the client, never a success (decision B8).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from copilot_contracts.violations import ContractViolation
from copilot_core.tracebacks import outline

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from copilot_contracts.gate import Gate
    from copilot_contracts.registry import Surface

Function: TypeAlias = Callable[[dict[str, Any]], Awaitable[Any]]
"""Gets arguments that keep their contract; what goes wrong is in what it returns."""

log = logging.getLogger(__name__)


def mcp_server(
    surface: Surface, functions: Mapping[str, Function], gate: Gate, *, timeout: float = 60.0
) -> Server[Any]:
    """The server of those tools that the surface has under `mcp`, each with its function.

    Raises ValueError where a tool has no function, or a function no tool.
    """
    offered = {
        name: tool for name, tool in surface.catalogue.mcp.items() if tool.status != "placeholder"
    }
    if odd := offered.keys() ^ functions.keys():
        names = ", ".join(sorted(odd))
        raise ValueError(f"{surface.name}: these have no tool, or no function: {names}.")
    tools = [
        Tool(
            name=name,
            description=tool.description,
            input_schema=surface.contract("mcp_arguments", name).bundled(),
            output_schema=surface.contract("mcp_return", name).bundled(),
        )
        for name, tool in offered.items()
    ]

    async def list_tools(
        context: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult:
        function = functions.get(params.name)
        if function is None:
            known = ", ".join(sorted(functions))
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name:.80}. There are: {known}.")
        return await _Call(surface, params.name, params.arguments or {}, gate, timeout).by(function)

    return Server(
        surface.name,
        version=surface.version,
        title=surface.catalogue.title,
        instructions=surface.catalogue.description,
        get_tool_input_schema={tool.name: tool.input_schema for tool in tools}.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class _Call:
    def __init__(
        self, surface: Surface, name: str, arguments: dict[str, Any], gate: Gate, timeout: float
    ) -> None:
        self._surface = surface
        self._name = name
        self._arguments = arguments
        self._gate = gate
        self._timeout = timeout
        self._contract = surface.contract("mcp_return", name)

    async def by(self, function: Function) -> CallToolResult:
        """The result, or why there is none. Never raises, but for cancellation."""
        wrong = self._surface.contract("mcp_arguments", self._name).violation(self._arguments)
        if wrong is not None:
            return self._refused(f"The arguments don't fit: {wrong}")
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                result = await function(self._arguments)
            return self._result(result)
        except ContractViolation as violation:
            log.error("a result breaks its contract: %s", violation)
            return self._refused(f"The result broke its contract: {violation}")
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # SystemExit would end the server
            if limit.expired():
                return self._refused(f"It did not answer within {self._timeout:g} seconds.")
            # The text of an unforeseen exception may hold a secret or a path.
            log.error("%s failed: %s", self._name, outline(error))
            return self._refused(f"{self._name} failed ({type(error).__name__}).")

    def _result(self, result: Any) -> CallToolResult:
        body, sent = self._gate.admit(self._contract, result)
        return CallToolResult(
            content=[TextContent(text=body.decode())],
            structured_content=sent,
            is_error=isinstance(sent, dict) and "error" in sent,
        )

    def _refused(self, error: str) -> CallToolResult:
        """In the tool's own error shape, where one can be made of what is known; else as text."""
        for shape in ({"error": error}, {**self._arguments, "error": error}):
            if self._contract.violation(shape) is None:
                return self._result(shape)
        return CallToolResult(content=[TextContent(text=error)], is_error=True)
