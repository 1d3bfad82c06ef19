"""A conversation of 200 turns of 2 KiB on disk: ours, and LangGraph's saver as it comes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from benchmarks.measuring import Row
from benchmarks.turn import Model
from copilot_core.llm.config import LlmConfig
from copilot_core.ports import Identity
from copilot_core.projects import ProjectAgentManager
from copilot_core.service import Turn

TURNS = 200
ANSWER = 2048
TOKEN = len(" token")


def size(folder: Path) -> float:
    """MiB of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


async def ours(folder: Path, *, turns: int = TURNS, answer: int = ANSWER) -> float:
    """The biggest size, in MiB, while a conversation of one session runs."""
    model = Model(tokens=answer // TOKEN)
    manager = ProjectAgentManager(model=lambda _: model)
    agent = await manager.get_agent("benchmark", folder)
    biggest = 0.0
    for turn in range(turns):
        run = await agent.stream_chat(
            Turn(f"question {turn}", "s"),
            identity=Identity("u"),
            llm=LlmConfig("m"),
            surface="gns3-chat",
        )
        await run.wait()
        biggest = max(biggest, size(folder))
    await manager.close_all()
    return biggest


async def conversation(*, turns: int = TURNS, answer: int = ANSWER) -> list[Row]:
    """The biggest size while the conversation runs, and the size after the file was closed."""
    with tempfile.TemporaryDirectory() as name:
        biggest = await ours(Path(name), turns=turns, answer=answer)
        closed = size(Path(name))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with AsyncSqliteSaver.from_conn_string(str(folder / "file.db")) as saver:

            async def respond(state: MessagesState) -> dict[str, list[AnyMessage]]:
                return {"messages": [AIMessage(" token" * (answer // TOKEN))]}

            graph = (
                StateGraph(MessagesState)
                .add_node("respond", respond)
                .add_edge(START, "respond")
                .add_edge("respond", END)
                .compile(checkpointer=saver)
            )
            for turn in range(turns):
                asked: Any = {"messages": [HumanMessage(f"question {turn}")]}
                await graph.ainvoke(asked, {"configurable": {"thread_id": "s"}})
        default = size(folder)
    return [
        Row("ours, closed", closed, "MiB", 1.0),
        Row("ours, at its biggest while open", biggest, "MiB", biggest / closed),
        Row("LangGraph's SQLite saver by default", default, "MiB", default / closed),
    ]
