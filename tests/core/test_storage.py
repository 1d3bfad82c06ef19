"""The project's file: what goes wrong with it, what older and strangers' files hold."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import sqlite3
import threading
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
from copilot_core.database import Database, StorageError
from copilot_core.ports import Identity
from copilot_core.service import Turn
from copilot_core.sessions import ChatSessionsRepository, create_tables
from copilot_core.settings import CoreSettings
from copilot_core.storage import FILE, FOLDER, ProjectStore
from copilot_core.turn_keys import TurnKey
from openai_server import text


def file_of(project: Path) -> Path:
    return project / FOLDER / FILE


# -- what can't be opened ----------------------------------------------------------------


def _folder_is_a_file(project: Path) -> None:
    project.mkdir()
    (project / FOLDER).write_text("in the way")


def _file_is_a_folder(project: Path) -> None:
    file_of(project).mkdir(parents=True)


def _table_is_a_view(project: Path) -> None:
    file_of(project).parent.mkdir(parents=True)
    with sqlite3.connect(file_of(project)) as file:
        file.execute("CREATE VIEW chat_sessions AS SELECT 1")
    file.close()


@pytest.mark.parametrize("spoil", [_folder_is_a_file, _file_is_a_folder, _table_is_a_view])
async def test_a_file_that_cannot_be_opened(bench: Bench, tmp_path: Path, spoil: Any) -> None:
    """An error for that project; the others work, nothing is left open, and it can be mended."""
    spoil(tmp_path / "broken")
    for _ in range(2):
        with pytest.raises(StorageError):
            await bench.manager.get_agent("broken", tmp_path / "broken")
    bench.server.script(text("Hello"))
    assert said(await bench.ask("hello", "s1")) == "Hello"
    links = [Path(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]  # noqa: PTH208 - as /proc is read
    assert not [link for link in links if str(tmp_path / "broken") in str(link.resolve())]
    agent = await bench.manager.get_agent("broken", tmp_path / "mended")
    assert await agent.list_sessions("ann") == []


# -- what can't be written ---------------------------------------------------------------


async def _full(store: ProjectStore) -> None:
    [[pages]] = await store.saver.conn.execute_fetchall("PRAGMA page_count")
    await store.saver.conn.execute(f"PRAGMA max_page_count = {pages}")


async def _read_only(store: ProjectStore) -> None:
    await store.saver.conn.execute("PRAGMA query_only = ON")


async def _mended(store: ProjectStore) -> None:
    await store.saver.conn.execute("PRAGMA max_page_count = 100000")
    await store.saver.conn.execute("PRAGMA query_only = OFF")


@pytest.mark.parametrize("spoil", [_full, _read_only])
async def test_a_turn_that_cannot_be_stored(bench: Bench, spoil: Any) -> None:
    """It ends with `error internal`; the session isn't busy. When there is room again it goes on,
    and nothing is lost of the turn that could not be stored."""
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    before = await bench.history("s1")
    agent = await bench.agent()
    held = threading.Event()
    bench.server.script(text("x" * 200_000, pieces=3).until(held))
    run = await bench.start("long", "s1")
    await spoil(agent._store)
    held.set()
    events = await read(run)
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "internal")
    assert await bench.history("s1") == before
    async with asyncio.timeout(4):  # no write lock is left behind for its 5 seconds
        await _mended(agent._store)
        assert (await agent.pin_session("s1", "ann", True))["pinned"] is True
        bench.server.script(text("Better."))
        assert said(await bench.ask("again", "s1")) == "Better."
    session = await bench.session("s1")
    history = await bench.history("s1")
    told = [m["content"] for m in history]
    assert told == ["hello", "Hello", "long", "x" * 200_000, "again", "Better."]
    assert session["message_count"] == 6
    assert session["stats"]["turns"] == 3


async def test_one_projects_full_disk_leaves_the_others(bench: Bench, tmp_path: Path) -> None:
    agent = await bench.agent()
    await _read_only(agent._store)
    with pytest.raises(StorageError, match="may not be written"):
        await bench.start("hello", "s1")
    other = await bench.manager.get_agent("other", tmp_path / "other")
    assert await other.list_sessions("ann") == []
    await _mended(agent._store)


async def test_a_file_that_breaks_while_it_is_open(bench: Bench) -> None:
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    agent = await bench.agent()
    await agent._store.saver.conn.execute("UPDATE checkpoints SET checkpoint = x'c1c1c1'")
    await agent._store.saver.conn.commit()
    bench.server.script(text("Hello"))
    events = await bench.ask("again", "s1")
    assert [(e["type"], e.get("code")) for e in events] == [("error", "internal")]
    assert said(await bench.ask("hi", "s2")) == "Hello"
    await agent.delete_session("s1", "ann")
    assert [s["thread_id"] for s in await agent.list_sessions("ann")] == ["s2"]


async def test_a_turn_that_could_not_be_stored_is_stored_at_the_end(bench: Bench) -> None:
    held = threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    agent = await bench.agent()
    await _read_only(agent._store)
    held.set()
    assert (await read(run))[-1]["type"] == "error"
    await _mended(agent._store)
    await bench.manager.close_all()
    bench.restart()
    assert [m["content"] for m in await bench.history("s1")] == ["count", "one two"]


async def test_another_program_that_writes_for_a_moment_is_waited_for(bench: Bench) -> None:
    held = threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    other = sqlite3.connect(file_of(bench.path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    asyncio.get_running_loop().call_later(1.2, other.execute, "ROLLBACK")
    held.set()
    assert (await read(run))[-1]["type"] == "done"
    assert len(await bench.history("s1")) == 2
    other.close()


async def test_a_disk_that_hangs_ends_the_turn_and_the_close(bench: Bench) -> None:
    """GNS3/gns3-server 258276c51: the connection's thread is stuck, and everybody waited (B72)."""
    bench.settings = CoreSettings(stop_seconds=0.3)
    bench.restart()
    held, stuck = threading.Event(), threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    agent = await bench.agent()
    await bench.server.wait_for_requests(1)
    hanging = asyncio.ensure_future(agent._store.saver.conn._execute(stuck.wait))
    try:
        held.set()
        events = await read(run)
        assert (events[-1]["type"], events[-1]["code"]) == ("error", "internal")
        async with asyncio.timeout(3):
            await bench.manager.remove_agent(PROJECT)
    finally:
        stuck.set()
    await hanging
    async with asyncio.timeout(5):
        while True:  # until the file is given back
            with contextlib.suppress(StorageError):
                assert [m["content"] for m in await bench.history("s1")] == ["count", "one two"]
                break
            await asyncio.sleep(0.05)


