"""CPU per token of a whole turn: graph, SQLite, counting, gate and stream, over the bare model."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from benchmarks.measuring import Row, cpu, over
from copilot_adapters.starlette.streaming import EventStream
from copilot_core.llm.config import LlmConfig
from copilot_core.ports import Identity
from copilot_core.projects import ProjectAgentManager
from copilot_core.service import Turn


class Model(BaseChatModel):
    """A model that has all its tokens at once."""

    tokens: int

    @property
    def _llm_type(self) -> str:
        return "benchmark"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        message = AIMessage(" token" * self.tokens)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        asked_for_title = "Write a title" in str(messages[-1].content)
        for _ in range(1 if asked_for_title else self.tokens):
            yield ChatGenerationChunk(message=AIMessageChunk(content=" token"))


async def never() -> dict[str, Any]:
    """An ASGI `receive` of a client that stays."""
    await asyncio.Event().wait()
    return {"type": "http.disconnect"}


async def swallow(message: Any) -> None:
    """An ASGI `send` to nowhere."""


async def cpu_per_token(*, rounds: int = 7, tokens: int = 5000) -> list[Row]:
    """Each round is one turn in a new session; the file is the same for all turns of a variant."""
    model = Model(tokens=tokens)
    turns = iter(range(10**9))

    async def respond(state: MessagesState) -> dict[str, list[AnyMessage]]:
        pieces = [str(chunk.content) async for chunk in model.astream(state["messages"])]
        return {"messages": [AIMessage("".join(pieces))]}

    async def bare() -> None:
        async for _ in model.astream([HumanMessage("hi")]):
            pass

    with tempfile.TemporaryDirectory() as folder:
        manager = ProjectAgentManager(model=lambda _: model)
        agent = await manager.get_agent("benchmark", Path(folder))

        async def ours() -> None:
            session = f"s{next(turns)}"
            run = await agent.stream_chat(
                Turn("hi", session), identity=Identity("u"), llm=LlmConfig("m"), surface="gns3-chat"
            )
            await EventStream(run, after=0, heartbeat=15, stalled=30)(
                {"type": "http", "method": "POST"}, never, swallow
            )

        async with AsyncSqliteSaver.from_conn_string(str(Path(folder) / "peers.db")) as saver:
            graph = (
                StateGraph(MessagesState)
                .add_node("respond", respond)
                .add_edge(START, "respond")
                .add_edge("respond", END)
                .compile(checkpointer=saver)
            )

            def config() -> Any:
                return {"configurable": {"thread_id": f"t{next(turns)}"}}

            async def messages() -> None:
                asked: Any = {"messages": [HumanMessage("hi")]}
                async for _ in graph.astream(asked, config(), stream_mode="messages"):
                    pass

            async def events() -> None:
                asked: Any = {"messages": [HumanMessage("hi")]}
                async for _ in graph.astream_events(asked, config(), version="v2"):
                    pass

            figures = await cpu(
                {
                    "the bare model's astream": bare,
                    "ours: a whole turn, stored, counted, checked, encoded": ours,
                    'LangGraph astream(stream_mode="messages"), stored': messages,
                    "LangGraph astream_events v2, stored": events,
                },
                rounds=rounds,
                per=tokens,
            )
        await manager.close_all()
    return over(figures, "the bare model's astream", "µs")
