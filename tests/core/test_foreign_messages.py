"""Messages that an older program or a stranger has written into a project's file."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agent_bench import PROJECT, Bench, read, said
from copilot_core.database import Database
from copilot_core.sessions import ChatSessionsRepository, create_tables
from openai_server import text


async def _write(file: Path, messages: list[Any]) -> None:
    """A session as an older program left it: LangGraph's saver, messages as they come."""
    file.parent.mkdir(parents=True)
    async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
        await saver.setup()
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"]["messages"] = messages
        checkpoint["channel_versions"]["messages"] = "1"
        await saver.aput(
            {"configurable": {"thread_id": "s1", "checkpoint_ns": ""}},
            checkpoint,
            {"source": "loop", "step": 1, "parents": {}},
            {"messages": "1"},
        )
    database = await Database.open(file)
    await create_tables(database)
    await ChatSessionsRepository(database).create_session("s1", "ann", PROJECT)
    await database.close()


async def test_ids_of_an_older_files_messages_never_change(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """A21: between reads, and when LangGraph adds to them and would make up ids."""
    older: list[BaseMessage] = [
        SystemMessage("old prompt"),
        HumanMessage("one"),
        AIMessage("", tool_calls=[{"id": "c1", "name": "get_gns3_templates", "args": {}}]),
        ToolMessage("{}", tool_call_id="c1"),
        AIMessage([{"type": "text", "text": "two"}, {"type": "image_url", "image_url": "x"}]),
        HumanMessage("one"),
        AIMessage("named", id="lc-1"),
    ]
    assert [m.id for m in older] == [None] * 6 + ["lc-1"]
    await _write(bench.file, older)
    with caplog.at_level(logging.WARNING):
        first = await bench.history("s1")
        assert [m["role"] for m in first] == [
            "user", "assistant", "tool", "assistant", "user", "assistant"
        ]  # fmt: skip
        assert len({m["id"] for m in first}) == 6
        bench.server.script(text("three"))
        assert said(await bench.ask("and?", "s1")) == "three"
        assert (await bench.history("s1"))[:6] == first
        await bench.manager.close_all()
        bench.restart()
        assert (await bench.history("s1"))[:6] == first
    assert [r for r in caplog.records if r.name.startswith("langgraph")] == []
    assert bench.server.refused == []


async def test_kinds_of_messages_that_the_wire_has_not_are_passed_over(bench: Bench) -> None:
    await _write(
        bench.file,
        [
            HumanMessage("one"),
            FunctionMessage("x", name="f"),
            ChatMessage("y", role="critic"),
            AIMessage("two"),
        ],
    )
    before = await bench.history("s1")
    assert [m["content"] for m in before] == ["one", "two"]
    bench.server.script(text("three"))
    assert said(await bench.ask("and?", "s1")) == "three"
    assert (await bench.history("s1"))[:2] == before


async def test_a_strangers_file_calls_no_function(bench: Bench, tmp_path: Path) -> None:
    """A project may come from anywhere, and LangGraph by itself calls what its file names."""
    await _write(bench.file, [HumanMessage("one")])
    witness = tmp_path / "called"
    hostile = ormsgpack.packb(("os", "mkdir", (str(witness),)))
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"]["messages"] = [ormsgpack.Ext(1, hostile)]
    with sqlite3.connect(bench.file) as file:
        packed = ormsgpack.packb(checkpoint)
        file.execute("UPDATE checkpoints SET checkpoint = ?, type = 'msgpack'", (packed,))
    file.close()
    async with AsyncSqliteSaver.from_conn_string(str(bench.file)) as saver:
        await saver.aget_tuple({"configurable": {"thread_id": "s1"}})
    assert witness.exists(), "the file isn't hostile any more"
    witness.rmdir()

    assert await bench.history("s1") == []
    bench.server.script(text("Hello"))
    await read(await bench.start("hello", "s1"))
    assert not witness.exists()