async def test_an_entry_that_is_still_waiting_costs_no_answer(bench: Bench) -> None:
    """The file was busy when the turn ended: what the reader saw is stored, not what was
    journalled."""
    bench.settings = CoreSettings(stop_seconds=0.3)
    bench.restart()
    held, stuck = threading.Event(), threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    store = (await bench.agent())._store
    await bench.server.wait_for_requests(1)
    hanging = asyncio.ensure_future(store.saver.conn._execute(stuck.wait))
    try:
        await asyncio.sleep(0.7)  # an entry waits by now
        held.set()
        events = await read(run)
        assert said(events) == "one two"
    finally:
        stuck.set()
    await hanging
    assert [m["content"] for m in await bench.history("s1")] == ["count", "one two"]
    session = await bench.session("s1")
    assert (session["message_count"], session["stats"]["turns"]) == (2, 1)


async def test_a_turn_that_was_refused_is_not_stored_later(bench: Bench) -> None:
    bench.settings = CoreSettings(stop_seconds=0.3)
    bench.restart()
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    other = sqlite3.connect(file_of(bench.path), isolation_level=None)
    store = (await bench.agent())._store
    await store.saver.conn.execute("PRAGMA busy_timeout=2000")
    other.execute("BEGIN IMMEDIATE")
    agent = await bench.agent()
    turn = Turn("again", "s1", key="k1")
    key = TurnKey.of("k1", "again")
    starting = asyncio.create_task(
        agent._start(turn, "s1", key, Identity("ann"), bench.llm, "gns3-chat")
    )
    await asyncio.sleep(0.1)
    other.execute("ROLLBACK")  # the session's row is written; the beginning must wait
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError):
        await starting
    other.execute("ROLLBACK")
    other.close()
    await asyncio.sleep(0.3)
    assert await store.keys.find("ann", "s1", key) is None
    bench.server.script(text("Better."))
    await bench.ask("again", "s1")
    told = [m["content"] for m in await bench.history("s1")]
    assert told == ["hello", "Hello", "again", "Better."]


