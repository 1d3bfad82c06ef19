"""The bytes on the wire for one tool call with long arguments, each event telling all so far."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from benchmarks.measuring import Row
from benchmarks.turn import Model, never
from copilot_adapters.starlette.streaming import EventStream
from copilot_contracts import sse
from copilot_core.llm.config import LlmConfig
from copilot_core.ports import Identity
from copilot_core.projects import ProjectAgentManager
from copilot_core.service import Turn

PIECE = 4


class Caller(Model):
    """A model that calls a tool once, and then answers."""

    arguments: str

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        if messages[-1].type != "human" or "Write a title" in str(messages[-1].content):
            yield ChatGenerationChunk(message=AIMessageChunk(content="done"))
            return
        for at in range(0, len(self.arguments), PIECE):
            name, call_id = ("get_gns3_templates", "call_1") if at == 0 else (None, None)
            piece = tool_call_chunk(
                name=name, id=call_id, args=self.arguments[at : at + PIECE], index=0
            )
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece]))


async def on_the_wire(*, size: int = 50 * 1024) -> list[Row]:
    """One turn as it is served, and the same events with one for each piece."""
    arguments = orjson.dumps({"note": "x" * (size - len('{"note":""}'))}).decode()
    sent = bytearray()

    async def send(message: Any) -> None:
        sent.extend(message.get("body", b""))

    with tempfile.TemporaryDirectory() as folder:
        manager = ProjectAgentManager(model=lambda _: Caller(tokens=1, arguments=arguments))
        agent = await manager.get_agent("benchmark", Path(folder))
        run = await agent.stream_chat(
            Turn("hi", "s"), identity=Identity("u"), llm=LlmConfig("m"), surface="gns3-chat"
        )
        await EventStream(run, after=0, heartbeat=15, stalled=30)(
            {"type": "http", "method": "POST"}, never, send
        )
        await manager.close_all()
    events = [orjson.loads(event.data) for event in sse.Decoder().feed(bytes(sent))]
    calls = [event for event in events if event["type"] == "tool_call"]
    last = calls[-1]
    if last["tool_call"]["function"]["arguments"] != arguments:
        raise AssertionError("the last event doesn't tell the whole arguments")
    ours = sum(len(sse.encode(orjson.dumps(event), id=f"{run.run_id}:1")) for event in calls)
    function = last["tool_call"]["function"]
    naive = 0
    for end in range(PIECE, size + PIECE, PIECE):
        function["arguments"] = arguments[:end]
        naive += len(sse.encode(orjson.dumps(last), id=f"{run.run_id}:1"))
    return [
        Row(f"ours: {len(calls)} events", ours / 1e6, "MB", 1.0),
        Row(f"an event a piece: {size // PIECE} events", naive / 1e6, "MB", naive / ours),
    ]
