"""How big a project's file gets while a conversation goes on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from benchmarks import disk
from copilot_core.projects import ProjectAgentManager
from copilot_core.storage import FILE, FOLDER


async def test_a_long_conversation_stays_small(tmp_path: Path) -> None:
    """200 turns of 2 KiB under 4 MiB at any time: one checkpoint is kept, the log is cut."""
    biggest = await disk.ours(tmp_path)
    assert disk.TURNS * disk.ANSWER / 2**20 < biggest < 4
    manager = ProjectAgentManager()
    agent = await manager.get_agent("benchmark", tmp_path)
    history = await agent.get_history("s", "u", limit=1000)
    await manager.close_all()
    assert len(history["messages"]) == 2 * disk.TURNS
    with sqlite3.connect(tmp_path / FOLDER / FILE) as file:
        assert file.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,)
        assert file.execute("SELECT count(*) FROM writes").fetchone() == (0,)
    file.close()