async def test_a_turn_that_could_not_be_stored_is_shown_when_it_can_be(bench: Bench) -> None:
    held = threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    agent = await bench.agent()
    await _read_only(agent._store)
    held.set()
    assert (await read(run))[-1]["type"] == "error"
    await _mended(agent._store)
    assert [m["content"] for m in await bench.history("s1")] == ["count", "one two"]


@pytest.mark.parametrize("how", ["moved", "deleted", "replaced"])
async def test_a_file_that_is_moved_while_it_is_open(
    bench: Bench, tmp_path: Path, how: str
) -> None:
    """What would be written to it nobody would find: the next request opens what is there."""
    bench.server.script(text("Other."))
    await bench.ask("other", "s1")
    await bench.manager.close_all()
    shutil.copytree(bench.path / FOLDER, tmp_path / "snapshot")
    bench.restart()
    bench.server.always(text("Hello"))
    await bench.ask("hello", "s2")
    match how:
        case "moved":
            (bench.path / FOLDER).rename(tmp_path / "elsewhere")
        case "deleted":
            shutil.rmtree(bench.path / FOLDER)
        case "replaced":
            os.replace(tmp_path / "snapshot" / FILE, file_of(bench.path))  # noqa: PTH105 - as tools do
    with pytest.raises(StorageError, match="moved or replaced"):
        await bench.ask("lost", "s2")
    await bench.ask("again", "s3")
    sessions = await (await bench.agent()).list_sessions("ann")
    there = {"s1", "s3"} if how == "replaced" else {"s3"}
    assert {session["thread_id"] for session in sessions} == there
    await bench.manager.close_all()
    bench.restart()
    sessions = await (await bench.agent()).list_sessions("ann")
    assert {session["thread_id"] for session in sessions} == there


async def test_damage_that_is_found_while_open_is_set_aside_by_the_next_request(
    bench: Bench,
) -> None:
    bench.server.always(text("Hello"))
    await bench.ask("x" * 50_000, "s1")
    store = (await bench.agent())._store
    await store.saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    await store.saver.conn.execute("PRAGMA cache_size=0")
    with file_of(bench.path).open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(4096 * 30))
    with pytest.raises(StorageError, match="damaged"):
        await bench.ask("again", "s2")
    assert said(await bench.ask("again", "s3")) == "Hello"
    assert list(file_of(bench.path).parent.glob("*.damaged-*"))


async def test_a_journal_that_names_a_file_deletes_none(bench: Bench, tmp_path: Path) -> None:
    """SQLite deletes the "super-journal" that a rollback journal names."""
    bench.server.always(text("Hello"))
    await bench.ask("hello", "s1")
    await bench.manager.close_all()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    name = str(victim).encode()
    magic = bytes.fromhex("d9d505f920a163d7")
    sizes = len(name).to_bytes(4, "big") + (sum(name) & 0xFFFFFFFF).to_bytes(4, "big")
    tail = (1).to_bytes(4, "big") + name + sizes + magic
    file_of(bench.path).with_name(f"{FILE}-journal").write_bytes(magic + bytes(504) + tail)
    bench.restart()
    await bench.ask("hello", "s2")
    assert victim.read_text() == "mine"


async def test_a_clock_that_went_back_loses_no_turn(bench: Bench) -> None:
    """LangGraph's checkpoints are named by the clock; the newest needn't have the greatest id."""
    bench.server.script(text("One."), text("Two."))
    await bench.ask("one", "s1")
    await bench.manager.close_all()
    with sqlite3.connect(file_of(bench.path)) as file:
        file.execute("UPDATE checkpoints SET checkpoint_id = 'f' || substr(checkpoint_id, 2)")
    file.close()
    bench.restart()
    await bench.ask("two", "s1")
    history = [m["content"] for m in await bench.history("s1")]
    assert history == ["one", "One.", "two", "Two."]
    assert (await bench.session("s1"))["message_count"] == 4


