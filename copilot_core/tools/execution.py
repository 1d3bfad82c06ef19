"""Runs the tools that a model calls: checked arguments in, a checked and bounded text out."""

from __future__ import annotations

import asyncio
import logging
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copilot_contracts.violations import ContractViolation
from copilot_core.tools.output import tool_text
from copilot_core.tracebacks import outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from copilot_contracts.gate import Gate
    from copilot_contracts.registry import Surface
    from copilot_core.events import ToolStatus
    from copilot_core.ports import JsonObject
    from copilot_core.tools.base import Tool, ToolContext

log = logging.getLogger(__name__)

# Seconds that a tool which is stopped may take for it.
_CLEAN_UP = 1.0


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call is answered with."""

    #: Strict JSON or plain text, capped.
    text: str
    status: ToolStatus
    #: The whole output's size in bytes when ``text`` is only a part of it, else None.
    original_size: int | None


class ToolSet:
    """The tools of one turn: what is offered to the model, and what is executed for it.

    A tool that the copilot's mode doesn't have is neither offered nor executed.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        surface: Surface,
        gate: Gate,
        context: ToolContext,
        *,
        mode: str,
        timeout: float,
        max_output: int,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._surface = surface
        self._gate = gate
        self._context = context
        self._mode = mode
        self._timeout = timeout
        self._max_output = max_output
        #: In OpenAI's form, for ``bind_tools``.
        self.offered = offered_tools(self._tools.values(), surface, mode)

    async def execute(self, name: str, args: JsonObject | None, wrong: str = "") -> ToolOutcome:
        """Run one call. Never raises, but for cancellation.

        ``args`` is None, and ``wrong`` says why, for a call whose arguments aren't a JSON object.
        """
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(sorted(t for t in self._tools if self._mode in self._tools[t].modes))
            return self._refused(f"There is no tool of that name. The tools are: {known}.")
        if self._mode not in tool.modes:
            return self._refused(f"The tool isn't allowed in the mode {self._mode}.", "blocked")
        if args is None:
            return self._refused(wrong or "The arguments are not a JSON object.")
        contract = self._surface.contract("tool_arguments", name)
        violation = contract.violation(args)
        if violation is not None:
            return self._refused(f"The arguments don't fit: {violation}")
        for injected in _injected(contract.schema):
            given, own = args.get(injected), getattr(self._context, injected)
            if given not in {None, "", own}:
                return self._refused(
                    f"Only the current {injected}, {own}, can be reached.", "blocked"
                )
            args = {**args, injected: own}
        return await self._run(tool, args)

    async def _run(self, tool: Tool, args: JsonObject) -> ToolOutcome:
        """The tool in a task of its own, so that one that won't stop is left behind."""
        task = asyncio.create_task(self._result(tool, args), name=f"tool {tool.name}")
        try:
            in_time, _ = await asyncio.wait({task}, timeout=self._timeout)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=_CLEAN_UP)
        if not in_time:
            return self._refused(f"The tool did not answer within {self._timeout:g} seconds.")
        if task.cancelled():
            return self._refused("The tool stopped without an answer.")
        return task.result()

    async def _result(self, tool: Tool, args: JsonObject) -> ToolOutcome:
        try:
            result = await tool.run(args, self._context)
            self._gate.check(self._surface.contract("tool_return", tool.name), result)
            text, size = tool_text(result, max_bytes=self._max_output)
        except ContractViolation as violation:
            log.error("tool result breaks its contract: %s", violation)
            return self._refused("The tool's result broke its contract and was not used.")
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # SystemExit would end the server
            # The text of an unforeseen exception may hold a secret or a path.
            log.error("tool %s failed: %s", tool.name, outline(error))
            return self._refused(f"The tool failed ({type(error).__name__}).")
        return ToolOutcome(text, "error" if _nothing_done(result) else "success", size)

    def _refused(self, reason: str, status: ToolStatus = "error") -> ToolOutcome:
        text, size = tool_text({"error": reason}, max_bytes=self._max_output)
        return ToolOutcome(text, status, size)


def _nothing_done(result: JsonObject | str) -> bool:
    """An error object, or a report of several things of which none was done."""
    if isinstance(result, str):
        return False
    return "error" in result or (bool(result.get("failed")) and not result.get("successful"))


def _injected(schema: Mapping[str, Any]) -> list[str]:
    """Arguments that the turn fills in: accepted from a model, not offered to it."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    return [name for name, part in properties.items() if part.get("x-injected")]


def offered_tools(tools: Iterable[Tool], surface: Surface, mode: str) -> list[dict[str, Any]]:
    """What a model is told of the tools that a mode has, in OpenAI's form.

    Each by its description in the catalogue and its argument contract without what we fill in.
    """
    return [_offer(tool, surface) for tool in tools if mode in tool.modes]


def _offer(tool: Tool, surface: Surface) -> dict[str, Any]:
    schema = deepcopy(surface.contract("tool_arguments", tool.name).bundled())
    for name in _injected(schema):
        del schema["properties"][name]
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": surface.catalogue.tools[tool.name].description or tool.name,
            "parameters": _plain(schema),
        },
    }


def _plain(schema: Any) -> Any:
    """Without what a model doesn't need: titles, examples, our own keywords."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    dropped = {"$schema", "title", "examples"}
    return {
        key: {name: _plain(part) for name, part in value.items()}
        if key in {"properties", "$defs"}
        else _plain(value)
        for key, value in schema.items()
        if key not in dropped and not key.startswith("x-")
    }
