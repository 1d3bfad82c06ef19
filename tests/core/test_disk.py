"""How big a project's file gets while a conversation goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from copilot_core.llm.config import LlmConfig
from copilot_core.ports import Identity
from copilot_core.projects import ProjectAgentManager
from copilot_core.service import Turn
from copilot_core.storage import FILE, FOLDER

ANSWER = 2048


class AtOnce(BaseChatModel):
    """A model that says 2 KiB at once, in this process: what takes time here is the file."""

    @property
    def _llm_type(self) -> str:
        return "at once"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError  # it is always streamed

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(content="x" * ANSWER))


def size(folder: Path) -> int:
    """Bytes of all files."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


async def test_a_long_conversation_stays_small(tmp_path: Path) -> None:
    """200 turns of 2 KiB under 4 MiB at any time: one checkpoint is kept, the log is cut."""
    manager = ProjectAgentManager(model=lambda _: AtOnce())
    biggest = 0
    for turn in range(200):
        run = await (await manager.get_agent("p1", tmp_path)).stream_chat(
            Turn(f"question {turn}", "s1"),
            identity=Identity("ann"),
            llm=LlmConfig("at once"),
            surface="gns3-chat",
        )
        await run.wait()
        biggest = max(biggest, size(tmp_path))
    agent = await manager.get_agent("p1", tmp_path)
    history = await agent.get_history("s1", "ann", limit=1000)
    await manager.close_all()
    assert len(history["messages"]) == 400
    assert 200 * ANSWER < biggest < 4 << 20
    with sqlite3.connect(tmp_path / FOLDER / FILE) as file:
        assert file.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,)
        assert file.execute("SELECT count(*) FROM writes").fetchone() == (0,)
    file.close()
