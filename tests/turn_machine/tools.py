"""Tools that do as they are told: the first node's id says what becomes of it."""

import asyncio
import json
from typing import Any

import structlog

from copilot_core.llm.config import LAB_AUTOMATION, TEACHING
from copilot_core.tools.base import Tool, ToolContext
from turn_machine.answers import TOOL_SECRET, Json, MeantCall

START_TOOL = "start_gns3_node"
TEMPLATES_TOOL = "get_gns3_templates"
#: One that the copilot's mode doesn't have, and one that there isn't.
CLOSED_TOOL = "stop_gns3_node"
UNKNOWN_TOOL = "make_coffee"

BEHAVIOURS = [
    "hold", "hold", "ok", "odd", "long", "failed", "raise", "exit", "cancel", "wrong", "hold",
]  # fmt: skip
#: Those with a result that isn't an error.
GOOD = {"ok", "odd", "long", "hold"}
#: More than a result may have; what a console may say.
LONG = 40_000
ODD = "PC\x1b[31m1\x00 \ud83d→🙂"


class Tools:
    """The tools, and those of their calls that wait for the test, by session."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[asyncio.Event]] = {}

    def all(self) -> list[Tool]:
        here, elsewhere = frozenset({LAB_AUTOMATION}), frozenset({TEACHING})
        return [
            Tool(START_TOOL, self._start, here),
            Tool(TEMPLATES_TOOL, _templates, here),
            Tool(CLOSED_TOOL, self._start, elsewhere),
        ]

    def holds(self, session_id: str) -> bool:
        """Whether a call of the session waits."""
        return bool(self._waiting.get(session_id))

    def open(self, session_id: str) -> None:
        """Let all calls of the session go on."""
        for waiting in self._waiting.pop(session_id, ()):
            waiting.set()

    async def _start(self, arguments: Json, context: ToolContext) -> Any:
        match arguments["node_ids"][0]:
            case "hold":
                await self._hold()
            case "odd":
                return _report(ODD)
            case "long":
                return _report("x" * LONG)
            case "failed":
                return {"error": "The lab does not answer."}
            case "raise":
                raise RuntimeError(TOOL_SECRET)
            case "exit":
                raise SystemExit(TOOL_SECRET)
            case "cancel":
                raise asyncio.CancelledError(TOOL_SECRET)
            case "wrong":
                return {"total": TOOL_SECRET, TOOL_SECRET: 1}
        return _report("PC1")

    async def _hold(self) -> None:
        # What is logged from a turn names its session; so does what a tool finds here.
        session_id = structlog.contextvars.get_contextvars()["session_id"]
        waiting = asyncio.Event()
        self._waiting.setdefault(session_id, []).append(waiting)
        try:
            await waiting.wait()
        finally:
            left = self._waiting.get(session_id, [])
            if waiting in left:
                left.remove(waiting)


async def _templates(arguments: Json, context: ToolContext) -> Any:
    return {"templates": []}


def _report(name: str) -> Json:
    result = {"node_status": "started"}
    return {
        "total": 1,
        "successful": 1,
        "failed": 0,
        "items": [{"id": "n1", "name": name, "status": "success", "result": result}],
    }


def status_of(call: MeantCall) -> str:
    """How a call ends that comes to its end."""
    if call.name == CLOSED_TOOL:
        return "blocked"
    if call.name == UNKNOWN_TOOL or not call.valid:
        return "error"
    if call.name == TEMPLATES_TOOL:
        return "success"
    arguments = json.loads(call.arguments)
    nodes = arguments.get("node_ids")
    if not isinstance(nodes, list) or not nodes:
        return "error"
    if "project_id" in arguments:
        return "blocked"
    return "success" if nodes[0] in GOOD else "error"


def hangs(call: MeantCall) -> bool:
    """Whether a call waits for the test."""
    return call.name == START_TOOL and '["hold"]' in call.arguments and status_of(call) == "success"