async def test_a_turn_is_never_stored_twice(bench: Bench) -> None:
    held = threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    store = (await bench.agent())._store
    start, record = await store.journal.read(run.run_id)
    held.set()
    await read(run)
    await store.store_turn(start, record, "error")
    assert [m["content"] for m in await bench.history("s1")] == ["count", "one two"]
    assert (await bench.session("s1"))["message_count"] == 2


# -- what others wrote -------------------------------------------------------------------


async def _write(project: Path, messages: list[Any]) -> None:
    """A session as an older program left it: LangGraph's saver, messages as they come."""
    file_of(project).parent.mkdir(parents=True)
    async with AsyncSqliteSaver.from_conn_string(str(file_of(project))) as saver:
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
    database = await Database.open(file_of(project))
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
    await _write(bench.path, older)
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
        bench.path,
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
    await _write(bench.path, [HumanMessage("one")])
    witness = tmp_path / "called"
    hostile = ormsgpack.packb(("os", "mkdir", (str(witness),)))
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"]["messages"] = [ormsgpack.Ext(1, hostile)]
    with sqlite3.connect(file_of(bench.path)) as file:
        packed = ormsgpack.packb(checkpoint)
        file.execute("UPDATE checkpoints SET checkpoint = ?, type = 'msgpack'", (packed,))
    file.close()
    async with AsyncSqliteSaver.from_conn_string(str(file_of(bench.path))) as saver:
        await saver.aget_tuple({"configurable": {"thread_id": "s1"}})
    assert witness.exists(), "the file isn't hostile any more"
    witness.rmdir()

    assert await bench.history("s1") == []
    bench.server.script(text("Hello"))
    await read(await bench.start("hello", "s1"))
    assert not witness.exists()


async def test_the_title_is_in_the_checkpoint_too(bench: Bench) -> None:
    """chat-api.md, Automatic Title Synchronization."""
    bench.server.script(text("Hello"), text("Hello"))
    await bench.ask("hello", "s1")
    await bench.ask("again", "s1")
    agent = await bench.agent()
    found = await agent._store.saver.aget_tuple({"configurable": {"thread_id": "s1"}})
    assert found is not None
    assert found.checkpoint["channel_values"]["conversation_title"] == "Hosts of the lab"


async def test_a_strangers_triggers_are_dropped(bench: Bench) -> None:
    bench.server.script(text("Hello"), text("Secret"))
    await bench.ask("hello", "s1")
    await bench.manager.close_all()
    with sqlite3.connect(file_of(bench.path)) as file:
        file.execute(
            'CREATE TRIGGER "a ""trigger" AFTER INSERT ON turn_journal BEGIN'
            " INSERT INTO chat_sessions (thread_id, user_id, project_id, title)"
            f" VALUES ('m' || new.run_id, 'mallory', '{PROJECT}', new.entry); END"
        )
        file.execute(
            "CREATE TRIGGER b BEFORE DELETE ON checkpoints BEGIN SELECT RAISE(IGNORE); END"
        )
    file.close()
    bench.restart()
    await bench.ask("my secret", "s1")
    agent = await bench.agent()
    assert await agent.list_sessions("mallory") == []
    await agent.delete_session("s1", "ann")
    assert await agent._store.messages("s1") == []


async def test_a_strangers_tables_by_our_names(bench: Bench) -> None:
    file_of(bench.path).parent.mkdir(parents=True)
    with sqlite3.connect(file_of(bench.path)) as file:
        file.execute("CREATE TABLE turn_journal (thread_id TEXT, something TEXT)")
        file.execute("CREATE TABLE turn_keys (user_id TEXT)")
    file.close()
    bench.server.script(text("Hello"))
    assert said(await bench.ask("hello", "s1")) == "Hello"
